package recovery

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// TestRecoverCutAndFollowed cuts a stream that another one follows. All whole blocks of both must
// be saved.
func TestRecoverCutAndFollowed(t *testing.T) {
	a := bbtest.MixedBytes(6*bbtest.BlockSize + 100)
	for _, c := range []struct {
		name string
		opts []compress.WriterOption
		b    []byte
	}{
		{"longer", nil, bbtest.RandomBytes(9*bbtest.BlockSize+50, 1)},
		{"same", nil, a},
		{"one block", nil, bbtest.TextBytes(90, 2)},
		{"empty", nil, nil},
		{
			"no checks", []compress.WriterOption{compress.WithChecksum(false)},
			bbtest.RandomBytes(9*bbtest.BlockSize, 1),
		},
		{"sizes", []compress.WriterOption{
			compress.WithContentSize(int64(len(a))),
		}, bbtest.MixedBytes(len(a))},
	} {
		one := bbtest.Encode(t, a, append(c.opts, compress.WithBlockSize(bbtest.BlockSize))...)
		sized := append(c.opts, compress.WithBlockSize(bbtest.BlockSize),
			compress.WithContentSize(int64(len(c.b))))
		two := bbtest.Encode(t, c.b, sized...)
		var cuts []int64
		for b := range bbtest.OpenAt(t, one).Blocks() {
			for _, more := range []int64{0, 3, 7, 11, pzfile.BlockHeaderSize, 40, b.Size - 1} {
				cuts = append(cuts, b.Offset+more)
			}
		}
		tail := int64(len(one)) - pzfile.TailSize(7)
		cuts = append(cuts, tail, tail+2, tail+4, tail+20, int64(len(one))-1)
		for _, n := range cuts {
			saved := 0
			for b := range bbtest.OpenAt(t, one).Blocks() {
				if b.Offset+b.Size <= n {
					saved = int(b.ContentOffset + b.Content)
				}
			}
			file := slices.Concat(one[:n], two)
			what := fmt.Sprintf("%s, cut at %d", c.name, n)
			got, list := bbtest.RecoverAll(t, file)
			bbtest.Equal(t, got, slices.Concat(a[:saved], c.b), what)
			if len(list) != 1 || list[0].Stream != 0 {
				t.Fatalf("%s: %+v", what, list)
			}
			if d := list[0]; saved < len(a) && (d.Kind == compress.DamageFrame || d.Content == 0) {
				t.Errorf("%s: %+v", what, d)
			}
			got, _ = bbtest.RecoverAll(t, append(file, two...))
			bbtest.Equal(t, got, slices.Concat(a[:saved], c.b, c.b), what+", two follow")
		}
	}
}

// TestRecoverNested stores .pz data in a block. The search must not take its blocks for those of
// the file around it.
func TestRecoverNested(t *testing.T) {
	inner := bbtest.Encode(t, bbtest.RandomBytes(5*bbtest.BlockSize, 1),
		compress.WithBlockSize(bbtest.BlockSize))
	content := slices.Concat(bbtest.RandomBytes(1<<16, 2), inner, bbtest.RandomBytes(2<<16, 3))
	file := bbtest.Encode(t, content, compress.WithBlockSize(1<<16), bridge.Pipeline("lzr"))
	bad := slices.Clone(file)
	bad[pzfile.MinHeaderSize+pzfile.BlockHeaderSize+1<<16] ^= 1 // its block header
	bad[len(bad)-40] ^= 1
	got, _ := bbtest.RecoverAll(t, bad)
	bbtest.Equal(t, got, slices.Concat(content[:1<<16], content[2<<16:]), "nested")
}

