package parity

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/section"
)

// Range is a part of a file.
type Range struct {
	Offset, Size int64
}

// Present reports whether a file of size bytes ends with a section. Damage may hide one.
func Present(src io.ReaderAt, size int64) bool {
	var p [section.FooterSize]byte
	if size < int64(len(p)) || container.ReadAt(src, p[:], size-int64(len(p))) != nil {
		return false
	}
	_, ok := section.ParseFooter(p[:])
	return ok
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

	report *Report // nil if all sections are in place

	healing sync.Mutex // one zone at a time, to bound memory

	mu     sync.Mutex // guards the rest
	views  []*view    // latest use last
	healed map[int64]int64
	lost   map[int64]int64
}

// NewReaderAt returns a ReaderAt of src, of size bytes. If all sections are in place it reads the
// ends of each; else it does the work of Verify. The error is ErrNoParity if there is no parity, or
// one of src.
func NewReaderAt(src io.ReaderAt, size int64) (*ReaderAt, error) {
	f := &file{src: src, size: size}
	r := &ReaderAt{file: f, size: size, healed: map[int64]int64{}, lost: map[int64]int64{}}
	sections, err := f.chain()
	if err != nil {
		return nil, err
	}
	for _, s := range sections {
		r.parts = append(r.parts, part{at: s.after, size: s.hi - s.after, section: s})
	}
	if sections == nil {
		p, err := repair(nil, f)
		if err != nil {
			return nil, err
		}
		r.parts, r.size, r.report = p.parts, p.out, p.report
	}
	return r, nil
}

// Size returns the size of the repaired file.
func (r *ReaderAt) Size() int64 { return r.size }

// Report returns what NewReaderAt has found, or nil if all sections are in place.
func (r *ReaderAt) Report() *Report { return r.report }

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

// note adds a part to those that are healed or lost.
func (r *ReaderAt) note(m map[int64]int64, at, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m[at] = size
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
			err = container.ReadAt(r.file.src, q, t.src+from)
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

// A view is an open zone of a ReaderAt, with its section.
type view struct {
	r  *ReaderAt
	at int64 // in the repaired file
	s  *found

	mu      sync.Mutex // guards the rest
	opened  bool       // catalog was read
	catalog []byte
	tried   bool           // to heal; then these are known, unless the zone is lost:
	from    []int64        // where the source has each slice, or nowhere
	rebuilt map[int][]byte // slices that it does not have
	checked bool           // section is known
	section []byte         // nil if the source has it
	latest  int            // slice in buf, or -1
	buf     []byte
}

// view returns the open zone that is part t.
func (r *ReaderAt) view(t part) *view {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.views, func(v *view) bool { return v.s == t.section })
	if i < 0 {
		r.views = append(r.views, &view{
			r: r, at: t.at, s: t.section, latest: -1, buf: make([]byte, t.section.Slice),
		})
		r.views = r.views[max(0, len(r.views)-openViews):]
		return r.views[len(r.views)-1]
	}
	v := r.views[i]
	r.views = append(slices.Delete(r.views, i, i+1), v)
	return v
}

// read fills p from a place of the zone or of its section.
func (v *view) read(p []byte, at int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(p) > 0 && at < int64(v.s.Size) {
		i := int(at / int64(v.s.Slice))
		if err := v.readSlice(i); err != nil {
			return err
		}
		n := copy(p, v.buf[at%int64(v.s.Slice):v.s.SliceLength(i)])
		p, at = p[n:], at+int64(n)
	}
	if len(p) == 0 {
		return nil
	}
	if err := v.checkSection(); err != nil {
		return err
	}
	at -= int64(v.s.Size)
	if v.section != nil {
		copy(p, v.section[at:])
		return nil
	}
	return container.ReadAt(v.r.file.src, p, v.s.begin()+at)
}

// readSlice reads slice i into v.buf, healed if need be.
func (v *view) readSlice(i int) error {
	if v.latest == i {
		return nil
	}
	v.latest = -1
	if !v.opened {
		var err error
		v.catalog, err = v.r.file.readCatalog(v.s)
		if err != nil {
			return err
		}
		v.opened = true
	}
	ok, err := v.readRight(i)
	if !ok && err == nil && !v.tried {
		if _, err := v.heal(); err != nil {
			return err
		}
		ok, err = v.readRight(i)
	}
	if !ok && err == nil {
		n, at := v.s.SliceLength(i), int64(i*v.s.Slice)
		v.r.note(v.r.lost, v.at+at, int64(n))
		err = container.ReadAt(v.r.file.src, v.buf[:n], v.s.main.start+at)
	}
	if err == nil {
		v.latest = i
	}
	return err
}

// readRight reads slice i into v.buf from where it is known to be, and reports whether it is right.
func (v *view) readRight(i int) (bool, error) {
	start := v.s.main.start
	switch {
	case v.rebuilt[i] != nil:
		copy(v.buf, v.rebuilt[i])
		return true, nil
	case v.catalog == nil:
		return false, nil
	case v.from != nil && v.from[i] != nowhere:
		start = v.from[i] - int64(i*v.s.Slice)
	}
	return v.r.file.readSlice(v.buf, v.s.Zone, v.catalog, i, start)
}

// heal loads the zone and keeps what differs from the source. It returns the zone, or nil if that
// is lost.
func (v *view) heal() (*zone, error) {
	v.r.healing.Lock()
	defer v.r.healing.Unlock()
	s, err := v.r.file.packetsOf(v.s)
	if err != nil {
		return nil, err
	}
	z, err := v.r.file.load(s, nil)
	if err != nil {
		return nil, err
	}
	v.tried, v.catalog = true, z.catalog
	if z.lost {
		return nil, nil
	}
	v.from, v.rebuilt = z.from, map[int][]byte{}
	for i, at := range z.from {
		place := int64(i * z.Slice)
		if at == nowhere {
			v.rebuilt[i] = bytes.Clone(z.data[place:][:z.Slice])
		}
		if at != v.s.main.start+place {
			v.r.note(v.r.healed, v.at+place, int64(z.SliceLength(i)))
		}
	}
	return z, nil
}

// checkSection makes the section anew if it is damaged in the source.
func (v *view) checkSection() error {
	if v.checked {
		return nil
	}
	s, err := v.r.file.packetsOf(v.s)
	if err != nil {
		return err
	}
	whole, err := v.r.file.sectionIntact(s)
	if err != nil {
		return err
	}
	if !whole || s.main.start != v.s.main.start {
		z, err := v.heal()
		if err != nil {
			return err
		}
		at, size := v.at+int64(v.s.Size), v.s.SectionSize()
		if z == nil {
			v.r.note(v.r.lost, at, size)
		} else {
			v.section, err = z.section(nil)
			if err != nil {
				return err
			}
			v.r.note(v.r.healed, at, size)
		}
	}
	v.checked = true
	return nil
}
