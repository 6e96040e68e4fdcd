package pipeline

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lzseq"
)

// memory returns the bound on the memory of a run without a device, with so many workers and
// blocks.
func (c *Config) memory(workers, blocks int) int64 {
	p := Plan{cfg: *c, workers: workers}
	return p.Memory(blocks)
}

// decodeBound returns the bound on the memory of one worker that decodes blocks of size bytes.
func decodeBound(p *Pipeline, size int) int64 {
	cfg := Config{Pipeline: p, Op: Decompress, BlockSize: size}
	return cfg.memory(1, 1)
}

// footprint returns the scratch memory that a workspace holds: itself, its payload and the slices
// in them.
func footprint(ws *workspace) int64 {
	seen := map[uintptr]bool{}
	n := int64(reflect.TypeFor[workspace]().Size()) + held(reflect.ValueOf(ws).Elem(), seen)
	if ws.payload != nil {
		n += int64(reflect.TypeFor[payload]().Size()) + held(reflect.ValueOf(ws.payload).Elem(), seen)
	}
	return n
}

// lazy lists packages with scratch memory behind pointers.
var lazy = []string{
	reflect.TypeFor[optimal.Parser]().PkgPath(),
	reflect.TypeFor[rans.Contexts]().PkgPath(),
	reflect.TypeFor[kernels.CtxTable]().PkgPath(),
}

// held adds up the slices in v, and what is behind pointers that are not in seen. What slices point
// to in turn are blocks and streams of others, or counted already.
func held(v reflect.Value, seen map[uintptr]bool) (n int64) {
	switch v.Kind() {
	case reflect.Slice:
		return int64(v.Cap()) * int64(v.Type().Elem().Size())
	case reflect.Pointer:
		// Optimal parsers and context-coded streams, which not every worker has.
		e := v.Elem()
		if e.IsValid() && slices.Contains(lazy, e.Type().PkgPath()) && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			return int64(e.Type().Size()) + held(e, seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += held(v.Field(i), seen)
		}
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Slice {
			for i := range v.Len() {
				n += held(v.Index(i), seen)
			}
		}
	}
	return n
}

// words makes data of w different words of k bytes. After a word comes another one than the last
// few times. Words have no first and no last byte in common, so there are matches of one word and
// no literals.
func words(n, w, k, times int) []byte {
	r := rand.New(rand.NewPCG(uint64(w), uint64(k)))
	list := corpus.ByName("random").MakeSeed(w*k, 7)
	for i := range w {
		list[i*k], list[i*k+k-1] = byte(i), byte(i)
	}
	followers := make([][]int, w)
	p := bytes.Clone(list)
	for i := 0; len(p) < n; {
		f := followers[i]
		next := r.IntN(w)
		for slices.Contains(f[max(0, len(f)-times):], next) || next == i {
			next = r.IntN(w)
		}
		followers[i] = append(f, next)
		i = next
		p = append(p, list[i*k:i*k+k]...)
	}
	return p[:n]
}

// twos makes data of matches of 2 bytes, each at another one of three offsets than the last.
func twos(n int) []byte {
	r := rand.New(rand.NewPCG(51, 52))
	offsets := [...]int{331, 2000, 7777}
	p := corpus.ByName("random").Make(8000)
	for last := 0; len(p) < n; {
		last = (last + 1 + r.IntN(2)) % 3
		from := len(p) - offsets[last]
		p = append(p, p[from], p[from+1])
	}
	return p[:n]
}

// hardSize returns how much of size is enough for levels that take long for such data. A piece of
// BinaryTree is never longer.
func hardSize(p *Pipeline, level, size int) int {
	switch {
	case p.levels[level].Optimal():
		return max(size/8, 1<<14)
	case level > 5:
		return size / 4
	}
	return size
}

// TestMemory gives one worker blocks that each make something else large: sequences, literals,
// offsets, lengths, coded symbols. What it holds in the end must be within Memory.
func TestMemory(t *testing.T) {
	oneGoroutine(t)
	size := 1 << 20
	if brief() {
		size = 1 << 16
	}
	hard := append(hardContent(size),
		words(size, 250, 5, 100), words(size, 40, 5, 33), words(size, 100, 6, 10), manyTables(size),
		corpus.ByName("exe").Make(size), twos(trialBlock), twos(size), // a small block between large ones
	)
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		for _, level := range levels(1, 5, 7, 9) {
			memoryAtLevel(t, p, level, hard, hardSize(p, level, size))
		}
	})
}

