package parity

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"sort"
	"sync"
)

// Range is a part of a file.
type Range struct {
	Offset, Size int64
}

var errNegative = errors.New("parity: negative offset")

// openViews is how many zones a ReaderAt keeps open.
const openViews = 4

// A ReaderAt reads a file as Repair would write it, and heals only what is read. It compares each
// slice with the catalog before it returns bytes of it. A part that src cannot read counts as
// damage. What cannot be healed it returns as it is: the checks of the format inside tell what is
// wrong. If src cannot read it, the error is that of src. Several goroutines may use a ReaderAt at
// the same time.
//
// It takes little memory as long as it reads nothing damaged. To heal a zone it takes the memory of
// the zone and its parity. Then it keeps the damaged slices, of up to four zones.
type ReaderAt struct {
	file  *file
	parts []part
	size  int64

	healing sync.Mutex // one zone at a time, to bound memory

	mu     sync.Mutex // guards the rest
	views  []*view    // latest use last
	healed map[int64]int64
	lost   map[int64]int64
}

// NewReaderAt returns a ReaderAt of src, of size bytes. If all sections are in place it reads a few
// hundred bytes of each; else it does the work of Verify. The error is ErrNoParity if there is no
// parity, or one of src.
func NewReaderAt(src io.ReaderAt, size int64) (*ReaderAt, error) {
	f := &file{src: src, size: size}
	r := &ReaderAt{file: f, size: size, healed: map[int64]int64{}, lost: map[int64]int64{}}
	sections, err := f.chain()
	if err != nil {
		return nil, err
	}
	for _, s := range sections {
		r.parts = append(r.parts, part{at: s.start, size: s.hi - s.start, section: s})
	}
	if sections == nil {
		p, err := repair(nil, src, size)
		if err != nil {
			return nil, err
		}
		r.parts, r.size = p.parts, p.out
	}
	return r, nil
}

// Size returns the size of the repaired file.
func (r *ReaderAt) Size() int64 { return r.size }

// Healed returns the parts of the repaired file that were damaged, as far as they were read, in
// order. The rest of their zones counts as read.
func (r *ReaderAt) Healed() []Range { return r.ranges(r.healed) }

// Lost returns the parts that were read and could not be healed, in order.
func (r *ReaderAt) Lost() []Range { return r.ranges(r.lost) }

func (r *ReaderAt) ranges(m map[int64]int64) []Range {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Range
	for _, at := range slices.Sorted(maps.Keys(m)) {
		list = append(list, Range{at, m[at]})
	}
	return list
}

