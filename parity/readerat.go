package parity

import (
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
	return (&file{src: src, size: size}).footerBefore(size) > 0
}

var errNegative = errors.New("parity: negative offset")

// A part is a part of the repaired file.
type part struct {
	at, size int64
	src      int64 // in the source
	zone     *zone // of zone and section; nil for bytes that are as in the source
}

// A ReaderAt reads a file as Repair would write it, and heals only what is read. It compares each
// slice with the catalog before it returns bytes of it. A part that src cannot read counts as
// damage. What cannot be healed it returns as it is: the checks of the format inside tell what is
// wrong. If src cannot read it, the error is that of src. Several goroutines may use a ReaderAt at
// the same time.
//
// It takes little memory as long as it reads nothing damaged. To heal a zone it takes the memory of
// the zone and its parity. Then it keeps the damaged slices until it reads another zone.
type ReaderAt struct {
	file
	parts  []part
	size   int64
	report *Report // nil if all sections are in place

	mu     sync.Mutex // guards the rest, and what is read of zones
	open   *zone      // that was read last
	buf    []byte     // a slice
	inBuf  int64      // where the repaired file has it, or nowhere
	healed map[int64]int64
	lost   map[int64]int64
}

// NewReaderAt returns a ReaderAt of src, of size bytes. If all sections are in place it reads the
// ends of each; else it finds out what Repair would report. The error is ErrNoParity if there is no
// parity, or one of src.
func NewReaderAt(src io.ReaderAt, size int64) (*ReaderAt, error) {
	r := newReaderAt(src, size)
	zones := r.chain()
	if zones == nil {
		if err := r.inspect(r.scan(), func() error { return nil }); err != nil {
			return nil, err
		}
		return r, nil
	}
	for _, z := range zones {
		r.addPart(part{size: z.hi - z.after, zone: z})
	}
	return r, nil
}

func newReaderAt(src io.ReaderAt, size int64) *ReaderAt {
	return &ReaderAt{
		file: file{src: src, size: size}, buf: make([]byte, section.MaxSlice), inBuf: nowhere,
		healed: map[int64]int64{}, lost: map[int64]int64{},
	}
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

func (r *ReaderAt) ranges(m map[int64]int64) (list []Range) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	r.mu.Lock()
	defer r.mu.Unlock()
	i := sort.Search(len(r.parts), func(i int) bool { return r.parts[i].at+r.parts[i].size > at })
	for ; n < len(p) && i < len(r.parts); i++ {
		t := r.parts[i]
		from := at + int64(n) - t.at
		q := p[n:][:min(int64(len(p)-n), t.size-from)]
		if t.zone == nil {
			err = container.ReadAt(r.src, q, t.src+from)
		} else {
			err = r.readZone(q, t.zone, from)
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

// readZone fills p from a place of a zone or of its section.
func (r *ReaderAt) readZone(p []byte, z *zone, at int64) error {
	if r.open != z {
		if r.open != nil {
			r.open.unload()
		}
		r.open = z
	}
	for len(p) > 0 && at < int64(z.Size) {
		i := int(at / int64(z.Slice))
		if err := r.readSliceOf(z, i); err != nil {
			return err
		}
		n := copy(p, r.buf[at%int64(z.Slice):z.SliceLength(i)])
		p, at = p[n:], at+int64(n)
	}
	if len(p) == 0 {
		return nil
	}
	r.checkSection(z)
	at -= int64(z.Size)
	if z.section != nil {
		copy(p, z.section[at:])
		return nil
	}
	return container.ReadAt(r.src, p, z.begin()+at)
}

// readSliceOf reads slice i of a zone into r.buf, healed if need be.
func (r *ReaderAt) readSliceOf(z *zone, i int) error {
	place, n := int64(i*z.Slice), z.SliceLength(i)
	if r.inBuf == z.at+place {
		return nil
	}
	r.inBuf = nowhere
	if !r.readSlice(r.buf, z.group, i, z.main.start) {
		r.heal(z)
		if !r.readFound(r.buf, z, i) {
			r.lost[z.at+place] = int64(n)
			if err := container.ReadAt(r.src, r.buf[:n], z.main.start+place); err != nil {
				return err
			}
		}
	}
	r.inBuf = z.at + place
	return nil
}

// heal loads a zone and notes what differs from the source.
func (r *ReaderAt) heal(z *zone) {
	if z.slots != nil {
		return
	}
	r.load(z)
	for i, at := range z.slots.from {
		place := int64(i * z.Slice)
		if !z.slots.lost && at != z.main.start+place {
			r.healed[z.at+place] = int64(z.SliceLength(i))
		}
	}
}

// checkSection makes the section of a zone anew if it is damaged in the source.
func (r *ReaderAt) checkSection(z *zone) {
	if z.section != nil {
		return
	}
	r.findPackets(z)
	if r.sectionIntact(z) {
		return
	}
	r.heal(z)
	at, size := z.at+int64(z.Size), z.SectionSize()
	if z.slots.lost {
		r.lost[at] = size
		return
	}
	z.section = appendSection(nil, z.Zone, r.slices(z))
	r.healed[at] = size
}
