package cli

import (
	"fmt"
	"os"

	"github.com/gopz/compress"
)

// quietDrivers keeps Mesa from writing to standard error: what goes wrong comes back as an error. It is for the process, so it comes before all else.
func quietDrivers() {
	if len(compress.Devices()) == 1 {
		return // a build without GPUs
	}
	quiet := func(name, value string) {
		if os.Getenv(name) == "" {
			os.Setenv(name, value)
		}
	}
	quiet("EGL_LOG_LEVEL", "fatal")
	if os.Getenv("XDG_RUNTIME_DIR") == "" {
		quiet("NODEVICE_SELECT", "1") // without a desktop the device-select layer complains that it finds none
	}
}

// openDevice gives the scheduler the device that the options ask for. Where they leave it open there need not be one. What it returns is to be
// called when all work is done.
func (a *app) openDevice() (done func(), err error) {
	done = func() {}
	c := &a.cfg
	if c.match == compress.CPU && c.entropy == compress.CPU {
		return done, nil
	}
	var d compress.Device
	if c.match.Strict() || c.entropy.Strict() || c.device != "" {
		if d, err = compress.OpenDevice(c.device); err != nil {
			return done, err
		}
	} else {
		lazy, err := compress.LazyDevice()
		if err != nil {
			a.noGPU(err)
			return done, nil
		}
		d = lazy
	}
	if err := a.sched.SetDevice(d); err != nil {
		d.Close()
		return done, err
	}
	a.sched.EnableStats(c.verbose)
	return func() {
		a.deviceReport(d)
		d.Close()
	}, nil
}

// noGPU says why a GPU that was not insisted on is not used, to those who ask for details and care about backends.
func (a *app) noGPU(err error) {
	if a.cfg.chosen {
		a.note("", "no GPU is used: %s", libraryReason(err))
	}
}

// deviceReport says what ran on the device, and whether it was lost: that costs time only, but whoever has bought it wants to know.
func (a *app) deviceReport(d compress.Device) {
	name := d.Info().Name
	if lazy, ok := d.(interface{ StartError() error }); ok && lazy.StartError() != nil {
		a.noGPU(lazy.StartError())
		return
	}
	if err := a.sched.DeviceError(); err != nil && !a.cfg.quiet {
		a.say("", "device %s is not used any more, the CPU went on alone: %s", name, err)
	}
	if !a.cfg.verbose {
		return
	}
	st := a.sched.Stats()
	for _, s := range st.Stages {
		if s.Stage != "check" {
			on := "cpu"
			if s.Backend == compress.GPU {
				on = name
			}
			a.say("", "%s on %s: %d %s, %s", s.Stage, on, s.Blocks, plural(s.Blocks, "block"), formatSize(s.Bytes))
		}
	}
	if st.Returned > 0 {
		a.say("", "%s", fmt.Sprintf("%d %s came back from %s undone", st.Returned, plural(st.Returned, "block"), name))
	}
}

// listGPUs prints the GPUs of this machine.
func (a *app) listGPUs() error {
	list, err := compress.GPUs()
	if err != nil {
		a.fail("", "%s", libraryReason(err))
		return nil
	}
	for _, g := range list {
		if _, err := fmt.Fprintf(a.stdout, "%s\t%s (%s)\t%s\n", g.Device, g.Name, g.Kind, g.Driver); err != nil {
			return err
		}
	}
	return nil
}
