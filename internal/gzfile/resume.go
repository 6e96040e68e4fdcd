package gzfile

import (
	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
)

// Rules say which files are valid. The zero value is gzip's.
type Rules uint8

// The rules. Those of compress/gzip differ from gzip's as follows:
//
//   - Zeros behind a member are no padding, but a wrong header.
//   - Fewer than MinHeaderSize bytes behind a member are a header that is cut short, whatever they
//     are.
//   - Unknown flags of a header are ignored.
//   - A name or comment has at most MaxStdString bytes, with the zero that ends it.
//   - A wrong size in a trailer is an errs.Checksum. A trailer that is cut short is errs.PartStray.
//   - The Offset of an error about a Deflate stream counts from the beginning of that stream.
const (
	GzipRules Rules = iota
	StdRules        // of compress/gzip
)

// MaxStdString is the longest name or comment under StdRules, in bytes with the zero that ends it.
const MaxStdString = 512

// A Middle is a place in the middle of a member. All content that the input so far makes available
// has been decoded.
type Middle struct {
	Inflater *inflate.Decoder // of the member; Resume copies it
	Window   []byte           // the last inflate.WindowSize bytes of the member's content, or all
	Used     int64            // bytes of the Deflate stream used so far
	Size     int64            // bytes of the member's content so far
	Sum      uint32           // its Checksum
}

// Resume is Reset for a file of which another decoder has decoded the beginning. Its rules are
// StdRules. All offsets count from that place.
func (s *Scanner) Resume(in *container.Start, limits *container.Limits, m *Middle) {
	s.Reset(in, limits)
	d := s.dec
	d.rules = StdRules
	d.walker.resume(m)
	d.window = append(d.window, m.Window...)
	d.ratio.Store(m.Size / max(m.Used, 1))
	v := &d.check
	v.rules = StdRules
	v.start, v.size, v.sum = -m.Size, m.Size, m.Sum
	if s.ahead.InFlight > 0 {
		s.next = leastPart
	}
}

// resume goes to the middle of a member.
func (w *walker) resume(m *Middle) {
	*w.inflater = *m.Inflater
	w.rules, w.state, w.body, w.start = StdRules, inBody, -m.Used, -m.Used
}