// TestRecoverNestedAtDamage stores .pz data in a block that is cut off, in the last one in front of
// a damaged header, and in one whose own header is damaged.
func TestRecoverNestedAtDamage(t *testing.T) {
	inner := bbtest.Encode(t, bbtest.RandomBytes(5*bbtest.BlockSize, 1),
		compress.WithBlockSize(bbtest.BlockSize))
	content := slices.Concat(bbtest.RandomBytes(1<<16, 2), bbtest.RandomBytes(500, 3), inner,
		bbtest.RandomBytes(3<<16, 4))
	for _, head := range [][]byte{nil, bbtest.TextBytes(30_000, 5)} { // stored and coded
		content := slices.Concat(content[:1<<16], head, content[1<<16:])
		file := bbtest.Encode(t, content, compress.WithBlockSize(1<<16))
		var blocks []compress.BlockInfo
		for b := range bbtest.OpenAt(t, file).Blocks() {
			blocks = append(blocks, b)
		}
		// The block is cut off.
		got, _ := bbtest.RecoverAll(t, file[:blocks[2].Offset-1])
		bbtest.Equal(t, got, content[:1<<16], "cut")
		// The header behind the block is damaged.
		bad := slices.Clone(file[:len(file)-1])
		clear(bad[blocks[2].Offset:][:pzfile.BlockHeaderSize])
		got, _ = bbtest.RecoverAll(t, bad)
		bbtest.Equal(t, got, slices.Concat(content[:2<<16], content[3<<16:]), "header behind")
		// The header of the block is damaged; the footer tells which stream has the blocks behind.
		bad = slices.Clone(file)
		clear(bad[blocks[1].Offset:][:pzfile.BlockHeaderSize])
		bad[len(bad)-40] ^= 1
		got, _ = bbtest.RecoverAll(t, bad)
		bbtest.Equal(t, got, slices.Concat(content[:1<<16], content[2<<16:]), "header")
	}
}

// TestRecoverRandomDamage overwrites and deletes random pieces. All whole blocks must be saved in
// order, and damage must be reported.
func TestRecoverRandomDamage(t *testing.T) {
	content := bbtest.TextBytes(30*bbtest.BlockSize+9, 1) // no two blocks are the same
	var file []byte
	for _, part := range [][]byte{
		content[:11*bbtest.BlockSize+7], content[11*bbtest.BlockSize+7 : 14*bbtest.BlockSize],
		content[14*bbtest.BlockSize : 14*bbtest.BlockSize+900],
		content[14*bbtest.BlockSize+900 : 15*bbtest.BlockSize],
		content[15*bbtest.BlockSize : 16*bbtest.BlockSize],
		content[16*bbtest.BlockSize : 20*bbtest.BlockSize],
		content[20*bbtest.BlockSize : 21*bbtest.BlockSize], content[21*bbtest.BlockSize:],
	} {
		file = append(file, bbtest.Encode(t, part, compress.WithBlockSize(bbtest.BlockSize))...)
	}
	var blocks []compress.BlockInfo
	for b := range bbtest.OpenAt(t, file).Blocks() {
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
				copy(bad[from:], bbtest.RandomBytes(to-from, r.Uint64()))
			case 2:
				bad = slices.Delete(bad, from, to)
			}
		}
		got, list := bbtest.RecoverAll(t, bad)
		if len(list) == 0 {
			t.Fatalf("round %d: no damage reported", seed)
		}
		for _, b := range blocks {
			if !bytes.Contains(bad, file[b.Offset:b.Offset+b.Size]) {
				continue
			}
			p := content[b.ContentOffset : b.ContentOffset+b.Content]
			if !bytes.HasPrefix(got, p) {
				t.Errorf("round %d: stream %d block %d is missing: %+v", seed, b.Stream, b.Number,
					list)
				continue
			}
			got = got[len(p):]
		}
		if len(got) > 0 {
			t.Errorf("round %d: %d bytes that are in no block: %+v", seed, len(got), list)
		}
	}
}

