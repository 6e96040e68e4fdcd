package compress

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/webgpu"
	"github.com/gopz/compress/pipeline"
)

// Device is what may stand behind a scheduler, in the words of package gpu.
type Device = gpu.Device

// NewSoftDevice returns a device in software, which does the work with the CPU's code: for tests and experiments, slower than no
// device.
func NewSoftDevice(cfg gpu.SoftConfig) Device { return gpu.NewSoft(pipeline.Host, cfg) }

// devices are the kinds of devices that there are, the best one first.
var devices = []struct {
	name  string
	built bool
	// open opens the best one if which is empty, else the one that which names.
	open func(which string) (Device, error)
}{
	{webGPU, webgpu.Built, openWebGPU},
	{"soft", true, func(which string) (Device, error) {
		if which != "" {
			return nil, errWhich
		}
		return NewSoftDevice(gpu.SoftConfig{}), nil
	}},
}

const webGPU = "webgpu"

var errWhich = errors.New("there is no such device")

// Devices lists the names that OpenDevice knows in this build, whether or not the machine has such a device.
func Devices() []string {
	var names []string
	for _, d := range devices {
		if d.built {
			names = append(names, d.name)
		}
	}
	return names
}

// OpenDevice opens a device by one of the names that [Devices] lists or that [GPUs] tells, or, if the name is empty, the best GPU of this machine, which is
// none in software. If there is none the error is [ErrDevice]. The caller closes the device.
func OpenDevice(name string) (Device, error) {
	if name == "" {
		n, err := webgpu.Best()
		if err != nil {
			return nil, deviceError("", err)
		}
		d, err := webgpu.Open(n)
		if err != nil {
			return nil, deviceError("", err)
		}
		return d, nil
	}
	kind, which, _ := strings.Cut(name, ":")
	for _, d := range devices {
		if d.name == kind {
			dev, err := d.open(which)
			if err != nil {
				return nil, deviceError("", err)
			}
			return dev, nil
		}
	}
	return nil, deviceError(fmt.Sprintf("no device is called %q; this build knows %s", name, strings.Join(Devices(), ", ")), nil)
}

func deviceError(detail string, err error) error {
	return &Error{Kind: ErrDevice, Block: -1, Offset: -1, Detail: detail, Err: err}
}

func openWebGPU(which string) (Device, error) {
	n := 0
	if which != "" {
		var err error
		if n, err = strconv.Atoi(which); err != nil {
			return nil, errWhich
		}
	}
	return webgpu.Open(n)
}

// LazyDevice is a GPU for those who take one if there is one: it starts in the background after some blocks that it might have taken, and until then the CPU does
// everything. If it is known beforehand that there is no GPU, the error is [ErrDevice]. The caller closes the device.
func LazyDevice() (*gpu.Lazy, error) {
	err := gpu.Plausible()
	if !webgpu.Built {
		err = webgpu.ErrNotBuilt
	}
	if err != nil {
		return nil, deviceError("", err)
	}
	return gpu.NewLazy(webgpu.Promise(), lazyAfter, func() (Device, error) { return OpenDevice("") }), nil
}

// lazyAfter is how many blocks the CPU gets before a GPU is started: it takes a tenth of a second until that is up, in which two
// processors do that many blocks of 1 MiB.
const lazyAfter = 16

// Adapter is a GPU of this machine, or a program that plays one.
type Adapter struct {
	Device string // its name for OpenDevice
	Name   string
	Kind   string // "discrete", "integrated", "other", "software"
	Driver string // through what it is reached, and its numbers of vendor and device
}

// GPUs lists the GPUs of this machine, the best one first. If there is none, or the build knows none, the error is [ErrDevice].
func GPUs() ([]Adapter, error) {
	list, err := webgpu.List()
	if err != nil {
		return nil, deviceError("", err)
	}
	var all []Adapter
	for i, a := range list {
		all = append(all, Adapter{fmt.Sprintf("%s:%d", webGPU, i), a.Name, a.Kind.String(), strings.TrimSpace(a.Backend + " " + a.IDs)})
	}
	return all, nil
}
