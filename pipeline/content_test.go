package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
)

// encoded is a compressed block.
type encoded struct {
	payload []byte
	raw     int
	kind    uint8
	sum     uint32
}

// compressAll compresses src in blocks, with as many in flight as the run may have.
func compressAll(
	s *Scheduler, p *Pipeline, level, blockSize int, src []byte, assign ...Assignment,
) (out []encoded, err error) {
	cfg := Config{Pipeline: p, Op: Compress, Level: level, Checks: true}
	for _, cfg.Assign = range assign {
		cfg.InFlight = 2*s.workers + 8
	}
	r := s.Start(cfg)
	defer r.Close()
	for len(src) > 0 || r.Pending() > 0 {
		if b := r.Get(); b != nil && len(src) > 0 {
			n := min(len(src), blockSize)
			copy(b.Grow(n), src)
			src = src[n:]
			r.Submit(b)
			continue
		}
		b, _ := r.Next(true)
		if b.Err != nil {
			return nil, b.Err
		}
		out = append(out, encoded{bytes.Clone(b.Out()), b.Raw, b.Kind, b.Sum})
		r.Put(b)
	}
	return out, nil
}

// decompressAll decompresses what compressAll returns.
func decompressAll(
	s *Scheduler, p *Pipeline, in []encoded, assign ...Assignment,
) (out []byte, err error) {
	cfg := Config{Pipeline: p, Op: Decompress, Checks: true}
	for _, cfg.Assign = range assign {
		cfg.InFlight = 2*s.workers + 8
	}
	r := s.Start(cfg)
	defer r.Close()
	for len(in) > 0 || r.Pending() > 0 {
		if b := r.Get(); b != nil && len(in) > 0 {
			e := in[0]
			in = in[1:]
			copy(b.Grow(len(e.payload)), e.payload)
			b.Raw, b.Kind, b.Sum = e.raw, e.kind, e.sum
			r.Submit(b)
			continue
		}
		b, _ := r.Next(true)
		if b.Err != nil {
			return nil, b.Err
		}
		out = append(out, b.Out()...)
		r.Put(b)
	}
	return out, nil
}

// forEachPipeline calls f for the pipelines of .pz, whose blocks can be decoded one by one.
func forEachPipeline(t *testing.T, f func(t *testing.T, p *Pipeline)) {
	for i := range table {
		if table[i].Format != container.PZ {
			continue
		}
		t.Run(table[i].Name, func(t *testing.T) { f(t, &table[i]) })
	}
}

func TestRoundTrip(t *testing.T) {
	oneGoroutine(t)
	sizes := []int{1, 2, 15, 16, 17, 100, 4096, 70_000}
	if brief() {
		sizes = []int{1, 17, 4096, 20_000}
	}
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		s := NewScheduler(1)
		// While a run is open, all runs use the same workspaces, so that one block follows another.
		defer s.Start(Config{Pipeline: p}).Close()
		for _, k := range corpus.Kinds() {
			for _, n := range sizes {
				src := k.Make(n)
				for _, level := range levels(1, 6, 9) {
					if size := through(t, s, p, level, 1<<20, src); size > n {
						t.Errorf("%s, level %d: %d bytes became %d", k.Name, level, n, size)
					}
				}
			}
		}
	})
}

// TestEmptyBlock: an empty block is stored. No container writes one.
func TestEmptyBlock(t *testing.T) {
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: 5, Checks: true})
		defer r.Close()
		r.Submit(r.Get())
		if b := next(t, r); b.Err != nil || b.Kind != storedKind || len(b.Out()) != 0 {
			t.Errorf("kind %d, %d bytes, error %v", b.Kind, len(b.Out()), b.Err)
		}
	})
}

// TestSameBytes: payloads do not depend on the number of workers.
func TestSameBytes(t *testing.T) {
	size, some := 1<<20, []int{1, 3, 5, 8}
	if brief() {
		size, some = 1<<17, []int{3, 8}
	}
	src := corpus.ByName("mixed").Make(size)
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		for _, level := range some {
			digest := map[string][]int{}
			for _, workers := range []int{1, 2, 8} {
				coded, err := compressAll(NewScheduler(workers), p, level, 1<<15+1, src)
				if err != nil {
					t.Fatal(err)
				}
				h := sha256.New()
				for _, e := range coded {
					head := []uint64{uint64(len(e.payload)), uint64(e.raw), uint64(e.kind), uint64(e.sum)}
					binary.Write(h, binary.LittleEndian, head)
					h.Write(e.payload)
				}
				sum := string(h.Sum(nil))
				digest[sum] = append(digest[sum], workers)
			}
			if len(digest) != 1 {
				t.Errorf("level %d: the bytes depend on the number of workers", level)
			}
		}
	})
}

// TestDensity: no level makes the whole of the test data more than half a percent larger than a
// level below it.
func TestDensity(t *testing.T) {
	oneGoroutine(t)
	size := 1 << 17
	if brief() {
		size = 1 << 15
	}
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		s := NewScheduler(0)
		least, by := math.MaxInt, 0
		for _, level := range levels(1, 4, 6, 9) {
			total := 0
			for _, k := range corpus.Kinds() {
				coded, err := compressAll(s, p, level, 1<<20, k.Make(size))
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range coded {
					total += len(e.payload)
				}
			}
			t.Logf("level %d: %d", level, total)
			if by > 0 && total > least+least/200 {
				t.Errorf("level %d: %d bytes, level %d: %d", level, total, by, least)
			}
			if total < least {
				least, by = total, level
			}
		}
	})
}

func TestTable(t *testing.T) {
	if len(Pipelines()) == 0 {
		t.Fatal("no pipelines")
	}
	names, ids := map[string]bool{}, map[uint8]bool{}
	for i := range table {
		p := &table[i]
		if names[p.Name] || ids[p.ID] || (p.ID == 0) != (p.Format != container.PZ) || p.Doc == "" {
			t.Errorf("pipeline %q: name or number not its own, or no description", p.Name)
		}
		names[p.Name] = true
		ids[p.ID] = p.ID != 0
		if ByName(p.Name) != p {
			t.Errorf("pipeline %q is not found", p.Name)
		}
	}
	if ByName(fmt.Sprint(names)) != nil || ByName("") != nil {
		t.Error("a pipeline without a name")
	}
}
