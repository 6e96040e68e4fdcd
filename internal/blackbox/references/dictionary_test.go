// Package references tests matches that reach beyond a block: into a dictionary, or far back in the
// content, through the public API.
package references

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

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
	d := bbtest.NewDictionary(t, bbtest.TestDictionaries(t)["trained"])
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 20 {
				content := corpus.Document(uint64(1000*g + i))
				packed, err := compress.AppendEncode(nil, content, compress.WithFormat(compress.Zstd),
					compress.WithLevel(1+(g+i)%8),
					compress.WithDictionary(d))
				if err != nil {
					t.Error(err)
					return
				}
				got, err := compress.AppendDecode(nil, packed, compress.WithDictionary(d))
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
	for name, p := range bbtest.TestDictionaries(t) {
		for _, pipe := range withDictionaries {
			t.Run(name+" "+pipe, func(t *testing.T) { testDictionary(t, pipe, bbtest.NewDictionary(t, p)) })
		}
	}
}

func testDictionary(t *testing.T, pipe string, d *compress.Dictionary) {
	for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
		if !testenv.All() && level%3 != 1 && level != compress.MaxLevel {
			continue
		}
		for _, content := range dictionaryContents() {
			opts := []compress.WriterOption{
				bridge.Pipeline(pipe), compress.WithDictionary(d), compress.WithLevel(level),
				compress.WithBlockSize(bbtest.BlockSize),
				compress.WithConcurrency(3),
			}
			reading := []compress.ReaderOption{compress.WithDictionary(d), compress.WithConcurrency(3)}
			what := fmt.Sprintf("level %d, %d bytes", level, len(content))
			bbtest.CheckRead(t, bbtest.Encode(t, content, opts...), content, what, reading...)
			opts = append(opts, bridge.Frames())
			file := bbtest.Encode(t, content, opts...)
			bbtest.CheckAllReaders(t, file, content, reading...)
			small, err := compress.AppendEncode(nil, content, opts...)
			if err != nil {
				t.Fatal(err)
			}
			bbtest.CheckAllReaders(t, small, content, reading...)
			again, err := compress.AppendEncode(nil, content, append(opts, compress.WithConcurrency(1))...)
			if err != nil || !bytes.Equal(again, small) {
				t.Errorf("%s: output depends on the number of workers (%v)", what, err)
			}
			info, err := bbtest.FileInfo(file)
			if err != nil || info.Content != int64(len(content)) {
				t.Errorf("ReadInfo without the dictionary: %+v, %v", info, err)
			}
		}
	}
}

