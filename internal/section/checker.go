package section

import (
	"bytes"
	"slices"
)

// A Checker verifies a section of parity that passes by, without its header. The zero Checker is
// ready for use.
type Checker struct {
	passed  int64
	rest    []byte // what has passed behind the last packet, or the last bytes of that
	found   bool   // there is the beginning of a packet
	damaged bool
	zone    Zone // of the first packet
	next    int  // number of the next packet
}

// Write takes the next bytes. It never fails.
func (c *Checker) Write(p []byte) (int, error) {
	c.passed += int64(len(p))
	for piece := range slices.Chunk(p, MaxSlice) {
		rest := append(c.rest, piece...)
		cut := max(0, len(c.rest)-len(PacketMagic)+1) // where a magic may begin that ends in piece
		c.found = c.found || bytes.Contains(rest[cut:], []byte(PacketMagic))
		for more := true; more && !c.damaged && !c.complete(); {
			n := c.packet(rest)
			rest, more = rest[n:], n > 0
		}
		if c.damaged || c.complete() {
			rest = rest[max(0, len(rest)-FooterSize):]
		}
		c.rest = append(c.rest[:0], rest...)
	}
	return len(p), nil
}

// packet verifies the packet that p begins with, and returns its size, or 0 if p has only a part of
// it.
func (c *Checker) packet(p []byte) int {
	if len(p) < PacketHeaderSize {
		return 0
	}
	h, ok := ParsePacket(p)
	if c.next == 0 {
		c.zone = h.Zone
	}
	if !ok || h.Zone != c.zone || h.Number != c.next {
		c.damaged = true
		return 0
	}
	if len(p) < h.Length() {
		return 0
	}
	_, ok = h.Body(p)
	c.damaged = !ok
	c.next++
	return h.Length()
}

// complete reports whether all packets have passed.
func (c *Checker) complete() bool { return c.next > 0 && c.next == c.zone.Packets() }

// Found reports whether anything shows that this is a section of parity.
func (c *Checker) Found() bool {
	_, footer := ParseFooter(c.rest)
	return c.found || footer
}

// Intact reports whether the section is as it was written.
func (c *Checker) Intact() bool {
	size, ok := ParseFooter(c.rest)
	return ok && !c.damaged && c.complete() &&
		size == c.passed+int64(c.zone.HeaderSize()) && size == c.zone.SectionSize()
}
