package compress

import (
	"bytes"
	"context"
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

type readerAtFunc func(p []byte, off int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

func TestRecoverCanceled(t *testing.T) {
	file := encode(t, mixedBytes(40*testBlock), WithBlockSize(testBlock))
	for _, file := range [][]byte{file, file[:len(file)-1], make([]byte, 1<<20)} {
		for _, n := range []int64{0, 1, 2, 5, 10} {
			ctx, cancel := context.WithCancelCause(t.Context())
			reads := int64(0)
			src := readerAtFunc(func(p []byte, off int64) (int, error) {
				if reads++; reads > n {
					cancel(errTest)
				}
				return bytes.NewReader(file).ReadAt(p, off)
			})
			if err := Recover(io.Discard, src, int64(len(file)), nil, WithContext(ctx), WithConcurrency(1)); !errors.Is(err, errTest) {
				t.Errorf("%d reads of %d bytes: %v", n, len(file), err)
			}
			if reads > n+8 { // some blocks are read ahead
				t.Errorf("%d reads of %d bytes: %d more", n, len(file), reads-n)
			}
		}
	}
}

// What cannot be read is damage, wherever it is.
func TestRecoverUnreadable(t *testing.T) {
	content := randomBytes(40*testBlock, 1)
	file := slices.Concat(encode(t, content[:30*testBlock], WithBlockSize(testBlock)), encode(t, content[30*testBlock:], WithBlockSize(testBlock)))
	var blocks []BlockInfo
	for b := range openAt(t, file).Blocks() {
		blocks = append(blocks, b)
	}
	for bad := int64(0); bad < int64(len(file)); bad += 512 {
		end := min(bad+512, int64(len(file)))
		src := readerAtFunc(func(p []byte, off int64) (int, error) {
			if off < end && off+int64(len(p)) > bad {
				return copy(p, file[off:max(off, bad)]), errTest
			}
			return bytes.NewReader(file).ReadAt(p, off)
		})
		for _, cut := range []int64{0, 1} {
			size := int64(len(file)) - cut
			var want []byte
			for _, b := range blocks {
				if b.Offset+b.Size <= bad || b.Offset >= end {
					want = append(want, content[b.ContentOffset:b.ContentOffset+b.Content]...)
				}
			}
			var got bytes.Buffer
			told := false
			err := Recover(&got, src, size, func(d Damage) error {
				told = told || errors.Is(d.Err, errTest)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got.Bytes(), want, fmt.Sprint("unreadable at ", bad, ", cut ", cut))
			if !told && (cut == 0 || len(want) < len(content)) {
				t.Error("unreadable at", bad, "cut", cut, "and no word of it")
			}
		}
	}
	none := readerAtFunc(func(p []byte, off int64) (int, error) { return 0, errTest })
	if err := Recover(io.Discard, none, 1<<20, nil); !errors.Is(err, ErrFormat) || !errors.Is(err, errTest) {
		t.Error(err)
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