// ReadAt implements io.ReaderAt.
func (r *ReaderAt) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, errNegative
	}
	i := sort.Search(len(r.parts), func(i int) bool { return r.parts[i].at+r.parts[i].size > at })
	for ; n < len(p) && i < len(r.parts); i++ {
		t := r.parts[i]
		from := at + int64(n) - t.at
		q := p[n:][:min(int64(len(p)-n), t.size-from)]
		if t.section == nil {
			err = r.file.readExactly(q, t.src+from)
		} else {
			err = r.view(t).read(q, from)
		}
		if err != nil {
			return n, err
		}
		n += len(q)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// view is an open zone of a ReaderAt, with its section.
type view struct {
	r  *ReaderAt
	at int64 // in the repaired file
	s  *section

	mu      sync.Mutex // guards the rest
	catalog []byte
	opened  bool // catalog is read
	// What is known after an attempt to heal:
	tried   bool
	from    []int64        // where the source has each slice, or nowhere
	rebuilt map[int][]byte // slices that it does not have
	section []byte         // nil if it is intact in the source
	checked bool           // section is known

	latest       []byte // the latest slice that was read, for many small reads
	latestNumber int
	spare        []byte // a buffer
}

// view returns the open zone that is part t.
func (r *ReaderAt) view(t part) *view {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, v := range r.views {
		if v.s == t.section {
			r.views = append(slices.Delete(r.views, i, i+1), v)
			return v
		}
	}
	if len(r.views) == openViews {
		r.views = slices.Delete(r.views, 0, 1)
	}
	v := &view{r: r, at: t.at, s: t.section}
	r.views = append(r.views, v)
	return v
}

// read fills p from a place of the zone or of its section.
func (v *view) read(p []byte, at int64) error {
	if err := v.open(); err != nil {
		return err
	}
	for len(p) > 0 && at < int64(v.s.size) {
		n, err := v.readSlice(p, int(at/int64(v.s.slice)), int(at%int64(v.s.slice)))
		if err != nil {
			return err
		}
		p, at = p[n:], at+int64(n)
	}
	if len(p) == 0 {
		return nil
	}
	section, err := v.damagedSection()
	if err != nil {
		return err
	}
	at -= int64(v.s.size)
	if section != nil {
		copy(p, section[at:])
		return nil
	}
	return v.r.file.readExactly(p, v.s.beginOffset()+at)
}

// readSlice copies to p from a place in slice i on.
func (v *view) readSlice(p []byte, i, at int) (int, error) {
	n := v.s.sliceLength(i)
	v.mu.Lock()
	if v.latest != nil && v.latestNumber == i {
		defer v.mu.Unlock()
		return copy(p, v.latest[at:n]), nil
	}
	buf := v.spare
	v.spare = nil
	v.mu.Unlock()
	if buf == nil {
		buf = make([]byte, v.s.slice)
	}
	if err := v.slice(buf, i); err != nil {
		return 0, err
	}
	n = copy(p, buf[at:n])
	v.mu.Lock()
	defer v.mu.Unlock()
	v.spare, v.latest, v.latestNumber = v.latest, buf, i
	return n, nil
}

// open reads the catalog.
func (v *view) open() (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.opened {
		return nil
	}
	v.catalog, err = v.r.file.readCatalog(v.s)
	if err != nil {
		return err
	}
	v.opened = true
	if v.catalog == nil {
		return v.heal()
	}
	return nil
}

// slice reads slice i into buf, healed if need be.
func (v *view) slice(buf []byte, i int) error {
	if ok, err := v.sliceAsItIs(buf, i); ok || err != nil {
		return err
	}
	v.mu.Lock()
	if err := v.heal(); err != nil {
		v.mu.Unlock()
		return err
	}
	v.mu.Unlock()
	if ok, err := v.sliceAsItIs(buf, i); ok || err != nil {
		return err
	}
	v.r.note(v.r.lost, v.at+int64(i*v.s.slice), int64(v.s.sliceLength(i)))
	return v.r.file.readExactly(buf[:v.s.sliceLength(i)], v.s.start+int64(i*v.s.slice))
}

// sliceAsItIs reads slice i into buf from where it is known to be, and reports whether it is right.
func (v *view) sliceAsItIs(buf []byte, i int) (bool, error) {
	v.mu.Lock()
	start := v.s.start
	if v.from != nil && v.from[i] != nowhere {
		start = v.from[i] - int64(i*v.s.slice)
	}
	catalog, rebuilt := v.catalog, v.rebuilt[i]
	v.mu.Unlock()
	if rebuilt != nil {
		copy(buf, rebuilt)
		return true, nil
	}
	if catalog == nil {
		return false, nil
	}
	return v.r.file.readSlice(buf, v.s, catalog, i, start, v.r.file.size)
}

// heal loads the zone, once, and keeps what differs from the source. The caller holds v.mu.
func (v *view) heal() error {
	if v.tried {
		return nil
	}
	v.r.healing.Lock()
	defer v.r.healing.Unlock()
	z, err := v.load()
	if err != nil {
		return err
	}
	v.tried = true
	v.catalog = z.catalog
	if z.lost {
		return nil
	}
	v.from, v.rebuilt = z.from, map[int][]byte{}
	for i, at := range z.from {
		place := int64(i * z.slice)
		if at == nowhere {
			v.rebuilt[i] = bytes.Clone(z.data[place:][:z.slice])
		}
		if at != v.s.start+place {
			v.r.note(v.r.healed, v.at+place, int64(z.sliceLength(i)))
		}
	}
	return nil
}

// load loads the zone from the packets that are intact now.
func (v *view) load() (*zone, error) {
	f := v.r.file
	s := v.s
	if s.pool.assumed {
		found, err := f.section(s)
		if err != nil {
			return nil, err
		}
		if found == nil {
			return &zone{section: s, lost: true}, nil
		}
		s = found
	}
	h := &healer{file: f}
	return h.load(s)
}

// damagedSection returns the section as it should be if it is damaged in the source, else nil.
func (v *view) damagedSection() ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.checked {
		return v.section, nil
	}
	v.r.healing.Lock()
	defer v.r.healing.Unlock()
	f := v.r.file
	s, err := f.section(v.s)
	if err != nil {
		return nil, err
	}
	whole := false
	if s != nil {
		whole, err = f.sectionIntact(s)
		if err != nil {
			return nil, err
		}
		whole = whole && s.start == v.s.start
	}
	if !whole {
		z, err := v.load()
		if err != nil {
			return nil, err
		}
		at := v.at + int64(z.size)
		if z.lost {
			v.r.note(v.r.lost, at, z.sectionSize())
		} else {
			slices := cutSlices(z.data, z.slice)
			v.section, err = appendSection(nil, z.geometry, slices, z.catalog)
			if err != nil {
				return nil, err
			}
			v.r.note(v.r.healed, at, z.sectionSize())
		}
	}
	v.checked = true
	return v.section, nil
}

// note adds a part to those that are healed or lost.
func (r *ReaderAt) note(m map[int64]int64, at, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m[at] = size
}
