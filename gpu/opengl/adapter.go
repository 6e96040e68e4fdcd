//go:build opengl && cgo && linux

package opengl

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
)

// Built reports whether the package is built in.
const Built = true

// Promise is what a device of this package may be counted on to be, for [gpu.Lazy].
func Promise() gpu.Info { return host.Promise("opengl") }

// found is an adapter, and the way to it.
type found struct {
	gpu.Adapter
	way way
}

// enumerate lists the adapters, the best one first.
func enumerate() ([]found, error) {
	if os.Getenv("EGL_LOG_LEVEL") == "" {
		// What goes wrong comes back as an error, and is not for standard error.
		os.Setenv("EGL_LOG_LEVEL", "fatal")
	}
	var list []found
	var failed error
	try := func(w way) {
		d, err := start(w)
		if err != nil {
			failed = errors.Join(failed, err)
			return
		}
		d.Close()
		list = append(list, found{d.adapter, w})
	}
	all, last := ways()
	for _, w := range all {
		try(w)
	}
	if len(list) == 0 {
		try(last)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w; on Linux it takes libEGL and a driver with OpenGL 4.3: %w", gpu.ErrNoGPU, failed)
	}
	// The one without a surface is one of the devices, if these are listed; two devices with the same name are two.
	for i := 1; i < len(list) && list[0].way.kind != list[1].way.kind; i++ {
		if list[i].Adapter == list[0].Adapter {
			list = slices.Delete(list, i, i+1)
			break
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return int(a.Kind) - int(b.Kind) })
	return list, nil
}

// List returns the system's adapters, the best one first.
func List() ([]gpu.Adapter, error) {
	list, err := enumerate()
	if err != nil {
		return nil, err
	}
	var all []gpu.Adapter
	for _, f := range list {
		all = append(all, f.Adapter)
	}
	return all, nil
}

// Open starts the adapter with that number in the list of List. The caller closes the device.
func Open(n int) (gpu.Device, error) {
	d, err := open(n, host.Config{})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// open fills in what the device is called and of what kind it is.
func open(n int, c host.Config) (*host.Device, error) {
	d, err := openDriver(n)
	if err != nil {
		return nil, err
	}
	c.Name, c.Kind = d.adapter.Name, d.adapter.Kind
	dev, err := host.New(d, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return dev, nil
}

func openDriver(n int) (*driver, error) {
	list, err := enumerate()
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= len(list) {
		return nil, fmt.Errorf("there is no GPU number %d, only %d", n, len(list))
	}
	return start(list[n].way)
}
