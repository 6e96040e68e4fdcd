package section

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestPacketRules breaks the rules of a packet's header, one at a time.
func TestPacketRules(t *testing.T) {
	le := binary.LittleEndian
	g := Zone{Offset: 1 << 20, Size: 1 << 20, Slice: 1 << 10, Parity: 100, Last: true}
	whole := g.AppendPacketHeader(nil, 7, make([]byte, 64))
	field := func(at, size int, value uint64) []byte {
		p := bytes.Clone(whole)
		copy(p[at:at+size], le.AppendUint64(nil, value))
		le.PutUint32(p[44:], Checksum(p[:44]))
		return p
	}
	last := uint64(g.Packets() - 1)
	for _, c := range []struct {
		name  string
		valid bool
		p     []byte
	}{
		{"as it is", true, whole},
		{"first byte", false, field(0, 1, 'p')},
		{"place 2^62", true, field(8, 8, 1<<62)},
		{"place above 2^62", false, field(8, 8, 1<<62+1)},
		{"empty zone", false, field(24, 4, 0)},
		{"zone above 256 MiB", false, field(24, 4, 1<<28+1)},
		{"zone of 16,384 slices", true, field(24, 4, 1<<24)},
		{"zone of 16,385 slices", false, field(24, 4, 1<<24+1)},
		{"slices of 0 bytes", false, field(28, 4, 0)},
		{"slices of 65,536 bytes", false, field(28, 4, 1<<16)}, // 16 of them, so M is too large
		{"slices of 8,192 bytes", true, field(28, 4, 1<<13)},   // 128 of them
		{"slices of 65,600 bytes", false, field(28, 4, 1<<16+64)},
		{"slices of 1,056 bytes", false, field(28, 4, 1056)},
		{"no parity", false, field(32, 2, 0)},
		{"as much parity as slices", true, field(32, 2, 1024)},
		{"more", false, field(32, 2, 1025)},
		{"bit 1", true, field(34, 1, 3)},
		{"bit 2", false, field(34, 1, 4)},
		{"byte 35", false, field(35, 1, 1)},
		{"last packet", true, field(36, 4, last)},
		{"behind the last packet", false, field(36, 4, last+1)},
		{"check", false, append(bytes.Clone(whole[:44]), 0, 0, 0, 0)},
		{"cut", false, whole[:47]},
	} {
		if h, ok := ParsePacket(c.p); ok != c.valid {
			t.Errorf("%s: %+v, %v", c.name, h, ok)
		}
	}
	wide := Zone{Size: 1 << 28, Slice: 1 << 16, Parity: 1}
	if _, ok := ParsePacket(wide.AppendPacketHeader(nil, 0, nil)); !ok {
		t.Error("256 MiB in slices of 65,536 bytes: refused")
	}
}
