package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// Of a stream that was cut and the one that follows it all blocks come out that are whole.
func TestRecoverCutAndFollowed(t *testing.T) {
	a := mixedBytes(6*testBlock + 100)
	for _, c := range []struct {
		name string
		opts []Option
		b    []byte
	}{
		{"longer", nil, randomBytes(9*testBlock+50, 1)},
		{"same", nil, a},
		{"one block", nil, textBytes(90, 2)},
		{"empty", nil, nil},
		{"no checks", []Option{WithChecksum(false)}, randomBytes(9*testBlock, 1)},
		{"sizes", []Option{WithContentSize(int64(len(a)))}, mixedBytes(len(a))},
	} {
		one := encode(t, a, append(c.opts, WithBlockSize(testBlock))...)
		two := encode(t, c.b, append(c.opts, WithBlockSize(testBlock), WithContentSize(int64(len(c.b))))...)
		var cuts []int64
		for b := range openAt(t, one).Blocks() {
			for _, more := range []int64{0, 3, 7, 11, pzfile.BlockHeaderSize, 40, b.Size - 1} {
				cuts = append(cuts, b.Offset+more)
			}
		}
		tail := int64(len(one)) - pzfile.TailSize(7)
		cuts = append(cuts, tail, tail+2, tail+4, tail+20, int64(len(one))-1)
		for _, n := range cuts {
			saved := 0
			for b := range openAt(t, one).Blocks() {
				if b.Offset+b.Size <= n {
					saved = int(b.ContentOffset + b.Content)
				}
			}
			file := slices.Concat(one[:n], two)
			what := fmt.Sprintf("%s, cut at %d", c.name, n)
			got, list := recoverAll(t, file)
			equal(t, got, slices.Concat(a[:saved], c.b), what)
			if len(list) != 1 || list[0].Stream != 0 {
				t.Fatalf("%s: %+v", what, list)
			}
			if d := list[0]; saved < len(a) && (d.Kind == DamageFrame || d.Content == 0) {
				t.Errorf("%s: %+v", what, d)
			}
			got, _ = recoverAll(t, append(file, two...))
			equal(t, got, slices.Concat(a[:saved], c.b, c.b), what+", two follow")
		}
	}
}

// A stored block may hold .pz data. Its blocks are not taken for those of the file around it.
func TestRecoverNested(t *testing.T) {
	inner := encode(t, randomBytes(5*testBlock, 1), WithBlockSize(testBlock))
	content := slices.Concat(randomBytes(1<<16, 2), inner, randomBytes(2<<16, 3))
	file := encode(t, content, WithBlockSize(1<<16), WithPipeline("lzr"))
	bad := slices.Clone(file)
	bad[pzfile.MinHeaderSize+pzfile.BlockHeaderSize+1<<16] ^= 1 // the header of the block with it
	bad[len(bad)-40] ^= 1
	got, _ := recoverAll(t, bad)
	equal(t, got, slices.Concat(content[:1<<16], content[2<<16:]), "nested")
}

// A block that was cut off may hold .pz data, and so may the last one in front of a damaged header.
func TestRecoverNestedAtDamage(t *testing.T) {
	inner := encode(t, randomBytes(5*testBlock, 1), WithBlockSize(testBlock))
	content := slices.Concat(randomBytes(1<<16, 2), randomBytes(500, 3), inner, randomBytes(3<<16, 4))
	for _, head := range [][]byte{nil, textBytes(30_000, 5)} { // stored and coded
		content := slices.Concat(content[:1<<16], head, content[1<<16:])
		file := encode(t, content, WithBlockSize(1<<16))
		var blocks []BlockInfo
		for b := range openAt(t, file).Blocks() {
			blocks = append(blocks, b)
		}
		// In the block that is cut off.
		got, _ := recoverAll(t, file[:blocks[2].Offset-1])
		equal(t, got, content[:1<<16], "cut")
		// In front of the header.
		bad := slices.Clone(file[:len(file)-1])
		clear(bad[blocks[2].Offset:][:pzfile.BlockHeaderSize])
		got, _ = recoverAll(t, bad)
		equal(t, got, slices.Concat(content[:2<<16], content[3<<16:]), "header behind")
		// In the block that has lost its header: the footer tells whose the blocks behind are.
		bad = slices.Clone(file)
		clear(bad[blocks[1].Offset:][:pzfile.BlockHeaderSize])
		bad[len(bad)-40] ^= 1
		got, _ = recoverAll(t, bad)
		equal(t, got, slices.Concat(content[:1<<16], content[2<<16:]), "header")
	}
}

