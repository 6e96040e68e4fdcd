package compress

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/pipeline"
)

// Device does block work for a scheduler; see package gpu.
type Device = gpu.Device

// NewSoftDevice returns a device that does the work with the CPU's own code. It is slower than no
// device, and meant for tests and experiments.
func NewSoftDevice(cfg gpu.SoftConfig) Device { return gpu.NewSoft(pipeline.Host, cfg) }

// softName is the name of the software device.
const softName = "soft"

// namedDriver is a registered gpu.Driver.
type namedDriver struct {
	name string
	gpu.Driver
}

// gpuTags holds the build tags of each GPU driver of this module, the preferred driver first.
var gpuTags = []struct{ name, tags string }{
	{"webgpu", "webgpu"},
	{"opengl", "opengl,egl"},
}

// gpuDrivers returns the drivers linked into this program, those of gpuTags first.
func gpuDrivers() (list []namedDriver) {
	rest := gpu.Drivers()
	for _, known := range gpuTags {
		if i := slices.Index(rest, known.name); i >= 0 {
			list = append(list, namedDriver{known.name, gpu.FindDriver(known.name)})
			rest = slices.Delete(rest, i, i+1)
		}
	}
	for _, name := range rest {
		list = append(list, namedDriver{name, gpu.FindDriver(name)})
	}
	return list
}

// notLinked returns the error of a program that lacks a GPU driver.
func notLinked(what, name, tags string) error {
	return fmt.Errorf("no %s is linked in; import github.com/gopz/compress/gpu/%s "+
		"and build with -tags %s", what, name, tags)
}

// Devices returns the names that OpenDevice accepts in this program, the preferred one first. The
// machine need not have such a device.
//
// A program links a GPU driver in by a blank import of gpu/webgpu or gpu/opengl and their build
// tags.
func Devices() []string {
	var names []string
	for _, d := range gpuDrivers() {
		names = append(names, d.name)
	}
	return append(names, softName)
}

// errNoDevice is the error for a number that no adapter has.
var errNoDevice = errors.New("there is no such device")

// OpenDevice opens a device by a name that [Devices] or [GPUs] returns. If the name is empty, it
// opens the best GPU of this machine, never a software adapter. The error is [ErrDevice] if there
// is no such device. The caller closes the device.
func OpenDevice(name string) (Device, error) {
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
	base gpu.Info, open func() (Device, error), err error,
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
			return base, nil, errNoDevice
		}
		d := NewSoftDevice(gpu.SoftConfig{})
		return d.Info(), func() (Device, error) { return d, nil }, nil
	}
	n := 0
	if numbered {
		n, err = strconv.Atoi(number)
		if err != nil {
			return base, nil, errNoDevice
		}
	}
	for _, d := range drivers {
		if d.name == kind {
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
	return errs.Wrap(ErrDevice, err)
}

// LazyDevice returns a device that starts in the background once the workers have spent about eight
// seconds on work that it could have done. So a start never costs much, and never holds anything
// up. An empty name stands for the best GPU, as in [OpenDevice]. The error is [ErrDevice] if the
// program has no such driver, or, with an empty name, if the machine certainly has no GPU. Other
// errors are those of the start; [gpu.Lazy.StartError] returns them. With [BackendFused] its batches have
// 16 MiB, because the memory of the GPU is not known yet. The caller closes the device.
func LazyDevice(name string) (*gpu.Lazy, error) {
	base, open, err := findDevice(name, gpuDrivers())
	if err == nil && name == "" {
		err = gpu.CheckDeviceFiles()
	}
	if err != nil {
		return nil, deviceError(err)
	}
	return gpu.NewLazy(base, func() (Device, error) {
		d, err := open()
		if err != nil {
			return nil, deviceError(err)
		}
		return d, nil
	}), nil
}

// Adapter describes a GPU of this machine, or a program that emulates one.
type Adapter struct {
	Device string // name for OpenDevice
	Name   string
	Kind   string // "discrete", "integrated", "other", "software"
	Driver string // programming interface, then vendor and device numbers or the driver's version
}

// GPUs lists the GPUs of this machine, those of the preferred driver first, the best one of each
// first. A GPU that several drivers reach appears once for each. If there is none, the error is
// [ErrDevice].
func GPUs() ([]Adapter, error) {
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
			all = append(all, Adapter{
				Device: fmt.Sprintf("%s:%d", d.name, i),
				Name:   a.Name,
				Kind:   a.Kind.String(),
				Driver: strings.TrimSpace(a.Backend + " " + a.IDs),
			})
		}
	}
	if len(all) > 0 {
		failed = nil
	}
	return all, failed
}
