package compress

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
)

// recoverAll returns what Recover saves and says.
func recoverAll(t testing.TB, file []byte, opts ...Option) ([]byte, []Damage) {
	t.Helper()
	var b bytes.Buffer
	var list []Damage
	err := Recover(&b, bytes.NewReader(file), int64(len(file)), func(d Damage) error {
		list = append(list, d)
		return nil
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), list
}

func TestRecover(t *testing.T) {
	content := mixedBytes(12*testBlock + 100)
	first := encode(t, content, WithBlockSize(testBlock))
	second := encode(t, content[:3*testBlock], WithBlockSize(testBlock), WithChecksum(false), WithContentSize(3*testBlock))
	file := slices.Concat(first, second)
	whole := slices.Concat(content, content[:3*testBlock])
	var blocks []BlockInfo
	for b := range openAt(t, file).Blocks() {
		blocks = append(blocks, b)
	}
	if got, list := recoverAll(t, file); !bytes.Equal(got, whole) || list != nil {
		t.Fatal("intact file:", len(got), list)
	}
	for k, b := range blocks {
		at, end := b.ContentOffset, b.ContentOffset+b.Content
		without := slices.Concat(whole[:at], whole[end:])
		zeroed := slices.Clone(whole)
		clear(zeroed[at:end])

		// The index is intact, block k is not.
		bad := slices.Clone(file)
		bad[b.Offset+3] ^= 0x10
		got, list := recoverAll(t, bad)
		equal(t, got, without, fmt.Sprint("block ", k))
		want := Damage{Stream: b.Stream, Block: b.Number, Blocks: 1, ContentOffset: at, Content: b.Content}
		if len(list) != 1 || list[0].Err == nil {
			t.Fatalf("block %d: %+v", k, list)
		}
		list[0].Err = nil
		if list[0] != want {
			t.Errorf("block %d: %+v, want %+v", k, list[0], want)
		}
		got, _ = recoverAll(t, bad, WithZeroFill(true))
		equal(t, got, zeroed, fmt.Sprint("block ", k, ", filled"))

		// Nor is the index.
		bad[len(bad)-40] ^= 1
		got, list = recoverAll(t, bad)
		equal(t, got, without, fmt.Sprint("block ", k, " and index"))
		if len(list) < 1 || list[0].Content != b.Content {
			t.Errorf("block %d and index: %+v", k, list)
		}
	}
	// A file that was cut keeps all blocks in front of the cut.
	for n := 0; n < len(file); n += 61 {
		saved := int64(0)
		for _, b := range blocks {
			if b.Offset+b.Size <= int64(n) {
				saved = b.ContentOffset + b.Content
			}
		}
		got, list := recoverAll(t, file[:n])
		equal(t, got, whole[:saved], fmt.Sprint("cut at ", n))
		if len(list) == 0 && n != len(first) {
			t.Error("cut at", n, "and no report")
		}
	}
	// One that lost its beginning keeps all that are behind it.
	for n := 1; n < len(first); n += 61 {
		saved := int64(0)
		for _, b := range blocks {
			if b.Offset < int64(n) {
				saved = b.ContentOffset + b.Content
			}
		}
		got, list := recoverAll(t, file[n:])
		equal(t, got, whole[saved:], fmt.Sprint("begins at ", n))
		if len(list) == 0 {
			t.Error("begins at", n, "and no report")
		}
	}
	// Damaged headers and indexes cost no content.
	for _, at := range []int{0, 2, 4, 9, len(first) - 1, len(first) - 30, len(first) - 40, len(first), len(first) + 5} {
		bad := slices.Clone(file)
		bad[at] ^= 4
		got, list := recoverAll(t, bad)
		equal(t, got, whole, fmt.Sprint("byte ", at))
		if len(list) == 0 {
			t.Errorf("byte %d: %+v", at, list)
		}
	}
}

// A stored block may hold .pz data. Its blocks are not taken for those of the file around it.
func TestRecoverNested(t *testing.T) {
	inner := encode(t, randomBytes(5*testBlock, 1), WithBlockSize(testBlock))
	content := slices.Concat(randomBytes(1<<16, 2), inner, randomBytes(2<<16, 3))
	file := encode(t, content, WithBlockSize(1<<16), WithPipeline("lzr"))
	bad := slices.Clone(file)
	bad[pzfile.MinHeaderSize+pzfile.BlockHeaderSize+1<<16] ^= 1 // the header of the block with it
	bad[len(bad)-40] ^= 1
	got, _ := recoverAll(t, bad)
	equal(t, got, slices.Concat(content[:1<<16], content[2<<16:]), "nested")
}

func TestRecoverNothing(t *testing.T) {
	for _, file := range [][]byte{nil, []byte("P"), []byte("text"), make([]byte, 100_000), randomBytes(300_000, 1)} {
		got, list := recoverAll(t, file)
		if len(got) > 0 || len(list) != 1 {
			t.Errorf("%d bytes: saved %d, %+v", len(file), len(got), list)
		}
	}
	file := encode(t, mixedBytes(5*testBlock), WithBlockSize(testBlock))
	if err := Recover(&limitedWriter{n: 5000}, bytes.NewReader(file), int64(len(file)), nil); err != errTest {
		t.Error(err)
	}
	file[50] ^= 1
	if err := Recover(io.Discard, bytes.NewReader(file), int64(len(file)), func(Damage) error { return errTest }); err != errTest {
		t.Error(err)
	}
}

func FuzzRecover(f *testing.F) {
	file, _, _ := damageFile(f)
	f.Add(file)
	f.Add(file[:len(file)-5])
	f.Add(file[7:])
	f.Fuzz(func(t *testing.T, p []byte) {
		err := Recover(io.Discard, bytes.NewReader(p), int64(len(p)), nil, WithMaxMemory(600<<20), WithConcurrency(1))
		if err != nil {
			t.Error(err)
		}
	})
}
