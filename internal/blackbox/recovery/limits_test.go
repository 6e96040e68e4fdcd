package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// TestRecoverErrors recovers files without any block, with failing writers and callbacks.
func TestRecoverErrors(t *testing.T) {
	for _, file := range [][]byte{
		nil, []byte("P"), []byte("text"), make([]byte, 100_000), bbtest.RandomBytes(300_000, 1),
	} {
		err := bbtest.RecoverFrom(bbtest.NoWriter{T: t}, file, nil)
		if !errors.Is(err, compress.ErrFormat) {
			t.Errorf("%d bytes: %v", len(file), err)
		}
	}
	file := bbtest.Encode(t, bbtest.MixedBytes(5*bbtest.BlockSize), compress.WithBlockSize(bbtest.BlockSize))
	if err := bbtest.RecoverFrom(&bbtest.LimitedWriter{N: 5000}, file, nil); !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("error %v, want errTest", err)
	}
	file[50] ^= 1
	fail := func(compress.Damage) error { return bbtest.ErrTest }
	if err := bbtest.RecoverFrom(io.Discard, file, fail); !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("error %v, want errTest", err)
	}
}

// TestRecoverZeroFill checks that WithZeroFill writes as many zeros as the damaged part of the file
// can hold, and no more than the limit allows.
func TestRecoverZeroFill(t *testing.T) {
	huge := (&pzfile.Header{Pipeline: 1, BlockSize: compress.MaxBlockSize, ContentSize: 1 << 62}).Append(nil)
	got, list := bbtest.RecoverAll(t, huge, compress.WithZeroFill(true))
	if len(got) > 0 || len(list) != 1 || list[0].Content != -1 || list[0].Kind != compress.DamageUnknown {
		t.Errorf("%d bytes, %+v", len(got), list)
	}
	content := bbtest.RandomBytes(20*bbtest.BlockSize, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize),
		compress.WithContentSize(int64(len(content))))
	clear(file[10*(bbtest.BlockSize+pzfile.BlockHeaderSize):])
	got, list = bbtest.RecoverAll(t, file, compress.WithZeroFill(true))
	want := slices.Clone(content)
	clear(want[9*bbtest.BlockSize:])
	bbtest.Equal(t, got, want, "end lost")
	if len(list) != 2 || list[0].Content != bbtest.BlockSize || list[1].Content != 10*bbtest.BlockSize {
		t.Errorf("%+v", list)
	}
	var b bytes.Buffer
	err := bbtest.RecoverFrom(&b, file, nil, compress.WithZeroFill(true),
		compress.WithMaxDecodedSize(15*bbtest.BlockSize))
	if !errors.Is(err, compress.ErrTooLarge) || b.Len() > 15*bbtest.BlockSize {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err = compress.Recover(bbtest.WriterFunc(func(p []byte) (int, error) {
		if p[0] == 0 {
			cancel(bbtest.ErrTest)
		}
		return len(p), nil
	}), bytes.NewReader(file), int64(len(file)), nil, compress.WithZeroFill(true), compress.WithContext(ctx))
	if !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("error %v, want errTest", err)
	}
}

// TestRecoverCanceled ends the context after some reads. Recover must stop after a few more.
func TestRecoverCanceled(t *testing.T) {
	file := bbtest.Encode(t, bbtest.MixedBytes(40*bbtest.BlockSize), compress.WithBlockSize(bbtest.BlockSize))
	for _, file := range [][]byte{file, file[:len(file)-1], make([]byte, 1<<20)} {
		for _, n := range []int64{0, 1, 2, 5, 10} {
			ctx, cancel := context.WithCancelCause(t.Context())
			reads := int64(0)
			src := bbtest.ReaderAtFunc(func(p []byte, off int64) (int, error) {
				reads++
				if reads > n {
					cancel(bbtest.ErrTest)
				}
				return bytes.NewReader(file).ReadAt(p, off)
			})
			if err := compress.Recover(
				io.Discard, src, int64(len(file)), nil, compress.WithContext(ctx),
				compress.WithConcurrency(1),
			); !errors.Is(err, bbtest.ErrTest) {
				t.Errorf("canceled after %d reads of %d bytes: %v", n, len(file), err)
			}
			if reads > n+8 { // prefetch has begun some
				t.Errorf("canceled after %d reads of %d bytes: %d more reads", n, len(file),
					reads-n)
			}
		}
	}
}

