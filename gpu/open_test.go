package gpu

import (
	"errors"
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

// TestOpenRegistered opens devices by the drivers that a program has linked in.
func TestOpenRegistered(t *testing.T) {
	for _, name := range []string{"", "webgpu", "none", "soft:1", "soft:x"} {
		if _, err := Open(name); !errors.Is(err, ErrDevice) {
			t.Errorf("Open(%q) without a driver: %v, want ErrDevice", name, err)
		}
		if _, err := OpenLazy(name); !errors.Is(err, ErrDevice) {
			t.Errorf("OpenLazy(%q) without a driver: %v, want ErrDevice", name, err)
		}
	}
	if list, err := Adapters(); !errors.Is(err, ErrDevice) {
		t.Errorf("Adapters without a driver: %v, %v", list, err)
	}
	var opened string
	Register("test-a", fakeDriver{"test-a", []Kind{Integrated, Software}, &opened})
	Register("webgpu", fakeDriver{"webgpu", nil, &opened})
	defer func() {
		delete(drivers.byName, "test-a")
		delete(drivers.byName, "webgpu")
	}()
	if got := strings.Join(Devices(), " "); !strings.HasPrefix(got, "webgpu test-a") {
		t.Errorf("Devices() = %s", got)
	}
	list, err := Adapters()
	if err != nil || len(list) != 2 || list[1].Device != "test-a:1" || list[1].Kind.String() != "software" {
		t.Errorf("Adapters() = %+v, %v", list, err)
	}
	d, err := Open("test-a:1")
	if err != nil || opened != "test-a1" {
		t.Fatalf("Open(test-a:1) opens %q, error %v", opened, err)
	}
	d.Close()
	if _, err := Open("test-a:one"); !errors.Is(err, ErrDevice) {
		t.Errorf("Open(test-a:one): %v", err)
	}
	l, err := OpenLazy("test-a")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if l, err := OpenLazy(""); CheckDeviceFiles() != nil && !errors.Is(err, ErrDevice) {
		t.Errorf("OpenLazy without a GPU: %v, %v", l, err)
	}
	a := Adapter{Backend: "vulkan", IDs: "10de 2330"}
	if a.Driver() != "vulkan 10de 2330" || (&Adapter{Backend: "opengl"}).Driver() != "opengl" {
		t.Errorf("Driver() = %q", a.Driver())
	}
}
