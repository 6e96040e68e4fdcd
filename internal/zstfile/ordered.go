package zstfile

import (
	"errors"
	"math"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/zstframe"
)

// A frame is cut into parts of some blocks if it states no size, is too large to be one unit, or
// contradicts its header. Headers say how long blocks are, so nothing is decoded for that. Parts
// are decoded in order, and with several workers they are parsed ahead of their turn.

const (
	// maxWindow is the largest window in bytes if the caller sets no limit: the default limit of
	// zstd.
	maxWindow = 128 << 20

	// A part ends behind a block with which it may have partContent bytes of content, or has
	// mostAhead blocks. If parts are not parsed ahead, serialContent suffices. A part that is
	// shorter than leastInput has more blocks, up to mostContent, so that small blocks do not take
	// a unit each. It ends before mostInput in any case.
	partContent   = 4 * zstframe.MaxBlock
	serialContent = zstframe.MaxBlock
	mostContent   = 8 * zstframe.MaxBlock
	leastInput    = 16 << 10
	mostInput     = partContent

	// mostAhead is the most blocks of a part that is parsed ahead. With more of them, it is not
	// worth the memory.
	mostAhead = 64

	// parsedMemory is the memory in bytes of the literals and sequences of a part. Its matches may
	// be of MinMatch bytes. A slice that has grown may be twice as large.
	parsedMemory = 6 << 20

	// firstInput is the most input of the first part that the Reader decodes itself, in bytes.
	firstInput = 8 << 10

	// windowExtra is the memory in bytes of a decoder besides the window and an eighth of it.
	windowExtra = 3 << 20

	// orderedExtra is the memory in bytes that decoding in order takes besides the window and an
	// eighth of it.
	orderedExtra = windowExtra + container.InputBuffer + 256<<10

	// decoderMemory is the memory of a decoder in bytes besides the ring.
	decoderMemory = 256 << 10

	// keptRing is the largest ring in bytes that outlives a file, and keptParts the most parts.
	keptRing  = 8 << 20
	keptParts = 4
)

// ringMemory returns the bytes that the window, and parts in flight, take.
func ringMemory(window int64, inFlight int) int64 {
	return window + int64(inFlight+1)*(mostContent+zstd.DecodeSlack)
}

// OrderedSpec returns the Spec of frames that are cut into parts, with so many workers and within a
// memory limit, and reports whether parts are parsed ahead. window is in bytes.
func OrderedSpec(window int64, workers int, memory int64) (s container.Spec, ahead bool) {
	// The content of parts is in the ring.
	s = container.Spec{
		BlockSize: mostContent, Extra: window + mostContent + decoderMemory, InOrder: true,
	}
	if workers > 1 && window <= zstd.MaxParsedWindow {
		s.Payload = mostInput + zstframe.MaxBlock + parsedMemory
		for n := 2 * workers; n > 2; n-- {
			if s.Memory(n, workers) <= memory {
				s.InFlight = n
				return s, true
			}
		}
	}
	s.Payload = leastInput + zstframe.MaxBlock
	for s.InFlight = 2; s.InFlight > 1 && s.Memory(s.InFlight, workers) > memory; {
		s.InFlight--
	}
	return s, false
}

// orderedMemory returns the least memory limit with which a frame with such a window is decoded.
func orderedMemory(window int64) int64 { return (window+7)/8*9 + orderedExtra }

// windowLimit returns the largest window that the limits allow, in bytes.
func windowLimit(l *container.Limits) int64 {
	limit := int64(maxWindow)
	if l.MaxMemory > 0 {
		limit = (l.MaxMemory - orderedExtra) / 9 * 8
	}
	return min(limit, math.MaxInt/2)
}

// ordered is a Scanner's state of cutting a frame into parts. It outlives a file.
type ordered struct {
	dec    *decoder
	frame  *frameInfo
	spec   container.Spec
	ahead  bool // parts are parsed ahead
	units  int64
	memory int64 // of the decoder, in bytes
	carry  zstd.Carry

	part *part  // that is being read, nil between parts
	left []byte // of the first block of the next part
	from int    // where the part begins in an input in memory
}

// neededWindow returns the window in bytes that a frame needs.
func neededWindow(h *Header) int64 {
	if h.ContentSize >= 0 {
		return min(h.Window, h.ContentSize)
	}
	return h.Window
}

// reset begins a file.
func (o *ordered) reset() {
	if o.dec != nil {
		o.dec.reset()
	}
	o.frame, o.part, o.left, o.units, o.memory = nil, nil, o.left[:0], 0, 0
}

// release drops the references to the caller's memory, and memory that is too much to be kept. No
// part is in flight.
func (o *ordered) release() {
	o.reset()
	if o.dec != nil && len(o.dec.ring.buf) > keptRing {
		o.dec = nil
	}
	if o.dec != nil && len(o.dec.free) > keptParts {
		clear(o.dec.free[keptParts:])
		o.dec.free = o.dec.free[:keptParts]
	}
}

