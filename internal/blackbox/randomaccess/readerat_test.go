// Package randomaccess tests ReaderAt, caches and indexes, through the public API.
package randomaccess

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
)

// TestReadAtRandom reads at random places from several goroutines, with the cursor in use.
func TestReadAtRandom(t *testing.T) {
	content := bbtest.MixedBytes(30*bbtest.BlockSize + 99)
	a, b := content[:11*bbtest.BlockSize+5], content[11*bbtest.BlockSize+5:]
	file := bbtest.Encode(t, a, compress.WithBlockSize(bbtest.BlockSize))
	file = append(file, bbtest.Encode(t, b, compress.WithBlockSize(2*bbtest.BlockSize),
		bridge.Pipeline("lzr"))...)
	for _, opts := range [][]compress.ReaderOption{
		{compress.WithConcurrency(1)},
		{compress.WithConcurrency(2)},
		{compress.WithConcurrency(8)},
		{compress.WithConcurrency(1), bbtest.WithCachedBlocks(t, 1, 1, 2*bbtest.BlockSize)},
		{compress.WithConcurrency(8), bbtest.WithCachedBlocks(t, 3, 8, 2*bbtest.BlockSize)},
	} {
		r := bbtest.OpenAt(t, file, opts...)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(1, uint64(g)))
				for range 100 {
					off := rnd.IntN(len(content) + 1)
					n := rnd.IntN(3 * bbtest.BlockSize)
					if g == 0 {
						n = rnd.IntN(len(content))
					}
					p := make([]byte, n)
					got, err := r.ReadAt(p, int64(off))
					want := content[off:min(off+n, len(content))]
					if !bytes.Equal(p[:got], want) ||
						(err == io.EOF) != (off+n > len(content) || off == len(content)) {
						t.Errorf("ReadAt(%d, %d): %d, %v", n, off, got, err)
						return
					}
				}
			})
		}
		// The cursor is used at the same time.
		for range 5 {
			var b bytes.Buffer
			r.Seek(0, io.SeekStart)
			if _, err := io.CopyBuffer(
				bbtest.OnlyWriter{Writer: &b}, bbtest.OnlyReader{Reader: io.LimitReader(r, 1<<40)},
				make([]byte, 777),
			); err != nil {
				t.Error(err)
			}
			bbtest.Equal(t, b.Bytes(), content, "cursor")
		}
		wg.Wait()
	}
}

// TestBlock checks that Block and Blocks describe the same blocks, in a file with empty streams.
func TestBlock(t *testing.T) {
	var file []byte
	for _, blocks := range []int{0, 3, 0, 1, 2, 0} {
		content := bbtest.MixedBytes(blocks * bbtest.BlockSize)
		file = append(file, bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))...)
	}
	r := bbtest.OpenAt(t, file)
	number := int64(0)
	for want := range r.Blocks() {
		if got := r.Block(number); got != want {
			t.Errorf("block %d is %+v, and %+v in Blocks", number, got, want)
		}
		number++
	}
	if number != 6 {
		t.Errorf("%d blocks in place of 6", number)
	}
}

// TestSeek moves the cursor at random, beyond the end and to invalid places.
func TestSeek(t *testing.T) {
	content := bbtest.TextBytes(10*bbtest.BlockSize, 1)
	r := bbtest.OpenAt(t, bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize)))
	rnd := rand.New(rand.NewPCG(1, 2))
	pos := int64(0)
	p := make([]byte, 100)
	for range 300 {
		var got int64
		var err error
		switch whence := rnd.IntN(3); whence {
		case io.SeekStart:
			pos = rnd.Int64N(r.Size())
			got, err = r.Seek(pos, whence)
		case io.SeekCurrent:
			d := rnd.Int64N(200) - 100
			if pos+d < 0 {
				d = 0
			}
			pos += d
			got, err = r.Seek(d, whence)
		case io.SeekEnd:
			pos = r.Size() - rnd.Int64N(r.Size())
			got, err = r.Seek(pos-r.Size(), whence)
		}
		if got != pos || err != nil {
			t.Fatal(got, pos, err)
		}
		n, err := io.ReadFull(r, p)
		if want := content[min(pos, r.Size()):min(pos+100, r.Size())]; !bytes.Equal(p[:n], want) {
			t.Fatal("wrong content at", pos, err)
		}
		pos += int64(n)
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("negative position")
	}
	if _, err := r.Seek(0, 3); err == nil {
		t.Error("unknown whence")
	}
	if pos, err := r.Seek(1000, io.SeekEnd); pos != r.Size()+1000 || err != nil {
		t.Error("beyond the end:", pos, err)
	}
	if n, err := r.Read(p); n != 0 || err != io.EOF {
		t.Error("beyond the end:", n, err)
	}
	if _, err := r.ReadAt(p, -1); err == nil || err == io.EOF {
		t.Error("negative offset:", err)
	}
}

