package recovery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
)

// kind is what an edit does.
type kind int

const (
	flip          kind = iota // bits of the range
	clearRange                // to zeros
	overwrite                 // with random bytes
	overwriteCopy             // with other bytes of the file
	remove
	insert     // random bytes
	insertCopy // of other bytes of the file
	cut        // the file there
	kinds
)

// edit damages a file at an offset.
type edit struct {
	kind  kind
	at, n int
	from  int    // of the copy, in the file so far
	seed  uint64 // of random bytes and bits
}

func (e edit) String() string {
	switch e.kind {
	case flip:
		return fmt.Sprintf("flip bits of bytes %d to %d (seed %d)", e.at, e.at+e.n, e.seed)
	case clearRange:
		return fmt.Sprintf("zeros from %d to %d", e.at, e.at+e.n)
	case overwrite:
		return fmt.Sprintf("random bytes from %d to %d (seed %d)", e.at, e.at+e.n, e.seed)
	case overwriteCopy:
		return fmt.Sprintf("%d bytes from %d on copied over those from %d on", e.n, e.from, e.at)
	case remove:
		return fmt.Sprintf("delete bytes %d to %d", e.at, e.at+e.n)
	case insert:
		return fmt.Sprintf("insert %d random bytes at %d (seed %d)", e.n, e.at, e.seed)
	case insertCopy:
		return fmt.Sprintf("insert a copy of %d bytes from %d on at %d", e.n, e.from, e.at)
	}
	return fmt.Sprintf("cut at %d", e.at)
}

// damaged is a damaged sample.
type damaged struct {
	*sample
	file   []byte
	origin []int // of each byte, in the intact file; −1 for a changed one
	where  []int // each byte of the intact file is now; −1 if it is lost
	edits  int
	copied bool // pieces of the file may be there twice
	// copiedSizes: a copy has bytes of a header, an index or a seek table, and may look like a file
	// of its own.
	copiedSizes bool
	copiedPiece bool // a copy has all of a piece
}

// newDamaged applies edits to a sample.
func newDamaged(s *sample, edits []edit) *damaged {
	d := &damaged{sample: s, file: slices.Clone(s.file), edits: len(edits), origin: make([]int, len(s.file))}
	for i := range d.origin {
		d.origin[i] = i
	}
	for _, e := range edits {
		d.apply(e)
	}
	d.where = slices.Repeat([]int{-1}, len(s.file))
	for i, o := range d.origin {
		if o >= 0 {
			d.where[o] = i
		}
	}
	return d
}

func (d *damaged) apply(e edit) {
	at := min(e.at, len(d.file))
	n := min(e.n, len(d.file)-at)
	r := rand.New(rand.NewPCG(e.seed, 9))
	from := min(e.from, len(d.file))
	source := slices.Clone(d.file[from:min(from+e.n, len(d.file))])
	if e.kind == overwriteCopy || e.kind == insertCopy {
		d.noteCopy(d.origin[from : from+len(source)])
	}
	forget := func(n int) []int { return slices.Repeat([]int{-1}, n) }
	switch e.kind {
	case flip:
		for range 1 + r.IntN(min(8, e.n)) {
			if n > 0 {
				i := at + r.IntN(n)
				d.file[i] ^= 1 << r.IntN(8)
			}
		}
		// What bytes were flipped back does not matter.
		for i := at; i < at+n; i++ {
			if o := d.origin[i]; o >= 0 && d.file[i] != d.sample.file[o] {
				d.origin[i] = -1
			}
		}
	case clearRange:
		clear(d.file[at : at+n])
		copy(d.origin[at:], forget(n))
	case overwrite:
		copy(d.file[at:at+n], bbtest.RandomBytes(n, e.seed))
		copy(d.origin[at:], forget(n))
	case overwriteCopy:
		n = copy(d.file[at:], source)
		copy(d.origin[at:], forget(n))
	case remove:
		d.file = slices.Delete(d.file, at, at+n)
		d.origin = slices.Delete(d.origin, at, at+n)
	case insert:
		d.file = slices.Insert(d.file, at, bbtest.RandomBytes(e.n, e.seed)...)
		d.origin = slices.Insert(d.origin, at, forget(e.n)...)
	case insertCopy:
		d.file = slices.Insert(d.file, at, source...)
		d.origin = slices.Insert(d.origin, at, forget(len(source))...)
	case cut:
		d.file, d.origin = d.file[:at], d.origin[:at]
	}
}

// noteCopy notes what a copy has: bytes of these places in the intact file.
func (d *damaged) noteCopy(origin []int) {
	d.copied = true
	states := make([]bool, len(d.sample.file))
	for _, u := range d.sizes {
		copy(states[u.from:u.to], slices.Repeat([]bool{true}, u.to-u.from))
	}
	for _, u := range d.units {
		states[u.from] = states[u.from] || d.format == compress.PZ
	}
	for _, p := range d.pieces {
		if i := slices.Index(origin, p.from); i >= 0 && i+p.to-p.from <= len(origin) {
			d.copiedPiece = d.copiedPiece || origin[i+p.to-p.from-1] == p.to-1
		}
	}
	for _, o := range origin {
		d.copiedSizes = d.copiedSizes || o < 0 || states[o]
	}
}

// keeps reports whether the bytes from … to−1 of the intact file are there in a row.
func (d *damaged) keeps(from, to int) bool {
	if from == to || d.where[from] < 0 {
		return from == to
	}
	for i := from; i < to; i++ {
		if d.where[i] != d.where[from]+i-from {
			return false
		}
	}
	return true
}

// randomEdits returns up to 20 edits of a file. Half of them begin near places that matter, and a
// quarter of these end at one.
func randomEdits(s *sample, r *rand.Rand) (list []edit) {
	for range [...]int{1, 1, 1, 1, 2, 3, 6, 20}[r.IntN(8)] {
		e := edit{kind: kind(r.IntN(int(kinds))), seed: uint64(r.Uint32())}
		if e.kind == cut && len(list) > 0 {
			e.kind = flip
		}
		e.at = r.IntN(len(s.file))
		e.n = [...]int{1, 1, 1, 4, 16, 100, 1000, 5000, 1 + r.IntN(30_000)}[r.IntN(9)]
		if e.kind == flip {
			e.n = min(e.n, 100)
		}
		e.from = r.IntN(len(s.file))
		place := func() int { return s.places[r.IntN(len(s.places))] }
		switch r.IntN(8) {
		case 0: // from one place to another
			a, b := place(), place()
			e.at, e.n = min(a, b), max(1, max(a, b)-min(a, b))
			e.from = place()
		case 1:
			e.at, e.from = place(), place()
		case 2, 3: // from in front of a place to behind it
			e.at = max(0, place()-r.IntN(e.n))
		case 4:
			e.at = max(0, place()+r.IntN(41)-20)
		}
		list = append(list, e)
	}
	return list
}

// recipe describes edits.
func recipe(list []edit) string {
	var lines []string
	for _, e := range list {
		lines = append(lines, e.String())
	}
	return strings.Join(lines, "\n\t")
}
