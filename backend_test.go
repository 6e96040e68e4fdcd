package compress

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/testenv"
)

// deviceScheduler returns a scheduler with statistics and a software device.
func deviceScheduler(t testing.TB, workers int, cfg gpu.SoftConfig) *Scheduler {
	t.Helper()
	s := NewScheduler(workers)
	s.EnableStats(true)
	d := NewSoftDevice(cfg)
	if err := s.SetDevice(d); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return s
}

// ran returns the number of stages of blocks that ran on a backend.
func ran(s SchedulerStats, on Backend) (n int64) {
	for _, x := range s.Stages {
		if x.Backend == on && x.Stage != "check" && x.Stage != "verify" {
			n += x.Blocks
		}
	}
	return n
}

// TestBackends checks that backends do not change a file, with every way to write and read one.
func TestBackends(t *testing.T) {
	content := mixedBytes(30*testBlock + 77)
	levels, workerCounts := []int{1, 5}, []int{1, 8}
	if testenv.All() {
		levels, workerCounts = []int{1, 5, 9}, []int{1, 2, 8}
	}
	for _, level := range levels {
		want := encode(t, content, WithBlockSize(testBlock), WithLevel(level))
		for _, match := range []Backend{BackendAuto, BackendCPU, BackendGPU, BackendFused} {
			for _, entropy := range []Backend{BackendAuto, BackendCPU, BackendGPU, BackendFused} {
				if (match == BackendFused) != (entropy == BackendFused) {
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
func testBackend(t *testing.T, content, want []byte, level, workers int, match, entropy Backend) {
	t.Helper()
	s := deviceScheduler(t, workers, gpu.SoftConfig{Batch: 4})
	opts := []Option{
		WithScheduler(s),
		WithBackend(match, entropy),
		WithBlockSize(testBlock),
		WithLevel(level),
	}
	strict := match.Strict() || entropy.Strict()
	if level == 9 && strict {
		// No device writes layout Dense, so a strict backend is an error. Reading is not.
		if _, err := AppendEncode(nil, content, opts...); err == nil {
			t.Error("AppendEncode succeeds at level 9 with a strict backend")
		}
	} else {
		equal(t, encode(t, content, opts...), want, "Writer")
		got, err := AppendEncode(nil, content, append(opts, WithContentSize(-1))...)
		if err != nil {
			t.Fatal(err)
		}
		got, err = AppendDecode(nil, got, opts...)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, content, "AppendDecode")
	}
	got, err := io.ReadAll(newReader(t, bytes.NewReader(want), opts...))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, content, "Reader")
	r := openAt(t, want, opts...)
	defer r.Close()
	got, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, content, "ReaderAt")
	n := ran(s.Stats(), BackendGPU)
	if mustRun := strict && level != 9; mustRun && n == 0 {
		t.Errorf("level %d, backends %v, %v: nothing ran on the device", level, match, entropy)
	}
	if match == BackendCPU && entropy == BackendCPU && n > 0 {
		t.Errorf("level %d, backend CPU: %d stages of blocks ran on the device", level, n)
	}
}

// TestNoDevice checks that a strict backend without a suitable device is ErrDevice everywhere.
func TestNoDevice(t *testing.T) {
	file := encode(t, mixedBytes(3*testBlock), WithBlockSize(testBlock))
	s := deviceScheduler(t, 1, gpu.SoftConfig{Ops: []gpu.Op{gpu.Stage0}})
	for name, opts := range map[string][]Option{
		"shared scheduler":  {WithBackend(BackendGPU, BackendAuto)},
		"private scheduler": {WithBackend(BackendAuto, BackendGPU), WithConcurrency(2)},
		"fused":             {WithBackend(BackendFused, BackendFused)},
		"no device":         {WithBackend(BackendAuto, BackendGPU), WithScheduler(NewScheduler(1))},
		"wrong device":      {WithBackend(BackendAuto, BackendGPU), WithScheduler(s)},
		"half of a device":  {WithBackend(BackendFused, BackendFused), WithScheduler(s)},
	} {
		if _, err := NewWriter(io.Discard, opts...); !errors.Is(err, ErrDevice) {
			t.Errorf("%s: NewWriter: error %v, want ErrDevice", name, err)
		}
		if _, err := AppendDecode(nil, file, opts...); !errors.Is(err, ErrDevice) {
			t.Errorf("%s: AppendDecode: error %v, want ErrDevice", name, err)
		}
	}
	// A device that cannot run the stage is an error; the CPU does not take over.
	opts := []Option{WithBackend(BackendAuto, BackendGPU), WithScheduler(s)}
	got, err := AppendEncode([]byte("x"), mixedBytes(testBlock), opts...)
	if !errors.Is(err, ErrDevice) || string(got) != "x" {
		t.Errorf("AppendEncode: %d bytes, error %v; want 1 byte, ErrDevice", len(got), err)
	}
	_, err = openFile(file, opts...)
	if !errors.Is(err, ErrDevice) {
		t.Errorf("NewReaderAt: error %v, want ErrDevice", err)
	}
	err = recoverFrom(io.Discard, file, nil, opts...)
	if !errors.Is(err, ErrDevice) {
		t.Errorf("Recover: error %v, want ErrDevice", err)
	}
	if err := NewScheduler(1).SetDevice(nil); !errors.Is(err, ErrDevice) {
		t.Errorf("SetDevice(nil): error %v, want ErrDevice", err)
	}
	for _, b := range [][2]Backend{
		{BackendFused + 1, BackendAuto}, {BackendCPU, BackendFused + 1},
		{BackendFused, BackendGPU}, {BackendGPU, BackendFused},
		{BackendFused, BackendAuto}, {BackendCPU, BackendFused},
	} {
		if _, err := NewWriter(io.Discard, WithBackend(b[0], b[1])); !errors.Is(err, ErrOption) {
			t.Errorf("backends %v: error %v, want ErrOption", b, err)
		}
	}
	if err := s.SetDevice(NewSoftDevice(gpu.SoftConfig{})); !errors.Is(err, ErrDevice) {
		t.Errorf("second SetDevice: error %v, want ErrDevice", err)
	}
}

// TestLostDevice checks that DeviceStatus reports a lost device, and that the file is the same.
func TestLostDevice(t *testing.T) {
	content := textBytes(40*testBlock, 1)
	s := deviceScheduler(t, 2, gpu.SoftConfig{Batch: 2, LostAfter: 3})
	opts := []Option{WithScheduler(s), WithBackend(BackendGPU, BackendGPU), WithBlockSize(testBlock)}
	file := encode(t, content, opts...)
	equal(t, file, encode(t, content, WithBlockSize(testBlock)), "file")
	if d, _ := s.DeviceStatus(); !errors.Is(d.Err, gpu.ErrLost) {
		t.Errorf("DeviceStatus().Err = %v, want %v", d.Err, gpu.ErrLost)
	}
	if st := s.Stats(); st.Returned == 0 || ran(st, BackendGPU) == 0 || ran(st, BackendCPU) == 0 {
		t.Errorf("statistics %+v: want blocks returned, on the device and on the CPU", st)
	}
}

// TestWrongDevice checks that wrong results of a device change no data, and that the device is
// given up.
func TestWrongDevice(t *testing.T) {
	content := textBytes(40*testBlock, 1)
	file := encode(t, content, WithBlockSize(testBlock))
	for _, backend := range []Backend{BackendGPU, BackendAuto} {
		for _, decode := range []bool{false, true} {
			s := NewScheduler(2)
			s.SetDevice(wrongDevice{NewSoftDevice(gpu.SoftConfig{}), decode})
			opts := []Option{WithScheduler(s), WithBackend(BackendCPU, backend)}
			equal(t, encode(t, content, append(opts, WithBlockSize(testBlock))...), file, "Writer")
			got, err := AppendDecode(nil, file, opts...)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, content, "AppendDecode")
			if d, _ := s.DeviceStatus(); backend == BackendGPU && d.Err == nil {
				t.Error("no error after a wrong result")
			}
		}
	}
}

// wrongDevice flips a bit in each result of encoding or decoding.
type wrongDevice struct {
	gpu.Device
	decode bool
}

func (d wrongDevice) Run(op gpu.Op, batch []*gpu.Request) error {
	err := d.Device.Run(op, batch)
	for _, r := range batch {
		p := r.Dst
		if r.Decode {
			p = r.Streams.Lits
		}
		if r.Decode == d.decode {
			p[len(p)/2] ^= 1
		}
	}
	return err
}

// TestDeviceMemory checks that more blocks are in flight with a device, but not beyond
// WithMaxMemory.
func TestDeviceMemory(t *testing.T) {
	content := textBytes(3<<20, 1)
	s := deviceScheduler(t, 2, gpu.SoftConfig{Batch: 8})
	plain, err := WriterMemory(WithConcurrency(2), WithBlockSize(64<<10))
	if err != nil {
		t.Fatal(err)
	}
	more, err := WriterMemory(WithScheduler(s), WithBlockSize(64<<10))
	if err != nil {
		t.Fatal(err)
	}
	if more < 2*plain {
		t.Errorf("WriterMemory is %d bytes with a device, %d without; want twice as much", more,
			plain)
	}
	opts := []Option{
		WithScheduler(s),
		WithBlockSize(64 << 10),
		WithMaxMemory(plain),
		WithBackend(BackendGPU, BackendGPU),
	}
	if got, err := WriterMemory(opts...); err != nil || got > plain {
		t.Errorf("WriterMemory is %d bytes with a limit of %d; error %v", got, plain, err)
	}
	equal(t, encode(t, content, opts...), encode(t, content, WithBlockSize(64<<10)), "file")
}
