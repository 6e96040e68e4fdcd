package refdec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// maxRaw bounds the size of blocks in generated files.
const maxRaw = 1 << 18

// plenty is memory for the largest window.
const plenty = 16 << 30

// agree decodes a file with both decoders. They must agree whether it is valid, and on the content,
// which with an error is that of the blocks before it.
func agree(t *testing.T, file []byte) ([]byte, error) {
	t.Helper()
	want, werr := Decode(file, jsonDictionary().ours)
	got, gerr := compress.AppendDecode(nil, file, append(options(), compress.WithConcurrency(2))...)
	if (werr == nil) != (gerr == nil) {
		t.Fatalf("refdec: %v; AppendDecode: %v\n%s", werr, gerr, dump(file))
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("refdec: %d bytes, %v; AppendDecode: %d bytes, %v; they differ\n%s",
			len(want), werr, len(got), gerr, dump(file))
	}
	return want, werr
}

func dump(file []byte) string {
	if len(file) > 4096 {
		return fmt.Sprintf("(file of %d bytes)", len(file))
	}
	return hex.Dump(file)
}

// TestCut decodes every prefix of a file.
func TestCut(t *testing.T) {
	file := encode(t, corpus.ByName("log").Make(5_000), compress.WithBlockSize(1<<12))
	file = append(file, file...)
	for n := range file {
		if testing.Short() && n%8 != 0 && n != len(file)/2 {
			continue
		}
		_, err := agree(t, file[:n])
		whole := n == len(file)/2
		if whole != (err == nil) || !whole && !errors.Is(err, ErrTruncated) {
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
		_, err = compress.AppendDecode(nil, file[:n])
		if errors.Is(err, compress.ErrTruncated) == whole {
			t.Fatalf("%d of %d bytes: AppendDecode: %v", n, len(file), err)
		}
	}
}

func TestCorpus(t *testing.T) {
	for _, kind := range corpus.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			for _, p := range bridge.Pipelines() {
				if p.Format != compress.PZ {
					continue
				}
				for _, level := range []int{1, 4, 6, 9} {
					for _, n := range []int{0, 1, 100, 5000, 40_000} {
						if n > 5000 && !testenv.All() && (testing.Short() || kind.Name != "mixed") {
							continue
						}
						content := kind.Make(n)
						opts := []compress.WriterOption{
							bridge.Pipeline(p.Name), compress.WithLevel(level),
						}
						if n == 40_000 {
							opts = append(opts, compress.WithBlockSize(1<<15))
						}
						got, err := Decode(encode(t, content, opts...), Dictionary{})
						if err != nil || !bytes.Equal(got, content) {
							t.Errorf("%s, level %d: %d bytes of %d, %v",
								p.Name, level, len(got), n, err)
						}
					}
				}
			}
		})
	}
}

