package damage

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
)

// FuzzReader checks that readers accept any input as .pz, and agree about it.
func FuzzReader(f *testing.F) {
	file, _, _ := bbtest.DamageFile(f)
	f.Add(file)
	f.Add([]byte{})
	f.Add([]byte("PZ"))
	f.Add(bbtest.Encode(f, bbtest.VersionsOf(3, 2000, 2),
		compress.WithLongDistance(compress.MinWindow), compress.WithBlockSize(bbtest.BlockSize),
		compress.WithChecksum(false)))
	f.Add(bbtest.Encode(f, nil))
	f.Add(bbtest.Encode(f, bbtest.TextBytes(10_000, 1), compress.WithBlockSize(bbtest.BlockSize),
		bridge.Pipeline("lzr")))
	f.Add(bbtest.Encode(f, make([]byte, 100_000), compress.WithBlockSize(1<<16), compress.WithChecksum(false),
		compress.WithContentSize(100_000)))
	const limit = 16 << 20
	f.Fuzz(func(t *testing.T, p []byte) {
		if f, ok := compress.DetectFormat(p); ok && f != compress.PZ {
			return // FuzzReadStandard covers these
		}
		opts := []compress.ReaderOption{
			compress.WithMaxMemory(limit), compress.WithMaxDecodedSize(limit), compress.WithConcurrency(2),
		}
		r := bbtest.NewReader(t, bbtest.OnlyReader{Reader: bytes.NewReader(p)}, opts...)
		defer r.Close()
		var got bytes.Buffer
		_, err := r.WriteTo(&got)
		var e *compress.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("error %v of type %T", err, err)
		}
		again, atErr := compress.AppendDecode(nil, p, opts...)
		if (err == nil) != (atErr == nil) || err != nil && err.Error() != atErr.Error() ||
			!bytes.Equal(again, got.Bytes()) {
			t.Fatalf("Reader: %d bytes, %v; AppendDecode: %d bytes, %v", got.Len(), err, len(again),
				atErr)
		}
		ra, openErr := bbtest.OpenFile(p, opts...)
		if openErr != nil {
			if err == nil {
				t.Fatalf("NewReaderAt: %v; Reader: no error", openErr)
			}
			return
		}
		defer ra.Close()
		var third bytes.Buffer
		if _, writeErr := ra.WriteTo(&third); (err == nil) != (writeErr == nil) ||
			err == nil && !bytes.Equal(third.Bytes(), got.Bytes()) {
			t.Fatalf("Reader: %v; ReaderAt: %v", err, writeErr)
		}
	})
}