// TestSingleFlight checks that small reads load each block once: by ReadAt, by Read, and from
// several goroutines at the same time.
func TestSingleFlight(t *testing.T) {
	const blocks = 12
	content := bbtest.RandomBytes(blocks*bbtest.BlockSize, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	src := &bbtest.CountingReaderAt{ReaderAt: bytes.NewReader(file)}
	r, err := compress.NewReaderAt(src, int64(len(file)), compress.WithConcurrency(2))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	src.Calls.Store(0)
	p := make([]byte, 64)
	for off := 0; off < len(content); off += len(p) {
		if _, err := r.ReadAt(p, int64(off)); err != nil {
			t.Fatal(err)
		}
	}
	if n := src.Calls.Swap(0); n != blocks {
		t.Errorf("%d reads of %d blocks with ReadAt", n, blocks)
	}
	if _, err := io.CopyBuffer(
		bbtest.OnlyWriter{Writer: io.Discard}, bbtest.OnlyReader{Reader: r}, p,
	); err != nil {
		t.Fatal(err)
	}
	if n := src.Calls.Swap(0); n > blocks {
		t.Errorf("%d reads of %d blocks with Read", n, blocks)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { r.ReadAt(make([]byte, 10), 5) })
	}
	wg.Wait()
	if n := src.Calls.Swap(0); n > 1 {
		t.Errorf("%d reads of one block", n)
	}
}

