package parity

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// zone is a zone in memory, as far as it can be had.
type zone struct {
	*section
	data    []byte  // the slices, padded
	catalog []byte  // nil if it is lost
	from    []int64 // where the source has each slice, or nowhere
	missing int     // slices that the source does not have
	lost    bool    // too many are missing
	begins  int64   // where the zone begins in the source, as far as can be told
}

const nowhere = -1

// healer loads zones, one at a time.
type healer struct {
	*file
	buf []byte // of the last zone
}

// load reads a zone and heals it. Its data are valid until the next load. The error is that of a
// source that ends too early.
func (h *healer) load(s *section) (*zone, error) {
	z := &zone{section: s, begins: s.start}
	// All memory and work are a few times what the file has of zone and packets.
	if int64(s.size) > 2*(s.end-s.lo+s.pool.bytes)+1<<16 {
		z.lost = true
		return z, nil
	}
	if n := s.slices() * s.slice; cap(h.buf) < n {
		h.buf = nil // let the collector have it first
		h.buf = make([]byte, n)
	}
	z.data = h.buf[:s.slices()*s.slice]
	clear(z.data[s.size:])
	catalog, err := h.readCatalog(s)
	if err != nil {
		return nil, err
	}
	if catalog == nil {
		return z, h.loadWithoutCatalog(z)
	}
	z.catalog = catalog
	z.from = make([]int64, s.slices())
	z.missing = s.slices()
	for i := range z.from {
		z.from[i] = nowhere
	}
	if err := h.collect(z); err != nil {
		return nil, err
	}
	if err := h.decode(z); err != nil {
		return nil, err
	}
	z.findStart()
	return z, nil
}

// starts returns the places where the zone may begin: by most packets, by the first or the last
// one, and behind the section before.
func (z *zone) starts() []int64 {
	return []int64{z.start, z.byFirst(), z.byLast(), z.after}
}

// loadWithoutCatalog loads a zone whose catalog is lost. The id of the catalog tells whether the
// zone is intact; else it is lost.
func (h *healer) loadWithoutCatalog(z *zone) error {
	for _, start := range z.starts() {
		if start < z.lo || start+int64(z.size) > z.end {
			continue
		}
		holes, err := h.read(z.data[:z.size], start)
		if err != nil {
			return err
		}
		if len(holes) > 0 {
			continue
		}
		if c := makeCatalog(cutSlices(z.data, z.slice)); xxhash.Sum64(c) == z.id {
			z.catalog, z.begins = c, start
			z.from = make([]int64, z.slices())
			for i := range z.from {
				z.from[i] = start + int64(i*z.slice)
			}
			return nil
		}
	}
	z.lost = true
	return nil
}

// collect finds slices in the source, until parity can replace those that are missing.
func (h *healer) collect(z *zone) error {
	parity := z.parityLeft()
	starts := z.starts()
	for i, start := range starts {
		if slices.Contains(starts[:i], start) {
			continue
		}
		if err := h.collectAt(z, start); err != nil {
			return err
		}
		if z.missing <= parity {
			return nil
		}
	}
	return h.searchSlices(z, parity)
}

