package gzaccess

import (
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
)

const (
	// pieceSize is how much content Make decodes at once, in bytes.
	pieceSize = 256 << 10

	// makerMemory is the memory in bytes that Make takes besides checkpoints: content, input, the
	// tables of the inflater, and those of the compressor of windows.
	makerMemory = windowSize + pieceSize + container.InputBuffer + 1<<20
)

// Make makes the Map of the .gz file of size bytes that src holds. It decodes the file, which it
// verifies on the way, unless it is a BGZF file. Errors are those of a Reader of the file.
func Make(src io.ReaderAt, size int64, limits *container.Limits) (*Map, error) {
	return makeSpaced(src, size, limits, spacing)
}

// makeSpaced is Make with at least so much content between checkpoints, in bytes.
func makeSpaced(src io.ReaderAt, size int64, limits *container.Limits, spacing int64) (*Map, error) {
	if err := checkMemory(limits); err != nil {
		return nil, err
	}
	if m, err := makeBGZF(src, size, limits); m != nil || err != nil {
		return m, err
	}
	m := newMaker(src, size, limits)
	m.hasSums, m.spacing = true, spacing
	if err := m.run(&gzindex.Checkpoint{Header: true}, nil); err != nil {
		return nil, err
	}
	m.closeInterval()
	x, err := newMap(size, m.walker.content, m.points, m.sums)
	if x != nil {
		x.thin = m.thinned
	}
	return x, err
}

func checkMemory(limits *container.Limits) error {
	if limit := limits.Memory(); limit < makerMemory {
		return errs.OutOfMemory(makerMemory,
			"random access to a .gz file takes %d bytes of memory, more than the limit of %d",
			makerMemory, limit)
	}
	return nil
}

// A maker collects checkpoints.
type maker struct {
	walker walker
	in     fileReader
	limits *container.Limits
	packer gzindex.Packer

	points  []gzindex.Checkpoint
	hasSums bool     // intervals get sums
	sums    []uint32 // of the intervals before the last one
	sum     uint32   // of the last interval so far
	last    int64    // offset in the content of the last checkpoint
	spacing int64    // content between checkpoints, in bytes
	memory  int64    // of checkpoints, in bytes
	most    int64    // limit of memory
	thinned bool     // checkpoints have been dropped
}

func newMaker(src io.ReaderAt, size int64, limits *container.Limits) *maker {
	m := &maker{limits: limits, spacing: spacing, most: pointsLimit(limits)}
	m.in.src, m.in.size = src, size
	m.walker.checks, m.walker.maxDecoded = limits.Checks, limits.MaxDecoded
	return m
}

// run decodes the file from a checkpoint to its end, and adds checkpoints. window is the content
// before c. Unless c is a header, it is one of the points already.
func (m *maker) run(c *gzindex.Checkpoint, window []byte) error {
	w := &m.walker
	buf := make([]byte, windowSize+pieceSize)
	w.to = copy(buf, window)
	m.in.at, m.last = c.Bit>>3, c.Content
	in, err := m.in.next()
	if err != nil {
		return err
	}
	in = in[w.begin(c, in):]
	for {
		if len(buf)-w.to < pieceSize/2 {
			n := w.to - windowSize
			copy(buf, buf[n:w.to])
			w.to, w.from = windowSize, max(0, w.from-n)
		}
		left := m.spacing - (w.content - m.last)
		w.inflater.StopAtBlock = left <= 0
		w.buf = buf
		if left > 0 && left < int64(len(buf)-w.to) {
			w.buf = buf[:w.to+int(left)]
		}
		before := w.to
		used, e, err := w.step(in)
		if in = in[used:]; err != nil {
			return err
		}
		if w.checks && m.hasSums {
			m.sum = gzfile.Checksum(m.sum, w.buf[before:w.to])
		}
		switch {
		case e == atBlock:
			m.add(w.buf[max(w.from, w.to-windowSize):w.to])
		case e == atMember && (len(m.points) == 0 || w.content-m.last >= m.spacing/2):
			m.add(nil)
		case e == starved && len(in) == 0 && w.to < len(w.buf):
			if err = m.limits.Canceled(); err == nil {
				in, err = m.in.next()
			}
			if err != nil {
				return err
			}
			if len(in) == 0 {
				return w.end()
			}
		}
	}
}

// add adds a checkpoint at the place of the walker. window is the content before it.
func (m *maker) add(window []byte) {
	if len(m.points) > 0 {
		m.closeInterval()
	}
	c := gzindex.Checkpoint{
		Bit: m.walker.bit(), Content: m.walker.content, Window: m.packer.Pack(window),
	}
	m.insert(c)
}

// closeInterval ends the interval behind the last checkpoint.
func (m *maker) closeInterval() {
	if m.hasSums {
		m.sums = append(m.sums, m.sum)
		m.sum = 0
	}
}

// insert adds a checkpoint behind the last one. If the checkpoints take too much memory, it drops
// every second one.
func (m *maker) insert(c gzindex.Checkpoint) {
	m.points = append(m.points, c)
	m.last = c.Content
	m.memory += pointMemory + int64(c.Window.Size())
	for m.memory > m.most && len(m.points) > 1 {
		m.drop()
	}
}

// drop drops every second checkpoint, and doubles the spacing.
func (m *maker) drop() {
	n := len(m.points)
	m.spacing = max(2*m.spacing, 2*m.last/int64(n))
	m.memory, m.thinned = 0, true
	for i := 0; i < n; i += 2 {
		m.points[i/2] = m.points[i]
		m.memory += pointMemory + int64(m.points[i].Window.Size())
		if !m.hasSums {
			continue
		}
		switch {
		case i+2 < n:
			size := m.points[i+2].Content - m.points[i+1].Content
			m.sums[i/2] = gzfile.Combine(m.sums[i], m.sums[i+1], size)
		case i+2 == n:
			m.sum = m.sums[i] // the last interval goes on with this one
		}
	}
	kept := (n + 1) / 2
	clear(m.points[kept:])
	m.points = m.points[:kept]
	if m.hasSums {
		m.sums = m.sums[:kept-1]
	}
	m.last = m.points[kept-1].Content
}
