package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gopz/compress"
)

// silenceDrivers keeps Mesa from writing to standard error; Mesa also returns its errors. It sets
// environment variables of the process, so it runs before all else.
func silenceDrivers() {
	if len(compress.Devices()) == 1 {
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

// openDevice gives the scheduler the device that the options select. If they select none, a missing
// device is no error. The caller calls closeDevice after all work.
func (a *app) openDevice() (closeDevice func(), err error) {
	none := func() {}
	c := &a.cfg
	if c.match == compress.CPU && c.entropy == compress.CPU {
		return none, nil
	}
	var d compress.Device
	if c.match.Strict() || c.entropy.Strict() || c.device != "" {
		if d, err = compress.OpenDevice(c.device); err != nil {
			return none, err
		}
	} else {
		lazy, err := compress.LazyDevice()
		if err != nil {
			a.noteNoGPU(err)
			return none, nil
		}
		d = lazy
	}
	if err := a.sched.SetDevice(d); err != nil {
		d.Close()
		return none, err
	}
	a.sched.EnableStats(c.verbose)
	return func() {
		a.reportDevice(d)
		d.Close()
	}, nil
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
	if !isGPU || !errors.Is(err, compress.ErrDevice) || len(compress.Devices()) > 1 {
		return libraryReason(err)
	}
	return "this pz has no GPU driver; from a clone: CGO_ENABLED=1 go install -tags " + tags +
		" ./gpu/pz; it replaces the pz of ./cmd/pz"
}

// reportDevice prints where the stages ran, with -v, and whether the device failed. A failed device
// costs time but no data.
func (a *app) reportDevice(d compress.Device) {
	name := d.Info().Name
	if lazy, ok := d.(interface{ StartError() error }); ok && lazy.StartError() != nil {
		a.noteNoGPU(lazy.StartError())
		return
	}
	if err := a.sched.DeviceError(); err != nil && !a.cfg.quiet {
		a.print("", "device %s failed and the CPU took over: %s", name, err)
	}
	if !a.cfg.verbose {
		return
	}
	st := a.sched.Stats()
	for _, s := range st.Stages {
		if s.Stage == "check" {
			continue
		}
		where := "cpu"
		if s.Backend == compress.GPU {
			where = name
		}
		a.print("", "%s on %s: %d %s, %s", s.Stage, where, s.Blocks, plural(s.Blocks, "block"),
			formatSize(s.Bytes))
	}
	if st.Returned > 0 {
		a.print("", "%d %s returned unprocessed from %s",
			st.Returned, plural(st.Returned, "block"), name)
	}
}

// listGPUs prints the GPUs of this machine.
func (a *app) listGPUs() error {
	list, err := compress.GPUs()
	if err != nil {
		a.fail("", "%s", deviceReason("", err))
		return nil
	}
	for _, g := range list {
		_, err := fmt.Fprintf(a.stdout, "%s\t%s (%s)\t%s\n", g.Device, g.Name, g.Kind, g.Driver)
		if err != nil {
			return err
		}
	}
	return nil
}