// Whatever is overwritten or taken out, all other blocks come out, in order, and what is missing is told.
func TestRecoverOthers(t *testing.T) {
	content := textBytes(30*testBlock+9, 1) // no two blocks are the same
	var file []byte
	for _, part := range [][]byte{content[:11*testBlock+7], content[11*testBlock+7 : 14*testBlock], content[14*testBlock:]} {
		file = append(file, encode(t, part, WithBlockSize(testBlock))...)
	}
	var blocks []BlockInfo
	for b := range openAt(t, file).Blocks() {
		blocks = append(blocks, b)
	}
	rounds := 1500
	if !testenv.All() {
		rounds = 150
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		bad := slices.Clone(file)
		bad[len(bad)-40] ^= 1
		for range 1 + r.IntN(6) {
			from := r.IntN(len(bad))
			to := min(len(bad), from+1+r.IntN(1<<r.IntN(13)))
			switch seed % 3 {
			case 0:
				clear(bad[from:to])
			case 1:
				copy(bad[from:], randomBytes(to-from, r.Uint64()))
			case 2:
				bad = slices.Delete(bad, from, to)
			}
		}
		got, list := recoverAll(t, bad)
		if len(list) == 0 {
			t.Fatal("round", seed, "and no report")
		}
		for _, b := range blocks {
			if !bytes.Contains(bad, file[b.Offset:b.Offset+b.Size]) {
				continue
			}
			p := content[b.ContentOffset : b.ContentOffset+b.Content]
			if !bytes.HasPrefix(got, p) {
				t.Errorf("round %d: stream %d block %d is missing: %+v", seed, b.Stream, b.Number, list)
				continue
			}
			got = got[len(p):]
		}
		if len(got) > 0 {
			t.Errorf("round %d: %d bytes more than there are: %+v", seed, len(got), list)
		}
	}
}

// hostileFiles are of about n bytes and keep the search busy.
func hostileFiles(t *testing.T, n int) map[string][]byte {
	header := (&pzfile.Header{Pipeline: 2, BlockSize: MaxBlockSize, Checks: true, ContentSize: -1}).Append(nil)
	stored := func(payload int, number int64) []byte {
		return pzfile.AppendBlockHeader(nil, pzfile.Entry{Kind: pzfile.Stored, Payload: payload, Raw: payload}, 1, number)
	}
	// Each stream begins where blocks lead to the same chain.
	var chain []byte
	for i := range int64(n / 2 / 17) {
		chain = append(append(chain, stored(1, i+2)...), 0)
	}
	var funnel []byte
	for rest := n / 2; rest > 100; rest -= 26 {
		funnel = append(append(funnel, header...), stored(rest-26, 1)...)
	}
	return map[string][]byte{
		"headers":            bytes.Repeat(header, n/len(header)),
		"headers and zeros":  bytes.Repeat(append(header, 0, 0, 0, 0, 0, 0, 0, 0), n/(len(header)+8)),
		"blocks":             bytes.Repeat(append(stored(1, 2), 0), n/17),
		"blocks and no more": bytes.Repeat(stored(1<<10, 9), n/16),
		"headers and blocks": bytes.Repeat(slices.Concat(header, stored(n/2, 0)), n/26),
		"chain":              slices.Concat(funnel, chain),
		"zeros":              slices.Concat(header, make([]byte, n)),
	}
}

func TestRecoverHostile(t *testing.T) {
	testenv.Measures(t)
	const n = 400_000
	double := hostileFiles(t, 2*n)
	took := func(file []byte) time.Duration {
		best := time.Duration(math.MaxInt64)
		for range 3 {
			start := cpuTime()
			if err := Recover(io.Discard, bytes.NewReader(file), int64(len(file)), nil, WithConcurrency(1)); err != nil && !errors.Is(err, ErrFormat) {
				t.Error(err)
			}
			best = min(best, cpuTime()-start)
		}
		return best
	}
	for name, file := range hostileFiles(t, n) {
		// Twice the input takes twice the time; what is over is for caches that a busy machine has others use as well.
		ratio, limit := 0.0, 3.2
		a, b := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		for range 6 {
			a, b = min(a, took(file)), min(b, took(double[name]))
			if ratio = float64(b) / float64(max(a, 2*time.Millisecond)); ratio < limit {
				break
			}
		}
		if ratio >= limit {
			t.Errorf("%s: twice the input takes %.1f times as long", name, ratio)
		}
	}
}

func TestRecoverMemory(t *testing.T) {
	const limit = 8 << 20
	for name, file := range hostileFiles(t, 12<<20) {
		if !testenv.All() && name != "headers and zeros" {
			continue
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		most, next := uint64(0), int64(0)
		src := readerAtFunc(func(p []byte, off int64) (int, error) {
			if off >= next {
				next = off + 2<<20
				runtime.GC()
				runtime.ReadMemStats(&after)
				most = max(most, after.HeapAlloc)
			}
			return bytes.NewReader(file).ReadAt(p, off)
		})
		err := Recover(io.Discard, src, int64(len(file)), nil, WithMaxMemory(limit), WithConcurrency(1))
		if err != nil && !errors.Is(err, ErrMemory) && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
		if most > before.HeapAlloc+limit {
			t.Errorf("%s: %d bytes of memory", name, most-before.HeapAlloc)
		}
	}
}

func FuzzRecover(f *testing.F) {
	file, _, _ := damageFile(f)
	f.Add(file)
	f.Add(file[:len(file)-5])
	f.Add(file[7:])
	f.Add(append(file[:len(file)/2:len(file)/2], file...))
	f.Fuzz(func(t *testing.T, p []byte) {
		err := Recover(io.Discard, bytes.NewReader(p), int64(len(p)), nil, WithMaxMemory(600<<20), WithConcurrency(1))
		if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNoIndex) { // nothing of .pz in it
			t.Error(err)
		}
	})
}
