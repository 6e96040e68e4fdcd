package compress

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

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

// ran tells how many blocks went through stages on a backend.
func ran(s SchedulerStats, on Backend) (n int64) {
	for _, x := range s.Stages {
		if x.Backend == on && x.Stage != "check" && x.Stage != "verify" {
			n += x.Blocks
		}
	}
	return n
}

// Wherever stages run, the file is the same, through every door.
func TestBackends(t *testing.T) {
	content := mixedBytes(30*testBlock + 77)
	levels, workerCounts := []int{1, 5}, []int{1, 8}
	if testenv.All() {
		levels, workerCounts = []int{1, 5, 9}, []int{1, 2, 8}
	}
	for _, level := range levels {
		want := encode(t, content, WithBlockSize(testBlock), WithLevel(level))
		for _, match := range []Backend{Auto, CPU, GPU, Fused} {
			for _, entropy := range []Backend{Auto, CPU, GPU, Fused} {
				if (match == Fused) != (entropy == Fused) {
					continue
				}
				for _, workers := range workerCounts {
					s := deviceScheduler(t, workers, gpu.SoftConfig{Batch: 4})
					opts := []Option{WithScheduler(s), WithBackend(match, entropy), WithBlockSize(testBlock), WithLevel(level)}
					if level == 9 && (match.Strict() || entropy.Strict()) {
						// Layout Dense is the CPU's, and a device that must do a part of it is refused. It may be asked to read.
						if _, err := AppendEncode(nil, content, opts...); err == nil {
							t.Error("level 9 on a device")
						}
					} else {
						equal(t, encode(t, content, opts...), want, "Writer")
						if got, err := AppendEncode(nil, content, append(opts, WithContentSize(-1))...); err != nil {
							t.Fatal(err)
						} else if back, err := AppendDecode(nil, got, opts...); err != nil || !bytes.Equal(back, content) {
							t.Fatal("one shot:", err)
						}
					}
					got, err := io.ReadAll(newReader(t, bytes.NewReader(want), opts...))
					if err != nil {
						t.Fatal(err)
					}
					equal(t, got, content, "Reader")
					r := openAt(t, want, opts...)
					got, err = io.ReadAll(r)
					if err != nil {
						t.Fatal(err)
					}
					equal(t, got, content, "ReaderAt")
					r.Close()
					strict := (match.Strict() || entropy.Strict()) && level != 9
					if n := ran(s.Stats(), GPU); strict != (n > 0) && (strict || match == CPU && entropy == CPU) {
						t.Errorf("%v, %v: %d blocks on the device", match, entropy, n)
					}
				}
			}
		}
	}
}

func TestNoDevice(t *testing.T) {
	file := encode(t, mixedBytes(3*testBlock), WithBlockSize(testBlock))
	s := deviceScheduler(t, 1, gpu.SoftConfig{Ops: []gpu.Op{gpu.Stage0}})
	for name, opts := range map[string][]Option{
		"shared scheduler":  {WithBackend(GPU, Auto)},
		"private scheduler": {WithBackend(Auto, GPU), WithConcurrency(2)},
		"fused":             {WithBackend(Fused, Fused)},
		"no device":         {WithBackend(Auto, GPU), WithScheduler(NewScheduler(1))},
		"wrong device":      {WithBackend(Auto, GPU), WithScheduler(s)},
		"half of a device":  {WithBackend(Fused, Fused), WithScheduler(s)},
	} {
		if _, err := NewWriter(io.Discard, opts...); !errors.Is(err, ErrDevice) {
			t.Errorf("%s: NewWriter: %v", name, err)
		}
		if _, err := AppendDecode(nil, file, opts...); !errors.Is(err, ErrDevice) {
			t.Errorf("%s: AppendDecode: %v", name, err)
		}
	}
	// With a device that cannot do this no door is quietly the CPU's.
	opts := []Option{WithBackend(Auto, GPU), WithScheduler(s)}
	if got, err := AppendEncode([]byte("x"), mixedBytes(testBlock), opts...); !errors.Is(err, ErrDevice) || string(got) != "x" {
		t.Errorf("AppendEncode: %d bytes, %v", len(got), err)
	}
	if _, err := NewReaderAt(bytes.NewReader(file), int64(len(file)), opts...); !errors.Is(err, ErrDevice) {
		t.Error("NewReaderAt:", err)
	}
	if err := Recover(io.Discard, bytes.NewReader(file), int64(len(file)), nil, opts...); !errors.Is(err, ErrDevice) {
		t.Error("Recover:", err)
	}
	if err := NewScheduler(1).SetDevice(nil); !errors.Is(err, ErrDevice) {
		t.Error("SetDevice(nil):", err)
	}
	for _, b := range [][2]Backend{{Fused + 1, Auto}, {CPU, Fused + 1}, {Fused, GPU}, {GPU, Fused}, {Fused, Auto}, {CPU, Fused}} {
		if _, err := NewWriter(io.Discard, WithBackend(b[0], b[1])); !errors.Is(err, ErrOption) {
			t.Errorf("%v: %v", b, err)
		}
	}
	if err := s.SetDevice(NewSoftDevice(gpu.SoftConfig{})); !errors.Is(err, ErrDevice) {
		t.Error("second device:", err)
	}
}

