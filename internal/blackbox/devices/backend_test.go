// Package devices tests work on devices, and what statistics and traces say of it, through the
// public API.
package devices

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

// TestBackends checks that backends do not change a file, with every way to write and read one.
func TestBackends(t *testing.T) {
	content := bbtest.MixedBytes(30*bbtest.BlockSize + 77)
	levels, workerCounts := []int{1, 5}, []int{1, 8}
	if testenv.All() {
		levels, workerCounts = []int{1, 5, 9}, []int{1, 2, 8}
	}
	for _, level := range levels {
		want := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize), compress.WithLevel(level))
		for _, match := range []gpu.Backend{gpu.BackendAuto, gpu.BackendCPU,
			gpu.BackendGPU, gpu.BackendFused} {
			for _, entropy := range []gpu.Backend{gpu.BackendAuto, gpu.BackendCPU,
				gpu.BackendGPU, gpu.BackendFused} {
				if (match == gpu.BackendFused) != (entropy == gpu.BackendFused) {
					continue
				}
				for _, workers := range workerCounts {
					testBackend(t, content, want, level, workers, match, entropy)
				}
			}
		}
	}
}

// testBackend writes content and reads want with a software device.
func testBackend(t *testing.T, content, want []byte, level, workers int, match, entropy gpu.Backend) {
	t.Helper()
	s, d := bbtest.DeviceScheduler(t, workers, gpu.SoftConfig{Batch: 4})
	both := []compress.Option{compress.WithScheduler(s), compress.WithDevice(d, match, entropy)}
	opts := append(bbtest.ForWriter(both...), compress.WithBlockSize(bbtest.BlockSize),
		compress.WithLevel(level))
	reading := bbtest.ForReader(both...)
	strict := match.Strict() || entropy.Strict()
	if level == 9 && strict {
		// No device writes layout Dense, so a strict backend is an error. Reading is not.
		if _, err := compress.AppendEncode(nil, content, opts...); err == nil {
			t.Error("AppendEncode succeeds at level 9 with a strict backend")
		}
	} else {
		bbtest.Equal(t, bbtest.Encode(t, content, opts...), want, "Writer")
		got, err := compress.AppendEncode(nil, content, append(opts, compress.WithContentSize(-1))...)
		if err != nil {
			t.Fatal(err)
		}
		got, err = compress.AppendDecode(nil, got, reading...)
		if err != nil {
			t.Fatal(err)
		}
		bbtest.Equal(t, got, content, "AppendDecode")
	}
	got, err := io.ReadAll(bbtest.NewReader(t, bytes.NewReader(want), reading...))
	if err != nil {
		t.Fatal(err)
	}
	bbtest.Equal(t, got, content, "Reader")
	r := bbtest.OpenAt(t, want, reading...)
	defer r.Close()
	got, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	bbtest.Equal(t, got, content, "ReaderAt")
	n := bbtest.RanOn(s.Stats(), gpu.BackendGPU)
	if mustRun := strict && level != 9; mustRun && n == 0 {
		t.Errorf("level %d, backends %v, %v: nothing ran on the device", level, match, entropy)
	}
	if match == gpu.BackendCPU && entropy == gpu.BackendCPU && n > 0 {
		t.Errorf("level %d, backend CPU: %d stages of blocks ran on the device", level, n)
	}
}

