package compress

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopz/compress/gpu"
)

// TestDeviceOrder: of two ways to a GPU the first one is taken, and of one that has none the next.
func TestDeviceOrder(t *testing.T) {
	saved := gpuKinds
	defer func() { gpuKinds = saved }()
	opened := ""
	kind := func(name string, kinds ...gpu.Kind) gpuKind {
		return gpuKind{name: name, built: true, promise: func() gpu.Info { return gpu.Info{Name: name, Concurrent: 1} },
			list: func() (list []gpu.Adapter, err error) {
				for _, k := range kinds {
					list = append(list, gpu.Adapter{Name: name, Kind: k})
				}
				if len(list) == 0 {
					err = gpu.ErrNoGPU
				}
				return list, err
			},
			open: func(n int) (Device, error) {
				opened = fmt.Sprint(name, n)
				return NewSoftDevice(gpu.SoftConfig{}), nil
			},
			best: func() (Device, error) {
				var list []gpu.Adapter
				for _, k := range kinds {
					list = append(list, gpu.Adapter{Name: name, Kind: k})
				}
				n, err := gpu.Best(list)
				if err != nil {
					return nil, err
				}
				opened = fmt.Sprint(name, n)
				return NewSoftDevice(gpu.SoftConfig{}), nil
			}}
	}
	for _, tt := range []struct {
		kinds []gpuKind
		want  string
		names string
	}{
		{[]gpuKind{kind("a", gpu.Other, gpu.Software), kind("b", gpu.Discrete)}, "a0", "a:0 a:1 b:0"},
		{[]gpuKind{kind("a", gpu.Software), kind("b", gpu.Integrated)}, "b0", "a:0 b:0"},
		{[]gpuKind{kind("a"), kind("b", gpu.Integrated)}, "b0", "b:0"},
		{[]gpuKind{kind("a", gpu.Software), kind("b", gpu.Software)}, "", "a:0 b:0"},
		{[]gpuKind{kind("a"), kind("b")}, "", ""},
		{[]gpuKind{{name: "a", tags: "test"}}, "", ""},
	} {
		gpuKinds, opened = tt.kinds, ""
		d, err := OpenDevice("")
		if opened != tt.want || (err == nil) != (tt.want != "") || err != nil && !errors.Is(err, ErrDevice) {
			t.Errorf("%q is opened, want %q: %v", opened, tt.want, err)
		}
		if d != nil {
			d.Close()
		}
		list, err := GPUs()
		var names []string
		for _, a := range list {
			names = append(names, a.Device)
		}
		if got := strings.Join(names, " "); got != tt.names || (err == nil) != (got != "") {
			t.Errorf("%q, want %q: %v", got, tt.names, err)
		}
	}
}
