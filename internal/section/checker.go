package section

import (
	"bytes"
	"hash/crc32"
)

// A Checker verifies a section of parity that passes by, without its header. The zero Checker is
// ready for use.
type Checker struct {
	passed  int64
	found   bool // there is the beginning of a packet
	damaged bool
	zone    Zone // of the first packet
	next    int  // number of the next packet
	head    [PacketHeaderSize]byte
	have    int    // bytes of head
	packet  Packet // that the bytes belong to
	body    int    // bytes of its body still to come
	sum     uint32 // CRC32C of the body so far
	tail    [FooterSize]byte
}

// Write takes the next bytes. It never fails.
func (c *Checker) Write(p []byte) (int, error) {
	n := len(p)
	c.passed += int64(n)
	c.found = c.found || bytes.Contains(p, []byte(PacketMagic))
	last := p[max(0, n-FooterSize):]
	copy(c.tail[:], c.tail[len(last):])
	copy(c.tail[FooterSize-len(last):], last)
	for len(p) > 0 && !c.damaged && !c.complete() {
		if c.body == 0 {
			m := copy(c.head[c.have:], p)
			c.have += m
			p = p[m:]
			if c.have == PacketHeaderSize {
				c.beginPacket()
			}
			continue
		}
		m := min(c.body, len(p))
		c.sum = crc32.Update(c.sum, castagnoli(), p[:m])
		c.body -= m
		p = p[m:]
		c.damaged = c.body == 0 && c.sum != c.packet.body
	}
	return n, nil
}

// complete reports whether all packets have passed.
func (c *Checker) complete() bool {
	return c.body == 0 && c.next > 0 && c.next == c.zone.Packets()
}

// beginPacket takes the header in c.head.
func (c *Checker) beginPacket() {
	h, ok := ParsePacket(c.head[:])
	if c.next == 0 {
		c.zone = h.Zone
	}
	if !ok || h.Zone != c.zone || h.Number != c.next {
		c.damaged = true
		return
	}
	c.packet, c.body = h, h.Length()-PacketHeaderSize
	c.have, c.sum = 0, 0
	c.next++
}

// Found reports whether anything shows that this is a section of parity.
func (c *Checker) Found() bool {
	_, footer := ParseFooter(c.tail[:])
	return c.found || footer
}

// Intact reports whether the section is as it was written.
func (c *Checker) Intact() bool {
	if c.damaged || c.next == 0 || !c.complete() {
		return false
	}
	whole := c.passed + int64(c.zone.HeaderSize())
	size, ok := ParseFooter(c.tail[:])
	return ok && size == whole && size == c.zone.SectionSize()
}

// Zone returns what the packets of an intact section state.
func (c *Checker) Zone() Zone { return c.zone }