// TestNoDevice checks that a strict backend without a suitable device is ErrDevice everywhere.
func TestNoDevice(t *testing.T) {
	file := bbtest.Encode(t, bbtest.MixedBytes(3*bbtest.BlockSize), compress.WithBlockSize(bbtest.BlockSize))
	s, d := bbtest.DeviceScheduler(t, 1, gpu.SoftConfig{Ops: []gpu.Op{gpu.Stage0}})
	_, other := bbtest.DeviceScheduler(t, 1, gpu.SoftConfig{})
	// The first use gives the scheduler its device.
	w, err := compress.NewWriter(io.Discard, compress.WithScheduler(s),
		compress.WithDevice(d, gpu.BackendAuto, gpu.BackendAuto))
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	wrong := []compress.Option{
		compress.WithDevice(d, gpu.BackendAuto, gpu.BackendGPU), compress.WithScheduler(s),
	}
	for name, opts := range map[string][]compress.Option{
		"shared scheduler": {compress.WithDevice(nil, gpu.BackendGPU, gpu.BackendAuto)},
		"private scheduler": {
			compress.WithDevice(nil, gpu.BackendAuto, gpu.BackendGPU), compress.WithConcurrency(2),
		},
		"fused": {compress.WithDevice(nil, gpu.BackendFused, gpu.BackendFused)},
		"no device": {
			compress.WithDevice(nil, gpu.BackendAuto, gpu.BackendGPU),
			compress.WithScheduler(compress.NewScheduler(1)),
		},
		"wrong device": wrong,
		"half of a device": {
			compress.WithDevice(d, gpu.BackendFused, gpu.BackendFused), compress.WithScheduler(s),
		},
		"no device, although the scheduler has one": {
			compress.WithDevice(nil, gpu.BackendGPU, gpu.BackendAuto), compress.WithScheduler(s),
		},
		"another device than that of the scheduler": {
			compress.WithDevice(other, gpu.BackendAuto, gpu.BackendAuto), compress.WithScheduler(s),
		},
	} {
		_, err := compress.NewWriter(io.Discard, bbtest.ForWriter(opts...)...)
		if !errors.Is(err, gpu.ErrDevice) {
			t.Errorf("%s: NewWriter: error %v, want ErrDevice", name, err)
		}
		_, err = compress.AppendDecode(nil, file, bbtest.ForReader(opts...)...)
		if !errors.Is(err, gpu.ErrDevice) {
			t.Errorf("%s: AppendDecode: error %v, want ErrDevice", name, err)
		}
	}
	// A device that cannot run the stage is an error; the CPU does not take over.
	reading := bbtest.ForReader(wrong...)
	got, err := compress.AppendEncode([]byte("x"), bbtest.MixedBytes(bbtest.BlockSize),
		bbtest.ForWriter(wrong...)...)
	if !errors.Is(err, gpu.ErrDevice) || string(got) != "x" {
		t.Errorf("AppendEncode: %d bytes, error %v; want 1 byte, ErrDevice", len(got), err)
	}
	_, err = bbtest.OpenFile(file, reading...)
	if !errors.Is(err, gpu.ErrDevice) {
		t.Errorf("NewReaderAt: error %v, want ErrDevice", err)
	}
	err = bbtest.RecoverFrom(io.Discard, file, nil, reading...)
	if !errors.Is(err, gpu.ErrDevice) {
		t.Errorf("Recover: error %v, want ErrDevice", err)
	}
	for _, b := range [][2]gpu.Backend{
		{gpu.BackendFused + 1, gpu.BackendAuto}, {gpu.BackendCPU, gpu.BackendFused + 1},
		{gpu.BackendFused, gpu.BackendGPU}, {gpu.BackendGPU, gpu.BackendFused},
		{gpu.BackendFused, gpu.BackendAuto}, {gpu.BackendCPU, gpu.BackendFused},
	} {
		if _, err := compress.NewWriter(
			io.Discard, compress.WithDevice(d, b[0], b[1]),
		); !errors.Is(err, compress.ErrOption) {
			t.Errorf("backends %v: error %v, want ErrOption", b, err)
		}
	}
}

