package interp

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

var (
	printCounts = flag.Bool("counts", false, "print the table of docs/notes/gpu-counts.md")
	countBytes  = flag.Int("countbytes", 256<<10, "bytes of the block for -counts")
	countLevel  = flag.Int("countlevel", 6, "level for -counts")
)

// counted has the counts of a block.
type counted struct {
	all     map[string]Counters
	driver  *Driver
	size    int // of the block
	symbols int // in the lane groups of its payload
	groups  int // these
}

// counts is the result of count, for all tests.
var counts *counted

// count runs every kernel in lockstep on a block of mixed content: Fused, then decoding its
// payload, then coding the whole content as literals, which needs histograms.
func count(t *testing.T) *counted {
	t.Helper()
	if counts != nil {
		return counts
	}
	size := 40_000
	if *printCounts {
		size = *countBytes
	}
	driver := New(Options{Lockstep: true})
	d, err := host.New(driver, host.Config{Name: "interpreter"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	src := corpus.ByName("mixed").Make(size)
	fused := &gpu.Request{
		Op: gpu.Fused, Src: src, Size: size, Params: &lz77.Levels[*countLevel],
		Layout: lzseq.Repeat, Limits: lzseq.Repeat.Limits,
	}
	run := func(r *gpu.Request) {
		if err := d.Run(r.Op, []*gpu.Request{r}); err != nil || r.Err != nil {
			t.Fatal(err, r.Err)
		}
	}
	run(fused)
	c := &counted{all: driver.Counters(), driver: driver, size: size}
	decode := func(payload []byte) *lzseq.Streams {
		r := &gpu.Request{
			Op: gpu.StageN, Decode: true, Src: payload, Size: size, Streams: new(lzseq.Streams),
		}
		run(r)
		return r.Streams
	}
	streams := decode(fused.Dst).All()
	limits := lzseq.Repeat.MaxSizes(size)
	work, _, err := new(rans.Decoder).Open(fused.Dst[1:], limits[:], streams[:]...)
	if err != nil {
		t.Fatal(err)
	}
	c.groups = len(work.Groups)
	for i := range work.Groups {
		c.symbols += work.Groups[i].Symbols
	}
	c.all["rans_decode"] = driver.Counters()["rans_decode"]
	encode := &gpu.Request{
		Op: gpu.StageN, Size: size, Layout: lzseq.Repeat, Streams: &lzseq.Streams{Lits: src, Size: size},
	}
	run(encode)
	c.all["histogram"] = driver.Counters()["histogram"]
	if !slices.Equal(decode(encode.Dst).Lits, src) {
		t.Fatal("the literals differ")
	}
	counts = c
	return c
}

// uses returns the kernels by name.
func (c *counted) uses(t *testing.T) (list []use) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(c.all)) {
		p, err := c.driver.program(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, use{
			name: name, size: p.size, memory: 4 * p.shared, Counters: c.all[name],
		})
	}
	return list
}

// TestCounts checks the counts, and prints their table with -counts.
func TestCounts(t *testing.T) {
	counted := count(t)
	for kernel := range uses {
		c := counted.all[kernel]
		if c.Dispatches == 0 || c.Workgroups < c.Dispatches || c.Issued > c.Instructions ||
			c.Instructions > warp*c.Issued || c.Divergent > c.Branches || c.Requests == 0 ||
			c.Segments < c.Requests || c.Segments > warp*c.Requests || c.BankCycles < c.Shared ||
			c.Loads > c.Requests || c.Misses > c.Loads || c.Sectors < c.Memory || c.Memory == 0 ||
			c.Chain.Issued > c.Issued || c.Longest.Issued > c.Chain.Issued ||
			c.Chain.Barriers != c.Barriers {
			t.Errorf("%s: impossible counts: %+v", kernel, c)
		}
	}
	if *printCounts {
		table(counted.all, float64(counted.size))
	}
}

// table prints counts for a block of n bytes.
func table(all map[string]Counters, n float64) {
	ratio := func(a, b int64) float64 { return float64(a) / float64(max(b, 1)) }
	for _, kernel := range slices.Sorted(maps.Keys(all)) {
		c := all[kernel]
		fmt.Printf("| %s | %d | %.1f | %.2f | %.0f%% | %.0f%% | %.3f | %.2f | %.1f | "+
			"%.3f | %.2f | %.1f | %.4f | %.1f | %d | %.0f%% | %.1f | %.1f | %d |\n",
			kernel, c.Workgroups, float64(c.Instructions)/n, float64(c.Issued)/n,
			100*ratio(c.Instructions, warp*c.Issued), 100*ratio(c.Divergent, c.Branches),
			float64(c.Requests)/n, ratio(c.Segments, c.Requests), 128*float64(c.Segments)/n,
			float64(c.Shared)/n, ratio(c.BankCycles, c.Shared), ratio(c.Barriers, c.Workgroups),
			float64(c.Atomics)/n, ratio(c.Conflicts, c.Atomics), c.Unwritten,
			100*ratio(c.Misses, c.Loads), 32*float64(c.Sectors)/n, 32*float64(c.Memory)/n,
			c.Longest.Issued)
	}
}