// hardContent returns blocks of size bytes that make sequences, literals or offsets many.
func hardContent(size int) [][]byte {
	return [][]byte{
		words(size, 40, 4, 33), words(size, 100, 4, 65), words(size, 200, 9, 10),
		corpus.ByName("skewed").Make(size), corpus.ByName("short").Make(size),
		corpus.ByName("text").Make(size), sevenBits(corpus.ByName("random").Make(size)),
	}
}

func memoryAtLevel(t *testing.T, p *Pipeline, level int, blocks [][]byte, size int) {
	enc, dec, verify := new(workspace), new(workspace), new(workspace)
	r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level})
	defer r.Close()
	sequences := 0
	for _, src := range blocks {
		src = src[:min(size, len(src))]
		b := r.Get()
		b.Src = src
		if !execute(enc, b) || b.Err != nil {
			t.Fatal(b.Err)
		}
		sequences = max(sequences, len(enc.payload.seqs))
		if _, err := decodeOne(dec, p, encoded{b.Out(), b.Raw, b.Kind, 0}, false); err != nil {
			t.Fatal(err)
		}
		if b.Kind == codedKind && p.fused != nil && b.dst[0] != lzseq.Dense.ID { // no device makes Dense
			q := &gpu.Request{Layout: lzseq.LayoutByID(b.dst[0]), Dst: b.dst}
			if err := acceptContent(verify, b, q); err != nil {
				t.Fatal(err)
			}
		}
		b.Src = nil
		r.Put(b)
	}
	if sequences < size/10 {
		t.Errorf("level %d: only %d sequences: the blocks are not hard enough", level, sequences)
	}
	cfg := Config{Pipeline: p, Op: Compress, Level: level, BlockSize: size}
	encHeld, encBound := footprint(enc), cfg.memory(1, 1)
	decHeld, decBound := footprint(dec), decodeBound(p, size)
	t.Logf("level %d: %d sequences, compressing %d of %d, decompressing %d of %d",
		level, sequences, encHeld, encBound, decHeld, decBound)
	if encHeld > encBound {
		t.Errorf("level %d: compressing holds %d bytes, Memory says %d", level, encHeld, encBound)
	}
	if decHeld > decBound {
		t.Errorf("level %d: decompressing holds %d bytes, Memory says %d", level, decHeld, decBound)
	}
	verifyHeld := footprint(verify)
	withDevice := Plan{cfg: cfg, workers: 1, verify: true}
	if bound := withDevice.Memory(1); encHeld+verifyHeld > bound {
		t.Errorf("level %d: with a device compressing holds %d and %d bytes, Memory says %d",
			level, encHeld, verifyHeld, bound)
	}
	if a, b := cfg.memory(3, 9), 3*encBound; a != b {
		t.Errorf("three workers: %d, one: %d", a, encBound)
	}
}

// TestStandardMemory is TestMemory for the pipelines of other formats, which only compress.
func TestStandardMemory(t *testing.T) {
	oneGoroutine(t)
	size := 1 << 20
	if brief() {
		size = 1 << 16
	}
	hard := hardContent(size)
	forEachStandard(t, func(t *testing.T, p *Pipeline) {
		for _, level := range levels(1, 5, 9) {
			ws, size, sequences := new(workspace), hardSize(p, level, size), 0
			r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level, Checks: true})
			for _, src := range hard {
				b := r.Get()
				b.Src = src[:size]
				if !execute(ws, b) || b.Err != nil {
					t.Fatal(b.Err)
				}
				sequences = max(sequences, len(ws.payload.seqs))
				b.Src = nil
				r.Put(b)
			}
			r.Close()
			if sequences < size/16 {
				t.Errorf("level %d: only %d sequences: the blocks are not hard enough", level, sequences)
			}
			cfg := Config{Pipeline: p, Op: Compress, Level: level, BlockSize: size}
			got, bound := footprint(ws), cfg.memory(1, 1)
			t.Logf("level %d: %d sequences, compressing %d of %d", level, sequences, got, bound)
			if got > bound {
				t.Errorf("level %d: compressing holds %d bytes, Memory says %d", level, got, bound)
			}
		}
	})
}
