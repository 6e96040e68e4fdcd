package gzfile

// Marks asks a Scanner for places in a file where decoding can start. They are the same for any
// number of workers.
type Marks struct {
	// Spacing is the distance of marks in bytes of content. The first place at or behind each
	// multiple of it becomes a mark.
	Spacing int64
	// Visit is called for each mark, in order, behind the checks of the content before it. It is
	// called by Verify. An error ends the file.
	Visit func(m *Mark) error

	// Results, so far.
	Content int64  // bytes of content
	Rest    uint32 // Checksum of the content behind the last mark, if the Scanner verifies
}

// A Mark is a place behind the header of a member, or where a Deflate block begins.
type Mark struct {
	Bit     int64  // offset in the file, in bits
	Content int64  // bytes of content before the mark
	Window  []byte // content that blocks may refer to; valid until Visit returns
	Sum     uint32 // Checksum of the content since the mark before, if the Scanner verifies
}

// maxMarks is the most marks of a part that is decoded ahead. Before it is accepted, all of its
// blocks are marks.
const maxMarks = 8 << 10

// marksMemory is the memory of the marks of an output, in bytes.
const marksMemory = maxMarks * 32

// A mark is a Mark in an output.
type mark struct {
	bit     int64
	content int64 // in the content of the file; see choose
	to      int32 // in the content of the output
	window  int32 // bytes of content before it that blocks may refer to
	ends    int32 // ends of members before it
}

// mark marks the place of the walker.
func (o *output) mark(bit int64) {
	to := int32(o.size())
	if n := len(o.marks); !o.marking || n > 0 && o.marks[n-1].to == to {
		return
	}
	o.marks = append(o.marks, mark{bit, 0, to, int32(min(o.to-o.base, windowSize)), int32(len(o.ends))})
}

// choose drops those of the marks of an output that are too near to others. start is the content
// before the output.
func (d *decoder) choose(o *output, start int64) {
	kept := o.marks[:o.chosen]
	for _, m := range o.marks[o.chosen:] {
		m.content = start + int64(m.to)
		if cell := m.content / d.check.marks.Spacing; cell > d.cell && int(m.to) <= o.size() {
			d.cell = cell
			kept = append(kept, m)
		}
	}
	o.marks, o.chosen = kept, len(kept)
}

// Cuts go through the ends of members and the marks of an output, in order.
type cuts struct {
	o           *output
	ends, marks int // passed
}

// next goes to the next cut. Behind the last one both are nil.
func (c *cuts) next() (end *memberEnd, m *mark, to int) {
	o := c.o
	if c.marks < len(o.marks) && int(o.marks[c.marks].ends) <= c.ends {
		m = &o.marks[c.marks]
		c.marks++
		return nil, m, int(m.to)
	}
	if c.ends < len(o.ends) {
		end = &o.ends[c.ends]
		c.ends++
		return end, nil, end.to
	}
	return nil, nil, o.size()
}

// visitMark hands a mark on.
func (v *verifier) visitMark(o *output, m *mark) error {
	at := windowSize + int(m.to)
	sum := v.rest
	v.rest = 0
	return v.marks.Visit(&Mark{m.bit, m.content, o.buf[at-int(m.window) : at], sum})
}
