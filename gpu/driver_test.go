package gpu

import (
	"slices"
	"testing"
)

type testDriver struct{ Driver }

func TestRegister(t *testing.T) {
	before := Drivers()
	d := &testDriver{}
	Register("test-b", d)
	Register("test-a", &testDriver{})
	defer func() {
		delete(drivers.byName, "test-a")
		delete(drivers.byName, "test-b")
	}()
	want := append(before, "test-a", "test-b")
	slices.Sort(want)
	if got := Drivers(); !slices.Equal(got, want) {
		t.Errorf("Drivers() = %q, want %q", got, want)
	}
	if FindDriver("test-b") != d || FindDriver("test-c") != nil {
		t.Error("FindDriver returns another driver than Register was given")
	}
	for name, register := range map[string]func(){
		"duplicate": func() { Register("test-a", d) },
		"no name":   func() { Register("", d) },
		"nil":       func() { Register("test-c", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("Register does not panic")
				}
			}()
			register()
		})
	}
}
