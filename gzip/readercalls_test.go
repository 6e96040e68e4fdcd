package gzip_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"hash/crc32"
	"io"
	"reflect"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gzip"
)

// A reading is a Reader of one of the packages with a source.
type reading struct {
	reader interface {
		io.ReadCloser
		Reset(io.Reader) error
		Multistream(bool)
	}
	header func() stdgzip.Header
	src    io.Reader
}

// fill reads len(p) bytes, or up to an error.
func (r *reading) fill(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.reader.Read(p[n:])
		n += m
	}
	return n, err
}

// FuzzReaderCalls makes the same calls of both Readers and compares the results, and what is left
// of the source at the end of a member. Each byte of calls is a call.
func FuzzReaderCalls(f *testing.F) {
	first := write(f, content(3000), 6, 700)
	second := write(f, content(70_000), 1, 30_000)
	header := []byte("\x1f\x8b\x08\x1e\x01\x00\x00\x00\x00\xff\x02\x00ab\xe9\x00c\x00")
	sum := crc32.ChecksumIEEE(header)
	named := append(header, byte(sum), byte(sum>>8), 3, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	calls := [][]byte{
		{2, 0x18, 1, 0x20, 1, 4, 2, 0x20, 1, 0x20, 3, 1, 4, 4, 2, 0x28, 0x28, 4},
		{0x20, 3, 0x20, 0x28, 1, 3, 1, 5, 0x28, 0x28, 0x28, 0x28, 3, 5, 0x10, 2, 10, 0x28, 0x28, 0x28},
	}
	bad := bytes.Clone(first)
	bad[len(bad)-5]++
	for kind := range kinds {
		for _, c := range calls {
			for _, parts := range [][][]byte{
				{first, second, named}, {second, first}, {named, named, first}, {first, []byte("garbage")},
				{first, make([]byte, 20)}, {bad, first}, {second[:len(second)-300]}, {first, named[:15]},
				{first, first[:len(first)-3]}, {nil},
			} {
				f.Add(byte(kind), bytes.Join(parts, nil), c)
				f.Add(byte(kind)+0x80, bytes.Join(parts, nil), c)
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, file, calls []byte) {
		our := new(gzip.Reader)
		if kind >= 0x80 { // workers decode what they can
			defer gzip.SetAheadFrom(gzip.SetAheadFrom(1))
			our.SetOptions(compress.WithConcurrency(3))
		}
		compareReads(t, our, int(kind&0x7f), file, calls)
	})
}

func compareReads(t *testing.T, our *gzip.Reader, k int, file, calls []byte) {
	sizes := []int{0, 1, 7, 300, 3000, 100_000}
	src := kinds[k%len(kinds)]
	std := new(stdgzip.Reader)
	theirs := reading{std, func() stdgzip.Header { return std.Header }, nil}
	ours := reading{our, func() stdgzip.Header { return stdgzip.Header(our.Header) }, nil}
	atEnd, single, begun, read, failed := false, false, false, false, false
	reset := func() (want, got error) {
		want, got = theirs.reader.Reset(theirs.src), ours.reader.Reset(ours.src)
		if !reflect.DeepEqual(ours.header(), theirs.header()) {
			t.Fatalf("%s: header %+v, not %+v", src.name, ours.header(), theirs.header())
		}
		atEnd, single, begun, read, failed = false, false, want == nil, false, false
		return want, got
	}
	for at, call := range append([]byte{5}, calls...) {
		argument := int(call >> 3)
		var want, got error
		switch call & 7 {
		default:
			size := sizes[argument%len(sizes)]
			p, q := make([]byte, size), make([]byte, size)
			var n, m int
			n, want = theirs.fill(p)
			m, got = ours.fill(q)
			if want == io.ErrUnexpectedEOF && m >= n && bytes.Equal(q[:n], p[:n]) {
				// A Reader may return more of a stream that is cut short.
				io.Copy(io.Discard, ours.reader)
				_, got = ours.reader.Read(q[:1:1])
				m = n
			}
			if m == n && got == nil && want != nil {
				_, got = ours.reader.Read(make([]byte, 1)) // content need not wait for the end
			}
			if m != n || !bytes.Equal(q[:m], p[:n]) {
				t.Fatalf("%s, call %d of %x: %d bytes, %v; not %d, %v", src.name, at, calls, m, got, n, want)
			}
			atEnd, read, failed = want == io.EOF, true, want != nil
		case 1:
			_, want = theirs.reader.Read(nil)
			_, got = ours.reader.Read(nil)
			if want == io.ErrUnexpectedEOF {
				io.Copy(io.Discard, ours.reader)
				_, got = ours.reader.Read(make([]byte, 1))
			}
			atEnd, read, failed = want == io.EOF, true, want != nil
		case 2:
			if read {
				continue // it depends on buffers whether a Reader has gone on to the next member
			}
			single = argument%2 == 0
			theirs.reader.Multistream(!single)
			ours.reader.Multistream(!single)
		case 3:
			if begun && failed { // else it depends on buffers how far each has decoded
				want, got = theirs.reader.Close(), ours.reader.Close()
			}
		case 4:
			if _, ok := theirs.src.(io.ByteReader); !ok || !atEnd || !single {
				continue // where the source is depends on buffers
			}
			want, got = reset()
		case 5:
			theirs.src, ours.src = src.open(file), src.open(file)
			want, got = reset()
		}
		if kind(got) != kind(want) {
			t.Fatalf("%s, call %d of %x: %v, not %v", src.name, at, calls, got, want)
		}
	}
	if _, ok := theirs.src.(io.ByteReader); ok && atEnd && single {
		p, _ := io.ReadAll(theirs.src)
		q, _ := io.ReadAll(ours.src)
		if len(p) != len(q) {
			t.Fatalf("%s: %d bytes left, not %d", src.name, len(q), len(p))
		}
	}
}
