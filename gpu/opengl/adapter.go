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

// startTimeout bounds the start of one driver; a list of drivers has twice that. A start takes
// tenths of a second, or seconds if it wakes a GPU.
const startTimeout = 10 * time.Second

// driverList holds started drivers, the best one first.
type driverList []*driver

// startFunc starts the driver of a display. Tests replace it.
type startFunc func(disp display, timeout time.Duration) (*driver, error)

// find starts the driver of each adapter until enough returns true. It tries last if all others
// fail. The caller closes the drivers.
func find(
	all []display, last display, start startFunc, enough func(driverList) bool,
) (list driverList, err error) {
	deadline := time.Now().Add(2 * startTimeout)
	var failed error
	var single *driver // of the display without a surface; EGL may list its device, too
	try := func(disp display) {
		d, err := (*driver)(nil), errStartTimeout
		if left := time.Until(deadline); left > 0 {
			d, err = start(disp, min(left, startTimeout))
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%v: %w", disp, err))
			return
		}
		if disp.kind == surfaceless {
			single = d
		} else if single != nil && single.adapter == d.adapter {
			single = nil // a second device with the same name is another GPU
			d.close()
			return
		}
		// Better kinds come first. Drivers of one kind keep the order of displays.
		at := len(list)
		for at > 0 && list[at-1].adapter.Kind > d.adapter.Kind {
			at--
		}
		list = slices.Insert(list, at, d)
	}
	for _, disp := range all {
		try(disp)
		if enough(list) {
			return list, nil
		}
	}
	if len(list) == 0 {
		try(last)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w; on Linux install libEGL and a driver with OpenGL 4.3: %w",
			gpu.ErrNoGPU, failed)
	}
	return list, nil
}

// closeOthers closes all drivers but one.
func (list driverList) closeOthers(but *driver) {
	for _, d := range list {
		if d != but {
			d.close()
		}
	}
}

func (list driverList) adapters() (all []gpu.Adapter) {
	for _, d := range list {
		all = append(all, d.adapter)
	}
	return all
}

// final reports whether driver n keeps its number whatever else is found: all drivers up to it are
// hardware.
func (list driverList) final(n int) bool {
	return n >= 0 && n < len(list) && list[n].adapter.Kind != gpu.Software
}

// listAdapters returns the adapters of this machine, the best one first.
func listAdapters() ([]gpu.Adapter, error) {
	all, last, err := displays()
	if err != nil {
		return nil, err
	}
	list, err := find(all, last, start, func(driverList) bool { return false })
	if err != nil {
		return nil, err
	}
	defer list.closeOthers(nil)
	return list.adapters(), nil
}

// openBest starts the best adapter, unless that is a software adapter. The caller closes the
// device.
func openBest() (gpu.Device, error) {
	begin := time.Now()
	d, err := openDriver(0)
	if err != nil {
		return nil, err
	}
	if _, err := gpu.Best([]gpu.Adapter{d.adapter}); err != nil {
		d.close()
		return nil, err
	}
	return asDevice(newDevice(d, host.Config{Begin: begin}))
}

func asDevice(d *host.Device, err error) (gpu.Device, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// open opens adapter n. It sets c.Name, c.Kind and c.Begin.
func open(n int, c host.Config) (*host.Device, error) {
	c.Begin = time.Now()
	d, err := openDriver(n)
	if err != nil {
		return nil, err
	}
	return newDevice(d, c)
}

// newDevice returns a device on a driver. It sets c.Name and c.Kind.
func newDevice(d *driver, c host.Config) (*host.Device, error) {
	c.Name, c.Kind = d.adapter.Name, d.adapter.Kind
	dev, err := host.New(d, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return dev, nil
}

func openDriver(n int) (*driver, error) {
	all, last, err := displays()
	if err != nil {
		return nil, err
	}
	return choose(all, last, start, n)
}

// choose returns driver n of the list, and closes all others that it starts to find it.
func choose(all []display, last display, start startFunc, n int) (*driver, error) {
	list, err := find(all, last, start, func(list driverList) bool { return list.final(n) })
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= len(list) {
		list.closeOthers(nil)
		return nil, fmt.Errorf("no GPU has the number %d; there are %d, from 0", n, len(list))
	}
	list.closeOthers(list[n])
	return list[n], nil
}
