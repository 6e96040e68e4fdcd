package merge

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/gopz/compress/internal/container"
)

const (
	chunk = 256 << 10 // bytes compared at once; parts go across its end only if there are many

	// joinGap is the least number of equal bytes between two runs of different ones. Fewer may be
	// equal by chance within a damaged sector.
	joinGap = 64

	// mostCut is the longest run of bytes that is cut into sectors, where damage of one copy may
	// end and that of another one begin.
	mostCut = 16 * container.Sector

	maxParts = 1 << 17

	// manyParts is the number of parts from which on those of adjacent chunks become one. A copy of
	// which the end is missing differs in all chunks there.
	manyParts = maxParts / 2
)

var errTooMany = errors.New("the copies differ at too many places; are they copies of one file?")

// part is a part of the file where copies differ: a run of different bytes, or a piece of it.
type part struct {
	at, size int64
	run      int // number of the run
	// choices are the copies to choose from, one for each variant of the bytes, the likeliest
	// first.
	choices []int
	of      []int // for each copy, the choice that has its bytes; -1 if it does not have all of them
	pick    int   // the choice taken
	right   bool  // the check of its block has confirmed it
	open    bool  // in copies.open
}

func (p *part) endOffset() int64 { return p.at + p.size }

// copies reads the file that several copies make, each part from the copy chosen for it.
type copies struct {
	list []Copy
	size int64 // of the longest

	mu    sync.Mutex // guards the rest
	parts []*part    // in order
	open  []*part    // those that have been read and are not confirmed
}

// compare finds where the copies differ. What cannot be read in one of them counts as different.
func compare(list []Copy) (*copies, error) {
	c := &copies{list: list}
	var cuts []int64
	holeEnds := make([]int, len(list)) // for each copy, where cuts has the end of its last hole, or 0
	for _, p := range list {
		c.size = max(c.size, p.Size)
		cuts = append(cuts, p.Size)
	}
	bufs := make([][]byte, len(list))
	for i := range bufs {
		bufs[i] = make([]byte, chunk)
	}
	different := make([]bool, chunk)
	for at := int64(0); at < c.size; at += chunk {
		n := int(min(chunk, c.size-at))
		clear(different)
		for i, p := range list {
			holes, err := p.read(bufs[i][:n], at)
			if err != nil {
				return nil, err
			}
			for _, h := range holes {
				if k := holeEnds[i]; k > 0 && cuts[k] == at+int64(h.from) {
					cuts[k] = at + int64(h.to)
				} else {
					holeEnds[i] = len(cuts) + 1
					cuts = append(cuts, at+int64(h.from), at+int64(h.to))
				}
				mark(different[h.from:h.to])
			}
			if !bytes.Equal(bufs[i][:n], bufs[0][:n]) {
				for k, b := range bufs[i][:n] {
					different[k] = different[k] || b != bufs[0][k]
				}
			}
		}
		if err := c.note(different[:n], at); err != nil {
			return nil, err
		}
	}
	return c, c.split(append(cuts, c.cutRuns()...))
}

func mark(p []bool) {
	for i := range p {
		p[i] = true
	}
}

// note adds the parts of a chunk that are different.
func (c *copies) note(different []bool, at int64) error {
	for i := 0; i < len(different); i++ {
		if !different[i] {
			continue
		}
		from := i
		for i < len(different) && different[i] {
			i++
		}
		begin, end := at+int64(from), at+int64(i)
		if n := len(c.parts); n > 0 {
			last := c.parts[n-1]
			if gap := begin - last.endOffset(); gap < joinGap && last.at >= at || gap == 0 && n >= manyParts {
				last.size = end - last.at
				continue
			}
		}
		if len(c.parts) == maxParts {
			return errTooMany
		}
		c.parts = append(c.parts, &part{at: begin, size: end - begin, run: len(c.parts)})
	}
	return nil
}

// cutRuns returns the places where runs are cut into sectors.
func (c *copies) cutRuns() (cuts []int64) {
	for _, p := range c.parts {
		if p.size > mostCut {
			continue
		}
		for at := (p.at/container.Sector + 1) * container.Sector; at < p.endOffset(); at += container.Sector {
			cuts = append(cuts, at)
		}
	}
	return cuts
}

// hole is a part of a buffer that could not be read.
type hole struct{ from, to int }

// addHole adds a hole behind others, or makes the last one longer.
func addHole(holes []hole, from, to int) []hole {
	if n := len(holes); n > 0 && holes[n-1].to == from {
		holes[n-1].to = to
		return holes
	}
	return append(holes, hole{from, to})
}

// read fills p from place at, with zeros for what the copy does not have.
func (y Copy) read(p []byte, at int64) (holes []hole, err error) {
	n := int(max(0, min(int64(len(p)), y.Size-at)))
	got, err := container.ReadAround(y.Src, p[:n], at, func(from, to int, _ error) error {
		holes = addHole(holes, from, to)
		return nil
	})
	if got < len(p) {
		clear(p[got:])
		holes = addHole(holes, got, len(p))
	}
	return holes, err
}