// TestRecoverUnreadable lets each sector fail to read. Recover must report it as damage and save
// all other blocks.
func TestRecoverUnreadable(t *testing.T) {
	content := bbtest.RandomBytes(40*bbtest.BlockSize, 1)
	block := compress.WithBlockSize(bbtest.BlockSize)
	file := slices.Concat(bbtest.Encode(t, content[:30*bbtest.BlockSize], block),
		bbtest.Encode(t, content[30*bbtest.BlockSize:], block))
	blocks := slices.Collect(bbtest.OpenAt(t, file).Blocks())
	for bad := int64(0); bad < int64(len(file)); bad += 512 {
		end := min(bad+512, int64(len(file)))
		src := bbtest.ReaderAtFunc(func(p []byte, off int64) (int, error) {
			if off < end && off+int64(len(p)) > bad {
				return copy(p, file[off:max(off, bad)]), bbtest.ErrTest
			}
			return bytes.NewReader(file).ReadAt(p, off)
		})
		var want []byte
		for _, b := range blocks {
			if b.Offset+b.Size <= bad || b.Offset >= end {
				want = append(want, content[b.ContentOffset:b.ContentOffset+b.Content]...)
			}
		}
		var got bytes.Buffer
		reported := false
		err := compress.Recover(&got, src, int64(len(file)), func(d compress.Damage) error {
			reported = reported || errors.Is(d.Err, bbtest.ErrTest)
			return nil
		})
		if err != nil || !reported {
			t.Fatalf("unreadable at %d: reported %v, %v", bad, reported, err)
		}
		bbtest.Equal(t, got.Bytes(), want, fmt.Sprint("unreadable at ", bad))
	}
	none := bbtest.ReaderAtFunc(func(p []byte, off int64) (int, error) { return 0, bbtest.ErrTest })
	err := compress.Recover(io.Discard, none, 1<<20, nil)
	if !errors.Is(err, compress.ErrFormat) || !errors.Is(err, bbtest.ErrTest) {
		t.Errorf("error %v, want errTest", err)
	}
}

// hostileFiles returns files of about n bytes that keep the search for blocks or frames busy.
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
	frame := (&zstfile.Header{ContentSize: 1 << 20, SingleSegment: true}).Append(nil)
	// Each frame has the next header as a block, and all blocks of the next frame.
	least := (&zstfile.Header{ContentSize: 100, SingleSegment: true}).Append(nil)
	shared := bytes.Repeat(append(least, byte(len(least)<<3), 0, 0), n/9)
	zeros := make([]byte, n)
	fill := func(parts ...[]byte) []byte {
		p := slices.Concat(parts...)
		return bytes.Repeat(p, n/len(p))
	}
	table := bbtest.MakeSeekTable(true, zstfile.Entry{Size: uint32(n), Content: 1 << 20, Sum: 1})
	// An index whose check is right, and whose content does not add up.
	wrong := make([]byte, pzfile.EndMarkerSize)
	for len(wrong) < n/2/pzfile.UnitSize*pzfile.UnitSize {
		wrong = pzfile.Entry{Kind: pzfile.Stored, Payload: 1, Raw: 1}.Append(wrong)
	}
	units := int64(len(wrong)) / pzfile.UnitSize
	wrong = pzfile.AppendFooter(wrong, pzfile.Footer{
		Content: units + 1, Size: int64(n)/2 + pzfile.TailSize(units) + units*20, Units: units,
	}, pzfile.Checksum(0, wrong))
	// Block headers that all lead to one end marker and entries, but to no footer.
	entries := make([]byte, pzfile.EndMarkerSize)
	for len(entries) < n/2 {
		entries = pzfile.Entry{Kind: pzfile.Stored, Payload: 1, Raw: 1}.Append(entries)
	}
	var leading []byte
	for rest := n / 2; rest > 100; rest -= pzfile.BlockHeaderSize {
		leading = append(leading, stored(rest-pzfile.BlockHeaderSize, 1<<20)...)
	}
	leading = append(leading, make([]byte, n/2-len(leading))...)
	return map[string][]byte{
		"tables in content":    tablesInContent(n, append(least, 1, 0, 0)),
		"one beginning":        oneBeginning(n, header, stored),
		"headers":              fill(header),
		"headers and zeros":    fill(header, zeros[:8]),
		"small headers":        fill(small.Append(nil)),
		"blocks":               fill(stored(1, 2), zeros[:1]),
		"block headers":        fill(stored(1<<10, 9)),
		"headers and blocks":   fill(header, stored(n/2, 0)),
		"chain":                slices.Concat(funnel, chain),
		"zeros":                slices.Concat(header, zeros),
		"wrong index":          slices.Concat(bytes.Repeat(header, n/2/len(header)), wrong),
		"one end marker":       slices.Concat(header, leading, entries, zeros[:40]),
		"frames":               fill(frame, zeros[:3]),
		"frames before empty":  append(bytes.Repeat(frame, 1000), zeros...),
		"seek tables":          slices.Concat(frame, fill(zstfile.AppendSeekTable(nil, nil, true))),
		"claims of content":    fill(frame, []byte{3, 0, 8, 'x'}),
		"claims, table":        slices.Concat(fill(frame, []byte{3, 0, 8, 'x'}), table),
		"shared blocks":        append(shared, 0, 0, 0, 0, 0, 0, 1, 0, 0),
		"shared blocks, table": slices.Concat(shared, []byte{1, 0, 0}, table),
	}
}

// tablesInContent returns a file of n bytes with tables that look like content of the frame that is
// lost in front. Each lists a frame.
func tablesInContent(n int, frame []byte) []byte {
	file := []byte{'x'}
	for len(file) < n {
		file = append(file, frame...)
		list := []zstfile.Entry{{Size: uint32(len(frame))}}
		file = append(zstfile.AppendSeekTable(file, list, false), "\x01junk"...)
	}
	return file
}

