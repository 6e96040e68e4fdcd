//go:build webgpu || opengl

package compress

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
)

// everyGPU runs a test with the best adapter of each kind in this build, if only one in software. Where CI is set there must be one.
func everyGPU(t *testing.T, test func(t *testing.T, kind string, d Device)) {
	kinds, err := builtKinds()
	if err != nil {
		t.Skip(err)
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, err := OpenDevice(k.name)
			if err != nil {
				if os.Getenv("CI") != "" {
					t.Fatalf("%v; on Debian and Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri", err)
				}
				t.Skip(err)
			}
			defer d.Close()
			test(t, k.name, d)
		})
	}
}

// gpuScheduler returns a scheduler with statistics and the device.
func gpuScheduler(t testing.TB, d Device) *Scheduler {
	t.Helper()
	s := NewScheduler(2)
	s.EnableStats(true)
	if err := s.SetDevice(d); err != nil {
		t.Fatal(err)
	}
	return s
}

// gpuContents are the kinds of data, and what has edges.
func gpuContents(t testing.TB) map[string][]byte {
	all := map[string][]byte{"nothing": nil, "a byte": {1}, "zeros": make([]byte, 400_000), "small": textBytes(1000, 1)}
	for i, k := range corpus.Kinds() {
		if !testing.Short() || i%3 == 0 {
			all[k.Name] = k.Make(300_000 + i)
		}
	}
	return all
}

// TestGPUFiles: files are the same whatever ran where, and what one has made the other restores, at every level that there is on a GPU.
func TestGPUFiles(t *testing.T) { everyGPU(t, testGPUFiles) }

func testGPUFiles(t *testing.T, _ string, d Device) {
	const block = 128 << 10
	contents := gpuContents(t)
	onGPU := int64(0)
	for _, pipeline := range Pipelines() {
		for level := 5; level <= 7; level++ {
			// Levels above 6 have another finder, but for .gz.
			if level > 6 && (testing.Short() || pipeline.Format != "gz") {
				break
			}
			for name, content := range contents {
				opts := []Option{WithPipeline(pipeline.Name), WithLevel(level), WithBlockSize(block)}
				if n := len(content); n%3 != level%3 && !testing.Short() || n%2 != level%2 && testing.Short() || pipeline.Name != DefaultPipeline && n%4 != level%4 {
					continue // a part of them is enough
				}
				want := encode(t, content, append(opts, WithBackend(CPU, CPU))...)
				for _, backends := range [][2]Backend{{Fused, Fused}, {GPU, GPU}, {GPU, CPU}, {CPU, GPU}, {Auto, Auto}} {
					if backends[0] == GPU && backends[1] == GPU && testing.Short() && len(name)%3 != 0 {
						continue
					}
					s := gpuScheduler(t, d)
					on := append(opts[:len(opts):len(opts)], WithScheduler(s), WithBackend(backends[0], backends[1]))
					equal(t, encode(t, content, on...), want, pipeline.Name+", "+name)
					if pipeline.Name == DefaultPipeline {
						r := newReader(t, bytes.NewReader(want), WithScheduler(s), WithBackend(backends[0], backends[1]))
						back, err := io.ReadAll(r)
						if err != nil {
							t.Fatal(err)
						}
						equal(t, back, content, name+" restored")
					}
					st := s.Stats()
					if st.Returned != 0 {
						t.Errorf("%s, %s, level %d, %v: %d blocks came back", pipeline.Name, name, level, backends, st.Returned)
					}
					onGPU += ran(st, GPU)
				}
			}
		}
	}
	if onGPU == 0 {
		t.Error("nothing ran on the GPU")
	}
	t.Logf("%d times a block on the GPU", onGPU)
}

// opCounts counts the batches of each kind.
type opCounts struct {
	gpu.Device
	batches [gpu.NumOps]atomic.Int64
}

func (c *opCounts) Run(op gpu.Op, batch []*gpu.Request) error {
	c.batches[op].Add(1)
	return c.Device.Run(op, batch)
}

// TestGPUFused: with Fused the blocks of levels 5 and 6 go to the GPU as a whole, with GPU they do not, nor with Auto, as long as nobody has measured that it pays. The file is the same.
func TestGPUFused(t *testing.T) { everyGPU(t, testGPUFused) }

