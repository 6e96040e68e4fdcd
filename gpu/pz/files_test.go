package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// everyGPU runs a test with the first adapter of each driver, even if that is a software adapter.
func everyGPU(t *testing.T, test func(t *testing.T, driver string, d gpu.Device)) {
	for _, driver := range drivers(t) {
		t.Run(driver, func(t *testing.T) {
			d, err := gpu.Open(driver)
			if err != nil {
				missing(t, err)
			}
			defer d.Close()
			test(t, driver, d)
		})
	}
}

// newScheduler returns a scheduler with statistics.
func newScheduler() *compress.Scheduler {
	s := compress.NewScheduler(2)
	s.EnableStats(true)
	return s
}

func encode(t *testing.T, content []byte, opts ...compress.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := compress.NewWriter(&b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(file []byte, opts ...compress.ReaderOption) ([]byte, error) {
	r, err := compress.NewReader(bytes.NewReader(file), opts...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// equal fails the test if two byte strings differ.
func equal(t *testing.T, got, want []byte, what string) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	t.Fatalf("%s: %d bytes, want %d; first difference at %d", what, len(got), len(want), i)
}

// mixed returns n bytes in which compressible and random parts alternate.
func mixed(n int) []byte { return corpus.ByName("mixed").Make(n) }

// contents returns every kind of data, and edge cases.
func contents() map[string][]byte {
	all := map[string][]byte{
		"empty":    nil,
		"one byte": {1},
		"zeros":    make([]byte, 200_000),
		"small":    corpus.ByName("text").Make(1000),
	}
	for i, k := range corpus.Kinds() {
		if testenv.All() || i%3 == 0 {
			all[k.Name] = k.Make(150_000 + i)
		}
	}
	return all
}

// TestFiles checks that backends do not change a file, and that each backend restores every file.
func TestFiles(t *testing.T) {
	everyGPU(t, func(t *testing.T, _ string, d gpu.Device) {
		all, onGPU := contents(), int64(0)
		for _, p := range bridge.Pipelines() {
			if p.Format == compress.Gzip {
				continue // its match finders have no kernels
			}
			for level := 5; level <= matchLevel(p.Name); level++ {
				for name, content := range all {
					if chosen(p.Name, level, len(content)) {
						onGPU += testFile(t, d, p.Name, level, name, content)
					}
				}
			}
		}
		if onGPU == 0 {
			t.Error("no block ran on the GPU")
		}
		t.Logf("%d stages of blocks ran on the GPU", onGPU)
	})
}

// matchLevel returns the highest level of a pipeline at which a GPU finds matches. From level 6 on
// lzseqr has layout Dense, which no device makes.
func matchLevel(pipeline string) int {
	if pipeline == bridge.DefaultPipeline {
		return 5
	}
	return 7
}

// chosen selects some of the combinations of pipeline, level and content.
func chosen(pipeline string, level, size int) bool {
	if pipeline != bridge.DefaultPipeline && size%4 != level%4 {
		return false
	}
	if !testenv.All() {
		return size%2 == level%2
	}
	return size%3 == level%3
}

// testFile compresses and restores one file with all backends. It returns the number of stages of
// blocks that ran on the GPU.
func testFile(
	t *testing.T, d gpu.Device, pipeline string, level int, name string, content []byte,
) (onGPU int64) {
	t.Helper()
	opts := []compress.WriterOption{
		bridge.Pipeline(pipeline),
		compress.WithLevel(level),
		compress.WithBlockSize(64 << 10),
	}
	want := encode(t, content, opts...)
	for _, b := range [][2]gpu.Backend{
		{gpu.BackendFused, gpu.BackendFused},
		{gpu.BackendGPU, gpu.BackendGPU},
		{gpu.BackendGPU, gpu.BackendCPU},
		{gpu.BackendCPU, gpu.BackendGPU},
		{gpu.BackendAuto, gpu.BackendAuto},
	} {
		if b[0] == gpu.BackendGPU && b[1] == gpu.BackendGPU && !testenv.All() && len(name)%3 != 0 {
			continue
		}
		s := newScheduler()
		scheduler, device := compress.WithScheduler(s), compress.WithDevice(d, b[0], b[1])
		equal(t, encode(t, content, append(opts, scheduler, device)...), want, pipeline+", "+name)
		if pipeline == bridge.DefaultPipeline {
			back, err := decode(want, scheduler, device)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, back, content, name+" restored")
		}
		st := s.Stats()
		if st.Returned != 0 {
			t.Errorf("%s, %s, level %d, %v: the device returned %d blocks undone",
				pipeline, name, level, b, st.Returned)
		}
		for _, x := range st.Stages {
			if x.Backend == gpu.BackendGPU && x.Name != "check" && x.Name != "verify" {
				onGPU += x.Blocks
			}
		}
	}
	return onGPU
}

// countingDevice counts the batches of each Op.
type countingDevice struct {
	gpu.Device
	batches [gpu.NumOps]atomic.Int64
}

func (c *countingDevice) Run(op gpu.Op, batch []*gpu.Request) error {
	c.batches[op].Add(1)
	return c.Device.Run(op, batch)
}

// TestFused checks that only the backend Fused sends whole blocks to the GPU. Auto does not, for
// fused requests have not been measured to pay.
func TestFused(t *testing.T) {
	everyGPU(t, func(t *testing.T, _ string, d gpu.Device) {
		for _, pipeline := range []string{bridge.DefaultPipeline, "lzr"} {
			for level := 5; level <= matchLevel(pipeline); level++ {
				if !testenv.All() && (level == 5) != (pipeline == bridge.DefaultPipeline) {
					continue
				}
				for _, b := range []gpu.Backend{
					gpu.BackendFused, gpu.BackendGPU, gpu.BackendAuto,
				} {
					testFused(t, d, pipeline, level, b)
				}
			}
		}
	})
}

func testFused(t *testing.T, d gpu.Device, pipeline string, level int, b gpu.Backend) {
	t.Helper()
	const block = 64 << 10
	content := mixed(3*block + 20_000)
	c := &countingDevice{Device: d}
	opts := []compress.WriterOption{
		bridge.Pipeline(pipeline),
		compress.WithLevel(level),
		compress.WithBlockSize(block),
	}
	want := encode(t, content, opts...)
	opts = append(opts, compress.WithScheduler(newScheduler()), compress.WithDevice(c, b, b))
	equal(t, encode(t, content, opts...), want, pipeline)
	fused := c.batches[gpu.Fused].Load()
	staged := c.batches[gpu.Stage0].Load() + c.batches[gpu.StageN].Load()
	if (fused > 0) != (b == gpu.BackendFused) ||
		b != gpu.BackendAuto && (staged > 0) != (b == gpu.BackendGPU) {
		t.Errorf("%s, level %d, %v: %d fused batches, %d of single stages", pipeline, level, b, fused, staged)
	}
}

// failingDevice is lost after some batches.
type failingDevice struct {
	gpu.Device
	left atomic.Int64
}

var errFailed = errors.New("test: the device is lost")

func (f *failingDevice) Run(op gpu.Op, batch []*gpu.Request) error {
	if f.left.Add(-1) < 0 {
		return errFailed
	}
	return f.Device.Run(op, batch)
}

// TestLost checks that the loss of a device in the middle of a file changes no byte.
func TestLost(t *testing.T) {
	everyGPU(t, func(t *testing.T, _ string, d gpu.Device) {
		const block = 64 << 10
		content := mixed(25*block + 99)
		base := []compress.WriterOption{compress.WithLevel(5), compress.WithBlockSize(block)}
		want := encode(t, content, base...)
		for i := range int64(8) {
			after, b := i/2, []gpu.Backend{gpu.BackendGPU, gpu.BackendFused}[i%2]
			failing := &failingDevice{Device: d}
			failing.left.Store(after)
			s := newScheduler()
			on := append(base[:2:2], compress.WithScheduler(s), compress.WithDevice(failing, b, b))
			equal(t, encode(t, content, on...), want, "file")
			if d, _ := s.DeviceStatus(); !errors.Is(d.Err, errFailed) {
				t.Errorf("DeviceStatus().Err = %v, want %v", d.Err, errFailed)
			}
			failing = &failingDevice{Device: d}
			failing.left.Store(after % 2)
			back, err := decode(want, compress.WithScheduler(newScheduler()),
				compress.WithDevice(failing, gpu.BackendGPU, gpu.BackendGPU))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, back, content, "content")
		}
	})
}

// TestDamage checks that errors of damaged blocks do not depend on the backend.
func TestDamage(t *testing.T) {
	everyGPU(t, func(t *testing.T, _ string, d gpu.Device) {
		const block = 64 << 10
		file := encode(t, mixed(3*block), compress.WithBlockSize(block))
		for at := 100; at < len(file); at += len(file)/20 + 1 {
			bad := bytes.Clone(file)
			bad[at] ^= 4
			_, err := decode(bad)
			_, onGPU := decode(bad, compress.WithScheduler(newScheduler()),
				compress.WithDevice(d, gpu.BackendCPU, gpu.BackendGPU))
			if err == nil || onGPU == nil || err.Error() != onGPU.Error() {
				t.Errorf("byte %d: error %v on the CPU, %v on the GPU", at, err, onGPU)
			}
		}
	})
}

// TestOpen checks that Open and Adapters number adapters alike.
func TestOpen(t *testing.T) {
	var names []string
	hardware := false
	everyGPU(t, func(t *testing.T, driver string, first gpu.Device) {
		list, err := gpu.Adapters()
		if err != nil {
			t.Fatal(err)
		}
		var last gpu.Adapter
		for _, a := range list {
			hardware = hardware || a.Kind != gpu.Software
			if strings.HasPrefix(a.Device, driver+":") {
				if last.Device == "" && a.Name != first.Info().Name {
					t.Errorf("%s opens %q, but the first adapter is %q", driver, first.Info().Name, a.Name)
				}
				last = a
			}
		}
		d, err := gpu.Open(last.Device)
		if err != nil {
			t.Fatal(err)
		}
		if d.Info().Name != last.Name {
			t.Errorf("%q opens %q, want %q", last.Device, d.Info().Name, last.Name)
		}
		d.Close()
		d.Close()
		names = append(names, driver+":x", driver+":99", driver+":-1")
	})
	for _, name := range append(names, "soft:1") {
		if d, err := gpu.Open(name); d != nil || !errors.Is(err, gpu.ErrDevice) {
			t.Errorf("Open(%q): error %v, want ErrDevice", name, err)
		}
	}
	d, err := gpu.Open("")
	if err == nil {
		d.Close()
	}
	if (err == nil) != hardware {
		t.Errorf(`Open(""): error %v; the machine has a hardware GPU: %v`, err, hardware)
	}
}