// TestReadAtErrors checks that a ReaderAt returns errors of its underlying reader and writer, and
// works again once they do.
func TestReadAtErrors(t *testing.T) {
	content := bbtest.RandomBytes(5*bbtest.BlockSize, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	src := &bbtest.FaultyReaderAt{ReaderAt: bytes.NewReader(file)}
	src.Bad.Store(true)
	if _, err := compress.NewReaderAt(src, int64(len(file))); !errors.Is(err, bbtest.ErrTest) {
		t.Error("NewReaderAt:", err)
	}
	src.Bad.Store(false)
	r, err := compress.NewReaderAt(src, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	src.Bad.Store(true)
	p := make([]byte, len(content))
	if n, err := r.ReadAt(p, 0); n != 0 || !errors.Is(err, bbtest.ErrTest) {
		t.Error("ReadAt:", n, err)
	}
	if n, err := r.WriteTo(io.Discard); n != 0 || !errors.Is(err, bbtest.ErrTest) {
		t.Error("WriteTo:", n, err)
	}
	src.Bad.Store(false)
	if n, err := r.ReadAt(p, 0); n != len(p) || err != nil || !bytes.Equal(p, content) {
		t.Error("ReadAt once the reader works again:", n, err)
	}
	if n, err := r.WriteTo(&bbtest.LimitedWriter{N: 2*bbtest.BlockSize + 1}); n != 2*bbtest.BlockSize+1 ||
		!errors.Is(err, bbtest.ErrTest) {
		t.Error("WriteTo of a failing writer:", n, err)
	}
	if n, err := r.WriteTo(io.Discard); n != 3*bbtest.BlockSize-1 || err != nil {
		t.Error("WriteTo of the rest:", n, err)
	}
}

// TestBlocks lists the blocks of two streams.
func TestBlocks(t *testing.T) {
	content := slices.Concat(bbtest.RandomBytes(bbtest.BlockSize, 1), make([]byte, bbtest.BlockSize),
		bbtest.TextBytes(bbtest.BlockSize, 2), []byte("end"))
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	file = append(file, file...)
	r := bbtest.OpenAt(t, file)
	var kinds []string
	offset := int64(0)
	for b := range r.Blocks() {
		kinds = append(kinds, b.Kind)
		if b.ContentOffset != offset || b.Stream != len(kinds)/5 ||
			b.Number != int64(len(kinds)-1)%4 {
			t.Errorf("%+v", b)
		}
		offset += b.Content
	}
	if offset != r.Size() || len(kinds) != 8 || kinds[0] != "stored" || kinds[1] != "fill" ||
		kinds[2] != "coded" {
		t.Error(offset, kinds)
	}
	for range r.Blocks() {
		break
	}
	info := r.Info()
	if info.Size != int64(len(file)) || info.Content != r.Size() || info.Blocks != 8 ||
		len(info.Streams) != 2 ||
		info.Streams[1].Offset != int64(len(file)/2) {
		t.Errorf("%+v", info)
	}
	if _, err := compress.NewReaderAt(bytes.NewReader(file), -1); !errors.Is(err, compress.ErrOption) {
		t.Errorf("error %v, want ErrOption", err)
	}
}

// TestReaderAtClosed checks that all methods return ErrClosed after Close, at every offset.
func TestReaderAtClosed(t *testing.T) {
	content := bbtest.TextBytes(3*bbtest.BlockSize, 1)
	r := bbtest.OpenAt(t, bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize)))
	if n, err := r.WriteTo(io.Discard); n != int64(len(content)) || err != nil {
		t.Fatal(n, err)
	}
	r.Close()
	for _, off := range []int64{0, int64(len(content)), 1 << 40} {
		if n, err := r.ReadAt(make([]byte, 1), off); n != 0 || err != compress.ErrClosed {
			t.Error("ReadAt", off, n, err)
		}
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != compress.ErrClosed {
		t.Error("Read", n, err)
	}
	if n, err := r.WriteTo(io.Discard); n != 0 || err != compress.ErrClosed {
		t.Error("WriteTo", n, err)
	}
}

// TestReaderAtStatsClose reads statistics during Close, which must not change them.
func TestReaderAtStatsClose(t *testing.T) {
	file := bbtest.Encode(t, bbtest.TextBytes(20*bbtest.BlockSize, 1),
		compress.WithBlockSize(bbtest.BlockSize))
	s := compress.NewScheduler(2)
	s.EnableStats(true)
	for range 50 {
		r := bbtest.OpenAt(t, file, compress.WithScheduler(s))
		if _, err := r.WriteTo(io.Discard); err != nil {
			t.Fatal(err)
		}
		want := r.Stats().Compute
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.Close()
		}()
		for range 20 {
			if got := r.Stats().Compute; got != want || bbtest.Unmeasured(got) {
				t.Fatalf("Compute: %v during Close, %v before", got, want)
			}
		}
		<-done
	}
}

// TestOpenCanceled checks that NewReaderAt and ReadInfo stop reading once the context has ended.
func TestOpenCanceled(t *testing.T) {
	content := bbtest.TextBytes(20*bbtest.BlockSize, 1)
	pz := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	zst := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
		compress.WithBlockSize(bbtest.BlockSize))
	for name, file := range map[string][]byte{
		"pz": bytes.Repeat(pz, 20), "pz, cut": bytes.Repeat(pz, 20)[:20*len(pz)-10],
		"zst": bytes.Repeat(zst, 20), "zst, cut": bytes.Repeat(zst, 20)[:20*len(zst)-10],
	} {
		open := func(f func(src *bbtest.CancelingReaderAt, size int64, o compress.Option) error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			src := &bbtest.CancelingReaderAt{Reader: *bytes.NewReader(file), Cancel: cancel}
			if err := f(src, int64(len(file)), compress.WithContext(ctx)); !errors.Is(err, bbtest.ErrTest) ||
				src.Reads > 3 {
				t.Errorf("%s: %v after %d reads", name, err, src.Reads)
			}
		}
		open(func(src *bbtest.CancelingReaderAt, size int64, o compress.Option) error {
			_, err := compress.NewReaderAt(src, size, o)
			return err
		})
		open(func(src *bbtest.CancelingReaderAt, size int64, o compress.Option) error {
			_, err := compress.ReadInfo(src, size, nil, o)
			return err
		})
	}
}
