//go:build opengl && cgo && linux

package opengl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
)

// stage emulates EGL. names holds the adapter of each display; displays whose name begins with "no"
// have none.
type stage struct {
	t       *testing.T
	names   []string
	started []string
	open    int
}

func (s *stage) start(disp display, timeout time.Duration) (*driver, error) {
	if timeout <= 0 || timeout > startTimeout {
		s.t.Errorf("timeout %v", timeout)
	}
	i := disp.number + 1
	if disp.kind == surfaceless {
		i = 0
	}
	name := s.names[i]
	s.started = append(s.started, name)
	if strings.HasPrefix(name, "no") {
		return nil, errors.New(name)
	}
	s.open++
	kind := gpu.Other
	if strings.HasPrefix(name, "soft") {
		kind = gpu.Software
	}
	th, err := newThread(func() error { return nil }, func() { s.open-- }, time.Minute)
	return &driver{thread: th, adapter: gpu.Adapter{Name: name, Kind: kind}}, err
}

// TestChoose checks that no adapter is listed twice, that hardware comes first, and that no more
// contexts are started than needed.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		names   string // display without a surface, devices, default display
		list    string
		started []int // contexts started to choose adapter 0, 1, …
	}{
		{"a a b none", "a b", []int{1, 3}},
		{"soft a b soft none", "a b soft", []int{2, 3, 4}},
		{"a b a b none", "a b b", []int{1, 2, 4}},
		{"a a a none", "a a", []int{1, 3}},
		{"soft soft none", "soft", []int{2}},
		{"none a soft none", "a soft", []int{2, 3}},
		{"none none b", "b", []int{3}},
		{"none none", "", nil},
		{"none a a none", "a a", []int{2, 3}},
	} {
		s := &stage{t: t, names: strings.Fields(tt.names)}
		all := []display{{surfaceless, 0}}
		for i := range len(s.names) - 2 {
			all = append(all, display{surfaceless + 1, i})
		}
		last := display{surfaceless + 2, len(s.names) - 2}
		list, err := find(all, last, s.start, func(driverList) bool { return false })
		var names []string
		for _, a := range list.adapters() {
			names = append(names, a.Name)
		}
		got := strings.Join(names, " ")
		if got != tt.list || (err == nil) != (got != "") || err != nil && !errors.Is(err, gpu.ErrNoGPU) {
			t.Errorf("%s: list %q, want %q; error %v", tt.names, got, tt.list, err)
		}
		list.closeOthers(nil)
		for n, want := range append(tt.started, -1) {
			s.started = nil
			d, err := choose(all, last, s.start, n)
			if n == len(tt.started) {
				if d != nil || err == nil {
					t.Errorf("%s: adapter %d is found", tt.names, n)
				}
				continue
			}
			if err != nil || d.adapter.Name != names[n] || len(s.started) != want || s.open != 1 {
				t.Fatalf("%s, adapter %d: error %v, started %v, %d open", tt.names, n, err, s.started, s.open)
			}
			d.close()
		}
		if s.open != 0 {
			t.Errorf("%s: %d contexts stay open", tt.names, s.open)
		}
		if d, err := choose(all, last, s.start, -1); d != nil || err == nil || s.open != 0 {
			t.Errorf("%s: adapter -1: %v", tt.names, fmt.Sprint(d, err))
		}
	}
}
