package gpu

import (
	"fmt"
	"strings"
	"testing"
)

// fakeDriver is a driver with adapters of the given kinds.
type fakeDriver struct {
	name   string
	kinds  []Kind
	opened *string // name and number of the adapter opened last
}

func (d fakeDriver) BaseInfo() Info { return Info{Name: d.name, Concurrent: 1} }

func (d fakeDriver) Adapters() (list []Adapter, err error) {
	for _, k := range d.kinds {
		list = append(list, Adapter{Name: d.name, Kind: k})
	}
	if len(list) == 0 {
		err = ErrNoGPU
	}
	return list, err
}

func (d fakeDriver) Open(n int) (Device, error) {
	*d.opened = fmt.Sprint(d.name, n)
	return NewSoft(nil, SoftConfig{}), nil
}

func (d fakeDriver) OpenBest() (Device, error) {
	list, _ := d.Adapters()
	n, err := Best(list)
	if err != nil {
		return nil, err
	}
	return d.Open(n)
}

// TestDeviceOrder checks that the first driver with a hardware GPU wins, and how GPUs are numbered.
func TestDeviceOrder(t *testing.T) {
	var opened string
	driver := func(name string, kinds ...Kind) namedDriver {
		return namedDriver{name, fakeDriver{name, kinds, &opened}}
	}
	for _, tt := range []struct {
		drivers []namedDriver
		want    string
		names   string
	}{
		{
			[]namedDriver{driver("a", Other, Software), driver("b", Discrete)}, "a0",
			"a:0 a:1 b:0",
		},
		{[]namedDriver{driver("a", Software), driver("b", Integrated)}, "b0", "a:0 b:0"},
		{[]namedDriver{driver("a"), driver("b", Integrated)}, "b0", "b:0"},
		{[]namedDriver{driver("a", Software), driver("b", Software)}, "", "a:0 b:0"},
		{[]namedDriver{driver("a"), driver("b")}, "", ""},
		{nil, "", ""},
	} {
		opened = ""
		d, err := openDevice("", tt.drivers)
		if opened != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("openDevice opens %q, want %q; error %v", opened, tt.want, err)
		}
		if d != nil {
			d.Close()
		}
		list, err := listAdapters(tt.drivers)
		var names []string
		for _, a := range list {
			names = append(names, a.Device)
		}
		if got := strings.Join(names, " "); got != tt.names || (err == nil) != (got != "") {
			t.Errorf("adapters %q, want %q; error %v", got, tt.names, err)
		}
	}
	if _, err := openDevice("b:3", []namedDriver{driver("a"), driver("b")}); err != nil ||
		opened != "b3" {
		t.Errorf("openDevice(b:3) opens %q, error %v", opened, err)
	}
}
