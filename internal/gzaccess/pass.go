package gzaccess

import (
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
)

// A Crew does the work of a first pass. Its methods are called by one goroutine. Scan calls the
// Marks, which call Pack and Packed.
type Crew interface {
	// Scan decodes the .gz file that src has, with a Scanner that has the Marks, and drops the
	// content. It returns nil at the end of the file.
	Scan(src io.Reader, limits *container.Limits, marks *gzfile.Marks) error
	// Width is the most Packings that Pack has been called with and Packed has not returned.
	Width() int
	// Pack has p decoded, at any time and on any goroutine.
	Pack(p *Packing)
	// Packed waits for the oldest Packing.
	Packed() (*Packing, error)
}

// A pass decodes a file to its end. The decoder goes through the marks in order. Their windows are
// packed meanwhile, so their checkpoints come later, but in the same order.
type pass struct {
	maker  *maker
	crew   Crew
	src    io.ReaderAt
	size   int64
	free   []*Packing
	made   int
	flight int    // Packings that are being packed
	last   int64  // content before the last mark
	begin  int64  // content before the last Packing
	sum    uint32 // of the content between begin and last
}

// pass decodes the file from a checkpoint on, and adds checkpoints.
func (m *maker) pass(
	src io.ReaderAt, size int64, limits *container.Limits, crew Crew, from *gzindex.Checkpoint, window []byte,
) error {
	p := pass{maker: m, crew: crew, src: src, size: size, last: m.content, begin: m.content}
	marks := &gzfile.Marks{Spacing: m.spacing, Visit: p.visit}
	var err error
	if crew == nil {
		p.crew = new(alone)
	}
	if from == nil {
		l := *limits
		l.MaxMemory = limits.Memory() - pointsLimit(limits) - int64(p.crew.Width())*packingMemory
		err = p.crew.Scan(&fileReader{src: src, size: size}, &l, marks)
	} else {
		var s gzfile.Scanner
		var head [container.DetectSize]byte
		s.Marks = marks
		in := container.ReadStart(&fileReader{src, size, from.Bit >> 3}, &head, true)
		s.ResetAt(&in, limits, point(from), from.Content, window)
		err = s.Walk()
	}
	for err == nil && p.flight > 0 {
		err = p.packed()
	}
	if err == nil {
		m.grow(marks.Content-m.content, gzfile.Combine(p.sum, marks.Rest, marks.Content-p.last))
	}
	return err
}

// visit has the window of a mark packed.
func (p *pass) visit(m *gzfile.Mark) error {
	p.sum = gzfile.Combine(p.sum, m.Sum, m.Content-p.last)
	near := m.Content/p.maker.spacing == p.last/p.maker.spacing && m.Content > 0
	p.last = m.Content
	if near {
		return nil // checkpoints have been dropped meanwhile
	}
	if len(p.free) == 0 && p.made >= p.crew.Width() {
		if err := p.packed(); err != nil {
			return err
		}
	}
	var w *Packing
	if n := len(p.free); n > 0 {
		w, p.free = p.free[n-1], p.free[:n-1]
	} else {
		w = new(Packing)
		p.made++
	}
	w.point = gzindex.Checkpoint{Bit: m.Bit, Content: m.Content}
	w.size, w.sum = m.Content-p.begin, p.sum
	p.begin, p.sum = m.Content, 0
	w.window = append(w.window[:0], m.Window...)
	if len(m.Window) > 0 {
		at := m.Bit >> 3
		if w.input == nil {
			w.input = make([]byte, packingInput)
		}
		w.input = w.input[:min(packingInput, p.size-at)]
		if err := container.ReadAt(p.src, w.input, at); err != nil {
			return err
		}
	}
	p.crew.Pack(w)
	p.flight++
	return nil
}

// packed takes the oldest Packing back, with its checkpoint.
func (p *pass) packed() error {
	w, err := p.crew.Packed()
	if err != nil {
		return err
	}
	p.flight--
	p.maker.grow(w.size, w.sum)
	p.maker.addCheckpoint(w.point)
	p.free = append(p.free, w)
	return nil
}

// alone is a Crew of the caller.
type alone struct{ packing *Packing }

func (a *alone) Scan(src io.Reader, limits *container.Limits, marks *gzfile.Marks) error {
	var head [container.DetectSize]byte
	in := container.ReadStart(src, &head, true)
	s := gzfile.Scanner{Marks: marks}
	s.Reset(&in, limits)
	return s.Walk()
}

func (a *alone) Width() int { return 1 }

func (a *alone) Pack(p *Packing) {
	p.pack()
	a.packing = p
}

func (a *alone) Packed() (*Packing, error) { return a.packing, nil }

// A fileReader reads a file of size bytes.
type fileReader struct {
	src  io.ReaderAt
	size int64
	at   int64 // of the next read
}

func (r *fileReader) Read(p []byte) (int, error) {
	p = p[:min(int64(len(p)), r.size-r.at)]
	if len(p) == 0 {
		return 0, io.EOF
	}
	if err := container.ReadAt(r.src, p, r.at); err != nil {
		return 0, err
	}
	r.at += int64(len(p))
	return len(p), nil
}
