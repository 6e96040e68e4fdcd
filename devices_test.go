package compress

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
)

// TestNoDriver checks that a program without GPU drivers says in one line how to link one.
func TestNoDriver(t *testing.T) {
	if list := gpu.Drivers(); len(list) > 0 {
		t.Fatalf("the root package links the GPU drivers %q", list)
	}
	for _, tt := range []struct{ name, want string }{
		{"", "import github.com/gopz/compress/gpu/webgpu and build with -tags webgpu"},
		{"webgpu:1", "import github.com/gopz/compress/gpu/webgpu and build with -tags webgpu"},
		{"opengl", "import github.com/gopz/compress/gpu/opengl and build with -tags opengl,egl"},
		{"cuda", "valid names: soft"},
	} {
		_, err := OpenDevice(tt.name)
		if !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("OpenDevice(%q): error %v, want %q in it", tt.name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("OpenDevice(%q): error of several lines: %q", tt.name, err)
		}
	}
	if _, err := GPUs(); !errors.Is(err, ErrDevice) {
		t.Errorf("GPUs: error %v, want ErrDevice", err)
	}
}

// TestOpenDevice checks the names that every build knows.
func TestOpenDevice(t *testing.T) {
	if !slices.Contains(Devices(), "soft") {
		t.Errorf("Devices() = %q, want soft among them", Devices())
	}
	d, err := OpenDevice("soft")
	if err != nil || d.Info().Name != "soft" {
		t.Fatal(d, err)
	}
	d.Close()
	d.Close()
	if d, err := OpenDevice("none"); d != nil || !errors.Is(err, ErrDevice) {
		t.Errorf("OpenDevice(none) = %v, error %v, want ErrDevice", d, err)
	}
	if d, _ := OpenDevice(""); d != nil && d.Info().Name == "soft" {
		t.Error("OpenDevice without a name opens the software device")
	}
}

// TestLazyDevice checks that LazyDevice starts nothing.
func TestLazyDevice(t *testing.T) {
	d, err := LazyDevice("")
	if err != nil {
		if d != nil || !errors.Is(err, ErrDevice) {
			t.Errorf("LazyDevice() = %v, error %v, want ErrDevice", d, err)
		}
		return
	}
	if info := d.Info(); info.Ops[gpu.StageN].Batch == 0 || info.Ops[gpu.Stage0].MinAuto == 0 {
		t.Errorf("limits are missing: %+v", info)
	}
	if d.Accepts(&gpu.Request{}) || d.StartError() != nil {
		t.Error("the device has started before its first blocks")
	}
	d.Close()
}

// TestLateStart checks that a device takes part once it has started, and that a failed start
// changes nothing.
func TestLateStart(t *testing.T) {
	content := mixedBytes(200 * testBlock)
	want := encode(t, content, WithBlockSize(testBlock))
	for _, fails := range []bool{false, true} {
		s := NewScheduler(2)
		s.EnableStats(true)
		soft := NewSoftDevice(gpu.SoftConfig{})
		d := gpu.NewLazy(soft.Info(), func() (Device, error) {
			if fails {
				return nil, errors.New("test")
			}
			return soft, nil
		})
		if err := s.SetDevice(d); err != nil {
			t.Fatal(err)
		}
		d.Start()
		for end := time.Now().Add(20 * time.Second); ; {
			equal(t, encode(t, content, WithScheduler(s), WithBlockSize(testBlock)), want, "file")
			if n := ran(s.Stats(), BackendGPU); n > 0 || fails && d.StartError() != nil {
				if fails && n > 0 {
					t.Error("blocks ran on a device that did not start")
				}
				break
			}
			if time.Now().After(end) {
				t.Fatal("no block ran on the device within 20 s")
			}
		}
		d.Close()
		soft.Close()
	}
}
