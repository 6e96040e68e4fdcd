package gpu

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Driver reaches the GPUs of a machine through one programming interface. Its methods may be called
// from any goroutine.
type Driver interface {
	// Adapters lists the adapters of this machine, the best one first. If there is none, the error
	// wraps ErrNoGPU.
	Adapters() ([]Adapter, error)
	// Open starts the adapter with number n in the list of Adapters. The caller closes the device.
	Open(n int) (Device, error)
	// OpenBest starts the best adapter. If that is a software adapter, the error wraps ErrNoGPU,
	// see [Best]. The caller closes the device.
	OpenBest() (Device, error)
	// BaseInfo returns what every device of this driver supports at least, for [NewLazy]. It starts
	// nothing.
	BaseInfo() Info
}

var drivers struct {
	sync.RWMutex
	byName map[string]Driver
}

// Register makes a driver available by name. Packages gpu/webgpu and gpu/opengl call it from init
// if they are built with their tags. A program links them in by a blank import. Register panics if
// the name is empty or taken, or if d is nil.
func Register(name string, d Driver) {
	drivers.Lock()
	defer drivers.Unlock()
	switch {
	case d == nil:
		panic("gpu: Register: driver is nil")
	case name == "":
		panic("gpu: Register: no name")
	case drivers.byName[name] != nil:
		panic(fmt.Sprintf("gpu: Register called twice for driver %q", name))
	}
	if drivers.byName == nil {
		drivers.byName = map[string]Driver{}
	}
	drivers.byName[name] = d
}

// Drivers returns the names of all registered drivers, sorted.
func Drivers() []string {
	drivers.RLock()
	defer drivers.RUnlock()
	return slices.Sorted(maps.Keys(drivers.byName))
}

// FindDriver returns the driver registered under name, nil if there is none.
func FindDriver(name string) Driver {
	drivers.RLock()
	defer drivers.RUnlock()
	return drivers.byName[name]
}
