package merge

import (
	"errors"
	"hash/maphash"
	"io"

	"github.com/gopz/compress"
)

// checkCopies finds the format of the copies. It returns an error if they are not of one file, as
// far as that can be told.
func (m *merger) checkCopies() error {
	if len(m.parts) == 0 {
		return nil
	}
	known := false
	for _, y := range m.list {
		p := make([]byte, 64)
		if _, err := y.read(p, 0); err != nil {
			return err
		}
		f, ok := compress.DetectFormat(p)
		switch {
		case ok && known && f != m.format:
			return errFormats
		case ok:
			m.format, known = f, true
		}
	}
	var seen []intactCopy
	for i := range m.list {
		sum, err := m.intact(i)
		switch {
		case stops(err):
			return err
		case err != nil:
			continue
		}
		for _, other := range seen {
			if m.contradict(other, intactCopy{i, sum}) {
				return errIntact
			}
		}
		seen = append(seen, intactCopy{i, sum})
	}
	return nil
}

// intactCopy is a copy that is intact by itself.
type intactCopy struct {
	i   int    // number of the copy
	sum uint64 // hash of its content
}

// contradict reports whether two intact copies are not of one file. Bytes that are no content, such
// as parity, may differ. One may also be the beginning of the other one, if that has several
// streams.
func (m *merger) contradict(a, b intactCopy) bool {
	size := min(m.list[a.i].Size, m.list[b.i].Size)
	different := int64(0)
	for _, p := range m.parts {
		if p.endOffset() <= size && (p.of[a.i] != p.of[b.i] || p.of[a.i] < 0) {
			different += p.size
		}
	}
	return different > size/2 || different > 0 && a.sum != b.sum
}

// unlike reports whether each copy differs from all others in more bytes than damage makes wrong.
func (c *copies) unlike() bool {
	for i := range c.list {
		for k := range i {
			if n, size := c.different(i, k); 10*n <= 9*size {
				return false
			}
		}
	}
	return true
}

// different compares two copies byte by byte, and returns how many of their bytes differ, of those
// that both have. What cannot be read counts as equal.
func (c *copies) different(i, k int) (n, of int64) {
	a, b := c.list[i], c.list[k]
	size := min(a.Size, b.Size)
	var p, q [32 << 10]byte
	for at := int64(0); at < size; at += int64(len(p)) {
		m := min(int64(len(p)), size-at)
		holes, err := a.read(p[:m], at)
		more, moreErr := b.read(q[:m], at)
		if err != nil || moreErr != nil {
			return 0, size
		}
		for _, h := range append(holes, more...) {
			copy(p[h.from:h.to], q[h.from:])
		}
		for j := range m {
			if p[j] != q[j] {
				n++
			}
		}
	}
	return n, size
}

// intact decompresses a copy and returns a hash of its content. A copy that has no checks is not
// known to be intact.
func (m *merger) intact(i int) (sum uint64, err error) {
	y := m.list[i]
	r, err := compress.NewReader(io.NewSectionReader(y.Src, 0, y.Size), m.opts...)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var h maphash.Hash
	h.SetSeed(m.sum.Seed())
	if _, err := r.WriteTo(&h); err != nil {
		return 0, err
	}
	if known, err := m.hasChecks(y.Src, y.Size); !known {
		return 0, errors.Join(errNoCheck, err)
	}
	return h.Sum64(), nil
}

// hasChecks reports whether all content of a file has checks.
func (m *merger) hasChecks(src io.ReaderAt, size int64) (bool, error) {
	if m.format == compress.Gzip {
		return true, nil
	}
	info, err := compress.ReadInfo(src, size, nil, m.opts...)
	if err != nil {
		return false, err
	}
	for _, s := range info.Streams {
		if s.Unchecked > 0 {
			return false, nil
		}
	}
	return true, nil
}

// differences counts the bytes of copies that differ from those written to it.
type differences struct {
	list []Copy
	n    []int64 // for each copy
	at   int64
	buf  [32 << 10]byte
}

func (d *differences) Write(p []byte) (n int, err error) {
	for n < len(p) {
		q := p[n:min(len(p), n+len(d.buf))]
		for i, y := range d.list {
			own := d.buf[:max(0, min(int64(len(q)), y.Size-d.at))]
			holes, err := y.read(own, d.at)
			if err != nil {
				return n, err
			}
			for _, h := range holes {
				copy(own[h.from:h.to], q[h.from:])
			}
			for k, b := range own {
				if b != q[k] {
					d.n[i]++
				}
			}
		}
		n += len(q)
		d.at += int64(len(q))
	}
	return n, nil
}