// TestDictionaryGain checks that small files are at most half as large with a dictionary as
// without, or nearly so with lzr, whose offsets take 16 bits.
func TestDictionaryGain(t *testing.T) {
	testenv.Slow(t)
	for _, pipe := range withDictionaries {
		d := bbtest.NewDictionary(t, bbtest.TestDictionaries(t)["trained"])
		for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
			with, without := 0, 0
			for i := range 100 {
				content := corpus.Document(uint64(i))
				for _, dict := range []*compress.Dictionary{nil, d} {
					p, err := compress.AppendEncode(nil, content, bridge.Pipeline(pipe),
						compress.WithLevel(level),
						compress.WithDictionary(dict))
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
	for _, p := range bbtest.TestDictionaries(t) {
		d := bbtest.NewDictionary(t, p)
		for i := range 9 {
			opts := []compress.WriterOption{
				bridge.Pipeline(withDictionaries[i/3]), compress.WithDictionary(d),
				compress.WithLevel(1 + i%3*4),
				compress.WithBlockSize(bbtest.BlockSize),
			}
			var pieces [][]byte
			for i := 0; i < 60; i += 3 {
				pieces = append(pieces, corpus.Document(uint64(i)),
					slices.Concat(corpus.Document(uint64(i+1)), corpus.Document(uint64(i+2))))
			}
			content := slices.Concat(pieces...)
			file, _ := bbtest.FlushPieces(t, pieces, len(content), opts...)
			bbtest.CheckRead(t, file, content, "flushed", compress.WithDictionary(d))
			file, _ = bbtest.FlushPieces(t, pieces, len(content), append(opts, bridge.Frames())...)
			bbtest.CheckAllReaders(t, file, content, compress.WithDictionary(d))
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
	all := bbtest.TestDictionaries(t)
	right, other := bbtest.NewDictionary(t, withID(all["trained"], 7)),
		bbtest.NewDictionary(t, withID(all["trained"], 9))
	raw := bbtest.NewDictionary(t, all["raw"])
	content := corpus.ByName("json").MakeSeed(3*bbtest.BlockSize, 5)
	var files [][]byte
	for _, f := range []compress.Format{compress.PZ, compress.Zstd} {
		opts := []compress.WriterOption{
			compress.WithFormat(f), compress.WithSeekable(bbtest.BlockSize), compress.WithDictionary(right),
		}
		var flushed bytes.Buffer
		w := bbtest.NewWriter(t, &flushed, opts...)
		w.Write(content[:100])
		w.Flush()
		w.Close()
		files = append(files, bbtest.Encode(t, content, opts...),
			bbtest.Encode(t, content[:900], opts...), flushed.Bytes())
	}
	for _, file := range files {
		for _, c := range []struct {
			dict *compress.Dictionary
			text string
		}{
			{nil, "needs the dictionary with ID 7"},
			{other, "needs the dictionary with ID 7, not 9"},
			{raw, "needs the dictionary with ID 7, not "},
		} {
			check := func(what string, err error) {
				t.Helper()
				var e *compress.Error
				if !errors.Is(err, compress.ErrDictionary) || !errors.As(err, &e) ||
					e.Part != compress.PartHeader || e.Offset != 0 ||
					!strings.Contains(err.Error(), c.text) {
					t.Errorf("%s: %v, want %q at byte 0", what, err, c.text)
				}
			}
			_, err := bbtest.Decode(file, compress.WithDictionary(c.dict))
			check("Read", err)
			_, err = compress.AppendDecode(nil, file, compress.WithDictionary(c.dict))
			check("AppendDecode", err)
			r := bbtest.OpenAt(t, file, compress.WithDictionary(c.dict))
			_, err = r.ReadAt(make([]byte, 10), 0)
			check("ReadAt", err)
		}
		var lost []compress.Damage
		err := bbtest.RecoverFrom(io.Discard, file,
			func(d compress.Damage) error { lost = append(lost, d); return nil })
		if err != nil || len(lost) != 1 || !errors.Is(lost[0].Err, compress.ErrDictionary) {
			t.Errorf("Recover: %+v, %v", lost, err)
		}
		var b bytes.Buffer
		err = bbtest.RecoverFrom(&b, file, nil, compress.WithDictionary(right))
		if err != nil || b.Len() == 0 {
			t.Errorf("Recover: %d bytes, %v", b.Len(), err)
		}
	}
	checkDictionaryOptions(t, content, right)
	for _, p := range [][]byte{nil, all["trained"][:6], all["trained"][:100], make([]byte, 32<<20+1)} {
		if _, err := compress.NewDictionary(p); !errors.Is(err, compress.ErrCorrupt) {
			t.Errorf("dictionary of %d bytes: %v", len(p), err)
		}
	}
	// Content that repeats the dictionary of a frame that names none.
	p := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd), compress.WithDictionary(raw))
	if _, err := bbtest.Decode(p); !errors.Is(err, compress.ErrCorrupt) {
		t.Errorf("frame without an ID and without its dictionary: %v", err)
	}
}

// checkDictionaryOptions checks what excludes a dictionary.
func checkDictionaryOptions(t *testing.T, content []byte, d *compress.Dictionary) {
	_, err := compress.NewWriter(io.Discard, compress.WithDictionary(d),
		compress.WithLongDistance(compress.MinWindow))
	if !errors.Is(err, compress.ErrOption) {
		t.Errorf("a dictionary and a window: %v", err)
	}
	_, err = compress.AppendEncode(nil, content, compress.WithFormat(compress.Gzip),
		compress.WithDictionary(d))
	if !errors.Is(err, compress.ErrOption) {
		t.Errorf(".gz with a dictionary: %v", err)
	}
	_, err = compress.NewReader(nil, compress.WithDictionary(new(compress.Dictionary)))
	if !errors.Is(err, compress.ErrOption) {
		t.Errorf("zero Dictionary: %v", err)
	}
}

// TestDictionaryAllocs checks that small content with a dictionary allocates nothing.
func TestDictionaryAllocs(t *testing.T) {
	testenv.Measures(t)
	d := bbtest.NewDictionary(t, bbtest.TestDictionaries(t)["trained"])
	for _, pipe := range withDictionaries {
		opts := []compress.WriterOption{bridge.Pipeline(pipe), compress.WithDictionary(d)}
		content := corpus.Document(3)
		file, err := compress.AppendEncode(make([]byte, 0, 4<<10), content, opts...)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, 0, 8<<10)
		reading := []compress.ReaderOption{compress.WithDictionary(d)}
		if n := testing.AllocsPerRun(100, func() { compress.AppendEncode(out, content, opts...) }); n >= 1 {
			t.Errorf("%s: AppendEncode: %v allocations", pipe, n)
		}
		if n := testing.AllocsPerRun(100, func() { compress.AppendDecode(out, file, reading...) }); n >= 1 {
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
	for name, p := range bbtest.TestDictionaries(t) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, p, 0o600); err != nil {
			t.Fatal(err)
		}
		d := bbtest.NewDictionary(t, p)
		contents := append(dictionaryContents(), bytes.Repeat(p, 3))
		for _, content := range contents {
			for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
				if !testenv.All() && level%4 != 1 {
					continue
				}
				opts := []compress.WriterOption{
					compress.WithFormat(compress.Zstd), compress.WithDictionary(d),
					compress.WithLevel(level), compress.WithBlockSize(1 << 16),
				}
				got := bbtest.RunTool(t, bbtest.Encode(t, content, opts...), "zstd", "-dc", "-D", path)
				bbtest.Equal(t, got, content, fmt.Sprintf("zstd -d -D %s, level %d", name, level))
			}
			for _, level := range []string{"-1", "-3", "-9", "-19", "--fast=3"} {
				file := bbtest.RunTool(t, content, "zstd", "-c", level, "-D", path)
				bbtest.CheckRead(t, file, content, "zstd "+level, compress.WithDictionary(d))
				file = bbtest.RunTool(t, content, "zstd", "-c", level, "--no-dictID", "--stream-size="+
					fmt.Sprint(len(content)), "-D", path)
				bbtest.CheckRead(t, file, content, "zstd --no-dictID "+level, compress.WithDictionary(d))
			}
		}
	}
}

// TestSingleFrame checks that a file of one frame has no seek table, and that a ReaderAt reads such
// files of any writer, joined ones too.
func TestSingleFrame(t *testing.T) {
	d := bbtest.NewDictionary(t, bbtest.TestDictionaries(t)["raw"])
	content := bbtest.TextBytes(100_000, 1)
	plain := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd))
	frame := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd), compress.WithDictionary(d))
	if _, err := bbtest.OpenFile(frame, compress.WithDictionary(d)); err != nil {
		t.Error(err)
	}
	for _, p := range [][]byte{plain, frame} {
		if table, _ := bridge.ProbeZstd(bytes.NewReader(p), int64(len(p))); table {
			t.Error("a file of one frame has a seek table")
		}
	}
	skip := []byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}
	bbtest.CheckReaderAt(t, plain, content)
	bbtest.CheckReaderAt(t, slices.Concat(plain, skip, plain), slices.Concat(content, content))
	bbtest.CheckReaderAt(t, slices.Concat(plain, skip), content)
	if _, err := bbtest.OpenFile(frame[:len(frame)-5]); !errors.Is(err, compress.ErrTruncated) {
		t.Errorf("cut frame: %v", err)
	}
	for i := range 20 {
		// Any damage is found.
		bad := bbtest.Flip(frame, 50+i*97)
		if r, err := bbtest.OpenFile(bad, compress.WithDictionary(d)); err == nil {
			if _, err := r.ReadAt(make([]byte, len(content)), 0); !errors.Is(err, compress.ErrCorrupt) {
				t.Errorf("damage at %d: %v", 50+i*97, err)
			}
		}
	}
}