// A device that is lost is told of, and nothing else of it is to be seen.
func TestLostDevice(t *testing.T) {
	content := textBytes(40*testBlock, 1)
	s := deviceScheduler(t, 2, gpu.SoftConfig{Batch: 2, LostAfter: 3})
	file := encode(t, content, WithScheduler(s), WithBackend(GPU, GPU), WithBlockSize(testBlock))
	equal(t, file, encode(t, content, WithBlockSize(testBlock)), "file")
	if !errors.Is(s.DeviceError(), gpu.ErrLost) {
		t.Error(s.DeviceError())
	}
	if st := s.Stats(); st.Returned == 0 || ran(st, GPU) == 0 || ran(st, CPU) == 0 {
		t.Errorf("%+v", st)
	}
}

// A device that gives wrong results costs no data, in neither direction, and is not asked again.
func TestWrongDevice(t *testing.T) {
	content := textBytes(40*testBlock, 1)
	file := encode(t, content, WithBlockSize(testBlock))
	for _, backend := range []Backend{GPU, Auto} {
		for _, decode := range []bool{false, true} {
			s := NewScheduler(2)
			s.SetDevice(lyingDevice{NewSoftDevice(gpu.SoftConfig{}), decode})
			opts := []Option{WithScheduler(s), WithBackend(CPU, backend)}
			equal(t, encode(t, content, append(opts, WithBlockSize(testBlock))...), file, "Writer")
			got, err := AppendDecode(nil, file, opts...)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, content, "AppendDecode")
			if backend == GPU && s.DeviceError() == nil {
				t.Error("the device is not lost")
			}
		}
	}
}

// lyingDevice flips a bit in what it codes or decodes.
type lyingDevice struct {
	gpu.Device
	decode bool
}

func (d lyingDevice) Run(op gpu.Op, batch []*gpu.Request) error {
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

// With a device more blocks are in flight, and the limit still holds.
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
		t.Errorf("%d bytes with a device, %d without", more, plain)
	}
	opts := []Option{WithScheduler(s), WithBlockSize(64 << 10), WithMaxMemory(plain), WithBackend(GPU, GPU)}
	if got, err := WriterMemory(opts...); err != nil || got > plain {
		t.Errorf("limit %d, %d, %v", plain, got, err)
	}
	equal(t, encode(t, content, opts...), encode(t, content, WithBlockSize(64<<10)), "file")
}

func TestOpenDevice(t *testing.T) {
	if !slices.Contains(Devices(), "soft") {
		t.Error(Devices())
	}
	d, err := OpenDevice("soft")
	if err != nil || d.Info().Name != "soft" {
		t.Fatal(d, err)
	}
	d.Close()
	d.Close()
	for _, name := range []string{"", "none"} {
		if d, err := OpenDevice(name); name != "" && (d != nil || !errors.Is(err, ErrDevice)) || d != nil && d.Info().Name == "soft" {
			t.Errorf("%q: %v, %v", name, d, err)
		}
	}
}

// TestLazyDevice: a GPU is looked for without being started.
func TestLazyDevice(t *testing.T) {
	d, err := LazyDevice()
	if err != nil {
		if d != nil || !errors.Is(err, ErrDevice) {
			t.Error(d, err)
		}
		return
	}
	if info := d.Info(); info.Ops[gpu.StageN].Batch == 0 || info.Ops[gpu.Stage0].MinAuto == 0 {
		t.Errorf("%+v", info)
	}
	if d.Accepts(&gpu.Request{}) || d.StartError() != nil {
		t.Error("it is there already")
	}
	d.Close()
}

// TestLateStart: a device that comes up in the middle of the work takes part from then on, and one that does not come up is no loss.
func TestLateStart(t *testing.T) {
	content := mixedBytes(200 * testBlock)
	want := encode(t, content, WithBlockSize(testBlock))
	for _, fails := range []bool{false, true} {
		s := NewScheduler(2)
		s.EnableStats(true)
		soft := NewSoftDevice(gpu.SoftConfig{})
		d := gpu.NewLazy(soft.Info(), 3, func() (Device, error) {
			if fails {
				return nil, errors.New("test")
			}
			return soft, nil
		})
		if err := s.SetDevice(d); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); ; {
			equal(t, encode(t, content, WithScheduler(s), WithBlockSize(testBlock)), want, "file")
			if n := ran(s.Stats(), GPU); n > 0 || fails && d.StartError() != nil {
				if fails && n > 0 {
					t.Error("there is no device, but it has done something")
				}
				break
			}
			if time.Now().After(end) {
				t.Fatal("the device never takes part")
			}
		}
		d.Close()
		soft.Close()
	}
}
