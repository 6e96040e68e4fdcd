package gzfile

import (
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// A Member is a member of a file, with what is before it.
type Member struct {
	Offset, Size           int64 // of the member, in bytes
	ContentOffset, Content int64 // of its content in the content of the file, in bytes
}

// A verifier compares the content of members with their trailers, in order.
type verifier struct {
	checks  bool
	rules   Rules
	visit   func(Member) error // called behind each member, unless nil
	marks   *Marks             // nil if there are to be none
	rest    uint32             // sum of the content behind the last mark
	units   int64              // that have been verified
	members int                // that are complete
	start   int64              // of the member's content in the content of the file
	partial bool               // the beginning of the member has not been seen
	size    int64              // of the member's content so far
	sum     uint32
	err     error // what the first member that is wrong is wrong about
}

// FinishContent implements container.SerialDecoder: it resolves the symbols that are left, and sums
// the content.
func (d *decoder) FinishContent(s *container.Serial) {
	o := s.State.(*output)
	step := s.Checkpoint
	if step == nil {
		step = func() {}
	}
	o.resolve(step)
	d.keepSymbols(o)
	o.sums = o.sums[:0]
	if !d.checks {
		return
	}
	content, at := s.Content(), 0
	for c, more := (cuts{o: o}), true; more; {
		end, m, to := c.next()
		more = end != nil || m != nil
		sum := uint32(0)
		for at < to {
			n := min(to-at, sumPiece)
			sum = Checksum(sum, content[at:at+n])
			at += n
			step()
		}
		o.sums = append(o.sums, sum)
	}
}

// Verify implements container.SerialDecoder.
func (d *decoder) Verify(s *container.Serial) {
	v, o, at := &d.check, s.State.(*output), 0
	v.units++
	c := cuts{o: o}
	for k := 0; v.err == nil; k++ {
		end, m, to := c.next()
		v.addContent(o, k, to-at)
		at = to
		switch {
		case end != nil:
			v.err = v.endMember(end)
		case m != nil:
			v.err = v.visitMark(o, m)
		default:
			return
		}
	}
	s.Buf, s.Stop = s.Buf[:s.History+at], v.err
	s.Total = v.start + v.size
}

// addContent adds n bytes of content with the k-th sum of an output.
func (v *verifier) addContent(o *output, k, n int) {
	if v.checks && n > 0 {
		if v.size == 0 {
			v.sum = o.sums[k]
		} else {
			v.sum = Combine(v.sum, o.sums[k], int64(n))
		}
		if v.marks != nil {
			v.rest = Combine(v.rest, o.sums[k], int64(n))
		}
	}
	v.size += int64(n)
	if v.marks != nil {
		v.marks.Content, v.marks.Rest = v.start+v.size, v.rest
	}
}

// endMember ends a member.
func (v *verifier) endMember(e *memberEnd) error {
	switch {
	case v.partial:
		v.partial = false
	case v.checks && e.sum != v.sum:
		return v.fail(errs.Checksum, e, "")
	case e.size != uint32(v.size) && v.rules == StdRules:
		return v.fail(errs.Checksum, e, "")
	case e.size != uint32(v.size):
		return v.fail(errs.Corrupt, e, "the content is not as long as the gzip trailer says")
	}
	m := Member{e.member, e.trailer + TrailerSize - e.member, v.start, v.size}
	v.start += v.size
	v.members++
	v.size, v.sum = 0, 0
	if v.visit == nil {
		return nil
	}
	return v.visit(m)
}

func (v *verifier) fail(kind error, e *memberEnd, detail string) error {
	return &errs.Error{
		Kind: kind, Part: errs.PartBlock, Stream: v.members, Block: -1, Offset: e.trailer, Detail: detail,
	}
}
