package recovery

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/testenv"
)

// trial is a file that random faults damage.
type trial struct {
	name    string
	content []byte
	file    []byte
	blocks  []compress.BlockInfo
	places  bool  // Recover knows how much content is lost
	behind  int64 // so many bytes behind a block must be intact too
}

// newTrial returns the trial of a file with an index or a seek table.
func newTrial(t *testing.T, name string, content []byte, file ...[]byte) trial {
	f := trial{name: name, content: content, file: slices.Concat(file...), places: true}
	f.blocks = slices.Collect(bbtest.OpenAt(t, f.file).Blocks())
	return f
}

// newTrials returns files of every format.
func newTrials(t *testing.T) []trial {
	content := corpus.ByName("mixed").Make(6 << 20)
	half, start := len(content)/2, content[:1<<20]
	block, least := compress.WithBlockSize(64<<10), compress.WithBlockSize(compress.MinBlockSize)
	zst, bare := compress.WithFormat(compress.Zstd), compress.WithChecksum(false)
	pz := bbtest.Encode(t, content, block)
	unsummed := newTrial(t, "zst without checksums", content, bbtest.Encode(t, content, zst, block, bare))
	unsummed.behind = 4 // the next magic number is all that tells a frame from a copy of its header
	return []trial{
		newTrial(t, "pz", content, pz),
		newTrial(t, "pz with parity", content, pz,
			bbtest.MakeSection(section.Parity, bbtest.RandomBytes(len(pz)/100, 1))),
		newTrial(t, "pz of small blocks", start, bbtest.Encode(t, start, least)),
		newTrial(t, "zst", content, bbtest.Encode(t, content, zst, block)),
		unsummed,
		newTrial(t, "zst of small blocks", start, bbtest.Encode(t, start, zst, least)),
		newTrial(t, "two zst", content, bbtest.Encode(t, content[:half], zst, block),
			bbtest.Encode(t, content[half:], zst, block)),
		membersTrial(t, content),
	}
}

// membersTrial returns the trial of a .gz file, whose blocks are its members.
func membersTrial(t *testing.T, content []byte) trial {
	f := trial{name: "gz", content: content}
	at := int64(0)
	for p := range slices.Chunk(content, 200<<10) {
		m := bbtest.Encode(t, p, compress.WithFormat(compress.Gzip))
		f.blocks = append(f.blocks, compress.BlockInfo{
			Offset: int64(len(f.file)), Size: int64(len(m)), ContentOffset: at, Content: int64(len(p)),
		})
		f.file = append(f.file, m...)
		at += int64(len(p))
	}
	return f
}

// TestRecoverTrials damages files at random places in front of their last index. Each block that no
// fault has touched must be at its place. In a .gz file it must be somewhere.
func TestRecoverTrials(t *testing.T) {
	files := newTrials(t)
	rounds := 16
	if testenv.All() {
		rounds = 360
	}
	intact, missing := 0, 0
	for _, seed := range testenv.Seeds(t, 1) {
		for round := range rounds {
			f := &files[round%len(files)]
			faults := f.faults(rand.New(rand.NewPCG(seed, uint64(round))))
			got, _ := bbtest.RecoverAll(t, applyFaults(f.file, faults), compress.WithZeroFill(true))
			what := fmt.Sprintf("%s, seed %d, round %d", f.name, seed, round)
			if f.places && len(got) != len(f.content) {
				t.Errorf("%s: %d bytes of %d", what, len(got), len(f.content))
			}
			n, lost := f.count(got, faults)
			intact, missing = intact+n, missing+lost
			if lost > 0 {
				t.Errorf("%s: %d of %d intact blocks are missing", what, lost, n)
			}
		}
	}
	t.Logf("%d intact blocks, %d missing", intact, missing)
	if intact < 20*rounds {
		t.Errorf("%d intact blocks in %d rounds", intact, rounds)
	}
}

// count counts the blocks that no fault touches, and those of them that got has not. In a row of
// equal blocks any of them may be missing for one that a fault touches.
func (f *trial) count(got []byte, faults []fault) (intact, missing int) {
	for from := 0; from < len(f.blocks); {
		row := f.row(from)
		from += len(row)
		whole, saved := 0, 0
		for _, b := range row {
			own := b
			own.Size += f.behind
			if !slices.ContainsFunc(faults, func(e fault) bool { return e.touches(own) }) {
				whole++
			}
			if f.saved(got, b) {
				saved++
			}
		}
		intact, missing = intact+whole, missing+max(0, whole-saved)
	}
	return intact, missing
}

