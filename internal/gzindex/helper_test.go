package gzindex_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/gzindex"
)

// contentSize of the tests in bytes. Checkpoints of gztool are at least 1 MiB apart.
const contentSize = 5 << 20

// testContent returns text whose matches reach far back.
func testContent() []byte { return corpus.ByName("log").Make(contentSize) }

// compressed returns a .gz file of members with the given contents.
func compressed(tb testing.TB, contents ...[]byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	for _, c := range contents {
		w := gzip.NewWriter(&b)
		w.Name = "a name"
		w.Write(c)
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Bytes()
}

// flushed returns a .gz file and its index. The checkpoints are at flushes: each has a window.
func flushed(tb testing.TB, content []byte, step int) ([]byte, *gzindex.Index) {
	tb.Helper()
	var b bytes.Buffer
	var p gzindex.Packer
	w := gzip.NewWriter(&b)
	w.Flush()
	x := &gzindex.Index{FileSize: gzindex.Unknown, ContentSize: int64(len(content))}
	for at := 0; at < len(content); at += step {
		c := gzindex.Checkpoint{Bit: int64(b.Len()) * 8, Content: int64(at)}
		if at > 0 {
			c.Window = p.Pack(content[:at])
		}
		x.Checkpoints = append(x.Checkpoints, c)
		w.Write(content[at:min(at+step, len(content))])
		w.Flush()
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	x.FileSize = int64(b.Len())
	return b.Bytes(), x
}

// decodeFrom decodes n bytes from a checkpoint on with the standard library.
func decodeFrom(tb testing.TB, file []byte, c *gzindex.Checkpoint, n int) []byte {
	tb.Helper()
	start := file[c.Bit/8:]
	var r io.Reader
	if c.Header {
		member, err := gzip.NewReader(bytes.NewReader(start))
		if err != nil {
			tb.Fatal(err)
		}
		r = member
	} else {
		// Shifted bits spoil stored blocks, which are aligned to bytes. Only at the end of a member
		// the writers of the tests make any.
		in := make([]byte, len(start))
		shift := c.Bit & 7
		for i := range in {
			in[i] = start[i] >> shift
			if i+1 < len(in) {
				in[i] |= start[i+1] << (8 - shift)
			}
		}
		var u gzindex.Unpacker
		window, err := u.Unpack(c.Window)
		if err != nil {
			tb.Fatal(err)
		}
		r = flate.NewReaderDict(bytes.NewReader(in), window)
	}
	b := make([]byte, n)
	if n, err := io.ReadFull(r, b); err != nil {
		tb.Fatalf("checkpoint at bit %d, content %d: %v after %d bytes", c.Bit, c.Content, err, n)
	}
	return b
}

// checkIndex decodes from each checkpoint to the next end of a member, but at most 100 KB. ends are
// the offsets in the content where members end, besides the last one. For BGZF it decodes 100 bytes
// only.
func checkIndex(tb testing.TB, x *gzindex.Index, file, content []byte, ends ...int) {
	tb.Helper()
	if len(x.Checkpoints) < 3 {
		tb.Fatalf("%d checkpoints are too few for a test", len(x.Checkpoints))
	}
	for i := range x.Checkpoints {
		c := &x.Checkpoints[i]
		at := int(c.Content)
		end := min(at+100_000, len(content))
		if c.Header {
			end = min(at+100, len(content))
		}
		for _, e := range ends {
			if at <= e {
				end = min(end, e)
			}
		}
		if !bytes.Equal(decodeFrom(tb, file, c, end-at), content[at:end]) {
			tb.Fatalf("checkpoint %d (bit %d, content %d): wrong content", i, c.Bit, c.Content)
		}
	}
}

// write returns the index in format f.
func write(tb testing.TB, x *gzindex.Index, f gzindex.Format) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := x.Write(&b, f); err != nil {
		tb.Fatalf("%v: %v", f, err)
	}
	return b.Bytes()
}

// read reads an index.
func read(tb testing.TB, b []byte) *gzindex.Index {
	tb.Helper()
	x, err := gzindex.ReadAt(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// version0 returns an index of GZIDX version 1 in version 0. All checkpoints but the first and the
// last have a window.
func version0(b []byte) []byte {
	const header, point = 35, 18
	old := bytes.Clone(b[:header])
	old[len("GZIDX")] = 0
	n := int(binary.LittleEndian.Uint32(b[header-4:]))
	for i := range n {
		old = append(old, b[header+i*point:][:point-1]...)
	}
	old = append(old, b[header+n*point:]...)
	return append(old, make([]byte, gzindex.WindowSize)...) // of the last one
}

// memory returns the memory of an index in bytes.
func memory(x *gzindex.Index) (n int64) {
	n = int64(cap(x.Checkpoints)) * int64(reflect.TypeFor[gzindex.Checkpoint]().Size())
	for i := range x.Checkpoints {
		n += int64(x.Checkpoints[i].Window.Size())
	}
	return n
}

// tempFile writes b to a file and returns its path.
func tempFile(tb testing.TB, name string, b []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// places returns pieces of the content as offset and size: the edges of checkpoints, and random
// places.
func places(x *gzindex.Index, size int) [][2]int {
	rng := rand.New(rand.NewPCG(1, 2))
	var p [][2]int
	for i := range x.Checkpoints {
		if at := int(x.Checkpoints[i].Content); at > 0 && at < size {
			p = append(p, [2]int{at - 1, min(1000, size-at)})
		}
	}
	rng.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
	p = p[:min(4, len(p))]
	for range 8 {
		at := rng.IntN(size - 1)
		p = append(p, [2]int{at, 1 + rng.IntN(min(100_000, size-at))})
	}
	return p
}