// FuzzReadStandard checks that readers accept any input as .gz or .zst, agree about it, and stay
// within limits.
func FuzzReadStandard(f *testing.F) {
	for _, file := range bbtest.StandardFiles(f) {
		f.Add(file.File)
		f.Add(file.File[:len(file.File)/2])
	}
	f.Add(bbtest.Encode(f, bbtest.MixedBytes(20_000), bridge.Pipeline("lzf"),
		compress.WithBlockSize(bbtest.BlockSize),
		compress.WithChecksum(false)))
	f.Add(bbtest.Encode(f, bbtest.MixedBytes(20_000), bridge.Pipeline("deflate"),
		compress.WithBlockSize(bbtest.BlockSize)))
	const limit = 12 << 20
	f.Fuzz(func(t *testing.T, p []byte) {
		format, ok := compress.DetectFormat(p)
		if !ok || format == compress.PZ {
			return
		}
		opts := []compress.ReaderOption{
			compress.WithMaxMemory(limit), compress.WithMaxDecodedSize(limit / 4),
			compress.WithConcurrency(2),
		}
		var got bytes.Buffer
		var err error
		took := bbtest.AllocatedBytes(func() {
			r := bbtest.NewReader(t, bbtest.OnlyReader{Reader: bytes.NewReader(p)}, opts...)
			defer r.Close()
			_, err = r.WriteTo(&got)
		})
		// got grows by doubling, which allocates up to three times its size.
		if took > 2*limit+3*int64(got.Cap()) {
			t.Fatalf("%d bytes allocated for %d bytes of input and %d bytes of content", took,
				len(p), got.Len())
		}
		var e *compress.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("error %v of type %T", err, err)
		}
		again, atErr := compress.AppendDecode(nil, p, opts...)
		if (err == nil) != (atErr == nil) || err != nil && err.Error() != atErr.Error() ||
			!bytes.Equal(again, got.Bytes()) {
			t.Fatalf("Reader: %d bytes, %v; AppendDecode: %d bytes, %v", got.Len(), err, len(again),
				atErr)
		}
		info, infoErr := bbtest.FileInfo(p, opts...)
		if err == nil && (infoErr != nil || info.Content != int64(got.Len())) {
			t.Fatalf("Reader: %d bytes; ReadInfo: %+v, %v", got.Len(), info, infoErr)
		}
		ra, err2 := bbtest.OpenFile(p, opts...)
		if err2 != nil {
			if !errors.As(err2, &e) || format == compress.Gzip && err == nil &&
				!errors.Is(err2, compress.ErrMemory) {
				t.Fatalf("NewReaderAt: %v", err2)
			}
			return
		}
		defer ra.Close()
		var third bytes.Buffer
		_, err2 = ra.WriteTo(&third)
		switch {
		case err2 != nil && !errors.As(err2, &e):
			t.Fatalf("ReaderAt: %v", err2)
		case err == nil && err2 == nil && !bytes.Equal(third.Bytes(), got.Bytes()):
			t.Fatalf("Reader: %d bytes; ReaderAt: %d", got.Len(), third.Len())
		}
	})
}

// FuzzWriteGzip decodes our .gz files with compress/gzip.
func FuzzWriteGzip(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add([]byte("a"), uint8(1))
	f.Add(bbtest.TextBytes(9000, 1), uint8(3))
	f.Add(bbtest.MixedBytes(20_000), uint8(6))
	f.Fuzz(func(t *testing.T, content []byte, how uint8) {
		file := bbtest.Encode(t, content, compress.WithFormat(compress.Gzip),
			compress.WithLevel(compress.MinLevel+int(how)%compress.MaxLevel),
			compress.WithBlockSize(bbtest.BlockSize), compress.WithConcurrency(2))
		bbtest.Equal(t, bbtest.DecodeReference(t, "deflate", file), content, "")
	})
}

// FuzzRoundTrip writes and reads any content with each pipeline and level.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{}, uint16(0), uint8(0))
	f.Add([]byte("a"), uint16(1), uint8(1))
	f.Add(bbtest.TextBytes(9000, 1), uint16(100), uint8(14))
	f.Add(bbtest.MixedBytes(20_000), uint16(5000), uint8(27))
	// A decoder once read the last words from the wrong place.
	const words = " then in so that place and that another stream so of it a a loss reader " +
		"decode so coded a from is the block code"
	f.Add([]byte(words), uint16(999), uint8(1))
	f.Fuzz(func(t *testing.T, content []byte, chunk uint16, how uint8) {
		list := bridge.Pipelines()
		opts := []compress.WriterOption{
			bridge.Pipeline(list[int(how)%len(list)].Name),
			compress.WithLevel(compress.MinLevel + int(how)/2%compress.MaxLevel),
			compress.WithBlockSize(bbtest.BlockSize), compress.WithConcurrency(2),
		}
		var b bytes.Buffer
		w := bbtest.NewWriter(t, &b, opts...)
		for p := content; len(p) > 0; {
			n := min(len(p), int(chunk)+1)
			if _, err := w.Write(p[:n]); err != nil {
				t.Fatal(err)
			}
			if chunk%3 == 0 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			p = p[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(bbtest.NewReader(t, &b))
		if err != nil {
			t.Fatal(err)
		}
		bbtest.Equal(t, got, content, "Reader")
		p, err := compress.AppendEncode(nil, content, opts...)
		if err != nil {
			t.Fatal(err)
		}
		got, err = compress.AppendDecode(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		bbtest.Equal(t, got, content, "AppendDecode")
	})
}
