// Package output tests that the bytes of a file depend on content and options alone, and that files
// of earlier versions stay readable, through the public API.
package output

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
)

var update = flag.Bool("update", false, "write the digest table and missing golden files")

// golden lists files that must stay readable for ever, and their content. A name without an
// extension is that of a .pz file. -update writes missing files only, since later versions may
// compress better.
var golden = []struct {
	name    string
	content func() []byte
	opts    []compress.WriterOption
}{
	{"empty", func() []byte { return nil }, nil},
	{"byte", func() []byte { return []byte("x") }, nil},
	{"fill", func() []byte { return make([]byte, 70_000) }, []compress.WriterOption{
		compress.WithBlockSize(1 << 16),
	}},
	{"stored", generated("random", 5000), nil},
	{"small-plain", generated("text", 3000), []compress.WriterOption{bridge.Pipeline("lzr")}},
	{"small-repeat", generated("text", 3000), []compress.WriterOption{compress.WithLevel(6)}},
	{"plain", generated("log", 150_000), []compress.WriterOption{
		bridge.Pipeline("lzr"), compress.WithLevel(5),
	}},
	{"repeat", generated("text", 100_000), []compress.WriterOption{compress.WithLevel(7)}},
	{"segments", generated("mixed", 120_000), []compress.WriterOption{compress.WithLevel(8)}},
	{"blocks", generated("exe", 50_000), []compress.WriterOption{
		compress.WithBlockSize(1 << 13), compress.WithLevel(1),
	}},
	{"literals", generated("skewed", 40_000), nil},
	{"sparse", generated("sparse", 300_000), []compress.WriterOption{compress.WithLevel(9)}},
	{"dense", generated("json", 400_000), []compress.WriterOption{
		compress.WithLevel(9), compress.WithBlockSize(1 << 19),
	}},
	{"dense-literals", generated("image", 8000), []compress.WriterOption{compress.WithLevel(9)}},
	{"dense-tokens", generated("records", 30_000), []compress.WriterOption{compress.WithLevel(9)}},
	{"dense-lengths", matchLengths, []compress.WriterOption{compress.WithLevel(9)}},
	{"dense-segments", segmentTables, []compress.WriterOption{compress.WithLevel(9)}},
	{"dense-x86", generated("exe", 150_000), []compress.WriterOption{compress.WithLevel(9)}},
	{"dense-x86-parts", executables, []compress.WriterOption{compress.WithLevel(9)}},
	{"dense-x86-alone", callTargets, []compress.WriterOption{compress.WithLevel(9)}},
	{"unchecked", generated("json", 20_000), []compress.WriterOption{compress.WithChecksum(false)}},
	{"sized", generated("source", 20_000), []compress.WriterOption{compress.WithContentSize(20_000)}},
	{"references", versions, []compress.WriterOption{
		compress.WithLongDistance(compress.MinWindow), compress.WithBlockSize(1 << 13),
	}},
	{"dictionary", generated("json", 20_000), []compress.WriterOption{compress.WithBlockSize(1 << 13)}},
	{"dictionary-plain", generated("json", 9000), []compress.WriterOption{
		compress.WithBlockSize(1 << 12), bridge.Pipeline("lzr"),
	}},
	{"dictionary-dense", generated("json", 70_000), []compress.WriterOption{compress.WithLevel(9)}},
	{"tiny-dictionary", func() []byte { return corpus.Document(1) }, nil},
	{"flushed", slicedContent, []compress.WriterOption{compress.WithBlockSize(1 << 12)}},
	{"tiny", generated("text", 100), nil},
	{"tiny-coded", generated("json", 700), nil},
	{"tiny-fill", func() []byte { return make([]byte, 65_000) }, nil},
	{"tiny-empty", func() []byte { return nil }, nil},
	{"tiny-unchecked", generated("json", 300), []compress.WriterOption{
		compress.WithChecksum(false), bridge.Pipeline("lzr"),
	}},
	// A block too long for a short header.
	{"flushed-long", func() []byte { return make([]byte, 1<<21+1) }, []compress.WriterOption{
		compress.WithBlockSize(1 << 22),
	}},

	{"empty.zst", func() []byte { return nil }, nil},
	{"tiny.zst", generated("json", 300), nil},
	{"frames.zst", generated("mixed", 40_000), []compress.WriterOption{compress.WithSeekable(1 << 13)}},
	{"blocks.zst", generated("exe", 30_000), []compress.WriterOption{compress.WithLevel(9)}},
	{"single-frame.zst", generated("log", 100_000), []compress.WriterOption{
		compress.WithBlockSize(1 << 14),
	}},
	{"parts.zst", generated("mixed", 40_000), []compress.WriterOption{compress.WithBlockSize(1 << 13)}},
	{"unchecked.zst", generated("text", 9000), []compress.WriterOption{
		compress.WithChecksum(false), compress.WithSeekable(1 << 12),
	}},
	{"dictionary.zst", generated("json", 20_000), []compress.WriterOption{compress.WithSeekable(1 << 13)}},
	{"dictionary-parts.zst", generated("json", 20_000), []compress.WriterOption{
		compress.WithBlockSize(1 << 13),
	}},
	{"empty.gz", func() []byte { return nil }, nil},
	{"tiny.gz", generated("json", 300), []compress.WriterOption{
		compress.WithName("tiny.json", time.Unix(1e9, 0)),
	}},
	{"fixed.gz", generated("random", 20), []compress.WriterOption{compress.WithLevel(1)}},
	{"blocks.gz", generated("mixed", 40_000), []compress.WriterOption{compress.WithBlockSize(1 << 13)}},
	{"optimal.gz", generated("source", 50_000), []compress.WriterOption{compress.WithLevel(9)}},
	{"stored.gz", generated("random", 5000), nil},
}

