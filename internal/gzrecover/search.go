package gzrecover

import (
	"bytes"
	"io"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/gzfile"
)

const (
	// lookBehind is how many bytes before a place decide whether it is one: an empty stored block.
	lookBehind = 4
	// lookAhead is more than the header of a block, and the fixed part of a member's header, in
	// bytes.
	lookAhead = 1 << 10
)

// looksLikeHeader reports whether p begins with the fixed part of a member's header.
func looksLikeHeader(p []byte) bool {
	if len(p) < gzfile.MinHeaderSize {
		return false
	}
	_, _, err := gzfile.ParseHeader(p[:gzfile.MinHeaderSize])
	return err == nil || err == gzfile.ErrShort
}

// search looks for the next place where decoding can begin.
func (r *recovery) search(s stop) (next place, ok bool) {
	from, skip := max(s.from, r.searched), s.skip
	if again := (s.bit - from) >> 3; again > 0 {
		if r.wasteful() {
			from = s.bit
		}
		r.waste += again
	}
	for r.going() && from < 8*r.file.Size {
		start := max(from>>3-lookBehind, 0)
		p := r.look(start)
		end := int64(len(p))
		if start+end < r.file.Size {
			end -= lookAhead
		}
		if end <= 0 {
			break
		}
		hits := hits{p: p, block: -1, end: 8 * end}
		for from < 8*(start+end) {
			bit, member := hits.next(from - 8*start)
			if bit < 0 {
				break
			}
			next = place{8*start + bit, member}
			from = next.bit + 1
			r.searched = from
			if next.bit == skip && !member {
				continue
			}
			tried, ok := r.probe(next)
			if ok || !r.going() {
				return next, ok && r.err == nil
			}
			if r.wasteful() {
				from = max(from, tried)
			}
			r.waste += (tried - next.bit) >> 3
		}
		from = max(from, 8*(start+end))
		r.searched = from
	}
	return next, false
}

// wasteful reports whether too much has been decoded again or in vain.
func (r *recovery) wasteful() bool { return r.waste > minWaste+maxWaste*r.file.Size }

// look returns bytes to search from an offset on: more than lookAhead and lookBehind, unless the
// file ends. They are valid until the next call. As with input, reads grow.
func (r *recovery) look(off int64) []byte {
	end := r.seen.at + int64(len(r.seen.p))
	if off >= r.seen.at && off <= end {
		if rest := r.seen.p[off-r.seen.at:]; len(rest) > 2*lookAhead || end >= r.file.Size {
			return rest
		}
	}
	size := 4 * lookAhead
	if off >= r.seen.at && off <= end {
		size = min(2*len(r.seen.p)+size, searchSize)
	}
	r.seen.p, r.seen.at = r.file.Peek(r.view[:size], off), off
	return r.seen.p
}

// hits finds places in p, at bits before end. block is the next block, −1 if it has not been looked
// for.
type hits struct {
	p          []byte
	block, end int64
}

// next returns the first place at a bit or behind it, or −1.
func (h *hits) next(from int64) (bit int64, member bool) {
	if h.block < from {
		if h.block = inflate.FindBlock(h.p, from, h.end); h.block < 0 {
			h.block = h.end
		}
	}
	switch bit = h.findMember(from, min(h.block+1, h.end)); {
	case bit >= 0:
		return bit, true
	case h.block < h.end:
		return h.block, false
	}
	return -1, false
}

// findMember returns the first bit in [from, to) where a member seems to begin, or −1.
func (h *hits) findMember(from, to int64) int64 {
	for at, end := int((from+7)>>3), int((to+7)>>3); at < end; at++ {
		i := bytes.Index(h.p[at:min(end+1, len(h.p))], []byte(gzfile.Magic))
		if i < 0 {
			break
		}
		if at += i; at < end && looksLikeHeader(h.p[at:]) {
			return 8 * int64(at)
		}
	}
	return -1
}

// isTrailer reports whether the trailer of a member with such content is at an offset.
func (r *recovery) isTrailer(off int64, sum uint32, content int64) bool {
	var p [gzfile.TrailerSize]byte
	if len(r.file.Peek(p[:], off)) < len(p) {
		return false
	}
	s, size := gzfile.ParseTrailer(p[:])
	return s == sum && size == uint32(content)
}

// probe decodes from a place, without output, until it can be believed. tried is the bit up to
// which input has been used.
func (r *recovery) probe(p place) (tried int64, ok bool) {
	body := p.bit
	if p.member {
		end, err := r.header(p.bit >> 3)
		r.file.ReadErr = nil
		if err != nil {
			return 8 * end, false
		}
		body = 8 * end
	}
	w := r.startWalk(body, !p.member)
	r.unknown = false // the content does not matter, but for the checksum of a whole member
	sum := uint32(0)
	for r.going() {
		if r.at == len(r.roomA) {
			r.slide()
		}
		from := r.at
		more, err := w.step()
		if p.member {
			sum = gzfile.Checksum(sum, r.roomA[from:r.at])
		}
		switch {
		case w.trusted > body:
			return 8 * w.off, true
		case err == io.EOF:
			end := w.off + gzfile.TrailerSize
			return 8 * w.off, end <= r.file.Size &&
				(r.isHeader(end) || r.padding(end) || p.member && r.isTrailer(w.off, sum, w.total))
		case err != nil:
			return 8 * w.off, false
		case !more:
			return 8 * w.off, w.total > 0
		}
	}
	return 8 * w.off, false
}