// row returns the blocks from one on that are equal in the file.
func (f *trial) row(from int) []compress.BlockInfo {
	first := f.blocks[from]
	for i, b := range f.blocks[from:] {
		if !bytes.Equal(f.bytes(b), f.bytes(first)) {
			return f.blocks[from : from+i]
		}
	}
	return f.blocks[from:]
}

// bytes returns a block as it is in the file.
func (f *trial) bytes(b compress.BlockInfo) []byte { return f.file[b.Offset : b.Offset+b.Size] }

// saved reports whether got has the content of a block.
func (f *trial) saved(got []byte, b compress.BlockInfo) bool {
	from, to := b.ContentOffset, b.ContentOffset+b.Content
	if !f.places {
		return bytes.Contains(got, f.content[from:to])
	}
	return to <= int64(len(got)) && bytes.Equal(got[from:to], f.content[from:to])
}

// fault replaces the bytes from … to−1 of a file by others.
type fault struct {
	from, to int
	bytes    []byte
}

// touches reports whether the fault changes a block, or parts it.
func (e *fault) touches(b compress.BlockInfo) bool {
	at, end := int(b.Offset), int(b.Offset+b.Size)
	return e.from < end && e.to > at && (e.from < e.to || e.from > at)
}

// applyFaults returns a file with faults, which are in order.
func applyFaults(file []byte, faults []fault) (bad []byte) {
	at := 0
	for _, e := range faults {
		bad = append(append(bad, file[at:e.from]...), e.bytes...)
		at = e.to
	}
	return append(bad, file[at:]...)
}

// faults returns up to 20 faults, or 40 if half of them restore the length: bits that are flipped,
// zeros, and bytes that are inserted or deleted. Inserted bytes are random, or a piece of the file.
// In every other trial the file stays as long as it was. Blocks of a .gz file are only overwritten.
func (f *trial) faults(r *rand.Rand) (list []fault) {
	kinds := 4
	if !f.places {
		kinds = 2
	}
	keepLength := r.IntN(2) == 0
	for range [...]int{1, 2, 5, 20}[r.IntN(4)] {
		n := [...]int{1, 1, 100, 4096}[r.IntN(4)]
		switch kind := r.IntN(kinds); kind {
		case 0:
			e := f.place(r, list, n)
			e.bytes = slices.Clone(f.file[e.from:e.to])
			for range min(n, 8) {
				e.bytes[r.IntN(n)] ^= 1 << r.IntN(8)
			}
			list = insertFault(list, e)
		case 1:
			e := f.place(r, list, n)
			e.bytes = make([]byte, n)
			list = insertFault(list, e)
		default:
			if kind == 2 || keepLength {
				e := f.place(r, list, 0)
				e.bytes = bbtest.RandomBytes(n, r.Uint64())
				if r.IntN(2) == 0 {
					copy(e.bytes, f.file[r.IntN(len(f.file)-n):])
				}
				list = insertFault(list, e)
			}
			if kind == 3 || keepLength {
				list = insertFault(list, f.place(r, list, n))
			}
		}
	}
	return list
}

// place returns a fault that deletes n bytes. It touches neither another fault nor an index.
func (f *trial) place(r *rand.Rand, list []fault, n int) fault {
	last := f.blocks[len(f.blocks)-1]
	end := int(last.Offset + last.Size)
	for {
		from := r.IntN(end - n)
		to := from + n
		near := func(e fault) bool { return e.from <= to && e.to >= from }
		if !slices.ContainsFunc(list, near) && !f.isIndex(from, to) {
			return fault{from: from, to: to}
		}
	}
}

// isIndex reports whether the bytes from … to−1, or the place between two bytes, lie in or at an
// index between two blocks.
func (f *trial) isIndex(from, to int) bool {
	for i := 1; i < len(f.blocks); i++ {
		at, next := int(f.blocks[i-1].Offset+f.blocks[i-1].Size), int(f.blocks[i].Offset)
		if at < next && from <= next && to >= at {
			return true
		}
	}
	return false
}

// insertFault keeps the list in order.
func insertFault(list []fault, e fault) []fault {
	i, _ := slices.BinarySearchFunc(list, e.from, func(e fault, from int) int { return e.from - from })
	return slices.Insert(list, i, e)
}
