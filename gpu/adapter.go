package gpu

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
)

// ErrNoGPU says that the system has no adapter that would do. It may lack a driver.
var ErrNoGPU = errors.New("no GPU found")

// Adapter is what the system calls a GPU, or a program that plays one.
type Adapter struct {
	Name    string
	Kind    Kind
	Backend string // through what it is reached: "vulkan", "metal", "d3d12", "opengl"
	IDs     string // numbers of vendor and device, in hexadecimal, or the driver's names for itself; may be empty
}

// Kind is a kind of adapter; the best one first.
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

// Best is the number in a list of adapters, the best one first, of that to use: the first one, unless it is of kind Software.
func Best(list []Adapter) (int, error) {
	switch {
	case len(list) == 0:
		return 0, ErrNoGPU
	case list[0].Kind == Software:
		return 0, fmt.Errorf("%w, but %s, which is none", ErrNoGPU, list[0].Name)
	}
	return 0, nil
}

// CheckDeviceFiles reports whether there may be a GPU, without starting anything: on Linux there is a device file for it.
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