// split cuts parts at some places and finds what there is to choose. A piece of a part that has
// been chosen begins with that choice.
func (c *copies) split(cuts []int64) error {
	slices.Sort(cuts)
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []*part
	for _, p := range c.parts {
		first := -1
		if p.choices != nil {
			first = p.choices[p.pick]
		}
		i, _ := slices.BinarySearch(cuts, p.at+1)
		for ; i < len(cuts) && cuts[i] < p.endOffset(); i++ {
			if n := cuts[i] - p.at; n > 0 { // cuts may be equal
				if len(parts) >= 4*maxParts {
					return errTooMany
				}
				parts = append(parts, &part{at: p.at, size: n, run: p.run})
				p = &part{at: cuts[i], size: p.size - n, run: p.run}
			}
		}
		parts = append(parts, p)
		for k := len(parts) - 1; k >= 0 && parts[k].choices == nil; k-- {
			if err := c.findChoices(parts[k], first); err != nil {
				return err
			}
		}
	}
	c.parts = parts
	return nil
}

// variant is what some copies have of a part.
type variant struct {
	copies []int
	sum    uint64
	whole  bool // they have all of it
}

// findChoices fills choices. A copy that does not have all of the part is none if another one does.
// The variant that the copy first has comes first; -1 is for none.
func (c *copies) findChoices(p *part, first int) error {
	var variants []*variant
	seed := maphash.MakeSeed()
	buf := make([]byte, min(p.size, chunk))
	for i, y := range c.list {
		v := &variant{copies: []int{i}, whole: true}
		var h maphash.Hash
		h.SetSeed(seed)
		for at := p.at; at < p.endOffset(); at += chunk {
			q := buf[:min(p.endOffset()-at, chunk)]
			holes, err := y.read(q, at)
			if err != nil {
				return err
			}
			v.whole = v.whole && len(holes) == 0
			h.Write(q)
		}
		v.sum = h.Sum64()
		same := func(o *variant) bool { return o.sum == v.sum && o.whole == v.whole }
		if k := slices.IndexFunc(variants, same); k >= 0 {
			variants[k].copies = append(variants[k].copies, i)
		} else {
			variants = append(variants, v)
		}
	}
	if slices.ContainsFunc(variants, func(v *variant) bool { return v.whole }) {
		variants = slices.DeleteFunc(variants, func(v *variant) bool { return !v.whole })
	}
	votes := func(v *variant) int {
		if slices.Contains(v.copies, first) {
			return len(c.list)
		}
		return len(v.copies)
	}
	slices.SortStableFunc(variants, func(a, b *variant) int { return cmp.Compare(votes(b), votes(a)) })
	p.of = slices.Repeat([]int{-1}, len(c.list))
	for k, v := range variants {
		p.choices = append(p.choices, v.copies[0])
		for _, i := range v.copies {
			p.of[i] = k
		}
	}
	return nil
}

// confirm notes that the parts of a block are right.
func (c *copies) confirm(at, size int64) {
	for i := c.from(at); i < len(c.parts) && c.parts[i].at < at+size; i++ {
		c.parts[i].right = true
	}
}

// from returns the first of the parts that end behind a place.
func (c *copies) from(at int64) int {
	return sort.Search(len(c.parts), func(i int) bool { return c.parts[i].endOffset() > at })
}

// differs reports whether copies differ in a part of the file.
func (c *copies) differs(at, size int64) bool {
	i := c.from(at)
	return i < len(c.parts) && c.parts[i].at < at+size
}

// ReadAt implements io.ReaderAt.
func (c *copies) ReadAt(p []byte, at int64) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at >= c.size {
		return 0, io.EOF
	}
	if int64(len(p)) > c.size-at {
		p, err = p[:c.size-at], io.EOF
	}
	for i := c.from(at); n < len(p); {
		begin := at + int64(n)
		q := p[n:]
		if i < len(c.parts) && c.parts[i].at <= begin {
			t := c.parts[i]
			q = q[:min(int64(len(q)), t.endOffset()-begin)]
			if _, err := c.list[t.choices[t.pick]].read(q, begin); err != nil {
				return n, err
			}
			if !t.right && !t.open {
				t.open = true
				c.open = append(c.open, t)
			}
			i++
		} else {
			if i < len(c.parts) {
				q = q[:min(int64(len(q)), c.parts[i].at-begin)]
			}
			if err := container.ReadAt(c.list[0].Src, q, begin); err != nil {
				return n, err
			}
		}
		n += len(q)
	}
	return n, err
}

// used returns how many bytes each copy has given where they differ.
func (c *copies) used() []int64 {
	used := make([]int64, len(c.list))
	for _, p := range c.parts {
		used[p.choices[p.pick]] += p.size
	}
	return used
}