// TestDictionaryInfo checks the number of the dictionary in the description of a file.
func TestDictionaryInfo(t *testing.T) {
	all := bbtest.TestDictionaries(t)
	trained, raw := bbtest.NewDictionary(t, all["trained"]), bbtest.NewDictionary(t, all["raw"])
	number := crc32.Checksum(all["raw"], crc32.MakeTable(crc32.Castagnoli))
	long := corpus.ByName("json").MakeSeed(2*bbtest.BlockSize, 5)
	for _, c := range []struct {
		pipe    string
		content []byte
		dict    *compress.Dictionary
		want    uint32
	}{
		{"lzseqr", long, trained, trained.ID()},
		{"lzseqr", long[:100], trained, trained.ID()},
		{"lzseqr", long, raw, number},
		{"lzseqr", long, nil, 0},
		{"lzf", long, trained, trained.ID()},
		{"lzf", long, raw, 0},
	} {
		file := bbtest.Encode(t, c.content, bridge.Pipeline(c.pipe), compress.WithDictionary(c.dict))
		info, err := bbtest.FileInfo(file)
		if err != nil || len(info.Streams) != 1 || info.Streams[0].Dictionary != c.want {
			t.Errorf("%s, %d bytes: %+v, %v; want dictionary %d",
				c.pipe, len(c.content), info.Streams, err, c.want)
		}
	}
}