func testGPUFused(t *testing.T, _ string, d Device) {
	const block = 64 << 10
	content := mixedBytes(3*block + 5000)
	for _, pipeline := range []string{DefaultPipeline, "lzr"} {
		for level := 5; level <= 6; level++ {
			if testing.Short() && (level == 6) != (pipeline == DefaultPipeline) {
				continue
			}
			for _, backend := range []Backend{Fused, GPU, Auto} {
				c := &opCounts{Device: d}
				opts := []Option{WithPipeline(pipeline), WithLevel(level), WithBlockSize(block)}
				want := encode(t, content, append(opts, WithBackend(CPU, CPU))...)
				equal(t, encode(t, content, append(opts, WithScheduler(gpuScheduler(t, c)), WithBackend(backend, backend))...), want, pipeline)
				fused, others := c.batches[gpu.Fused].Load(), c.batches[gpu.Stage0].Load()+c.batches[gpu.StageN].Load()
				if (fused > 0) != (backend == Fused) || backend != Auto && (others > 0) != (backend == GPU) {
					t.Errorf("%s, level %d, %v: %d batches of Fused, %d others", pipeline, level, backend, fused, others)
				}
			}
		}
	}
}

// breaks is a device that is lost after some batches.
type breaks struct {
	gpu.Device
	left atomic.Int64
}

var errBroken = errors.New("test: the device is lost")

func (b *breaks) Run(op gpu.Op, batch []*gpu.Request) error {
	if b.left.Add(-1) < 0 {
		return errBroken
	}
	return b.Device.Run(op, batch)
}

// TestGPULost: a device that is lost in the middle of a file costs nothing but time.
func TestGPULost(t *testing.T) { everyGPU(t, testGPULost) }

func testGPULost(t *testing.T, _ string, d Device) {
	const block = 64 << 10
	content := mixedBytes(25*block + 99)
	want := encode(t, content, WithLevel(6), WithBlockSize(block))
	for i := range int64(8) {
		after, backend := i/2, []Backend{GPU, Fused}[i%2]
		b := &breaks{Device: d}
		b.left.Store(after)
		s := gpuScheduler(t, b)
		opts := []Option{WithScheduler(s), WithBackend(backend, backend), WithLevel(6), WithBlockSize(block)}
		equal(t, encode(t, content, opts...), want, "file")
		if !errors.Is(s.DeviceError(), errBroken) {
			t.Error(s.DeviceError())
		}
		b = &breaks{Device: d}
		b.left.Store(after % 2)
		s = gpuScheduler(t, b)
		back, err := io.ReadAll(newReader(t, bytes.NewReader(want), WithScheduler(s), WithBackend(GPU, GPU)))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, back, content, "content")
	}
}

// TestGPUDamage: a damaged block is found by the CPU, which says the same as without a GPU.
func TestGPUDamage(t *testing.T) { everyGPU(t, testGPUDamage) }

func testGPUDamage(t *testing.T, _ string, d Device) {
	const block = 64 << 10
	file := encode(t, mixedBytes(3*block), WithBlockSize(block))
	for at := 100; at < len(file); at += len(file)/20 + 1 {
		bad := bytes.Clone(file)
		bad[at] ^= 4
		_, err := io.ReadAll(newReader(t, bytes.NewReader(bad)))
		_, err2 := io.ReadAll(newReader(t, bytes.NewReader(bad), WithScheduler(gpuScheduler(t, d)), WithBackend(CPU, GPU)))
		if err == nil || err2 == nil || err.Error() != err2.Error() {
			t.Errorf("byte %d: %v; with the GPU %v", at, err, err2)
		}
	}
}

// TestGPUOpen: names and the list of adapters belong together.
func TestGPUOpen(t *testing.T) {
	var names []string
	hardware := false
	everyGPU(t, func(t *testing.T, kind string, first Device) {
		list, err := GPUs()
		if err != nil {
			t.Fatal(err)
		}
		var last Adapter
		for _, a := range list {
			hardware = hardware || a.Kind != gpu.Software.String()
			if strings.HasPrefix(a.Device, kind+":") {
				if last.Device == "" && a.Name != first.Info().Name {
					t.Errorf("%s is %q, not %q", kind, first.Info().Name, a.Name)
				}
				last = a
			}
		}
		d, err := OpenDevice(last.Device)
		if err != nil {
			t.Fatal(err)
		}
		if d.Info().Name != last.Name {
			t.Errorf("%q is %q", last, d.Info().Name)
		}
		d.Close()
		d.Close()
		names = append(names, kind+":x", kind+":99", kind+":-1")
	})
	for _, name := range append(names, "soft:1") {
		if d, err := OpenDevice(name); d != nil || !errors.Is(err, ErrDevice) {
			t.Errorf("%q: %v", name, err)
		}
	}
	// Without a name nobody gets a program.
	if d, err := OpenDevice(""); err == nil {
		d.Close()
		if !hardware {
			t.Error("a GPU in software")
		}
	} else if hardware {
		t.Error(err)
	}
}
