package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// testDictionaries returns a dictionary of "zstd --train", content without a header, and content of
// a few bytes.
func testDictionaries(t testing.TB) map[string][]byte {
	t.Helper()
	trained, err := os.ReadFile(filepath.Join("testdata", "dictionary", "json.dict"))
	if err != nil {
		t.Fatal(err)
	}
	var raw []byte
	for i := range 40 {
		raw = append(raw, corpus.Document(uint64(1000+i))...)
	}
	return map[string][]byte{"trained": trained, "raw": raw, "short": raw[100:109]}
}

func newDictionary(t testing.TB, p []byte) *Dictionary {
	t.Helper()
	d, err := NewDictionary(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// dictionaryContents are the edges of what the finders take: nothing, one byte, short blocks and
// longer ones, several blocks.
func dictionaryContents() [][]byte {
	json := corpus.ByName("json").MakeSeed(300_000, 77)
	return [][]byte{
		nil, []byte("x"), json[:17], corpus.Document(1), json[:4<<10], json[:4<<10+1], json[:70_000], json,
		corpus.ByName("random").Make(1000), make([]byte, 3000),
	}
}

// TestDictionaryShared compresses and restores with one Dictionary from several goroutines.
func TestDictionaryShared(t *testing.T) {
	d := newDictionary(t, testDictionaries(t)["trained"])
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 20 {
				content := corpus.Document(uint64(1000*g + i))
				packed, err := AppendEncode(nil, content, WithFormat(Zstd), WithLevel(1+(g+i)%8),
					WithDictionary(d))
				if err != nil {
					t.Error(err)
					return
				}
				got, err := AppendDecode(nil, packed, WithDictionary(d))
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("document %d of goroutine %d: %v", i, g, err)
				}
			}
		})
	}
	wg.Wait()
}

// withDictionaries are the pipelines that have dictionaries.
var withDictionaries = []string{"lzr", "lzseqr", "lzf"}

// TestDictionary compresses with dictionaries and decodes with all readers.
func TestDictionary(t *testing.T) {
	testenv.Slow(t)
	for name, p := range testDictionaries(t) {
		for _, pipe := range withDictionaries {
			t.Run(name+" "+pipe, func(t *testing.T) { testDictionary(t, pipe, newDictionary(t, p)) })
		}
	}
}

func testDictionary(t *testing.T, pipe string, d *Dictionary) {
	for level := MinLevel; level <= MaxLevel; level++ {
		if !testenv.All() && level%3 != 1 && level != MaxLevel {
			continue
		}
		for _, content := range dictionaryContents() {
			opts := []Option{
				WithPipeline(pipe), WithDictionary(d), WithLevel(level), WithBlockSize(testBlock),
				WithConcurrency(3),
			}
			file := encode(t, content, opts...)
			checkAllReaders(t, file, content, opts...)
			small, err := AppendEncode(nil, content, opts...)
			if err != nil {
				t.Fatal(err)
			}
			checkAllReaders(t, small, content, opts...)
			again, err := AppendEncode(nil, content, append(opts, WithConcurrency(1))...)
			if err != nil || !bytes.Equal(again, small) {
				t.Errorf("level %d, %d bytes: output depends on the number of workers (%v)",
					level, len(content), err)
			}
			info, err := fileInfo(file)
			if err != nil || info.Content != int64(len(content)) {
				t.Errorf("ReadInfo without the dictionary: %+v, %v", info, err)
			}
		}
	}
}

// TestDictionaryGain checks that small files are at most half as large with a dictionary as without, or
// nearly so with lzr, whose offsets take 16 bits.
func TestDictionaryGain(t *testing.T) {
	testenv.Slow(t)
	for _, pipe := range withDictionaries {
		d := newDictionary(t, testDictionaries(t)["trained"])
		for level := MinLevel; level <= MaxLevel; level++ {
			with, without := 0, 0
			for i := range 100 {
				content := corpus.Document(uint64(i))
				for _, dict := range []*Dictionary{nil, d} {
					p, err := AppendEncode(nil, content, WithPipeline(pipe), WithLevel(level),
						WithDictionary(dict))
					switch {
					case err != nil:
						t.Fatal(err)
					case dict == nil:
						without += len(p)
					default:
						with += len(p)
					}
				}
			}
			gain := 2.0
			if pipe == "lzr" {
				gain = 1.8
			}
			if gain*float64(with) > float64(without) {
				t.Errorf("%s, level %d: %d bytes with a dictionary, %d without", pipe, level, with, without)
			}
		}
	}
}

