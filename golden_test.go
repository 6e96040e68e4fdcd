package compress

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

var update = flag.Bool("update", false, "write the golden files that are missing")

// golden are files that must stay readable for ever, with what is in them. The content is made anew; a file is never written again once
// it is there, since later versions may compress better.
var golden = []struct {
	name    string
	content func() []byte
	opts    []Option
}{
	{"empty", func() []byte { return nil }, nil},
	{"byte", func() []byte { return []byte("x") }, nil},
	{"fill", func() []byte { return make([]byte, 70_000) }, []Option{WithBlockSize(1 << 16)}},
	{"stored", kind("random", 5000), nil},
	{"small-plain", kind("text", 3000), []Option{WithPipeline("lzr")}},
	{"small-repeat", kind("text", 3000), []Option{WithLevel(6)}},
	{"plain", kind("log", 150_000), []Option{WithPipeline("lzr"), WithLevel(5)}},
	{"repeat", kind("text", 100_000), []Option{WithLevel(7)}},
	{"segments", kind("mixed", 120_000), []Option{WithLevel(8)}},
	{"blocks", kind("exe", 50_000), []Option{WithBlockSize(1 << 13), WithLevel(1)}},
	{"literals", kind("skewed", 40_000), nil},
	{"sparse", kind("sparse", 300_000), []Option{WithLevel(9)}},
	{"dense", kind("json", 400_000), []Option{WithLevel(9), WithBlockSize(1 << 19)}},
	{"dense-literals", kind("image", 8000), []Option{WithLevel(9)}},
	{"dense-tokens", kind("records", 30_000), []Option{WithLevel(9)}},
	{"dense-lengths", lengths, []Option{WithLevel(9)}},
	{"dense-segments", chained, []Option{WithLevel(9)}},
	{"dense-x86", kind("exe", 150_000), []Option{WithLevel(9)}},
	{"dense-x86-parts", programs, []Option{WithLevel(9)}},
	{"dense-x86-alone", calls, []Option{WithLevel(9)}},
	{"unchecked", kind("json", 20_000), []Option{WithChecksum(false)}},
	{"sized", kind("source", 20_000), []Option{WithContentSize(20_000)}},
}

func kind(name string, n int) func() []byte {
	return func() []byte { return corpus.ByName(name).Make(n) }
}

// chained are literals in two segments, of which one has a single table and the other many.
func chained() []byte {
	p := kind("random", 34_000)()
	for i := range p {
		if p[i] &= 63; i > len(p)/2 {
			p[i] = p[i]&15 | p[i-1]<<4 // what the symbol before ends with is what this one begins with
		}
	}
	return p
}

// lengths are long matches of which each length has two that may follow it.
func lengths() []byte {
	p, choices := kind("random", 4000)(), kind("random", 4*2500)()
	head, k := p, 0
	for ; len(choices) > 0; choices = choices[4:] {
		k = (5*k + int(choices[0]&1)) % 32
		from := int(binary.LittleEndian.Uint16(choices[1:])) % (len(head) - 400)
		p = append(append(p, head[from:from+20+7*k]...), choices[3])
	}
	return p
}

// programs are two, with other data before, between and behind them.
func programs() []byte {
	text, code := kind("text", 20_000)(), kind("exe", 60_000)()
	return slices.Concat(text, []byte("\x7fELF"), code, text, []byte("\x7fELF"), code[20_000:], text)
}

// calls are of sixteen functions, with random bytes between, so that there is no stream worth chaining.
func calls() []byte {
	p := kind("random", 10*700)()
	for at := 0; at < len(p); at += 10 {
		p[at] = 0xe8
		binary.LittleEndian.PutUint32(p[at+1:], uint32(int(p[at+1]&15)<<16-at))
	}
	return p
}

func TestGolden(t *testing.T) {
	var all, content []byte
	for _, g := range golden {
		path := filepath.Join("testdata", "golden", g.name+".pz")
		file, err := os.ReadFile(path)
		if os.IsNotExist(err) && *update {
			var buf bytes.Buffer
			w := newWriter(t, &buf, g.opts...)
			if _, err := w.Write(g.content()); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			file, err = buf.Bytes(), os.WriteFile(path, buf.Bytes(), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := AppendDecode(nil, file)
		if err != nil {
			t.Errorf("%s: %v", g.name, err)
		} else if !bytes.Equal(got, g.content()) {
			t.Errorf("%s: wrong content", g.name)
		}
		all, content = append(all, file...), append(content, g.content()...)
	}
	// One after the other they are a file too.
	if got, err := AppendDecode(nil, all); err != nil || !bytes.Equal(got, content) {
		t.Errorf("all: %v, %d bytes, want %d", err, len(got), len(content))
	}
}
