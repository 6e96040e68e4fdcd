package parity

import (
	"errors"
	"io"
	"sort"
	"sync"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/section"
)

// Present reports whether a file of size bytes ends with a section. Damage may hide one.
func Present(src io.ReaderAt, size int64) bool {
	return (&file{src: src, size: size}).footerBefore(size) > 0
}

var errNegative = errors.New("parity: negative offset")

// A part is a part of the repaired file.
type part struct {
	at, size int64
	src      int64 // in the source
	zone     *zone // of zone and section that may be damaged; nil for bytes that are as in the source
}

// A ReaderAt reads a file as Repair would write it, and heals only what is read. It compares each
// slice with the catalog before it returns bytes of it. A part that src cannot read counts as
// damage. What cannot be healed it returns as it is: the checks of the format inside tell what is
// wrong. If src cannot read it, the error is that of src. Several goroutines may use a ReaderAt at
// the same time.
//
// It takes little memory as long as it reads nothing damaged. To heal a zone it takes twice the
// memory of the zone and its parity. Then it keeps them until it reads another zone.
type ReaderAt struct {
	file
	parts  []part
	size   int64
	report *Report

	mu     sync.Mutex // guards the rest, and what is read of zones
	open   *zone      // that was read last
	buf    []byte     // a slice
	healed int64
	err    error
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
		file: file{src: src, size: size}, report: &Report{}, buf: make([]byte, section.MaxSlice),
	}
}

// Size returns the size of the repaired file.
func (r *ReaderAt) Size() int64 { return r.size }

// Report returns what NewReaderAt has found. If all sections are in place it has no zones.
func (r *ReaderAt) Report() *Report { return r.report }

// Healed returns how many bytes of the repaired file were damaged, as far as their zones were read.
func (r *ReaderAt) Healed() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.healed
}

// Err returns an error about the first zone that was read and could not be healed, or nil. It wraps
// compress.ErrCorrupt.
func (r *ReaderAt) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
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
		r.open, z.right = z, map[int]bool{}
		r.findPackets(z)
	}
	if z.slots == nil && !r.inPlace(z, at, at+int64(len(p))) {
		r.load(z)
		r.noteDamage(z)
	}
	if z.whole == nil && z.slots != nil && r.state(z) == Healed {
		r.heal(z)
	}
	if z.whole == nil {
		return container.ReadAt(r.src, p, z.main.start+at)
	}
	copy(p, z.whole[at:])
	return nil
}

// inPlace reports whether the source has a part of a zone and its section where it should be.
func (r *ReaderAt) inPlace(z *zone, from, to int64) bool {
	for i := int(from) / z.Slice; i*z.Slice < min(int(to), z.Size); i++ {
		if !z.right[i] && !r.readSlice(r.buf, z.group, i, z.main.start) {
			return false
		}
		z.right[i] = true
	}
	return to <= int64(z.Size) || r.sectionIntact(z)
}

// noteDamage notes what of a zone that has been loaded differs from the source.
func (r *ReaderAt) noteDamage(z *zone) {
	if z.noted {
		return
	}
	z.noted = true
	if z.slots.lost {
		if r.err == nil {
			r.err = errs.At(errs.Corrupt, z.at, "parity cannot heal the zone that begins here")
		}
		return
	}
	for i, at := range z.slots.from {
		if at != z.main.start+int64(i*z.Slice) {
			r.healed += int64(z.SliceLength(i))
		}
	}
	if !r.sectionIntact(z) {
		r.healed += z.SectionSize()
	}
}
