package main

import (
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
)

// device is a kind of device that blocks can be given to. To add one, add a row to devices.
type device struct {
	name     string
	hardware bool        // false: takes the processor's time
	present  func() bool // whether this machine has one
	open     func(c *config) (gpu.Device, error)
}

// devices in the order in which they are preferred.
var devices = []device{
	{"webgpu", true, hasGPU, func(c *config) (gpu.Device, error) { return compress.OpenDevice("webgpu") }},
	{"soft", false, func() bool { return true },
		func(c *config) (gpu.Device, error) { return compress.NewSoftDevice(c.soft), nil }},
}

// hasGPU reports whether the machine has a GPU that this build knows, and that is one.
func hasGPU() bool {
	list, err := compress.GPUs()
	return err == nil && list[0].Kind != "software"
}

// setDevice chooses the device: the one that was named, else one in hardware, else, if the run insists on one, any.
func (c *config) setDevice(name string) error {
	if name != "" {
		var names []string
		for i := range devices {
			if devices[i].name == name {
				if c.match == compress.CPU && c.entropy == compress.CPU {
					return usagef("--gpu-device: nothing is to run on it")
				}
				c.device = &devices[i]
				return nil
			}
			names = append(names, devices[i].name)
		}
		return usagef("--gpu-device: there is %s, not %q", strings.Join(names, ", "), name)
	}
	if c.match == compress.CPU && c.entropy == compress.CPU {
		return nil
	}
	insists := c.match == compress.GPU || c.entropy == compress.GPU
	for i := range devices {
		if d := &devices[i]; (d.hardware || insists) && d.present() {
			c.device = d
			return nil
		}
	}
	return nil
}

func (c *config) deviceName() string {
	if c.device == nil {
		return "none"
	}
	return c.device.name
}
