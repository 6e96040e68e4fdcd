package compress

import (
	"bytes"
	"context"
	"errors"
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
	for n := pzfile.MinHeaderSize; n < len(file); n += 61 {
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
		err := Recover(writerFunc(func(p []byte) (int, error) { t.Error("write"); return len(p), nil }), bytes.NewReader(file), int64(len(file)), nil)
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", len(file), err)
		}
	}
	file := encode(t, mixedBytes(5*testBlock), WithBlockSize(testBlock))
	if err := Recover(&limitedWriter{n: 5000}, bytes.NewReader(file), int64(len(file)), nil); !errors.Is(err, errTest) {
		t.Error(err)
	}
	file[50] ^= 1
	if err := Recover(io.Discard, bytes.NewReader(file), int64(len(file)), func(Damage) error { return errTest }); !errors.Is(err, errTest) {
		t.Error(err)
	}
}

// Of a stream that was cut and the one that follows it all blocks come out that are whole.
func TestRecoverCutAndFollowed(t *testing.T) {
	a := mixedBytes(6*testBlock + 100)
	for _, c := range []struct {
		name string
		opts []Option
		b    []byte
	}{
		{"longer", nil, randomBytes(9*testBlock+50, 1)},
		{"same", nil, a},
		{"one block", nil, textBytes(90, 2)},
		{"empty", nil, nil},
		{"no checks", []Option{WithChecksum(false)}, randomBytes(9*testBlock, 1)},
		{"sizes", []Option{WithContentSize(int64(len(a)))}, mixedBytes(len(a))},
	} {
		one := encode(t, a, append(c.opts, WithBlockSize(testBlock))...)
		two := encode(t, c.b, append(c.opts, WithBlockSize(testBlock), WithContentSize(int64(len(c.b))))...)
		var cuts []int64
		for b := range openAt(t, one).Blocks() {
			for _, more := range []int64{0, 3, 7, 11, pzfile.BlockHeaderSize, 40, b.Size - 1} {
				cuts = append(cuts, b.Offset+more)
			}
		}
		tail := int64(len(one)) - pzfile.TailSize(7)
		cuts = append(cuts, tail, tail+2, tail+4, tail+20, int64(len(one))-1)
		for _, n := range cuts {
			saved := 0
			for b := range openAt(t, one).Blocks() {
				if b.Offset+b.Size <= n {
					saved = int(b.ContentOffset + b.Content)
				}
			}
			file := slices.Concat(one[:n], two)
			what := fmt.Sprintf("%s, cut at %d", c.name, n)
			got, list := recoverAll(t, file)
			equal(t, got, slices.Concat(a[:saved], c.b), what)
			if len(list) != 1 || list[0].Stream != 0 {
				t.Fatalf("%s: %+v", what, list)
			}
			if d := list[0]; saved < len(a) && (d.Kind == DamageFrame || d.Content == 0) {
				t.Errorf("%s: %+v", what, d)
			}
			got, _ = recoverAll(t, append(file, two...))
			equal(t, got, slices.Concat(a[:saved], c.b, c.b), what+", two follow")
		}
	}
}

// A block that was cut off may hold .pz data, and so may the last one in front of a damaged header.
func TestRecoverNestedAtDamage(t *testing.T) {
	inner := encode(t, randomBytes(5*testBlock, 1), WithBlockSize(testBlock))
	content := slices.Concat(randomBytes(1<<16, 2), randomBytes(500, 3), inner, randomBytes(3<<16, 4))
	for _, head := range [][]byte{nil, textBytes(30_000, 5)} { // stored and coded
		content := slices.Concat(content[:1<<16], head, content[1<<16:])
		file := encode(t, content, WithBlockSize(1<<16))
		var blocks []BlockInfo
		for b := range openAt(t, file).Blocks() {
			blocks = append(blocks, b)
		}
		// In the block that is cut off.
		got, _ := recoverAll(t, file[:blocks[2].Offset-1])
		equal(t, got, content[:1<<16], "cut")
		// In front of the header.
		bad := slices.Clone(file[:len(file)-1])
		clear(bad[blocks[2].Offset:][:pzfile.BlockHeaderSize])
		got, _ = recoverAll(t, bad)
		equal(t, got, slices.Concat(content[:2<<16], content[3<<16:]), "header behind")
		// In the block that has lost its header: the footer tells whose the blocks behind are.
		bad = slices.Clone(file)
		clear(bad[blocks[1].Offset:][:pzfile.BlockHeaderSize])
		bad[len(bad)-40] ^= 1
		got, _ = recoverAll(t, bad)
		equal(t, got, slices.Concat(content[:1<<16], content[2<<16:]), "header")
	}
}

// Zeros are as many as the damaged part of the file can hold, and no more than allowed.
func TestRecoverZeroFill(t *testing.T) {
	huge := (&pzfile.Header{Pipeline: 1, BlockSize: MaxBlockSize, ContentSize: 1 << 62}).Append(nil)
	got, list := recoverAll(t, huge, WithZeroFill(true))
	if len(got) > 0 || len(list) != 1 || list[0].Content != -1 || list[0].Kind != DamageUnknown {
		t.Errorf("%d bytes, %+v", len(got), list)
	}
	content := randomBytes(20*testBlock, 1)
	file := encode(t, content, WithBlockSize(testBlock), WithContentSize(int64(len(content))))
	clear(file[10*(testBlock+pzfile.BlockHeaderSize):])
	got, list = recoverAll(t, file, WithZeroFill(true))
	want := slices.Clone(content)
	clear(want[9*testBlock:])
	equal(t, got, want, "end lost")
	if len(list) != 2 || list[0].Content != testBlock || list[1].Content != 10*testBlock {
		t.Errorf("%+v", list)
	}
	var b bytes.Buffer
	err := Recover(&b, bytes.NewReader(file), int64(len(file)), nil, WithZeroFill(true), WithMaxDecodedSize(15*testBlock))
	if !errors.Is(err, ErrTooLarge) || b.Len() > 15*testBlock {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err = Recover(writerFunc(func(p []byte) (int, error) {
		if p[0] == 0 {
			cancel(errTest)
		}
		return len(p), nil
	}), bytes.NewReader(file), int64(len(file)), nil, WithZeroFill(true), WithContext(ctx))
	if !errors.Is(err, errTest) {
		t.Error(err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func FuzzRecover(f *testing.F) {
	file, _, _ := damageFile(f)
	f.Add(file)
	f.Add(file[:len(file)-5])
	f.Add(file[7:])
	f.Add(append(file[:len(file)/2:len(file)/2], file...))
	f.Fuzz(func(t *testing.T, p []byte) {
		err := Recover(io.Discard, bytes.NewReader(p), int64(len(p)), nil, WithMaxMemory(600<<20), WithConcurrency(1))
		if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNoIndex) { // nothing of .pz in it
			t.Error(err)
		}
	})
}