// oneBeginning returns a file of n bytes with streams whose indexes say that they begin where the
// first one does.
func oneBeginning(n int, header []byte, stored func(payload int, number int64) []byte) []byte {
	file := slices.Concat(header, stored(2, 0), []byte("\x01junk"))
	for len(file) < n {
		file = append(append(append(file, header...), stored(1, 0)...), 1)
		tail := make([]byte, pzfile.EndMarkerSize)
		tail = pzfile.Entry{Kind: pzfile.Stored, Payload: 1, Raw: 1}.Append(tail)
		file = append(file, pzfile.AppendFooter(tail, pzfile.Footer{
			Content: 1, Size: int64(len(file)) + pzfile.TailSize(1), Units: 1,
		}, pzfile.Checksum(0, tail))...)
	}
	return file
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
		if float64(read2) > most*float64(max(read, 1<<16)) ||
			float64(decoded2) > most*float64(max(decoded, 1<<16)) {
			t.Errorf("%s: twice the file takes more than twice the work", name)
		}
		if limit := int64(64<<20 + 8*len(file)); decoded > limit {
			t.Errorf("%s: %d bytes decoded, want at most %d", name, decoded, limit)
		}
	}
}

// TestRecoverFirstPart recovers the first part of a file of many, which is intact. The indexes at
// the end of the file are not read: with thousands of parts in changing formats, whoever recovers
// one part after the other would read them for each.
func TestRecoverFirstPart(t *testing.T) {
	part := bbtest.Encode(t, []byte("content"))
	other := bbtest.Encode(t, []byte("other"), compress.WithFormat(compress.Gzip))
	file := slices.Concat(part, other, bytes.Repeat(part, 10_000))
	src := &bbtest.CountingReaderAt{ReaderAt: bytes.NewReader(file)}
	var damage []compress.Damage
	err := compress.Recover(io.Discard, src, int64(len(file)), func(d compress.Damage) error {
		damage = append(damage, d)
		return nil
	})
	if err != nil || len(damage) != 1 || !errors.Is(damage[0].Err, compress.ErrTrailing) {
		t.Errorf("%v, %v", damage, err)
	}
	if n := src.Bytes.Load(); n > 8<<10 {
		t.Errorf("%d of %d bytes read for a part of %d", n, len(file), len(part))
	}
}

// recoverWork returns the bytes that Recover reads and decodes.
func recoverWork(t *testing.T, name string, file []byte) (read, decoded int64) {
	t.Helper()
	s := compress.NewScheduler(1)
	s.EnableStats(true)
	src := &bbtest.CountingReaderAt{ReaderAt: bytes.NewReader(file)}
	err := compress.Recover(io.Discard, src, int64(len(file)), nil, compress.WithScheduler(s))
	if err != nil && !errors.Is(err, compress.ErrFormat) && !errors.Is(err, compress.ErrNoIndex) {
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

// TestRecoverHighNumbers: bytes that look like blocks have numbers that no int of 32 bits can hold.
func TestRecoverHighNumbers(t *testing.T) {
	content := bbtest.TextBytes(13*bbtest.BlockSize, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	var blocks []byte
	for number := int64(1<<31 + 5); number < 1<<31+8; number++ {
		e := pzfile.NewEntry(pzfile.Fill, 1, bbtest.BlockSize, false)
		blocks = append(pzfile.AppendBlockHeader(blocks, e, 1, number), 0)
	}
	clear(file[:pzfile.MinHeaderSize])
	copy(file[pzfile.MinHeaderSize:], blocks)
	if got, list := bbtest.RecoverAll(t, file); !bytes.HasSuffix(got, content[bbtest.BlockSize:]) {
		t.Errorf("%d bytes of %d, damage %+v", len(got), len(content), list)
	}
}

// FuzzRecover checks that Recover accepts any input and reports consistent damage.
func FuzzRecover(f *testing.F) {
	pz, _, _ := bbtest.DamageFile(f)
	zst, _, frames, table := seekableParts(f)
	for _, p := range [][]byte{
		pz, pz[:len(pz)-5], pz[7:], slices.Concat(pz[:len(pz)/2], pz), zst[:len(zst)-5],
		slices.Delete(slices.Clone(zst), 600, 700), slices.Concat(frames[3], zst, table),
	} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var saved, lost int64
		w := bbtest.WriterFunc(func(p []byte) (int, error) {
			saved += int64(len(p))
			return len(p), nil
		})
		err := bbtest.RecoverFrom(w, p, func(d compress.Damage) error {
			lost += max(0, d.Content)
			if d.ContentOffset > saved+lost || d.Err == nil && d.Kind != compress.DamageWindow {
				t.Errorf("%+v after %d bytes saved and %d lost", d, saved, lost)
			}
			return nil
		}, compress.WithMaxMemory(600<<20), compress.WithConcurrency(1))
		if err != nil && !errors.Is(err, compress.ErrFormat) && !errors.Is(err, compress.ErrNoIndex) {
			t.Error(err)
		}
	})
}