// TestDictionaryFlush flushes within frames that have a dictionary.
func TestDictionaryFlush(t *testing.T) {
	for _, p := range testDictionaries(t) {
		d := newDictionary(t, p)
		for i := range 9 {
			var file bytes.Buffer
			opts := []Option{
				WithPipeline(withDictionaries[i/3]), WithDictionary(d), WithLevel(1 + i%3*4),
				WithBlockSize(testBlock),
			}
			w := newWriter(t, &file, opts...)
			var content []byte
			for i := range 60 {
				p := corpus.Document(uint64(i))
				content = append(content, p...)
				w.Write(p)
				if i%3 != 0 {
					if err := w.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			checkAllReaders(t, file.Bytes(), content, WithDictionary(d))
		}
	}
}

// withID returns the dictionary p with another ID.
func withID(p []byte, id byte) []byte {
	p = bytes.Clone(p)
	copy(p[4:], []byte{id, 0, 0, 0})
	return p
}

// TestDictionaryErrors checks the errors for dictionaries that are missing or wrong.
func TestDictionaryErrors(t *testing.T) {
	all := testDictionaries(t)
	right, other := newDictionary(t, withID(all["trained"], 7)), newDictionary(t, withID(all["trained"], 9))
	raw := newDictionary(t, all["raw"])
	content := corpus.ByName("json").MakeSeed(3*testBlock, 5)
	var files [][]byte
	for _, f := range []Format{PZ, Zstd} {
		opts := []Option{WithFormat(f), WithBlockSize(testBlock), WithDictionary(right)}
		var flushed bytes.Buffer
		w := newWriter(t, &flushed, opts...)
		w.Write(content[:100])
		w.Flush()
		w.Close()
		files = append(files, encode(t, content, opts...), encode(t, content[:900], opts...), flushed.Bytes())
	}
	for _, file := range files {
		for _, c := range []struct {
			dict *Dictionary
			text string
		}{
			{nil, "needs the dictionary with ID 7"},
			{other, "needs the dictionary with ID 7, not 9"},
			{raw, "needs the dictionary with ID 7, not "},
		} {
			check := func(what string, err error) {
				t.Helper()
				var e *Error
				if !errors.Is(err, ErrDictionary) || !errors.As(err, &e) || e.Part != PartHeader ||
					e.Offset != 0 || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%s: %v, want %q at byte 0", what, err, c.text)
				}
			}
			_, err := decode(file, WithDictionary(c.dict))
			check("Read", err)
			_, err = AppendDecode(nil, file, WithDictionary(c.dict))
			check("AppendDecode", err)
			r := openAt(t, file, WithDictionary(c.dict))
			_, err = r.ReadAt(make([]byte, 10), 0)
			check("ReadAt", err)
		}
		var lost []Damage
		err := recoverFrom(io.Discard, file, func(d Damage) error { lost = append(lost, d); return nil })
		if err != nil || len(lost) != 1 || !errors.Is(lost[0].Err, ErrDictionary) {
			t.Errorf("Recover: %+v, %v", lost, err)
		}
		var b bytes.Buffer
		if err := recoverFrom(&b, file, nil, WithDictionary(right)); err != nil || b.Len() == 0 {
			t.Errorf("Recover: %d bytes, %v", b.Len(), err)
		}
	}
	_, err := NewWriter(io.Discard, WithDictionary(right), WithLongDistance(MinWindow))
	if !errors.Is(err, ErrOption) {
		t.Errorf("a dictionary and a window: %v", err)
	}
	_, err = AppendEncode(nil, content, WithFormat(Gzip), WithDictionary(right))
	if !errors.Is(err, ErrOption) {
		t.Errorf(".gz with a dictionary: %v", err)
	}
	if _, err := NewReader(nil, WithDictionary(new(Dictionary))); !errors.Is(err, ErrOption) {
		t.Errorf("zero Dictionary: %v", err)
	}
	for _, p := range [][]byte{nil, all["trained"][:6], all["trained"][:100], make([]byte, 32<<20+1)} {
		if _, err := NewDictionary(p); !errors.Is(err, ErrCorrupt) {
			t.Errorf("dictionary of %d bytes: %v", len(p), err)
		}
	}
	// Content that repeats the dictionary of a frame that names none.
	p := encode(t, content, WithFormat(Zstd), WithDictionary(raw))
	if _, err := decode(p); !errors.Is(err, ErrCorrupt) {
		t.Errorf("frame without an ID and without its dictionary: %v", err)
	}
}

// TestDictionaryAllocs checks that small content with a dictionary allocates nothing.
func TestDictionaryAllocs(t *testing.T) {
	testenv.Measures(t)
	d := newDictionary(t, testDictionaries(t)["trained"])
	for _, pipe := range withDictionaries {
		opts := []Option{WithPipeline(pipe), WithDictionary(d)}
		content := corpus.Document(3)
		file, err := AppendEncode(make([]byte, 0, 4<<10), content, opts...)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, 0, 8<<10)
		if n := testing.AllocsPerRun(100, func() { AppendEncode(out, content, opts...) }); n >= 1 {
			t.Errorf("%s: AppendEncode: %v allocations", pipe, n)
		}
		if n := testing.AllocsPerRun(100, func() { AppendDecode(out, file, opts...) }); n >= 1 {
			t.Errorf("%s: AppendDecode: %v allocations", pipe, n)
		}
	}
}

// TestDictionaryTools exchanges files with zstd, both ways.
func TestDictionaryTools(t *testing.T) {
	if testenv.Race {
		t.Skip("is about content; others have more goroutines")
	}
	testenv.Tool(t, "zstd")
	dir := t.TempDir()
	for name, p := range testDictionaries(t) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, p, 0o600); err != nil {
			t.Fatal(err)
		}
		d := newDictionary(t, p)
		contents := append(dictionaryContents(), bytes.Repeat(p, 3))
		for _, content := range contents {
			for level := MinLevel; level <= MaxLevel; level++ {
				if !testenv.All() && level%4 != 1 {
					continue
				}
				opts := []Option{
					WithFormat(Zstd), WithDictionary(d), WithLevel(level), WithBlockSize(1 << 16),
				}
				got := runTool(t, encode(t, content, opts...), "zstd", "-dc", "-D", path)
				equal(t, got, content, fmt.Sprintf("zstd -d -D %s, level %d", name, level))
			}
			for _, level := range []string{"-1", "-3", "-9", "-19", "--fast=3"} {
				file := runTool(t, content, "zstd", "-c", level, "-D", path)
				checkRead(t, file, content, "zstd "+level, WithDictionary(d))
				file = runTool(t, content, "zstd", "-c", level, "--no-dictID", "--stream-size="+
					fmt.Sprint(len(content)), "-D", path)
				checkRead(t, file, content, "zstd --no-dictID "+level, WithDictionary(d))
			}
		}
	}
}