// TestManyGroups decodes a file whose coded streams have more than two lane groups.
func TestManyGroups(t *testing.T) {
	content := corpus.ByName("skewed").Make(700_000)
	if got, err := agree(t, encode(t, content)); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// house is the content of the document's example.
const house = "A house is built of bricks; a house of cards is built of cards, " +
	"and a house of bricks is built of bricks and cards.\n"

// example returns the bytes that the document shows below a headline.
func example(t *testing.T, headline string) (p []byte) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "FORMAT.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "\n"+headline+"\n")
	text, _, _ = strings.Cut(text, "\n#")
	// A line is indented. It may begin with its offset and two spaces; bytes follow.
	line := regexp.MustCompile(`(?m)^    (?:([0-9a-f]{2})  |    )((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)`)
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		if m[1] != "" && m[1] != fmt.Sprintf("%02x", len(p)) {
			t.Errorf("offset %s is %02x", m[1], len(p))
		}
		b, err := hex.DecodeString(strings.ReplaceAll(m[2], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		p = append(p, b...)
	}
	return p
}

// TestExample decodes the bytes that the document shows.
func TestExample(t *testing.T) {
	if content, err := agree(t, example(t, "## Example")); err != nil || string(content) != house {
		t.Errorf("%q, %v", content, err)
	}
	indexed := example(t, "### Example of a stream with an index")
	if content, err := agree(t, indexed); err != nil || string(content) != "line\nend" {
		t.Errorf("%q, %v", content, err)
	}
}

// TestContextExample decodes the context-coded stream that the document shows.
func TestContextExample(t *testing.T) {
	code := example(t, "### Example of a context-coded stream")
	want := strings.Repeat("ab", 8) + strings.Repeat("a", 24)
	r := &byteReader{code}
	ours, err := decodeContextCoded(r, 40, nil)
	if err != nil || string(ours) != want || len(r.data) != 0 {
		t.Errorf("refdec: %q, %v, %d bytes left", ours, err, len(r.data))
	}
	var got []byte
	rest, err := new(rans.ContextDecoder).Decode(code, 40, &got, nil)
	if err != nil || string(got) != want || len(rest) != 0 {
		t.Errorf("rans: %q, %v, %d bytes left", got, err, len(rest))
	}
}

// TestEveryByte changes each bit of small files, or with PZ_TEST=all each byte to all values, and
// corrects the checksums.
func TestEveryByte(t *testing.T) {
	two := append([]byte(house), make([]byte, 1<<12)...)
	document, dict := corpus.ByName("json").Make(4200), jsonDictionary().option()
	for i, file := range [][]byte{
		encode(t, []byte("x")),
		encode(t, make([]byte, 4096), compress.WithChecksum(false)),
		encode(t, []byte(house), compress.WithLevel(1)),
		encode(t, []byte(house), compress.WithLevel(1), compress.WithChecksum(false)),
		encode(t, []byte(house), bridge.Pipeline("lzr"), compress.WithChecksum(false)),
		append(encode(t, nil), encode(t, nil)...),
		encode(t, two, compress.WithBlockSize(1<<12)),
		encodeFlushed(t, []byte(house), two),
		encode(t, slices.Concat(entries(), make([]byte, 3<<10), entries()), compress.WithBlockSize(1<<12),
			compress.WithLongDistance(compress.MinWindow), compress.WithChecksum(false)),
		encodeFlushed(t, []byte("x"), []byte("y"), []byte("zz"), make([]byte, 99)),
		encode(t, document[:300], dict),
		encode(t, document[:300], dict, bridge.Pipeline("lzr"), compress.WithChecksum(false)),
		encode(t, document, dict, compress.WithBlockSize(1<<12), compress.WithChecksum(false)),
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			accepted := 0
			for at := range file {
				for x := range 256 {
					if (!testenv.All() || len(file) > 200) && x&(x-1) != 0 {
						continue // single bits only
					}
					changed := append([]byte(nil), file...)
					changed[at] ^= byte(x)
					for _, rebuild := range []bool{false, true} {
						sealed, ok := reseal(changed, rebuild)
						if !ok {
							continue
						}
						if _, err := agree(t, sealed); err == nil {
							accepted++
						}
					}
				}
			}
			t.Logf("%d accepted", accepted)
		})
	}
}

func encode(t testing.TB, content []byte, opts ...compress.WriterOption) []byte {
	t.Helper()
	file, err := compress.AppendEncode(nil, content, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// encodeFlushed returns a file with a flush behind each part of the content.
func encodeFlushed(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := compress.NewWriter(&b, compress.WithLevel(1), compress.WithBlockSize(1<<13))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		w.Write(p)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// generate returns a file of one block, its expected content, and whether the quirk was applied.
func generate(seed uint64, q quirk) (file, content []byte, ok bool) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(q))), quirk: q}
	payload, content := g.payload(g.pick(60_000))
	if len(payload) >= len(content) || len(content) > maxRaw || g.done != (q != regular) {
		return nil, nil, false
	}
	short := seed%2 == 0 && len(payload) < 1<<16
	b := block{kindCoded, uint32(len(content)), payload, short}
	if q.valid() {
		return seal(18, b), content, true
	}
	return sealBare(18, b), content, true
}