// hostileFiles returns files of about n bytes that keep the search for blocks busy.
func hostileFiles(n int) map[string][]byte {
	h := pzfile.Header{Pipeline: 2, BlockSize: compress.MaxBlockSize, Checks: true, ContentSize: -1}
	header := h.Append(nil)
	stored := func(payload int, number int64) []byte {
		e := pzfile.Entry{Kind: pzfile.Stored, Payload: payload, Raw: payload}
		return pzfile.AppendBlockHeader(nil, e, 1, number)
	}
	// Each stream of the funnel has one block, behind which the same chain of blocks begins.
	var chain []byte
	for i := range int64(n / 2 / 17) {
		chain = append(append(chain, stored(1, i+2)...), 0)
	}
	var funnel []byte
	for rest := n / 2; rest > 100; rest -= 26 {
		funnel = append(append(funnel, header...), stored(rest-26, 1)...)
	}
	small := pzfile.Header{Pipeline: 2, Checks: true, Small: true, Sum: 1}
	small.Only = pzfile.Entry{Kind: pzfile.Stored, Payload: 5000, Raw: 5000}
	smallHeader := small.Append(nil)
	zeros := make([]byte, n)
	return map[string][]byte{
		"headers":            bytes.Repeat(header, n/len(header)),
		"headers and zeros":  bytes.Repeat(append(header, zeros[:8]...), n/(len(header)+8)),
		"small headers":      bytes.Repeat(smallHeader, n/len(smallHeader)),
		"blocks":             bytes.Repeat(append(stored(1, 2), 0), n/17),
		"block headers":      bytes.Repeat(stored(1<<10, 9), n/16),
		"headers and blocks": bytes.Repeat(slices.Concat(header, stored(n/2, 0)), n/26),
		"chain":              slices.Concat(funnel, chain),
		"zeros":              slices.Concat(header, zeros),
	}
}

// TestRecoverHostile checks that the search takes linear work on hostile files: twice the file
// makes it read twice the bytes, and decode twice the bytes in vain.
func TestRecoverHostile(t *testing.T) {
	testenv.Slow(t)
	const n, most = 200_000, 2.3 // the rest is for rounding and for the ends of buffers
	double := hostileFiles(2 * n)
	for name, file := range hostileFiles(n) {
		read, decoded := recoverWork(t, name, file)
		read2, decoded2 := recoverWork(t, name, double[name])
		t.Logf("%s: %d and %d bytes read, %d and %d decoded", name, read, read2, decoded, decoded2)
		if ratio := float64(read2) / float64(max(read, 1<<16)); ratio > most {
			t.Errorf("%s: twice the file makes Recover read %.1f times as much", name, ratio)
		}
		if ratio := float64(decoded2) / float64(max(decoded, 1<<16)); ratio > most {
			t.Errorf("%s: twice the file makes Recover decode %.1f times as much", name, ratio)
		}
		if limit := int64(8 * len(file)); decoded > limit {
			t.Errorf("%s: %d bytes decoded, want at most %d", name, decoded, limit)
		}
	}
}

// recoverWork returns the bytes that Recover reads and decodes.
func recoverWork(t *testing.T, name string, file []byte) (read, decoded int64) {
	t.Helper()
	s := compress.NewScheduler(1)
	s.EnableStats(true)
	src := &bbtest.CountingReaderAt{ReaderAt: bytes.NewReader(file)}
	err := compress.Recover(io.Discard, src, int64(len(file)), nil, compress.WithScheduler(s))
	if err != nil && !errors.Is(err, compress.ErrFormat) {
		t.Errorf("%s: %v", name, err)
	}
	for _, stage := range s.Stats().Stages {
		decoded = max(decoded, stage.Bytes)
	}
	return src.Bytes.Load(), decoded
}