// TestAssignedToCPU checks that a Writer uses no device without WithDevice, or without a stage for
// it.
func TestAssignedToCPU(t *testing.T) {
	content := bbtest.MixedBytes(20 * bbtest.BlockSize)
	want := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	s, d := bbtest.DeviceScheduler(t, 2, gpu.SoftConfig{})
	_, other := bbtest.DeviceScheduler(t, 1, gpu.SoftConfig{})
	encode := func(more ...compress.WriterOption) {
		t.Helper()
		opts := append(more, compress.WithScheduler(s), compress.WithBlockSize(bbtest.BlockSize))
		bbtest.Equal(t, bbtest.Encode(t, content, opts...), want, "file")
	}
	encode(compress.WithDevice(d, gpu.BackendAuto, gpu.BackendAuto))
	if _, ok := s.DeviceStatus(); !ok {
		t.Error("the scheduler has no device")
	}
	if bbtest.RanOn(s.Stats(), gpu.BackendGPU) == 0 {
		t.Error("nothing ran on the device")
	}
	s.ResetStats()
	encode()
	encode(compress.WithDevice(nil, gpu.BackendAuto, gpu.BackendAuto))
	encode(compress.WithDevice(other, gpu.BackendCPU, gpu.BackendCPU))
	if n := bbtest.RanOn(s.Stats(), gpu.BackendGPU); n > 0 {
		t.Errorf("%d stages of blocks ran on the device", n)
	}
}

// TestLostDevice checks that DeviceStatus reports a lost device, and that the file is the same.
func TestLostDevice(t *testing.T) {
	content := bbtest.TextBytes(40*bbtest.BlockSize, 1)
	s, device := bbtest.DeviceScheduler(t, 2, gpu.SoftConfig{Batch: 2, LostAfter: 3})
	opts := []compress.WriterOption{
		compress.WithScheduler(s), compress.WithDevice(device, gpu.BackendGPU, gpu.BackendGPU),
		compress.WithBlockSize(bbtest.BlockSize),
	}
	file := bbtest.Encode(t, content, opts...)
	bbtest.Equal(t, file, bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize)), "file")
	if d, _ := s.DeviceStatus(); !errors.Is(d.Err, gpu.ErrLost) {
		t.Errorf("DeviceStatus().Err = %v, want %v", d.Err, gpu.ErrLost)
	}
	if st := s.Stats(); st.Returned == 0 || bbtest.RanOn(st, gpu.BackendGPU) == 0 ||
		bbtest.RanOn(st, gpu.BackendCPU) == 0 {
		t.Errorf("statistics %+v: want blocks returned, on the device and on the CPU", st)
	}
}