// searchSlices searches for missing slices at all places, until parity can replace the others.
func (h *healer) searchSlices(z *zone, parity int) error {
	// Two sizes of a zone in front of the section are enough for any damage that leaves one.
	lo := max(z.lo, z.at-2*int64(z.size)-scanChunk)
	last := z.slices() - 1
	full := newWanted(z.slice, z.slice)
	tail := newWanted(z.sliceLength(last), z.slice)
	for i, at := range z.from {
		switch {
		case at != nowhere:
		case i == last && tail.width < tail.padded:
			tail.addSlice(i, entryOf(z.catalog, i))
		default:
			full.addSlice(i, entryOf(z.catalog, i))
		}
	}
	for _, w := range []*wanted{full, tail} {
		err := h.search(w, lo, z.end, func(list []int, at int64, window []byte) bool {
			for _, i := range list {
				copy(z.data[i*z.slice:], window)
				z.from[i] = at
			}
			z.missing -= len(list)
			return z.missing > parity
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// collectAt takes those missing slices that are right if the zone begins at start.
func (h *healer) collectAt(z *zone, start int64) error {
	buf := make([]byte, z.slice)
	for i, at := range z.from {
		if at != nowhere {
			continue
		}
		at = start + int64(i*z.slice)
		if at < z.lo {
			continue
		}
		ok, err := h.readSlice(buf, z.section, z.catalog, i, start, z.end)
		if err != nil {
			return err
		}
		if ok {
			copy(z.data[i*z.slice:], buf)
			z.from[i] = at
			z.missing--
		}
	}
	return nil
}

// parityLeft returns how many parity slices are left.
func (s *section) parityLeft() int {
	left := 0
	for _, p := range s.pool.packets {
		if s.parityNumber(p.number) >= 0 {
			left++
		}
	}
	return left
}

// decode makes the missing slices from parity.
func (h *healer) decode(z *zone) error {
	if z.missing == 0 {
		return nil
	}
	n := z.slices()
	shards := make([][]byte, n+z.parity)
	for i, at := range z.from {
		slice := z.data[i*z.slice:][:z.slice:z.slice]
		if at == nowhere {
			slice = slice[:0] // the code fills it
		}
		shards[i] = slice
	}
	have := 0
	for _, p := range z.pool.packets {
		i := z.parityNumber(p.number)
		if i < 0 || have == z.missing {
			continue
		}
		body, err := h.readBody(z.section, p)
		if err != nil {
			return err
		}
		if body != nil {
			shards[n+i] = body
			have++
		}
	}
	if have < z.missing {
		z.lost = true
		return nil
	}
	code, err := newCode(n, z.parity)
	if err != nil {
		return err
	}
	if code.ReconstructData(shards) != nil {
		z.lost = true
		return nil
	}
	for i, at := range z.from {
		if at == nowhere {
			copy(z.data[i*z.slice:], shards[i])
			if entry(shards[i]) != entryOf(z.catalog, i) {
				z.lost = true
			}
		}
	}
	if len(bytes.Trim(z.data[z.size:], "\x00")) > 0 { // padding is zeros
		z.lost = true
	}
	return nil
}

// findStart sets z.begins. What is in front of it belongs to no zone,
// unless the zone before is a neighbour.
func (z *zone) findStart() {
	for i, at := range z.from {
		if at != nowhere {
			z.begins = at - int64(i*z.slice)
			break
		}
	}
	z.begins = min(max(z.begins, z.lo), z.end)
}

// correctStart corrects z.begins if the first slice is missing. Bytes may be inserted in that slice
// or behind it, so that all others seem to begin further on. A whole copy of the zone in front of
// it is another file, so the zone does not begin as far in front as that.
func (h *healer) correctStart(z *zone) error {
	const sample = 32
	if z.lost || z.from[0] != nowhere || z.begins <= z.after || z.size < sample {
		return nil
	}
	least := max(z.after, z.begins-int64(z.size)+1)
	at, err := h.find(z.data[:sample], least, min(z.begins+sample, z.end))
	if err != nil {
		return err
	}
	if at != nowhere {
		z.begins = at
		return nil
	}
	// The front of the zone may be damaged or cut away.
	if least > z.after {
		return nil
	}
	buf := make([]byte, min(8*sample, max(sample, z.begins-z.after), z.end-z.after))
	if _, err := h.read(buf, z.after); err != nil {
		return err
	}
	for ; len(buf) >= sample; buf = buf[sample:] {
		if bytes.Contains(z.data, buf[:sample]) {
			z.begins = z.after
			return nil
		}
	}
	missing := newWanted(z.slice, z.slice)
	for i, at := range z.from[:z.slices()-1] {
		if at == nowhere {
			missing.addSlice(i, entryOf(z.catalog, i))
		}
	}
	begins := z.begins
	return h.search(missing, z.after, begins, func(list []int, at int64, _ []byte) bool {
		start := at - int64(list[0]*z.slice)
		if begins-start < int64(z.size) {
			z.begins = min(z.begins, max(start, z.after))
		}
		return true
	})
}

// intact reports whether the source has the zone in place, from z.begins on.
func (z *zone) intact() bool {
	if z.lost {
		return false
	}
	for i, at := range z.from {
		if at != z.begins+int64(i*z.slice) {
			return false
		}
	}
	return z.beginOffset() == z.begins+int64(z.size)
}

// sectionIntact reports whether the source has the section as it should be.
func (f *file) sectionIntact(s *section) (bool, error) {
	size := s.sectionSize()
	at := s.beginOffset()
	if !s.full() || at < 0 || at+size > f.size {
		return false, nil
	}
	want := s.frame.appendHeader(nil, size)
	head := len(want)
	want = appendFooter(want, size)
	got := make([]byte, len(want))
	if h, err := f.read(got[:head], at); len(h) > 0 || err != nil {
		return false, err
	}
	if h, err := f.read(got[head:], at+size-footerSize); len(h) > 0 || err != nil {
		return false, err
	}
	return bytes.Equal(got, want), nil
}