// goldenFormat returns the extension of a golden file and its format.
func goldenFormat(name string) (extension string, f compress.Format) {
	switch filepath.Ext(name) {
	case ".zst":
		return "", compress.Zstd
	case ".gz":
		return "", compress.Gzip
	}
	return ".pz", compress.PZ
}

// goldenDictionary returns the option with the dictionary of golden files whose names have that
// word.
func goldenDictionary(t *testing.T) compress.Option {
	p, err := os.ReadFile(bbtest.Data("dictionary", "json.dict"))
	if err != nil {
		t.Fatal(err)
	}
	return compress.WithDictionary(bbtest.NewDictionary(t, p))
}

// generated returns a function that makes n bytes of a kind of corpus.
func generated(name string, n int) func() []byte {
	return func() []byte { return corpus.ByName(name).Make(n) }
}

// segmentTables returns literals in two segments, one with a single table and one with many.
func segmentTables() []byte {
	p := generated("random", 34_000)()
	for i := range p {
		p[i] &= 63
		if i > len(p)/2 {
			// The low bits of the symbol before are the high bits of this one.
			p[i] = p[i]&15 | p[i-1]<<4
		}
	}
	return p
}

// matchLengths returns long matches. Each length has two that may follow it.
func matchLengths() []byte {
	p, choices := generated("random", 4000)(), generated("random", 4*2500)()
	head, k := p, 0
	for ; len(choices) > 0; choices = choices[4:] {
		k = (5*k + int(choices[0]&1)) % 32
		from := int(binary.LittleEndian.Uint16(choices[1:])) % (len(head) - 400)
		p = append(append(p, head[from:from+20+7*k]...), choices[3])
	}
	return p
}

// versions returns content that repeats itself over long distances: parts of blocks, whole blocks,
// and blocks of which a fill is left.
func versions() []byte {
	text, random := generated("source", 20_000)(), generated("random", 12_000)()
	zeros := make([]byte, 9000)
	first := slices.Concat(text, zeros, random)
	return slices.Concat(first, text[:9000], []byte("edited"), text[9000:], random[5000:], first,
		text[:5000], zeros[:4000], text[5000:9000])
}

// executables returns two programs, with other data before, between and behind them.
func executables() []byte {
	text, code := generated("text", 20_000)(), generated("exe", 60_000)()
	return slices.Concat(text, []byte("\x7fELF"), code, text, []byte("\x7fELF"), code[20_000:],
		text)
}

// callTargets returns calls of sixteen functions with random bytes between, so that no stream is
// coded by context.
func callTargets() []byte {
	p := generated("random", 10*700)()
	for at := 0; at < len(p); at += 10 {
		p[at] = 0xe8
		binary.LittleEndian.PutUint32(p[at+1:], uint32(int(p[at+1]&15)<<16-at))
	}
	return p
}

// slicedContent returns the content of a file with a flush behind each of goldenPieces.
func slicedContent() []byte { return slices.Concat(goldenPieces()...) }

// goldenPieces returns content for short headers of all kinds, between others.
func goldenPieces() [][]byte {
	text := generated("json", 12_000)()
	return [][]byte{text[:9000], text[9000:9100], text[9100:], make([]byte, 1000), {1}}
}

// TestGolden decodes the golden files.
func TestGolden(t *testing.T) {
	dictionary := goldenDictionary(t)
	var all, content []byte
	for _, g := range golden {
		extension, format := goldenFormat(g.name)
		path := bbtest.Data("golden", g.name+extension)
		file, err := os.ReadFile(path)
		if os.IsNotExist(err) && *update {
			var buf bytes.Buffer
			opts := append([]compress.WriterOption{compress.WithFormat(format)}, g.opts...)
			if strings.Contains(g.name, "dictionary") {
				opts = append(opts, dictionary)
			}
			w := bbtest.NewWriter(t, &buf, opts...)
			pieces := [][]byte{g.content()}
			switch g.name {
			case "flushed":
				pieces = goldenPieces()
			case "flushed-long":
				pieces = [][]byte{pieces[0][1:], pieces[0][:1]}
			}
			for _, p := range pieces {
				if _, err := w.Write(p); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(g.name, "flushed") {
					continue
				}
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			file, err = buf.Bytes(), os.WriteFile(path, buf.Bytes(), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := compress.AppendDecode(nil, file, dictionary)
		if err != nil {
			t.Errorf("%s: %v", g.name, err)
		} else if !bytes.Equal(got, g.content()) {
			t.Errorf("%s: wrong content", g.name)
		}
		if format == compress.PZ {
			all, content = append(all, file...), append(content, g.content()...)
		}
	}
	// Concatenated they are a file too.
	if got, err := compress.AppendDecode(nil, all, dictionary); err != nil || !bytes.Equal(got, content) {
		t.Errorf("all: %v, %d bytes, want %d", err, len(got), len(content))
	}
}
