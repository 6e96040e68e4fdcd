package compress

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// TestRecoverPlaces damages files whose indexes stay intact. With zeros for what is lost, each
// intact block must be where it was, and the content as long as it was.
func TestRecoverPlaces(t *testing.T) {
	content := textBytes(30*testBlock+9, 1) // no two blocks are the same
	half := 11*testBlock + 7
	var flushed bytes.Buffer
	w := newWriter(t, &flushed, WithBlockSize(testBlock))
	for p := range slices.Chunk(content[:half], testBlock/3) {
		w.Write(p)
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	first := encode(t, content[:half], WithBlockSize(testBlock))
	second := encode(t, content[half:], WithBlockSize(testBlock))
	rounds := 60
	if testenv.All() {
		rounds = 1000
	}
	for name, streams := range map[string][][]byte{
		"one":     {encode(t, content, WithBlockSize(testBlock))},
		"two":     {first, second},
		"flushed": {flushed.Bytes(), second},
	} {
		blocks := slices.Collect(openAt(t, slices.Concat(streams...)).Blocks())
		for seed := range rounds {
			r := rand.New(rand.NewPCG(uint64(seed), 9))
			list := slices.Clone(streams)
			list[seed%len(list)] = damageBlocks(t, list[seed%len(list)], seed/2%4, r)
			checkPlaces(t, fmt.Sprintf("%s, round %d", name, seed), slices.Concat(list...), content,
				slices.Concat(streams...), blocks)
		}
	}
}

// damageBlocks overwrites, deletes, inserts or moves a piece in front of the index of a stream.
func damageBlocks(t *testing.T, stream []byte, kind int, r *rand.Rand) []byte {
	f, err := pzfile.ParseFooter(stream[len(stream)-pzfile.FooterSize:])
	if err != nil {
		t.Fatal(err)
	}
	tail := len(stream) - int(pzfile.TailSize(f.Units))
	from := r.IntN(tail)
	to := min(from+1+r.IntN(1<<r.IntN(15)), tail)
	random := randomBytes(to-from, r.Uint64())
	switch kind {
	case 0:
		return slices.Concat(stream[:from], random, stream[to:])
	case 1:
		return slices.Concat(stream[:from], stream[to:])
	case 3: // the file stays as long as it was
		rest, at := slices.Concat(stream[:from], stream[to:]), r.IntN(tail-(to-from)+1)
		return slices.Insert(rest, at, random...)
	}
	return slices.Concat(stream[:from], random, stream[from:])
}

// checkPlaces recovers a damaged file with zeros. blocks are those of the intact file.
func checkPlaces(t *testing.T, name string, bad, content, file []byte, blocks []BlockInfo) {
	t.Helper()
	got, list := recoverAll(t, bad, WithZeroFill(true))
	if len(got) != len(content) {
		t.Errorf("%s: %d bytes of %d: %+v", name, len(got), len(content), list)
		return
	}
	for _, b := range blocks {
		from, to := b.ContentOffset, b.ContentOffset+b.Content
		intact := bytes.Contains(bad, file[b.Offset:b.Offset+b.Size])
		if intact && !bytes.Equal(got[from:to], content[from:to]) {
			t.Errorf("%s: stream %d block %d is missing: %+v", name, b.Stream, b.Number, list)
		}
	}
}

// TestRecoverSwappedBlocks swaps two blocks of files with an intact index. All content comes back,
// and the damage is reported.
func TestRecoverSwappedBlocks(t *testing.T) {
	content := textBytes(9*testBlock+9, 1)
	for _, format := range []Format{PZ, Zstd} {
		file := encode(t, content, WithFormat(format), WithBlockSize(testBlock))
		blocks := slices.Collect(openAt(t, file).Blocks())
		a, b := blocks[3].Offset, blocks[4].Offset
		end := b + blocks[4].Size
		bad := slices.Concat(file[:a], file[b:end], file[a:b], file[end:])
		got, list := recoverAll(t, bad, WithZeroFill(true))
		equal(t, got, content, fmt.Sprint(format))
		if len(list) != 1 || list[0].Err == nil {
			t.Errorf("%v: %+v, want one damage", format, list)
			continue
		}
		list[0].Err = nil
		want := Damage{Kind: DamageFrame, Block: 3, ContentOffset: 3 * testBlock}
		if list[0] != want {
			t.Errorf("%v: %+v, want %+v", format, list[0], want)
		}
	}
}

// TestRecoverPartInFront inserts a part of a block in front of the block, and deletes as many bytes
// behind it. The header of the part is where the index says.
func TestRecoverPartInFront(t *testing.T) {
	content := textBytes(9*testBlock+9, 1)
	for _, format := range []Format{PZ, Zstd} {
		file := encode(t, content, WithFormat(format), WithBlockSize(testBlock))
		blocks := slices.Collect(openAt(t, file).Blocks())
		for k := range 7 {
			at, cut := blocks[k].Offset, blocks[7].Offset+200
			bad := slices.Concat(file[:at], file[at:at+100], file[at:cut], file[cut+100:])
			checkPlaces(t, fmt.Sprintf("%v, block %d", format, k), bad, content, file, blocks)
		}
	}
}