// beginOrdered begins to cut the frame whose header has been read into parts. window is the window
// that its content needs.
func (s *Scanner) beginOrdered(window int64) error {
	f, o := &s.frame, &s.ordered
	if window > windowLimit(s.limits) {
		return s.windowTooLarge()
	}
	if o.dec == nil {
		o.dec = new(decoder)
	}
	if d := o.dec; d.limits == nil {
		dict, err := s.openDictionary()
		if err != nil {
			return f.fail(errs.Internal, errs.PartHeader, f.Offset, err.Error())
		}
		d.dict, d.checks, d.limits, d.ends = dict, s.limits.Checks, s.limits, s.endUnsized
	}
	limit := s.limits.Within(s.limits.Memory())
	spec, ahead := OrderedSpec(window, s.Workers, limit)
	o.spec, o.ahead = spec, ahead && f.Header.Window <= zstd.MaxParsedWindow
	o.memory = max(o.memory, spec.Extra+int64(spec.InFlight)*int64(spec.BlockSize+spec.Payload))
	o.frame = &frameInfo{
		Header: f.Header, number: f.Number, offset: f.Offset, start: s.content, window: window,
		inFlight: spec.InFlight, ring: int(min(ringMemory(window, spec.InFlight), math.MaxInt)),
	}
	if s.unsized {
		o.frame.start = -1
	}
	s.unsized = s.unsized || f.Header.ContentSize < 0
	o.frame.counted = !s.unsized
	o.carry = zstd.Carry{}
	f.part = nil
	s.phase = inOrder
	return nil
}

// openDictionary returns the dictionary for the decoder, nil for none.
func (s *Scanner) openDictionary() (*zstd.Dictionary, error) {
	if s.Dictionary == nil {
		return nil, nil
	}
	return s.OpenDictionary()
}

// windowTooLarge returns the error about a window larger than the limit.
func (s *Scanner) windowTooLarge() error {
	f, limit := &s.frame, s.limits.MaxMemory
	if limit == 0 {
		limit = orderedMemory(maxWindow)
	}
	window := f.Header.Window
	e := errs.OutOfMemory(orderedMemory(window),
		"the window of %d bytes takes %d bytes of memory, more than the limit of %d",
		window, orderedMemory(window), limit)
	e.Part, e.Block, e.Offset = errs.PartHeader, f.Number, f.Offset
	f.err = e
	return e
}

// setPart makes u the next part of the frame.
func (s *Scanner) setPart(u *container.Unit) {
	f, o := &s.frame, &s.ordered
	total := int64(-1)
	if n := f.Header.ContentSize; n >= 0 && o.frame.start >= 0 {
		total = o.frame.start + n
	}
	if o.part == nil {
		o.part = o.dec.newPart(o.frame, o.units)
		o.part.offset = s.in.Offset() - int64(len(o.left))
		o.part.begins = f.blocks == 0
		o.part.carry = o.carry
		o.from = int(s.in.Offset())
	}
	*u = container.Unit{
		Spec: o.spec, Kind: container.Coded, Decoder: o.part, Number: o.units,
		Place: container.Place{
			Block: f.Number, Offset: f.Offset, Total: total, CallerOwned: s.in.Memory() != nil,
		},
	}
}

// passPart reads the blocks of a part, or passes over them in an input in memory.
func (s *Scanner) passPart(u *container.Unit, p []byte) ([]byte, error) {
	o := &s.ordered
	q, err := o.part, error(nil)
	if memory := s.in.Memory(); memory != nil {
		err = s.passBlocks(q, memory[o.from:])
		p = memory[o.from : o.from+q.size : o.from+q.size]
	} else {
		p, err = s.readBlocks(q, append(p[:0], o.left...))
		o.left = append(o.left[:0], p[q.size:]...)
		p = p[:q.size]
	}
	switch {
	case q.blocks == 0 && !q.ends:
		s.mayBlock = true
		return p, err
	case err != nil && err != container.ErrNothingYet:
		s.stop, q.damage = err, err
	}
	s.endPart(u, q)
	return p, nil
}

// endPart completes a part, and the frame if that ends.
func (s *Scanner) endPart(u *container.Unit, q *part) {
	f, o := &s.frame, &s.ordered
	q.end = s.in.Offset() - int64(len(o.left))
	u.Raw, u.Place.End = q.size, q.end
	if q.ends {
		q.sum = f.sum
		s.phase = betweenFrames
		if o.frame.counted {
			s.content += f.Header.ContentSize
			s.tables.frame(q.end-f.Offset, f.Header.ContentSize, f.sum, f.Header.Checksum)
		}
	}
	s.setPause(u)
	u.Pause = u.Pause || q.unit == 0 && q.size <= firstInput
	q.ahead = o.ahead && !u.Pause && q.size >= leastInput && q.blocks <= mostAhead
	o.part = nil
	o.units++
}

// endUnsized adds a frame that stated no size to those that a seek table lists.
func (s *Scanner) endUnsized(p *part, content int64) {
	s.tables.frame(p.end-p.frame.offset, content, p.sum, p.frame.Checksum)
}

