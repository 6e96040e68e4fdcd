package compress

import (
	"bytes"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestSingleFrame checks that a file of one frame has no seek table if it has a dictionary, and that a
// ReaderAt reads such files of any writer.
func TestSingleFrame(t *testing.T) {
	d := newDictionary(t, testDictionaries(t)["raw"])
	content := textBytes(100_000, 1)
	const table = 8 + 12 + 9 // header, entry and footer
	plain := encode(t, content, WithFormat(Zstd))
	frame := encode(t, content, WithFormat(Zstd), WithDictionary(d))
	if _, err := openFile(frame, WithDictionary(d)); err != nil {
		t.Error(err)
	}
	if table, _ := ProbeZstd(bytes.NewReader(frame), int64(len(frame))); table {
		t.Error("a file of one frame with a dictionary has a seek table")
	}
	checkReaderAt(t, plain[:len(plain)-table], content)
	for name, p := range map[string][]byte{
		"two frames":         append(bytes.Clone(frame), frame...),
		"a skippable behind": append(bytes.Clone(frame), 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0),
	} {
		if _, err := openFile(p); !errors.Is(err, ErrNoIndex) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := openFile(frame[:len(frame)-5]); !errors.Is(err, ErrTruncated) {
		t.Errorf("cut frame: %v", err)
	}
	for i := range 20 {
		// Any damage is found.
		bad := flip(frame, 50+i*97)
		if r, err := openFile(bad, WithDictionary(d)); err == nil {
			if _, err := r.ReadAt(make([]byte, len(content)), 0); !errors.Is(err, ErrCorrupt) {
				t.Errorf("damage at %d: %v", 50+i*97, err)
			}
		}
	}
}

// TestDictionaryInfo checks the number of the dictionary in the description of a file.
func TestDictionaryInfo(t *testing.T) {
	all := testDictionaries(t)
	trained, raw := newDictionary(t, all["trained"]), newDictionary(t, all["raw"])
	number := crc32.Checksum(all["raw"], crc32.MakeTable(crc32.Castagnoli))
	long := corpus.ByName("json").MakeSeed(2*testBlock, 5)
	for _, c := range []struct {
		pipe    string
		content []byte
		dict    *Dictionary
		want    uint32
	}{
		{"lzseqr", long, trained, trained.ID()},
		{"lzseqr", long[:100], trained, trained.ID()},
		{"lzseqr", long, raw, number},
		{"lzseqr", long, nil, 0},
		{"lzf", long, trained, trained.ID()},
		{"lzf", long, raw, 0},
	} {
		file := encode(t, c.content, WithPipeline(c.pipe), WithDictionary(c.dict))
		info, err := fileInfo(file)
		if err != nil || len(info.Streams) != 1 || info.Streams[0].Dictionary != c.want {
			t.Errorf("%s, %d bytes: %+v, %v; want dictionary %d",
				c.pipe, len(c.content), info.Streams, err, c.want)
		}
	}
}

// TestDictionaryPlan compresses pieces apart, and compares memory and pieces with those of another
// dictionary.
func TestDictionaryPlan(t *testing.T) {
	all := testDictionaries(t)
	for _, pipe := range withDictionaries {
		content := corpus.ByName("json").MakeSeed(5*testBlock+100, 5)
		opts := []Option{WithPipeline(pipe), WithBlockSize(testBlock)}
		var plans []*Plan
		var memory []int64
		for _, p := range [][]byte{all["trained"], withID(all["trained"], 3), all["raw"], nil} {
			o := opts
			if p != nil {
				o = append(opts[:2:2], WithDictionary(newDictionary(t, p)))
			}
			plan, err := NewPlan(int64(len(content)), o...)
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, plan)
			n, err := WriterMemory(o...)
			if err != nil {
				t.Fatal(err)
			}
			memory = append(memory, n)
			file := bytes.NewBuffer(plan.Header())
			var pieces []*Piece
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
			want := encode(t, content, append(o, WithContentSize(int64(len(content))))...)
			equal(t, file.Bytes(), want, "pieces")
			for _, other := range plans[:len(plans)-1] {
				if _, err := other.Trailer(pieces...); !errors.Is(err, ErrOption) {
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
	d := newDictionary(t, testDictionaries(t)["trained"])
	content := corpus.ByName("json").MakeSeed(4*testBlock, 5)
	pz := encode(t, content, WithBlockSize(testBlock), WithDictionary(d))
	headless := flip(pz, 4)
	pz = flip(pz[:len(pz)-9], 300)
	for _, c := range []struct {
		name string
		file []byte
		want []byte
	}{{"header", headless, content}, {"block and index", pz, content[testBlock:]}} {
		var b bytes.Buffer
		if err := recoverFrom(&b, c.file, nil, WithDictionary(d)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		equal(t, b.Bytes(), c.want, c.name)
		// Without the dictionary nothing comes out as if it were intact.
		b.Reset()
		if err := recoverFrom(&b, c.file, nil); err != nil || b.Len() != 0 {
			t.Errorf("%s, without the dictionary: %d bytes, %v", c.name, b.Len(), err)
		}
	}
	file := encode(t, content, WithFormat(Zstd), WithBlockSize(testBlock), WithDictionary(d))
	file = file[:len(file)-9]
	second := bytes.Index(file[1:], file[:4]) + 1
	file[second+200] ^= 1
	var b bytes.Buffer
	if err := recoverFrom(&b, file, nil, WithDictionary(d)); err != nil {
		t.Fatal(err)
	}
	equal(t, b.Bytes(), append(content[:testBlock:testBlock], content[2*testBlock:]...), "Recover")
}
