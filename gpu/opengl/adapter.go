//go:build opengl && cgo && linux

package opengl

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
)

// A driver may take startPatience to start, and all of a list twice that. It takes some tenths of a second, and seconds if it wakes GPUs first.
const startPatience = 10 * time.Second

// found are drivers that have been started, the best one first.
type found []*driver

// starts is how a driver is started: a parameter for tests.
type starts func(w way, patience time.Duration) (*driver, error)

// find starts the driver of each adapter, but no more of them once enough says so. The caller closes them.
func find(all []way, last way, start starts, enough func(found) bool) (list found, err error) {
	deadline := time.Now().Add(2 * startPatience)
	var failed error
	var single *driver // the one without a surface, which is one of the devices, if these are listed
	try := func(w way) {
		d, err := (*driver)(nil), errStart
		if left := time.Until(deadline); left > 0 {
			d, err = start(w, min(left, startPatience))
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%v: %w", w, err))
			return
		}
		if w.kind == surfaceless {
			single = d
		} else if single != nil && single.adapter == d.adapter {
			// Two devices with the same name are two.
			single = nil
			d.Close()
			return
		}
		// Those in hardware come before those in software, and else in the order in which they are tried.
		at := len(list)
		for at > 0 && list[at-1].adapter.Kind > d.adapter.Kind {
			at--
		}
		list = slices.Insert(list, at, d)
	}
	for _, w := range all {
		if try(w); enough(list) {
			return list, nil
		}
	}
	if len(list) == 0 {
		try(last)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w; on Linux it takes libEGL and a driver with OpenGL 4.3: %w", gpu.ErrNoGPU, failed)
	}
	return list, nil
}

// close closes all but one of the drivers.
func (list found) close(but *driver) {
	for _, d := range list {
		if d != but {
			d.Close()
		}
	}
}

func (list found) adapters() (all []gpu.Adapter) {
	for _, d := range list {
		all = append(all, d.adapter)
	}
	return all
}

// have reports whether number n of the list is known, whatever is found besides: it is if there is hardware as far as that.
func (list found) have(n int) bool {
	return n >= 0 && n < len(list) && list[n].adapter.Kind != gpu.Software
}

// listAdapters returns the system's adapters, the best one first.
func listAdapters() ([]gpu.Adapter, error) {
	all, last, err := ways()
	if err != nil {
		return nil, err
	}
	list, err := find(all, last, start, func(found) bool { return false })
	if err != nil {
		return nil, err
	}
	defer list.close(nil)
	return list.adapters(), nil
}

// openBest starts the best adapter, unless that is a software adapter. The caller closes the device.
func openBest() (gpu.Device, error) {
	d, err := openDriver(0)
	if err != nil {
		return nil, err
	}
	if _, err := gpu.Best([]gpu.Adapter{d.adapter}); err != nil {
		d.Close()
		return nil, err
	}
	return asDevice(newDevice(d, host.Config{}))
}

func asDevice(d *host.Device, err error) (gpu.Device, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

func open(n int, c host.Config) (*host.Device, error) {
	d, err := openDriver(n)
	if err != nil {
		return nil, err
	}
	return newDevice(d, c)
}

// newDevice fills in what the device is called and of what kind it is.
func newDevice(d *driver, c host.Config) (*host.Device, error) {
	c.Name, c.Kind = d.adapter.Name, d.adapter.Kind
	dev, err := host.New(d, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return dev, nil
}

func openDriver(n int) (*driver, error) {
	all, last, err := ways()
	if err != nil {
		return nil, err
	}
	return choose(all, last, start, n)
}

// choose starts number n of the list, and closes what else it has to start for that.
func choose(all []way, last way, start starts, n int) (*driver, error) {
	list, err := find(all, last, start, func(list found) bool { return list.have(n) })
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= len(list) {
		list.close(nil)
		return nil, fmt.Errorf("there is no GPU number %d, only %d", n, len(list))
	}
	list.close(list[n])
	return list[n], nil
}
