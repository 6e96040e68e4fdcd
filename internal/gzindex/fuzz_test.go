package gzindex_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzindex"
)

// FuzzRead reads anything as an index, and what it accepts it writes and reads again.
func FuzzRead(f *testing.F) {
	for _, g := range golden {
		f.Add(g.b)
	}
	// Go takes minutes to minimise long inputs, so seeds are short.
	_, x := flushed(f, make([]byte, 3000), 1000)
	f.Add(write(f, x, gzindex.Gztool0))
	f.Fuzz(func(t *testing.T, b []byte) {
		limits := &container.Limits{MaxMemory: 1 << 20}
		x, err := gzindex.ReadAt(bytes.NewReader(b), int64(len(b)), limits)
		if err != nil {
			var e *errs.Error
			if !errors.As(err, &e) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if n := memory(x); n > limits.MaxMemory {
			t.Fatalf("takes %d bytes", n)
		}
		var u gzindex.Unpacker
		sound := true
		for i := range x.Checkpoints {
			window, err := u.Unpack(x.Checkpoints[i].Window)
			if err != nil && !errors.Is(err, errs.Corrupt) {
				t.Fatalf("untyped error %v", err)
			}
			if len(window) > gzindex.WindowSize {
				t.Fatalf("window of %d bytes", len(window))
			}
			sound = sound && err == nil
		}
		rewrite(t, x, sound)
	})
}

// rewrite writes an index in its own format, reads it and compares.
func rewrite(t *testing.T, x *gzindex.Index, sound bool) {
	var out bytes.Buffer
	err := x.Write(&out, x.Source)
	if errors.Is(err, errs.Option) {
		return // an incomplete index, or a format that is not written
	}
	if err != nil && !sound {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	y, err := gzindex.ReadAt(bytes.NewReader(out.Bytes()), int64(out.Len()), nil)
	if err != nil {
		t.Fatalf("written and read again: %v", err)
	}
	if x.Source == gzindex.GZIDX1 {
		// Windows before the first 32 KiB of content may become shorter, and get windows that
		// bits need.
		if len(x.Checkpoints) < len(y.Checkpoints) || x.FileSize != y.FileSize {
			t.Fatal("another index")
		}
		return
	}
	if !reflect.DeepEqual(x, y) {
		t.Fatal("another index")
	}
}

// FuzzUnpack decompresses anything as a window, and compares with compress/zlib.
func FuzzUnpack(f *testing.F) {
	_, x := flushed(f, corpus.ByName("log").Make(300), 200)
	b := write(f, x, gzindex.Gztool0)
	f.Add(b[80 : 80+binary.BigEndian.Uint32(b[76:])])
	f.Fuzz(func(t *testing.T, z []byte) {
		if len(z) > 32<<10 || len(z) == 0 {
			return
		}
		x := read(t, cat(be64(0), "gzipindx", be64(1), be64(1),
			be64(1<<20), be64(9000), be32(0), be32(uint32(len(z))), z, be64(2<<20)))
		var u gzindex.Unpacker
		got, err := u.Unpack(x.Checkpoints[0].Window)
		in := bytes.NewReader(z)
		var want []byte
		r, wantErr := zlib.NewReader(in)
		if wantErr == nil {
			want, wantErr = io.ReadAll(io.LimitReader(r, gzindex.WindowSize+1))
		}
		valid := wantErr == nil && in.Len() == 0 && len(want) <= gzindex.WindowSize
		if valid != (err == nil) || valid && !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v; compress/zlib: %d bytes, %v", len(got), err, len(want), wantErr)
		}
	})
}
