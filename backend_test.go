package compress

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
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
	for _, level := range []int{1, 5, 9} {
		want := encode(t, content, WithBlockSize(testBlock), WithLevel(level))
		for _, match := range []Backend{Auto, CPU, GPU, Fused} {
			for _, entropy := range []Backend{Auto, CPU, GPU, Fused} {
				if (match == Fused) != (entropy == Fused) {
					continue
				}
				for _, workers := range []int{1, 2, 8} {
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
					strict := match.Strict() && level != 9 || entropy.Strict()
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
	s := deviceScheduler(t, 1, gpu.SoftConfig{Only: []gpu.Op{gpu.Stage0}})
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

func TestStats(t *testing.T) {
	content := mixedBytes(20*testBlock + 5)
	s := NewScheduler(2)
	run := func() (*Writer, *Reader) {
		var b bytes.Buffer
		w := newWriter(t, &b, WithScheduler(s), WithBlockSize(testBlock))
		w.Write(content)
		w.Close()
		r := newReader(t, &b, WithScheduler(s))
		io.Copy(io.Discard, r)
		return w, r
	}
	w, r := run()
	if st := s.Stats(); st.Runs != 0 || w.Stats().Runs != 0 || r.Stats().Compute != 0 {
		t.Errorf("off: %+v", st)
	}
	s.EnableStats(true)
	w, r = run()
	ws, rs, total := w.Stats(), r.Stats(), s.Stats()
	sum := ws
	sum.Stages = slices.Clone(ws.Stages)
	sum.Add(&rs)
	if total.Runs != 2 || total.Compute != sum.Compute || total.Overhead() != sum.Overhead() || total.Total != sum.Total {
		t.Errorf("%+v, parts %+v", total, sum)
	}
	for _, st := range []SchedulerStats{ws, rs} {
		check := st.Stages[len(st.Stages)-1]
		if check.Stage != "check" || check.Blocks != 21 || check.Bytes != int64(len(content)) {
			t.Errorf("%+v", check)
		}
		stages := time.Duration(0)
		for _, x := range st.Stages {
			stages += x.Time
		}
		if stages != st.Compute || st.Compute <= 0 || st.Compute > 2*st.Total || st.QueueAdmin <= 0 || st.QueueWait <= 0 {
			t.Errorf("%+v", st)
		}
	}
	// A Writer that is used again counts on, and one that has begun before statistics were on counts from its next stream.
	w.Reset(io.Discard)
	w.Write(content)
	w.Close()
	if st := w.Stats(); st.Runs != 2 || st.Stages[len(st.Stages)-1].Blocks != 42 {
		t.Errorf("after Reset: %+v", st)
	}
	s.EnableStats(false)
	w.Reset(io.Discard)
	w.Write(content)
	w.Close()
	if st := w.Stats(); st.Runs != 2 {
		t.Errorf("switched off: %+v", st)
	}
	if st := s.Stats(); st.Runs != 3 {
		t.Errorf("%+v", st)
	}
	s.ResetStats()
	if st := s.Stats(); st.Runs != 0 || st.Stages != nil {
		t.Errorf("after ResetStats: %+v", st)
	}
	// A run that fails, and one that is closed early, count as well.
	s.EnableStats(true)
	file := encode(t, content, WithBlockSize(testBlock))
	bad := slices.Clone(file)
	bad[len(bad)/2] ^= 1
	r = newReader(t, bytes.NewReader(bad), WithScheduler(s))
	if _, err := io.Copy(io.Discard, r); err == nil {
		t.Error("no error")
	}
	r.Close()
	r = newReader(t, bytes.NewReader(file), WithScheduler(s))
	io.CopyN(io.Discard, r, 10)
	r.Close()
	if st := s.Stats(); st.Runs != 2 {
		t.Errorf("%d runs, want 2", st.Runs)
	}
	s.SetDevice(NewSoftDevice(gpu.SoftConfig{}))
	if st := func() SchedulerStats {
		w := newWriter(t, io.Discard, WithScheduler(s), WithBackend(GPU, GPU))
		w.Write(content)
		w.Close()
		return w.Stats()
	}(); st.Handoff <= 0 {
		t.Errorf("with a device: %+v", st)
	}
	at := openAt(t, file, WithScheduler(s))
	io.Copy(io.Discard, at)
	before := at.Stats()
	at.Close()
	if st := at.Stats(); st.Compute <= 0 || st.Compute != before.Compute || st.Runs != before.Runs {
		t.Errorf("ReaderAt: %+v, and %+v when closed", before, st)
	}
}

// Every stage of every block is told once.
func TestTrace(t *testing.T) {
	content := textBytes(20*testBlock, 1)
	for _, backend := range []Backend{CPU, GPU, Fused} {
		var mu sync.Mutex
		seen := map[string]int{}
		workers := map[int]bool{}
		s := deviceScheduler(t, 3, gpu.SoftConfig{Batch: 3})
		encode(t, content, WithScheduler(s), WithBackend(backend, backend), WithBlockSize(testBlock), WithTrace(func(e StageEvent) {
			mu.Lock()
			defer mu.Unlock()
			seen[e.Stage+" "+e.Backend.String()]++
			workers[e.Worker] = true
			if e.Took < 0 || time.Since(e.Start) < e.Took || e.Bytes != testBlock || e.Block >= 20 || e.Batch < 1 || e.Batch > 3 {
				t.Errorf("%+v", e)
			}
		}))
		want := map[string]int{"lz77 cpu": 20, "lzseq cpu": 20, "rans cpu": 20, "check cpu": 40}
		switch backend {
		case GPU:
			want = map[string]int{"lz77 gpu": 20, "lzseq cpu": 20, "rans gpu": 20, "verify cpu": 40, "check cpu": 40}
		case Fused:
			want = map[string]int{"fused gpu": 20, "verify cpu": 20, "check cpu": 40}
		}
		if len(seen) != len(want) {
			t.Errorf("%v: %v", backend, seen)
		}
		for k, n := range want {
			if seen[k] != n {
				t.Errorf("%v: %s: %d, want %d", backend, k, seen[k], n)
			}
		}
		for w := range workers {
			if w < -1 || w > 2 || w == -1 && backend == CPU {
				t.Errorf("worker %d", w)
			}
		}
	}
}

// Blocks have the numbers of their stream.
func TestTraceNumbers(t *testing.T) {
	const blocks = 5
	content := textBytes(blocks*testBlock, 1)
	var mu sync.Mutex
	seen := map[int64]int{}
	opts := []Option{WithBlockSize(testBlock), WithConcurrency(2), WithTrace(func(e StageEvent) {
		if e.Stage == "lzseq" {
			mu.Lock()
			seen[e.Block]++
			mu.Unlock()
		}
	})}
	var file bytes.Buffer
	w := newWriter(t, &file, opts...)
	for range 2 { // two streams in one file
		w.Write(content)
		w.Close()
		w.Reset(&file)
	}
	r := newReader(t, bytes.NewReader(file.Bytes()), opts...)
	io.Copy(io.Discard, r)
	r.Reset(bytes.NewReader(file.Bytes()))
	io.Copy(io.Discard, r)
	io.Copy(io.Discard, openAt(t, file.Bytes(), opts...))
	if len(seen) != blocks {
		t.Errorf("numbers %v", seen)
	}
	for i := range int64(blocks) {
		if seen[i] != 2+4+2 {
			t.Errorf("block %d: %d times, want 8", i, seen[i])
		}
	}
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
	if info := d.Info(); info.Ops[gpu.StageN].Batch == 0 || info.Ops[gpu.Stage0].Pays == 0 {
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
