package gpu

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrNoGPU is the error of a system without a suitable adapter. It may lack a driver.
var ErrNoGPU = errors.New("no GPU found")

// Adapter describes a GPU, or a program that emulates one.
type Adapter struct {
	Device  string // name for Open, in the list of Adapters
	Name    string
	Kind    Kind
	Backend string // programming interface: "vulkan", "metal", "d3d12", "opengl"
	IDs     string // hexadecimal numbers of vendor and device, or the driver's version; may be empty
	Memory  uint64 // bytes of memory that the adapter has for itself; 0 if unknown
}

// Driver returns the programming interface, and what IDs says.
func (a *Adapter) Driver() string { return strings.TrimSpace(a.Backend + " " + a.IDs) }

// Kind is a kind of adapter. Better kinds have smaller numbers.
type Kind uint8

const (
	Discrete Kind = iota
	Integrated
	Other
	Software // runs kernels on the CPU
)

func (k Kind) String() string {
	return [...]string{"discrete", "integrated", "other", "software"}[k]
}

// Best returns the index of the adapter to use from a list with the best one first. It returns
// ErrNoGPU if the list is empty or has only software adapters.
func Best(list []Adapter) (int, error) {
	switch {
	case len(list) == 0:
		return 0, ErrNoGPU
	case list[0].Kind == Software:
		return 0, fmt.Errorf("%w, only the software adapter %s", ErrNoGPU, list[0].Name)
	}
	return 0, nil
}

// CheckDeviceFiles returns ErrNoGPU if this is a Linux machine without a device file of a GPU. It
// starts nothing. On other systems it always returns nil.
func CheckDeviceFiles() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	for _, pattern := range []string{"/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/dxg"} {
		if list, _ := filepath.Glob(pattern); len(list) > 0 {
			return nil
		}
	}
	return ErrNoGPU
}
