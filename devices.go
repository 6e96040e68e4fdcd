package compress

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/opengl"
	"github.com/gopz/compress/gpu/webgpu"
	"github.com/gopz/compress/pipeline"
)

// Device is what may stand behind a scheduler, in the words of package gpu.
type Device = gpu.Device

// NewSoftDevice returns a device in software, which does the work with the CPU's code: for tests and experiments, slower than no
// device.
func NewSoftDevice(cfg gpu.SoftConfig) Device { return gpu.NewSoft(pipeline.Host, cfg) }

// gpuKind is a way to GPUs.
type gpuKind struct {
	name    string
	title   string // for people
	built   bool
	tags    string // to build it with
	list    func() ([]gpu.Adapter, error)
	open    func(n int) (Device, error)
	best    func() (Device, error)
	promise func() gpu.Info
}

// gpuKinds are the ways to GPUs that there are, the best one first.
var gpuKinds = []gpuKind{
	{"webgpu", "WebGPU", webgpu.Built, "webgpu", webgpu.List, webgpu.Open, webgpu.OpenBest, webgpu.Promise},
	{"opengl", "OpenGL on Linux", opengl.Built, `"opengl egl"`, opengl.List, opengl.Open, opengl.OpenBest, opengl.Promise},
}

// softName is the name of the device in software.
const softName = "soft"

// builtKinds are those of this build; without any it is an error that says how to build them.
func builtKinds() (list []gpuKind, err error) {
	for _, k := range gpuKinds {
		if k.built {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		help := "this build has no GPU support; build with: CGO_ENABLED=1 go build -tags " + gpuKinds[0].tags + " ./cmd/pz"
		for _, k := range gpuKinds[1:] {
			help += ", or with -tags " + k.tags + " for " + k.title
		}
		return nil, errors.New(help)
	}
	return list, nil
}

var errWhich = errors.New("there is no such device")

// Devices lists the names that OpenDevice knows in this build, whether or not the machine has such a device, the best one first.
func Devices() []string {
	var names []string
	for _, k := range gpuKinds {
		if k.built {
			names = append(names, k.name)
		}
	}
	return append(names, softName)
}

// OpenDevice opens a device by one of the names that [Devices] lists or that [GPUs] tells, or, if the name is empty, the best GPU of this machine, which is
// none in software. If there is none the error is [ErrDevice]. The caller closes the device.
func OpenDevice(name string) (Device, error) {
	var d Device
	var err error
	kind, which, _ := strings.Cut(name, ":")
	i := slices.IndexFunc(gpuKinds, func(k gpuKind) bool { return k.name == kind })
	switch {
	case name == "":
		d, err = openBest()
	case kind == softName && which == "":
		return NewSoftDevice(gpu.SoftConfig{}), nil
	case kind == softName:
		err = errWhich
	case i < 0:
		return nil, deviceError(fmt.Sprintf("no device is called %q; this build knows %s", name, strings.Join(Devices(), ", ")), nil)
	default:
		n := 0
		if which != "" {
			if n, err = strconv.Atoi(which); err != nil {
				err = errWhich
			}
		}
		if err == nil {
			d, err = gpuKinds[i].open(n)
		}
	}
	if err != nil {
		return nil, deviceError("", err)
	}
	return d, nil
}

// openBest opens the best GPU by the best way that leads to one.
func openBest() (Device, error) {
	list, failed := builtKinds()
	for _, k := range list {
		d, err := k.best()
		if err == nil {
			return d, nil
		}
		failed = joinKind(failed, k, list, err)
	}
	return nil, failed
}

// joinKind adds what went wrong with a kind, with its name if there are several.
func joinKind(failed error, k gpuKind, list []gpuKind, err error) error {
	switch {
	case len(list) == 1:
		return err
	case failed == nil:
		return fmt.Errorf("%s: %w", k.name, err)
	}
	return fmt.Errorf("%w; %s: %w", failed, k.name, err)
}

func deviceError(detail string, err error) error {
	return &Error{Kind: ErrDevice, Block: -1, Offset: -1, Detail: detail, Err: err}
}

// LazyDevice is a GPU for those who take one if there is one: it starts in the background after some blocks that it might have taken, and until then the CPU does
// everything. If it is known beforehand that there is no GPU, the error is [ErrDevice]. The caller closes the device.
func LazyDevice() (*gpu.Lazy, error) {
	list, err := builtKinds()
	if err == nil {
		err = gpu.Plausible()
	}
	if err != nil {
		return nil, deviceError("", err)
	}
	return gpu.NewLazy(list[0].promise(), lazyAfter, func() (Device, error) { return OpenDevice("") }), nil
}

// lazyAfter is how many blocks that a GPU might have had the CPU gets before one is started, which takes a tenth of a second: in that time two processors match 4 blocks of 4 MiB, or decode
// some 80. A file of fewer has no use for one.
const lazyAfter = 16

// Adapter is a GPU of this machine, or a program that plays one.
type Adapter struct {
	Device string // its name for OpenDevice
	Name   string
	Kind   string // "discrete", "integrated", "other", "software"
	Driver string // through what it is reached, and its numbers of vendor and device, or the driver's version
}

// GPUs lists the GPUs of this machine, by the best way first, the best one of each first. One that is reached in several ways is there for each of them.
// If there is none, or the build knows none, the error is [ErrDevice].
func GPUs() ([]Adapter, error) {
	kinds, failed := builtKinds()
	var all []Adapter
	for _, k := range kinds {
		list, err := k.list()
		if err != nil {
			failed = joinKind(failed, k, kinds, err)
		}
		for i, a := range list {
			all = append(all, Adapter{fmt.Sprintf("%s:%d", k.name, i), a.Name, a.Kind.String(), strings.TrimSpace(a.Backend + " " + a.IDs)})
		}
	}
	if len(all) == 0 {
		return nil, deviceError("", failed)
	}
	return all, nil
}
