package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gopz/compress/internal/errs"
)

// ErrDevice: there is no such device, or it cannot do what a [Backend] asks for.
var ErrDevice = errs.Device

// softName is the name of the driver of software devices, which package pipeline registers.
const softName = "soft"

// namedDriver is a registered Driver.
type namedDriver struct {
	name string
	Driver
}

// gpuTags holds the build tags of each GPU driver of this module, the preferred driver first.
var gpuTags = []struct{ name, tags string }{
	{"webgpu", "webgpu"},
	{"opengl", "opengl,egl"},
}

// gpuDrivers returns the drivers of GPUs that are linked into this program, those of gpuTags first.
func gpuDrivers() (list []namedDriver) {
	rest := Drivers()
	for _, known := range gpuTags {
		if i := slices.Index(rest, known.name); i >= 0 {
			list = append(list, namedDriver{known.name, FindDriver(known.name)})
			rest = slices.Delete(rest, i, i+1)
		}
	}
	for _, name := range rest {
		if name == softName {
			continue
		}
		list = append(list, namedDriver{name, FindDriver(name)})
	}
	return list
}

// notLinked returns the error of a program that lacks a GPU driver.
func notLinked(what, name, tags string) error {
	return fmt.Errorf("no %s is linked in; import github.com/gopz/compress/gpu/%s "+
		"and build with -tags %s", what, name, tags)
}

// Devices returns the names that [Open] accepts in this program, the preferred one first, "soft"
// last. The machine need not have such a device.
//
// A program links a GPU driver in by a blank import of gpu/webgpu or gpu/opengl and their build
// tags, and the software device by an import of package compress or pipeline.
func Devices() []string {
	var names []string
	for _, d := range gpuDrivers() {
		names = append(names, d.name)
	}
	if FindDriver(softName) != nil {
		names = append(names, softName)
	}
	return names
}

// errNoDevice is the error for a number that no adapter has.
var errNoDevice = errors.New("there is no such device")

// Open opens a device by a name that [Devices] or [Adapters] returns. If the name is empty, it
// opens the best GPU of this machine, never a software adapter. The device "soft" does the work
// with the CPU's own code; it is slower than no device, and meant for tests. The error wraps
// [ErrDevice] if there is no such device. The caller closes the device.
func Open(name string) (Device, error) {
	d, err := openDevice(name, gpuDrivers())
	if err != nil {
		return nil, deviceError(err)
	}
	return d, nil
}

func openDevice(name string, drivers []namedDriver) (Device, error) {
	_, open, err := findDevice(name, drivers)
	if err != nil {
		return nil, err
	}
	return open()
}

// findDevice returns what a device supports at least, and a function that opens it. The error is
// that of a name that no machine has. findDevice starts nothing.
func findDevice(name string, drivers []namedDriver) (
	base Info, open func() (Device, error), err error,
) {
	if name == "" {
		if err := checkDrivers(drivers); err != nil {
			return base, nil, err
		}
		return drivers[0].BaseInfo(), func() (Device, error) { return openBest(drivers) }, nil
	}
	kind, number, numbered := strings.Cut(name, ":")
	if kind == softName {
		if numbered {
			return base, nil, errNoDevice // there is one
		}
		drivers = append(slices.Clip(drivers), namedDriver{softName, FindDriver(softName)})
	}
	n := 0
	if numbered {
		n, err = strconv.Atoi(number)
		if err != nil {
			return base, nil, errNoDevice
		}
	}
	for _, d := range drivers {
		if d.name == kind && d.Driver != nil {
			return d.BaseInfo(), func() (Device, error) { return d.Open(n) }, nil
		}
	}
	for _, known := range gpuTags {
		if known.name == kind {
			return base, nil, notLinked("GPU driver "+kind, known.name, known.tags)
		}
	}
	valid := strings.Join(Devices(), ", ")
	return base, nil, fmt.Errorf("no device is called %q; valid names: %s", name, valid)
}

// openBest opens the best GPU of the first driver that has one.
func openBest(drivers []namedDriver) (Device, error) {
	var failed error
	for _, driver := range drivers {
		d, err := driver.OpenBest()
		if err == nil {
			return d, nil
		}
		failed = joinDriver(failed, driver, drivers, err)
	}
	return nil, failed
}

// checkDrivers returns the error of a program without GPU drivers.
func checkDrivers(drivers []namedDriver) error {
	if len(drivers) == 0 {
		return notLinked("GPU driver", gpuTags[0].name, gpuTags[0].tags)
	}
	return nil
}

// joinDriver adds a driver's error to failed, with the driver's name if there are several drivers.
func joinDriver(failed error, d namedDriver, drivers []namedDriver, err error) error {
	switch {
	case len(drivers) == 1:
		return err
	case failed == nil:
		return fmt.Errorf("%s: %w", d.name, err)
	}
	return fmt.Errorf("%w; %s: %w", failed, d.name, err)
}

func deviceError(err error) error {
	return errs.Wrap(errs.Device, err)
}

// OpenLazy returns a device that starts in the background once the workers have spent about eight
// seconds on work that it could have done. So a start never costs much, and never holds anything
// up. An empty name stands for the best GPU, as in [Open]. The error is [ErrDevice] if the
// program has no such driver, or, with an empty name, if the machine certainly has no GPU. Other
// errors are those of the start; [Lazy.StartError] returns them. With [BackendFused] its batches
// have 16 MiB, because the memory of the GPU is not known yet. The caller closes the device.
func OpenLazy(name string) (*Lazy, error) {
	base, open, err := findDevice(name, gpuDrivers())
	if err == nil && name == "" {
		err = CheckDeviceFiles()
	}
	if err != nil {
		return nil, deviceError(err)
	}
	return NewLazy(base, func() (Device, error) {
		d, err := open()
		if err != nil {
			return nil, deviceError(err)
		}
		return d, nil
	}), nil
}

// Adapters lists the GPUs of this machine, those of the preferred driver first, the best one of
// each first. A GPU that several drivers reach appears once for each. If there is none, the error
// wraps [ErrDevice].
func Adapters() ([]Adapter, error) {
	all, err := listAdapters(gpuDrivers())
	if err != nil {
		return nil, deviceError(err)
	}
	return all, nil
}

func listAdapters(drivers []namedDriver) (all []Adapter, failed error) {
	failed = checkDrivers(drivers)
	for _, d := range drivers {
		list, err := d.Adapters()
		if err != nil {
			failed = joinDriver(failed, d, drivers, err)
		}
		for i, a := range list {
			a.Device = fmt.Sprintf("%s:%d", d.name, i)
			all = append(all, a)
		}
	}
	if len(all) > 0 {
		failed = nil
	}
	return all, failed
}
