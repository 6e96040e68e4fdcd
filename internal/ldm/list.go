package ldm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/gopz/compress/internal/container"
)

// A List is the references of a block. It refers to the payload that it was parsed from. The zero
// value has no references.
type List struct {
	// Own is the bytes of own content.
	Own int
	// Sum is the CRC32C of the content, if the stream has checks.
	Sum uint32

	distances [MaxSources]int32
	sources   int
	refs      []byte // encoded
	count     int
}

// maxOffset is more than any offset in a block.
const maxOffset = 1 << 26

var errList = errors.New("bad references")

// Empty reports whether there are no references.
func (l *List) Empty() bool { return l.count == 0 }

// Clone returns a copy that does not refer to the payload.
func (l *List) Clone() *List {
	c := *l
	c.refs = bytes.Clone(l.refs)
	return &c
}

// Distances returns how many blocks before this one each source is, in ascending order.
func (l *List) Distances() []int32 { return l.distances[:l.sources] }

// Parse makes l the list that a payload has behind its layout byte. The block has raw bytes of
// content and may have so many sources. It returns the kind of the own content, 0 for none, and the
// payload of that. Parse verifies everything but what the sources tell: whether they exist and are
// long enough. It calls checkpoint, unless that is nil, between pieces of the work.
func (l *List) Parse(
	p []byte, raw, most int, checkpoint func(),
) (kind container.Kind, payload []byte, err error) {
	*l = (List{})
	if len(p) < sumSize {
		return 0, nil, errList
	}
	sum := binary.LittleEndian.Uint32(p)
	r := reader{p: p[sumSize:]}
	n, distance := r.next(min(most, MaxSources)), 0
	for i := range n {
		d := r.next(maxDistance - distance)
		r.bad = r.bad || d == 0
		distance += d
		l.distances[i] = int32(distance)
	}
	count := r.next(raw / minLength)
	at, own, refs := 0, raw, r.p
	pace := pacer{checkpoint: checkpoint}
	for range count {
		pace.addWork(referenceWork)
		ref := r.reference(at, raw)
		if ref.Len < minLength || ref.Source >= n {
			return 0, nil, errList
		}
		at = ref.At + ref.Len
		own -= ref.Len
	}
	if r.bad || count == 0 || len(r.p) == 0 {
		return 0, nil, errList
	}
	kind, payload = container.Kind(r.p[0]), r.p[1:]
	ok := false
	switch kind {
	case 0:
		ok = own == 0 && len(payload) == 0
	case container.Stored:
		ok = own > 0 && len(payload) == own
	case container.Fill:
		ok = own > 0 && len(payload) == 1
	case container.Coded:
		ok = 0 < len(payload) && len(payload) < own
	}
	if !ok {
		return 0, nil, fmt.Errorf("%w: own content of %d bytes, kind %d, payload of %d bytes",
			errList, own, kind, len(payload))
	}
	l.Own, l.Sum, l.sources, l.count, l.refs = own, sum, n, count, refs[:len(refs)-len(r.p)]
	return kind, payload, nil
}

// All returns the references in the order of the content.
func (l *List) All() iter.Seq[Reference] {
	return func(yield func(Reference) bool) {
		r, at := reader{p: l.refs}, 0
		for range l.count {
			ref := r.reference(at, math.MaxInt32)
			at = ref.At + ref.Len
			if !yield(ref) {
				return
			}
		}
	}
}

// Spread copies own content to where it belongs in dst, the content of the block. It calls
// checkpoint, unless that is nil, between pieces.
func (l *List) Spread(dst, own []byte, checkpoint func()) {
	end, pace := 0, pacer{checkpoint: checkpoint}
	for r := range l.All() {
		n := r.At - end
		pace.copy(dst[end:r.At], own[:n])
		own, end = own[n:], r.At+r.Len
	}
	pace.copy(dst[end:], own)
}

// Insert copies the parts of a source to where they belong in dst. It fails if the source, of which
// own is the own content, is too short.
func (l *List) Insert(dst []byte, source int, own []byte, checkpoint func()) error {
	pace := pacer{checkpoint: checkpoint}
	for r := range l.All() {
		if r.Source != source {
			pace.addWork(referenceWork)
			continue
		}
		if r.Offset > len(own) || r.Len > len(own)-r.Offset {
			return fmt.Errorf("%w: %d bytes at byte %d of a source of %d", errList, r.Len, r.Offset, len(own))
		}
		pace.copy(dst[r.At:r.At+r.Len], own[r.Offset:r.Offset+r.Len])
	}
	return nil
}

const sumSize = 4

// SetSum sets the CRC32C of the content in an encoded list.
func SetSum(list []byte, sum uint32) { binary.LittleEndian.PutUint32(list[1:], sum) }

// appendList appends the encoded list, with the layout byte and room for the sum in front.
// distances are ascending.
func appendList(dst []byte, distances []int32, refs []Reference) []byte {
	dst = append(dst, LayoutID, 0, 0, 0, 0)
	dst = binary.AppendUvarint(dst, uint64(len(distances)))
	last := int32(0)
	for _, d := range distances {
		dst = binary.AppendUvarint(dst, uint64(d-last))
		last = d
	}
	dst = binary.AppendUvarint(dst, uint64(len(refs)))
	end := 0
	for _, r := range refs {
		dst = binary.AppendUvarint(dst, uint64(r.At-end))
		dst = binary.AppendUvarint(dst, uint64(r.Len))
		dst = binary.AppendUvarint(dst, uint64(r.Source))
		dst = binary.AppendUvarint(dst, uint64(r.Offset))
		end = r.At + r.Len
	}
	return dst
}

// reader reads varints.
type reader struct {
	p   []byte
	bad bool // a number was out of its range, or the bytes have ended
}

// next reads a number of at most limit. It returns 0 if it is bad.
func (r *reader) next(limit int) int {
	v := uint64(0)
	for i := range 5 {
		if len(r.p) == 0 {
			break
		}
		c := r.p[0]
		r.p = r.p[1:]
		v |= uint64(c&127) << (7 * i)
		if c < 128 {
			if int64(v) > int64(limit) {
				break
			}
			return int(v)
		}
	}
	r.bad = true
	return 0
}

// reference reads the reference behind the one that ends at end, in a block of raw bytes. It
// returns zero if it is bad.
func (r *reader) reference(end, raw int) (ref Reference) {
	ref.At = end + r.next(raw-end)
	ref.Len = r.next(raw - ref.At)
	ref.Source = r.next(MaxSources - 1)
	ref.Offset = r.next(maxOffset)
	if r.bad {
		return Reference{}
	}
	return ref
}

// IsBad reports whether an error says that references are wrong.
func IsBad(err error) bool { return errors.Is(err, errList) }
