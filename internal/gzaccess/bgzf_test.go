package gzaccess

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
)

// bgzf returns a BGZF file with members of up to 20,000 bytes of content.
func bgzf(t testing.TB, content []byte) (file []byte) {
	t.Helper()
	for len(content) > 0 {
		n := min(len(content), 20_000)
		file = append(file, bgzfMember(t, content[:n])...)
		content = content[n:]
	}
	return append(file, bgzfMember(t, nil)...)
}

func bgzfMember(t testing.TB, content []byte) []byte {
	plain := standard(t, content, 6)
	_, size, err := gzfile.ParseHeader(plain)
	if err != nil {
		t.Fatal(err)
	}
	rest := plain[size:]
	h := gzfile.Header{Extra: []byte("ZZ\x01\x00zBC\x02\x00\x00\x00")}
	p, err := h.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint16(p[len(p)-2:], uint16(len(p)+len(rest)-1))
	return append(p, rest...)
}

// countingReader counts the bytes that are read.
type countingReader struct {
	*bytes.Reader
	n int
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	r.n += len(p)
	return r.Reader.ReadAt(p, off)
}

// TestBGZF opens BGZF files by their headers.
func TestBGZF(t *testing.T) {
	for _, size := range []int{0, 1, 20_000, 500_000} {
		content := text(size)
		f := gzFile{"", bgzf(t, content), content}
		src := &countingReader{Reader: bytes.NewReader(f.file)}
		m, err := Make(src, int64(len(f.file)), limits(), nil)
		if err != nil {
			t.Fatal(err)
		}
		checkMap(t, "BGZF", m, f)
		if most := 100 * (size/20_000 + 3); src.n > most || !m.points[0].Header {
			t.Errorf("%d bytes: read %d bytes of %d", size, src.n, len(f.file))
		}
		if want := max(1, (size+19_999)/20_000); len(m.points) != want {
			t.Errorf("%d bytes: %d checkpoints, want %d", size, len(m.points), want)
		}
		l := limits()
		l.MaxDecoded = int64(size)
		if size > 0 {
			l.MaxDecoded--
			if _, err := Make(src, int64(len(f.file)), l, nil); !errors.Is(err, errs.TooLarge) {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
	}
}

// TestDamagedEmptyBGZF has members that state no content, and that cannot be decoded or have
// content. Such a file is decoded to make its Map.
func TestDamagedEmptyBGZF(t *testing.T) {
	file := bgzf(t, text(100))
	whole := len(file)
	file = append(file, bgzfMember(t, nil)...)
	stream := 8 * (whole + 23) // behind the header
	for bit := stream; bit < 8*(len(file)-sizeField); bit++ {
		if bit >= stream+3 && bit < stream+8 {
			continue // padding of the stored block
		}
		bad := bytes.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		_, err := Make(bytes.NewReader(bad), int64(len(bad)), limits(), nil)
		if !errors.Is(err, errs.Corrupt) && !errors.Is(err, errs.Truncated) {
			t.Errorf("bit %d: %v", bit-stream, err)
		}
	}
}

// TestNotBGZF has files whose sizes are wrong, or that only begin like BGZF.
func TestNotBGZF(t *testing.T) {
	content := text(100_000)
	file := bgzf(t, content)
	part := len(file) / 2
	for _, c := range []struct {
		name string
		file []byte
		kind error
	}{
		{"zeros", append(file[:len(file):len(file)], 0, 0, 0), nil},
		{"another member", append(file[:len(file):len(file)], standard(t, nil, 6)...), nil},
		{"cut", file[:part], errs.Truncated},
		{"garbage", append(file[:len(file):len(file)], "garbage"...), errs.Trailing},
		{"header", file[:10], errs.Truncated},
	} {
		m, err := Make(bytes.NewReader(c.file), int64(len(c.file)), limits(), nil)
		if c.kind != nil {
			if !errors.Is(err, c.kind) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || m.points[0].Header {
			t.Fatalf("%s: %v", c.name, err)
		}
		checkMap(t, c.name, m, gzFile{"", c.file, content})
	}
	// A size that leads into the next member is found when the interval is decoded.
	lie := bytes.Clone(file)
	first, _ := bgzfSize(lie)
	second, _ := bgzfSize(lie[first:])
	binary.LittleEndian.PutUint16(lie[21:], uint16(first+second-1))
	m, err := Make(bytes.NewReader(lie), int64(len(lie)), limits(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var d Decoder
	var s container.Serial
	if _, err := interval(m, &d, &s, lie, 0); !errors.Is(err, errs.Corrupt) {
		t.Errorf("wrong size: %v", err)
	}
}