// TestDictionaryPlan compresses pieces apart, and compares memory and pieces with those of another
// dictionary.
func TestDictionaryPlan(t *testing.T) {
	all := bbtest.TestDictionaries(t)
	for _, pipe := range withDictionaries {
		content := corpus.ByName("json").MakeSeed(5*bbtest.BlockSize+100, 5)
		opts := []compress.WriterOption{bridge.Pipeline(pipe), compress.WithSeekable(bbtest.BlockSize)}
		var plans []*compress.Plan
		var memory []int64
		for _, p := range [][]byte{all["trained"], withID(all["trained"], 3), all["raw"], nil} {
			o := opts
			if p != nil {
				o = append(opts[:2:2], compress.WithDictionary(bbtest.NewDictionary(t, p)))
			}
			plan, err := compress.NewPlan(int64(len(content)), o...)
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, plan)
			n, err := compress.WriterMemory(o...)
			if err != nil {
				t.Fatal(err)
			}
			memory = append(memory, n)
			file := bytes.NewBuffer(plan.Header())
			var pieces []*compress.Piece
			for _, part := range [][2]int64{{0, 2}, {2, plan.Blocks()}} {
				from, to := plan.Input(part[0], part[1])
				piece, err := plan.Encode(file, bytes.NewReader(content[from:to]), part[0], part[1])
				if err != nil {
					t.Fatal(err)
				}
				pieces = append(pieces, piece)
			}
			end, err := plan.Trailer(pieces...)
			if err != nil {
				t.Fatal(err)
			}
			file.Write(end)
			want := bbtest.Encode(t, content, append(o, compress.WithContentSize(int64(len(content))))...)
			bbtest.Equal(t, file.Bytes(), want, "pieces")
			for _, other := range plans[:len(plans)-1] {
				if _, err := other.Trailer(pieces...); !errors.Is(err, compress.ErrOption) {
					t.Errorf("pieces of another dictionary: %v", err)
				}
			}
		}
		if least := memory[3] + int64(len(all["raw"])); memory[2] < least {
			t.Errorf("%d bytes of memory with a dictionary, want %d or more", memory[2], least)
		}
	}
}

// TestDictionarySalvage recovers files that have lost their index or seek table and a part of their
// content, or the header.
func TestDictionarySalvage(t *testing.T) {
	d := bbtest.NewDictionary(t, bbtest.TestDictionaries(t)["trained"])
	content := corpus.ByName("json").MakeSeed(4*bbtest.BlockSize, 5)
	pz := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize), compress.WithDictionary(d))
	headless := bbtest.Flip(pz, 4)
	pz = bbtest.Flip(pz[:len(pz)-9], 300)
	for _, c := range []struct {
		name string
		file []byte
		want []byte
	}{{"header", headless, content}, {"block and index", pz, content[bbtest.BlockSize:]}} {
		var b bytes.Buffer
		if err := bbtest.RecoverFrom(&b, c.file, nil, compress.WithDictionary(d)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		bbtest.Equal(t, b.Bytes(), c.want, c.name)
		// Without the dictionary nothing comes out as if it were intact.
		b.Reset()
		if err := bbtest.RecoverFrom(&b, c.file, nil); err != nil || b.Len() != 0 {
			t.Errorf("%s, without the dictionary: %d bytes, %v", c.name, b.Len(), err)
		}
	}
	file := bbtest.Encode(t, content, compress.WithFormat(compress.Zstd),
		compress.WithSeekable(bbtest.BlockSize), compress.WithDictionary(d))
	file = file[:len(file)-9]
	second := bytes.Index(file[1:], file[:4]) + 1
	file[second+200] ^= 1
	var b bytes.Buffer
	if err := bbtest.RecoverFrom(&b, file, nil, compress.WithDictionary(d)); err != nil {
		t.Fatal(err)
	}
	// What a Reader returns of the damaged frame is there, too, and may be wrong.
	got := b.Bytes()
	if len(got) > bbtest.BlockSize {
		after := max(bbtest.BlockSize, len(got)-2*bbtest.BlockSize)
		got = append(got[:bbtest.BlockSize:bbtest.BlockSize], got[after:]...)
	}
	bbtest.Equal(t, got, append(content[:bbtest.BlockSize:bbtest.BlockSize],
		content[2*bbtest.BlockSize:]...), "Recover")
}
