package gzaccess

import (
	"bytes"
	"compress/gzip"
	"os/exec"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// gzFile is a .gz file with its content.
type gzFile struct {
	name          string
	file, content []byte
}

// text returns content that compresses.
func text(n int) []byte { return corpus.ByName("log").Make(n) }

// standard returns a member of compress/gzip.
func standard(t testing.TB, content []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Name, w.Comment, w.Extra = "a name", "a comment", []byte("XX\x02\x00ab")
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// byTool compresses with a program, or skips the test.
func byTool(t testing.TB, content []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, name), args...)
	cmd.Stdin = bytes.NewReader(content)
	p, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// standardFiles returns files made with compress/gzip: of one member and of many.
func standardFiles(t testing.TB, size int) []gzFile {
	content := text(size)
	third := size / 3
	files := []gzFile{
		{"default", standard(t, content, gzip.DefaultCompression), content},
		{"Huffman", standard(t, content, gzip.HuffmanOnly), content},
		{"stored", standard(t, content, gzip.NoCompression), content},
		{"empty", standard(t, nil, 6), nil},
		{"zeros", standard(t, make([]byte, size), 1), make([]byte, size)},
	}
	var members, small []byte
	for _, p := range [][]byte{nil, content[:third], nil, nil, content[third : 2*third], content[2*third:]} {
		members = append(members, standard(t, p, 6)...)
	}
	files = append(files, gzFile{"members", members, content},
		gzFile{"members and zeros", slices.Concat(members, make([]byte, 1000)), content})
	some := content[:min(size, 100_000)]
	for at := 0; at < len(some); at += 700 {
		small = append(small, standard(t, some[at:min(at+700, len(some))], 1)...)
	}
	return append(files, gzFile{"small members", small, some})
}

// makeMap makes a Map with checkpoints so far apart.
func makeMap(t testing.TB, file []byte, spacing int64) *Map {
	t.Helper()
	m, err := makeSpaced(bytes.NewReader(file), int64(len(file)), limits(), nil, spacing)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func limits() *container.Limits { return &container.Limits{MaxDecoded: -1, Checks: true} }

// interval decodes an interval.
func interval(m *Map, d *Decoder, s *container.Serial, file []byte, n int64) ([]byte, error) {
	b := &m.File.Blocks[n]
	d.SetInterval(m, n, true)
	s.Src = file[b.Offset : b.Offset+int64(b.Size)]
	d.Decode(s)
	return s.Content(), s.Stop
}

// checkMap decodes all intervals, in another order than that of the file.
func checkMap(t testing.TB, name string, m *Map, f gzFile) {
	t.Helper()
	if m.File.Content != int64(len(f.content)) || m.File.Size != int64(len(f.file)) {
		t.Fatalf("%s: %d bytes of %d, want %d of %d", name, m.File.Content, m.File.Size,
			len(f.content), len(f.file))
	}
	var d Decoder
	var s container.Serial
	at := int64(0)
	for i := range m.File.Blocks {
		n := int64(len(m.File.Blocks) - 1 - i)
		got, err := interval(m, &d, &s, f.file, n)
		b := &m.File.Blocks[n]
		if err != nil || !bytes.Equal(got, f.content[b.Content:b.ContentEnd()]) {
			t.Fatalf("%s: interval %d of %d: %d bytes, want %d; %v", name, n, len(m.File.Blocks),
				len(got), b.Raw, err)
		}
		if at = m.File.Blocks[i].ContentEnd(); i+1 < len(m.File.Blocks) && at != m.File.Blocks[i+1].Content {
			t.Fatalf("%s: interval %d ends at %d, the next begins at %d", name, i, at,
				m.File.Blocks[i+1].Content)
		}
	}
	if at != m.File.Content {
		t.Fatalf("%s: intervals end at %d of %d", name, at, m.File.Content)
	}
}