// isFull reports whether a part has enough blocks.
func (s *Scanner) isFull(q *part) bool {
	enough := serialContent
	if s.ordered.ahead {
		enough = partContent
	}
	return q.size >= leastInput && (q.bound >= enough || q.blocks >= mostAhead) ||
		q.size >= mostInput || q.bound > mostContent-zstframe.MaxBlock
}

// addBlock adds a block that has been read to a part.
func (s *Scanner) addBlock(q *part, block []byte) {
	f := &s.frame
	b, _ := zstframe.ParseBlock(block) // the Frame has done that
	q.blocks++
	q.size += len(block)
	q.bound += int(min(b.MaxContent(), max(f.Header.Window, zstframe.MinWindow)))
	q.last = b.Last
	if s.ordered.ahead {
		s.ordered.carry.Note(block)
	}
}

// passBlocks passes over the blocks of a part in memory. src begins with the part.
func (s *Scanner) passBlocks(q *part, src []byte) error {
	f := &s.frame
	for f.phase < lastBlock && !s.isFull(q) {
		if err := f.step(); err != nil {
			return err
		}
		f.part = nil
		if err := s.in.Skip(f.rest); err != nil {
			return f.broken(err)
		}
		n := zstframe.BlockHeaderSize + int(f.rest)
		f.rest = 0
		s.addBlock(q, src[q.size:][:n:n])
	}
	if f.phase < lastBlock {
		return nil
	}
	return s.readChecksum(q)
}

// readBlocks appends the blocks of a part to p. It returns container.ErrNothingYet where it would
// have to wait.
func (s *Scanner) readBlocks(q *part, p []byte) ([]byte, error) {
	f := &s.frame
	for {
		if f.phase != frameHeader && f.betweenBlocks() && len(p) > q.size {
			s.addBlock(q, p[q.size:])
			s.mayBlock = false // its content comes first
		}
		switch between := f.betweenBlocks(); {
		case f.phase == frameChecksum, f.phase == lastBlock && between:
			return p, s.readChecksum(q)
		case between && s.isFull(q):
			return p, nil
		}
		if !f.readable(s.mayRead) {
			return p, container.ErrNothingYet
		}
		if f.betweenBlocks() {
			if err := f.step(); err != nil {
				return p, err
			}
		}
		n := len(f.part) + int(f.rest)
		if cap(p)-len(p) < n {
			p = growBy(p, n)
		}
		m, err := f.Read(p[len(p) : len(p)+n])
		p = p[:len(p)+m]
		if err != nil {
			return p, err
		}
	}
}

// growBy returns p in memory for n bytes more, and some blocks.
func growBy(p []byte, n int) []byte {
	return append(make([]byte, 0, container.CeilPow2(len(p)+n)), p...)
}

// readChecksum reads the checksum of the frame, if it has one, behind the last block.
func (s *Scanner) readChecksum(q *part) error {
	f := &s.frame
	for f.Header.Checksum {
		if !f.readable(s.mayRead) {
			return container.ErrNothingYet
		}
		if f.phase == lastBlock {
			if err := f.step(); err != nil {
				return err
			}
		}
		var sum [zstframe.ChecksumSize]byte
		if _, err := f.Read(sum[:]); err != nil {
			return err
		}
		if f.rest == 0 {
			break
		}
	}
	q.ends = true
	return nil
}

// decodeCut handles a frame that was to be a unit and ends in the error cut: it is cut short, or a
// block has a damaged header. head is what has been read of it. If memory suffices the frame is
// decoded in order, so that the content of its blocks comes before the error.
func (s *Scanner) decodeCut(head []byte, cut error) error {
	f := &s.frame
	var e *errs.Error
	if !errors.Is(cut, errs.Truncated) &&
		(!errors.As(cut, &e) || !errors.Is(cut, errs.Corrupt) || f.phase >= lastBlock) {
		return cut
	}
	window := min(f.Header.Window, max(f.bound, zstframe.MaxBlock))
	if f.bound == 0 || f.Header.Window > windowLimit(s.limits) {
		return cut
	}
	return s.decodeAgain(head, window, cut)
}

// decodeAgain begins to decode a frame in order that was to be a unit. head is what has been read
// of it, which the Scanner reads again. damage is that of the frame.
func (s *Scanner) decodeAgain(head []byte, window int64, damage error) error {
	f := &s.frame
	size, err := zstframe.HeaderSize(head)
	if err != nil {
		return f.fail(errs.Internal, errs.PartHeader, f.Offset, err.Error())
	}
	switch missing := int(s.in.Offset()-f.Offset) - len(head); { // of a block header
	case len(f.part) > 0:
		head = append(head, f.part...)
	case missing > 0:
		head = append(head, f.head[:missing]...)
	}
	s.in.Unread(head[size:])
	f.restart()
	if err := s.beginOrdered(window); err != nil {
		return err
	}
	s.ordered.frame.damage = damage
	return container.ErrNothingYet
}