// TestRecoverMemory checks that the search stays within WithMaxMemory on hostile files.
func TestRecoverMemory(t *testing.T) {
	const limit = 8 << 20
	for name, file := range hostileFiles(12 << 20) {
		if !testenv.All() && name != "headers and zeros" {
			continue
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		most, next := uint64(0), int64(0)
		src := bbtest.ReaderAtFunc(func(p []byte, off int64) (int, error) {
			if off >= next {
				next = off + 2<<20
				runtime.GC()
				runtime.ReadMemStats(&after)
				most = max(most, after.HeapAlloc)
			}
			return bytes.NewReader(file).ReadAt(p, off)
		})
		err := compress.Recover(io.Discard, src, int64(len(file)), nil, compress.WithMaxMemory(limit),
			compress.WithConcurrency(1))
		if err != nil && !errors.Is(err, compress.ErrMemory) && !errors.Is(err, compress.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
		if most > before.HeapAlloc+limit {
			t.Errorf("%s: %d bytes of heap", name, most-before.HeapAlloc)
		}
	}
}

// FuzzRecover checks that Recover accepts any input.
func FuzzRecover(f *testing.F) {
	file, _, _ := bbtest.DamageFile(f)
	f.Add(file)
	f.Add(file[:len(file)-5])
	f.Add(file[7:])
	f.Add(append(file[:len(file)/2:len(file)/2], file...))
	f.Fuzz(func(t *testing.T, p []byte) {
		err := bbtest.RecoverFrom(io.Discard, p, nil, compress.WithMaxMemory(600<<20),
			compress.WithConcurrency(1))
		if err != nil && !errors.Is(err, compress.ErrFormat) &&
			!errors.Is(err, compress.ErrNoIndex) { // no .pz data
			t.Error(err)
		}
	})
}

// TestRecoverFlushed damages a file with many flushes and without an index. All blocks that the
// damage does not touch must be saved.
func TestRecoverFlushed(t *testing.T) {
	for _, checks := range []bool{true, false} {
		r := rand.New(rand.NewPCG(5, 6))
		content := corpus.ByName("json").Make(6 * bbtest.FlushBlock)
		pieces := bbtest.SplitAtRandom(content, r)
		file, _ := bbtest.FlushPieces(t, pieces, len(content),
			compress.WithBlockSize(bbtest.FlushBlock), compress.WithChecksum(checks))
		blocks := slices.Collect(bbtest.OpenAt(t, file).Blocks())
		end := blocks[len(blocks)-1].Offset + blocks[len(blocks)-1].Size
		steps := 60
		if testenv.All() {
			steps = 1000
		}
		for range steps {
			bad := slices.Clone(file[:len(file)-1-r.IntN(40)]) // the footer is not whole
			from := r.Int64N(end)
			to := min(end, from+1+r.Int64N([]int64{1, 100, 10_000, 100_000}[r.IntN(4)]))
			for i := from; i < to; i++ {
				bad[i] ^= byte(1 + r.IntN(255)) // another value
			}
			if r.IntN(4) == 0 {
				bad = slices.Delete(bad, int(from), int(to))
			}
			what := fmt.Sprintf("checks %v, bytes %d to %d of %d", checks, from, to, end)
			checkSaved(t, what, bad, content, blocks, from, to, checks)
		}
	}
}

// checkSaved recovers bad. All content but that of the blocks in [from, to) must be saved.
func checkSaved(
	t *testing.T, what string, bad, content []byte, blocks []compress.BlockInfo, from, to int64, checks bool,
) {
	t.Helper()
	got, list := bbtest.RecoverAll(t, bad)
	if len(list) == 0 {
		t.Fatalf("%s: no damage", what)
	}
	first, last, behind := len(content), 0, 0
	for _, b := range blocks {
		switch {
		case b.Offset >= to:
			behind++
		case b.Offset+b.Size > from:
			first = min(first, int(b.ContentOffset))
			last = max(last, int(b.ContentOffset+b.Content))
		}
	}
	want := slices.Concat(content[:min(first, len(content))], content[max(first, last):])
	if checks {
		bbtest.Equal(t, got, want, what)
	} else if behind < 2 {
		// The last block is lost: nothing confirms its header.
	} else if !bytes.HasPrefix(got, content[:first]) || !bytes.HasSuffix(got, content[max(first, last):]) {
		t.Errorf("%s: intact blocks are lost", what)
	}
}
