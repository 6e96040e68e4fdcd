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

// stage plays EGL: what there is behind each way, in the order of names, and none behind names that begin with "no".
type stage struct {
	t       *testing.T
	names   []string
	started []string
	open    int
}

func (s *stage) start(w way, patience time.Duration) (*driver, error) {
	if patience <= 0 || patience > startPatience {
		s.t.Errorf("patience %v", patience)
	}
	at := w.number + 1
	if w.kind == surfaceless {
		at = 0
	}
	name := s.names[at]
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

// TestChoose: the list has no adapter twice, hardware comes first, and no more contexts are started than it takes.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		names   string // without a surface, devices, the default display
		list    string
		started []int // for number 0, 1, …
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
		all := []way{{surfaceless, 0}}
		for i := range len(s.names) - 2 {
			all = append(all, way{surfaceless + 1, i})
		}
		last := way{surfaceless + 2, len(s.names) - 2}
		list, err := find(all, last, s.start, func(found) bool { return false })
		var names []string
		for _, a := range list.adapters() {
			names = append(names, a.Name)
		}
		if got := strings.Join(names, " "); got != tt.list || (err == nil) != (got != "") || err != nil && !errors.Is(err, gpu.ErrNoGPU) {
			t.Errorf("%s: %q: %v", tt.names, got, err)
		}
		list.close(nil)
		for n, want := range append(tt.started, -1) {
			s.started = nil
			d, err := choose(all, last, s.start, n)
			if n == len(tt.started) {
				if d != nil || err == nil {
					t.Errorf("%s: there is number %d", tt.names, n)
				}
				continue
			}
			if err != nil || d.adapter.Name != names[n] || len(s.started) != want || s.open != 1 {
				t.Fatalf("%s, number %d: %v, %v, %d are open", tt.names, n, err, s.started, s.open)
			}
			d.Close()
		}
		if s.open != 0 {
			t.Errorf("%s: %d are open", tt.names, s.open)
		}
		if d, err := choose(all, last, s.start, -1); d != nil || err == nil || s.open != 0 {
			t.Errorf("%s: number -1: %v", tt.names, fmt.Sprint(d, err))
		}
	}
}
