package main

import (
	"slices"
	"strings"

	"github.com/gopz/compress"
)

// softDevice is the one device that compress.OpenDevice does not open here, for flags have its settings.
const softDevice = "soft"

// hasDevice reports whether this machine has a device of that name, which compress.Devices lists.
func hasDevice(name string) bool {
	if name == softDevice {
		return true
	}
	list, err := compress.GPUs()
	return err == nil && slices.ContainsFunc(list, func(a compress.Adapter) bool {
		kind, _, _ := strings.Cut(a.Device, ":")
		return kind == name && a.Kind != "software"
	})
}

// setDevice chooses the device: the one that was named, else one in hardware, else, if the run insists on one, any.
func (c *config) setDevice(name string) error {
	nothing := c.match == compress.CPU && c.entropy == compress.CPU
	if name != "" {
		kind, _, _ := strings.Cut(name, ":")
		switch {
		case !slices.Contains(compress.Devices(), kind):
			return usagef("--gpu-device: there is %s in this build, not %q", strings.Join(compress.Devices(), ", "), name)
		case nothing:
			return usagef("--gpu-device: nothing is to run on it")
		}
		c.device = name
		return nil
	}
	if nothing {
		return nil
	}
	insists := c.match.Strict() || c.entropy.Strict()
	for _, name := range compress.Devices() { // the best one first
		if (name != softDevice || insists) && hasDevice(name) {
			c.device = name
			return nil
		}
	}
	return nil
}

// openDevice opens the device there is to be. It is not a compress.LazyDevice, with which the first blocks would be measured on the CPU.
func (c *config) openDevice() (compress.Device, error) {
	if c.device == softDevice {
		return compress.NewSoftDevice(c.soft), nil
	}
	return compress.OpenDevice(c.device)
}

func (c *config) deviceName() string {
	if c.device == "" {
		return "none"
	}
	return c.device
}
