package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gopz/compress/gpu"
)

// silenceDrivers keeps Mesa from writing to standard error; Mesa also returns its errors. It sets
// environment variables of the process, so it runs before all else.
func silenceDrivers() {
	if len(gpu.Devices()) == 1 {
		return // a build without GPU drivers
	}
	setDefault := func(name, value string) {
		if os.Getenv(name) == "" {
			os.Setenv(name, value)
		}
	}
	setDefault("EGL_LOG_LEVEL", "fatal")
	if os.Getenv("XDG_RUNTIME_DIR") == "" {
		setDefault("NODEVICE_SELECT", "1") // the device-select layer complains without a desktop
	}
}

// openDevice opens the device that the options select. Backends that insist on a
// device start it at once. With auto it starts once there is enough work, and a missing GPU is no
// error. The caller calls report after all work.
//
// Nothing closes the device. Its hardware may still work on requests that the CPU has done
// meanwhile. The system frees everything when the program ends, and that does not wait.
func (a *app) openDevice() (report func(), err error) {
	none := func() {}
	c := &a.cfg
	if c.match == gpu.BackendCPU && c.entropy == gpu.BackendCPU {
		return none, nil
	}
	var d gpu.Device
	if c.match.Strict() || c.entropy.Strict() {
		d, err = gpu.Open(c.device)
	} else {
		d, err = gpu.OpenLazy(c.device)
		if err != nil && c.device == "" {
			a.noteNoGPU(err)
			return none, nil
		}
	}
	if err != nil {
		return none, err
	}
	a.device = d
	a.sched.EnableStats(c.verbose)
	return a.reportDevice, nil
}

// noteNoGPU prints why --backend auto uses no GPU. It prints only with -v and --backend.
func (a *app) noteNoGPU(err error) {
	if a.cfg.backendGiven {
		a.note("", "no GPU is used: %s", deviceReason("", err))
	}
}

// driverTags has the build tags of gpu/pz for the kinds of device names. An empty name stands for
// any GPU.
var driverTags = map[string]string{"": "webgpu", "webgpu": "webgpu", "opengl": "opengl,egl"}

// deviceReason returns the text of an error of opening the device name. In a build without GPU
// drivers it says how to build pz with one: the library can only say how to import it.
func deviceReason(name string, err error) string {
	kind, _, _ := strings.Cut(name, ":")
	tags, isGPU := driverTags[kind]
	if !isGPU || !errors.Is(err, gpu.ErrDevice) || len(gpu.Devices()) > 1 {
		return libraryReason(err)
	}
	return "this pz has no GPU driver; from a clone: CGO_ENABLED=1 go install -tags " + tags +
		" ./gpu/pz; it replaces the pz of ./cmd/pz"
}

// reportDevice prints whether the device failed and why, which costs time but no data. With -v it
// also prints where the stages ran and how long the device took to start.
func (a *app) reportDevice() {
	dev, _ := a.sched.DeviceStatus()
	if dev.StartErr != nil {
		a.reportStart(dev.StartErr)
		return
	}
	if dev.Err != nil && !a.cfg.quiet {
		a.print("", "device %s failed and the CPU took over: %s", dev.Name, dev.Err)
	}
	if !a.cfg.verbose {
		return
	}
	dev.Err = nil // printed above
	if text := dev.String(); text != "" {
		a.print("", "device %s: %s", dev.Name, text)
	}
	st := a.sched.Stats()
	for _, s := range st.Stages {
		if s.Name == "check" {
			continue
		}
		where := "cpu"
		if s.Backend == gpu.BackendGPU {
			where = dev.Name
		}
		a.print("", "%s on %s: %d %s, %s", s.Name, where, s.Blocks, plural(s.Blocks, "block"),
			formatSize(s.Bytes))
	}
	if n := st.Returned; n > 0 {
		a.print("", "%d %s returned unprocessed from %s", n, plural(n, "block"), dev.Name)
	}
	if n := st.Reclaimed; n > 0 {
		a.print("", "%d %s taken back from %s by idle workers", n, plural(n, "block"), dev.Name)
	}
}

// reportStart prints that a device with backend auto did not start. One that the user names gets a
// message without -v.
func (a *app) reportStart(err error) {
	switch {
	case a.cfg.device == "":
		a.noteNoGPU(err)
	case !a.cfg.quiet:
		a.print("", "device %s did not start and the CPU did its work: %s",
			printable(a.cfg.device), deviceReason(a.cfg.device, err))
	}
}

// listGPUs prints the GPUs of this machine.
func (a *app) listGPUs() error {
	list, err := gpu.Adapters()
	if err != nil {
		a.fail("", "%s", deviceReason("", err))
		return nil
	}
	for _, g := range list {
		_, err := fmt.Fprintf(a.stdout, "%s\t%s (%s)\t%s\n", g.Device, g.Name, g.Kind, g.Driver())
		if err != nil {
			return err
		}
	}
	return nil
}
