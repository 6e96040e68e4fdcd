package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

// contentFile returns the file that PZ_BENCH_FILE names, or one of made data.
func contentFile(b *testing.B) (path string, content []byte) {
	path = os.Getenv("PZ_BENCH_FILE")
	if path == "" {
		path = filepath.Join(b.TempDir(), "mixed")
		content = corpus.ByName("mixed").Make(16 << 20)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			b.Fatal(err)
		}
		return path, content
	}
	content, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return path, content
}

// duel measures two by turns, and reports the median of the quotients of the rounds, that of speeds, and sizes.
type duel struct {
	path    string
	content []byte
}

func (d *duel) measure(b *testing.B, m meter, seconds int) sample {
	s, err := m(context.Background(), d.path, d.content, seconds)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func (d *duel) run(b *testing.B, ours, peer meter, speed func(*sample) float64) {
	var quotients, us, them []float64
	var a, p sample
	first := true
	for b.Loop() {
		// Who goes second finds the machine as the other left it: take turns in this as well.
		if first {
			a, p = d.measure(b, ours, 1), d.measure(b, peer, 1)
		} else {
			p, a = d.measure(b, peer, 1), d.measure(b, ours, 1)
		}
		first = !first
		quotients, us, them = append(quotients, speed(&a)/speed(&p)), append(us, speed(&a)), append(them, speed(&p))
	}
	b.ReportMetric(0, "ns/op") // says nothing
	b.ReportMetric(median(quotients), "×peer")
	b.ReportMetric(slices.Min(quotients), "least")
	b.ReportMetric(median(us), "MB/s")
	b.ReportMetric(median(them), "peer-MB/s")
	b.ReportMetric(a.ratio(len(d.content)), "ratio")
	b.ReportMetric(p.ratio(len(d.content)), "peer-ratio")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// rival is a level of a peer that pz is measured against.
type rival struct {
	name string
	meter
}

// zstdLevels are those of zstd that pz is measured against.
var zstdLevels = []int{1, 3, 5, 7, 9, 12, 15, 19}

func rivals(b *testing.B) (all []rival) {
	for i, name := range []string{"kp-fastest", "kp-default", "kp-better", "kp-best"} {
		all = append(all, rival{name, klauspostZstd(i + 1)})
	}
	all = append(all, rival{"kp-s2", klauspostS2(1)}, rival{"kp-s2-better", klauspostS2(2)})
	if _, err := exec.LookPath("zstd"); err != nil {
		b.Log("zstd is not installed: left out")
		return all
	}
	for _, level := range zstdLevels {
		all = append(all, rival{fmt.Sprint("zstd-", level), program("zstd")(level)})
	}
	return all
}

// lowest returns how the lowest level of a pipeline with no smaller ratio is measured, and the level; 0 if there is none.
func (d *duel) lowest(b *testing.B, name string, size int, known map[int]int) (meter, int) {
	for l := compress.MinLevel; l <= compress.MaxLevel; l++ {
		m := pipeline(name)(l)
		if known[l] == 0 {
			known[l] = d.measure(b, m, 0).size
		}
		if known[l] <= size {
			return m, l
		}
	}
	return nil, 0
}

// BenchmarkTargets holds pz against its peers on the file that PZ_BENCH_FILE names: for each of the peer's levels, the lowest level of a pipeline that has no
// smaller ratio, by turns, in memory, one thread, processor time. The unit ×peer is the speed relative to the peer's, the median over
// b.N rounds, and least the smallest; decode is against the peer's decoding of its own file, and for lzr at the ratio of zstd -1 against that of zstd -3.
func BenchmarkTargets(b *testing.B) {
	path, content := contentFile(b)
	d := &duel{path, content}
	all := rivals(b)
	known := map[string]map[int]int{"lzseqr": {}, "lzr": {}, "lzf": {}}
	sizes := map[string]int{}
	meters := map[string]meter{}
	for _, r := range all {
		sizes[r.name], meters[r.name] = 0, r.meter
	}
	size := func(b *testing.B, name string) int {
		if sizes[name] == 0 {
			sizes[name] = d.measure(b, meters[name], 0).size
		}
		return sizes[name]
	}
	for _, name := range []string{"lzseqr", "lzf"} {
		for _, r := range all {
			b.Run("encode/"+name+"/"+r.name, func(b *testing.B) {
				m, level := d.lowest(b, name, size(b, r.name), known[name])
				if m == nil {
					b.Skip("no level is as small")
				}
				d.run(b, m, r.meter, func(s *sample) float64 { return s.encode })
				b.ReportMetric(float64(level), "level")
			})
		}
	}
	type pair struct{ pipeline, ratioOf, against string }
	pairs := []pair{{"lzr", "zstd-1", "zstd-3"}, {"lzseqr", "kp-default", "kp-default"}, {"lzr", "kp-s2-better", "kp-s2-better"}}
	for _, level := range zstdLevels {
		name := fmt.Sprint("zstd-", level)
		pairs = append(pairs, pair{"lzseqr", name, name})
	}
	for _, t := range pairs {
		b.Run("decode/"+t.pipeline+"/"+t.against, func(b *testing.B) {
			if meters[t.against] == nil {
				b.Skip("zstd is not installed")
			}
			m, level := d.lowest(b, t.pipeline, size(b, t.ratioOf), known[t.pipeline])
			if m == nil {
				b.Skip("no level is as small")
			}
			d.run(b, m, meters[t.against], func(s *sample) float64 { return s.decode })
			b.ReportMetric(float64(level), "level")
		})
	}
}

// BenchmarkThreads measures two threads against one, by turns, both ways, for every pipeline at level 3 and at its default level: "wall" is how much sooner two are done, which the machine
// must be idle for, and "work" is how much processor time one thread takes in proportion to two, which bounds it: wall ≤ 2 × work. What is restored is thrown away, for who copies it is another thread beside those that are counted. A .gz file is restored on one processor
// whatever it is asked for.
func BenchmarkThreads(b *testing.B) {
	_, content := contentFile(b)
	for _, info := range compress.Pipelines() {
		for _, level := range []int{3, compress.DefaultLevel} {
			b.Run(fmt.Sprintf("%s/%d", info.Name, level), func(b *testing.B) { benchmarkThreads(b, info, level, content) })
		}
	}
}

func benchmarkThreads(b *testing.B, pipeline compress.PipelineInfo, level int, content []byte) {
	var coders [2]coder
	for i := range coders {
		var err error
		if coders[i], err = newPz(pipeline.Name, level, i+1); err != nil {
			b.Fatal(err)
		}
	}
	file, _ := buffers(len(content))
	file, err := coders[0].encode(file, content)
	if err != nil {
		b.Fatal(err)
	}
	into := make([]byte, 0, cap(file))
	for _, way := range []struct {
		name string
		run  func(c *coder) error
	}{
		{"encode", func(c *coder) error { _, err := c.encode(into, content); return err }},
		{"decode", func(c *coder) error { return c.discard(file) }},
	} {
		if pipeline.Format == "gz" && way.name == "decode" {
			continue
		}
		b.Run(way.name, func(b *testing.B) {
			var wall, work []float64
			for b.Loop() {
				var took, busy [2]float64
				for i := range coders {
					start := time.Now()
					if busy[i], err = clocked(func() error { return way.run(&coders[i]) }); err != nil {
						b.Fatal(err)
					}
					took[i] = time.Since(start).Seconds()
				}
				wall, work = append(wall, took[0]/took[1]), append(work, busy[0]/busy[1])
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(wall), "wall")
			b.ReportMetric(slices.Max(wall), "most-wall")
			b.ReportMetric(median(work), "work")
		})
	}
}