// TestWrongDevice checks that wrong results of a device change no data, and that the device is
// given up.
func TestWrongDevice(t *testing.T) {
	content := bbtest.TextBytes(40*bbtest.BlockSize, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	for _, backend := range []gpu.Backend{gpu.BackendGPU, gpu.BackendAuto} {
		for _, decode := range []bool{false, true} {
			s := compress.NewScheduler(2)
			device := bbtest.WrongDevice{
				Device: gpu.NewSoft(pipeline.Host, gpu.SoftConfig{}), Decode: decode,
			}
			scheduler := compress.WithScheduler(s)
			wrong := compress.WithDevice(device, gpu.BackendCPU, backend)
			bbtest.Equal(t, bbtest.Encode(t, content, scheduler, wrong,
				compress.WithBlockSize(bbtest.BlockSize)), file, "Writer")
			got, err := compress.AppendDecode(nil, file, scheduler, wrong)
			if err != nil {
				t.Fatal(err)
			}
			bbtest.Equal(t, got, content, "AppendDecode")
			if d, _ := s.DeviceStatus(); backend == gpu.BackendGPU && d.Err == nil {
				t.Error("no error after a wrong result")
			}
		}
	}
}

// TestDeviceMemory checks that more blocks are in flight with a device, but not beyond
// WithMaxMemory.
func TestDeviceMemory(t *testing.T) {
	content := bbtest.TextBytes(3<<20, 1)
	s, d := bbtest.DeviceScheduler(t, 2, gpu.SoftConfig{Batch: 8})
	plain, err := compress.WriterMemory(compress.WithConcurrency(2), compress.WithBlockSize(64<<10))
	if err != nil {
		t.Fatal(err)
	}
	more, err := compress.WriterMemory(compress.WithScheduler(s), compress.WithBlockSize(64<<10),
		compress.WithDevice(d, gpu.BackendAuto, gpu.BackendAuto))
	if err != nil {
		t.Fatal(err)
	}
	if more < 2*plain {
		t.Errorf("WriterMemory is %d bytes with a device, %d without; want twice as much", more,
			plain)
	}
	opts := []compress.WriterOption{
		compress.WithScheduler(s),
		compress.WithBlockSize(64 << 10),
		compress.WithMaxMemory(plain),
		compress.WithDevice(d, gpu.BackendGPU, gpu.BackendGPU),
	}
	if got, err := compress.WriterMemory(opts...); err != nil || got > plain {
		t.Errorf("WriterMemory is %d bytes with a limit of %d; error %v", got, plain, err)
	}
	bbtest.Equal(t, bbtest.Encode(t, content, opts...),
		bbtest.Encode(t, content, compress.WithBlockSize(64<<10)), "file")
}

// TestNoDriver checks that a program without GPU drivers says in one line how to link one.
func TestNoDriver(t *testing.T) {
	if list := gpu.Drivers(); !slices.Equal(list, []string{"soft"}) {
		t.Fatalf("the root package links the drivers %q, want soft alone", list)
	}
	for _, tt := range []struct{ name, want string }{
		{"", "import github.com/gopz/compress/gpu/webgpu and build with -tags webgpu"},
		{"webgpu:1", "import github.com/gopz/compress/gpu/webgpu and build with -tags webgpu"},
		{"opengl", "import github.com/gopz/compress/gpu/opengl and build with -tags opengl,egl"},
		{"cuda", "valid names: soft"},
	} {
		_, err := gpu.Open(tt.name)
		if !errors.Is(err, gpu.ErrDevice) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Open(%q): error %v, want %q in it", tt.name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("Open(%q): error of several lines: %q", tt.name, err)
		}
	}
	if _, err := gpu.Adapters(); !errors.Is(err, gpu.ErrDevice) {
		t.Errorf("Adapters: error %v, want ErrDevice", err)
	}
}

// TestOpen checks the names that every build knows.
func TestOpen(t *testing.T) {
	if !slices.Contains(gpu.Devices(), "soft") {
		t.Errorf("Devices() = %q, want soft among them", gpu.Devices())
	}
	d, err := gpu.Open("soft")
	if err != nil || d.Info().Name != "soft" {
		t.Fatal(d, err)
	}
	d.Close()
	d.Close()
	if d, err := gpu.Open("none"); d != nil || !errors.Is(err, gpu.ErrDevice) {
		t.Errorf("Open(none) = %v, error %v, want ErrDevice", d, err)
	}
	if d, _ := gpu.Open(""); d != nil && d.Info().Name == "soft" {
		t.Error("Open without a name opens the software device")
	}
}

// TestOpenLazy checks that OpenLazy starts nothing.
func TestOpenLazy(t *testing.T) {
	d, err := gpu.OpenLazy("")
	if err != nil {
		if d != nil || !errors.Is(err, gpu.ErrDevice) {
			t.Errorf("OpenLazy() = %v, error %v, want ErrDevice", d, err)
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
	content := bbtest.MixedBytes(200 * bbtest.BlockSize)
	want := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	for _, fails := range []bool{false, true} {
		s := compress.NewScheduler(2)
		s.EnableStats(true)
		soft := gpu.NewSoft(pipeline.Host, gpu.SoftConfig{})
		d := gpu.NewLazy(soft.Info(), func() (gpu.Device, error) {
			if fails {
				return nil, errors.New("test")
			}
			return soft, nil
		})
		d.Start()
		for end := time.Now().Add(20 * time.Second); ; {
			bbtest.Equal(t, bbtest.Encode(t, content, compress.WithScheduler(s),
				compress.WithDevice(d, gpu.BackendAuto, gpu.BackendAuto),
				compress.WithBlockSize(bbtest.BlockSize)), want, "file")
			if n := bbtest.RanOn(s.Stats(), gpu.BackendGPU); n > 0 || fails && d.StartError() != nil {
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