// TestGenerated decodes valid and invalid files that no encoder of ours writes.
func TestGenerated(t *testing.T) {
	for q := range numQuirks {
		t.Run(quirkNames[q], func(t *testing.T) {
			t.Parallel()
			files, accepted := 0, 0
			for seed := range uint64(60) {
				file, content, ok := generate(seed, q)
				if !ok {
					continue
				}
				files++
				got, err := agree(t, file)
				if err == nil {
					accepted++
				}
				if q.valid() != (err == nil) && q != flips {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if q == regular && !bytes.Equal(got, content) {
					t.Fatalf("seed %d: wrong content", seed)
				}
			}
			t.Logf("%s: %d of %d accepted", quirkNames[q], accepted, files)
			if files == 0 {
				t.Error("no seed gives a file")
			}
		})
	}
}

// FuzzDifferential mutates files and corrects their checksums, so that decoders read on, and
// compares the decoders.
func FuzzDifferential(f *testing.F) {
	const (
		asIs = iota
		resealed
		rebuilt
		payload // data is the payload of a coded block
		numHows
	)
	for _, file := range goldenFiles(f) {
		if len(file) > 7000 {
			continue
		}
		f.Add(file, byte(resealed), uint32(0))
		f.Add(file, byte(rebuilt), uint32(0))
		f.Add(append(file[:len(file):len(file)], file...), byte(resealed), uint32(0))
		if at := headerSize(file[5]); !isSmall(file) && len(file) > at+4+footerSize {
			h, err := parseBlockHeader(file[at:at+blockHeaderSize], 0,
				header{blockSize: 1 << 26, hasChecks: true})
			if err == nil && len(file)-at-blockHeaderSize > int(h.payloadSize) {
				f.Add(file[at+blockHeaderSize:][:h.payloadSize], byte(payload), h.rawSize)
			}
		}
	}
	for _, content := range []string{"", "x", house} {
		file := encode(f, []byte(content), compress.WithLevel(1))
		f.Add(file, byte(resealed), uint32(0))
		f.Add(file, byte(rebuilt), uint32(0))
	}
	far := encode(f, slices.Concat(entries(), make([]byte, 3<<10), entries()), compress.WithBlockSize(1<<12),
		compress.WithLongDistance(compress.MinWindow))
	f.Add(far, byte(resealed), uint32(0))
	f.Add(far, byte(rebuilt), uint32(0))
	tiny := encode(f, corpus.ByName("json").Make(300), jsonDictionary().option())
	f.Add(tiny, byte(resealed), uint32(0))
	for q := range numQuirks {
		for seed, n := uint64(0), 0; n < 2; seed++ {
			if file, content, ok := generate(seed, q); ok && len(file) < 7000 {
				f.Add(file[26:len(file)-4-8-footerSize], byte(payload), uint32(len(content)))
				n++
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, how byte, raw uint32) {
		if len(data) > 1<<14 {
			return
		}
		raw %= maxRaw + 1
		file := data
		switch how %= numHows; how {
		case payload:
			short := len(data)%2 == 0 && len(data) < 1<<16 && raw < 1<<21
			file = sealBare(18, block{kindCoded, raw, data, short})
		default:
			sealed, ok := reseal(data, how == rebuilt)
			if !ok {
				return
			}
			if how != asIs {
				file = sealed
			}
		}
		agree(t, file)
	})
}

// TestDefaultTables compares the default tables with those of the document.
func TestDefaultTables(t *testing.T) {
	want := strings.Fields(strings.Join(defaultTables[:], " "))
	got := strings.Fields(fmt.Sprintf("% x", example(t, "### Default tables")))
	if !slices.Equal(got, want) {
		t.Errorf("%d bytes differ from %d of the document", len(want), len(got))
	}
	for i := range defaultTables {
		if _, err := defaultTable(i); err != nil {
			t.Errorf("table %d: %v", i, err)
		}
	}
}

// TestDecodeTo checks that an error of emit ends the decoder, in streams of both kinds.
func TestDecodeTo(t *testing.T) {
	stop := errors.New("stop")
	for _, n := range []int{1000, 100_000} {
		file := encode(t, bytes.Repeat([]byte("content "), n/8), compress.WithBlockSize(4096))
		blocks := 0
		err := DecodeTo(file, Dictionary{}, math.MaxInt64, func([]byte) error {
			blocks++
			return stop
		})
		if err != stop || blocks != 1 {
			t.Errorf("%d bytes: %v after %d blocks", n, err, blocks)
		}
	}
}
