package corpus

import "encoding/binary"

var le = binary.LittleEndian

// row is one row of the kinds records and columns.
type row struct {
	id, time, price uint64
	count           uint16
	kind, flags     byte
}

func (g *gen) row() row {
	g.clock++
	g.vars[0] += uint64(g.below(5000))                        // time
	g.vars[1] = (g.vars[1] + uint64(g.noise(25))) & 0xff_ffff // price, a random walk
	return row{
		id:    1_000_000 + g.clock,
		time:  1_700_000_000_000 + g.vars[0],
		price: g.vars[1] << 20,
		count: uint16(g.geometric() * 100),
		kind:  byte(g.geometric() & 7),
		flags: byte(g.next()>>60) &^ 5,
	}
}

// records appends one row.
func records(g *gen) {
	r := g.row()
	o := g.out
	o = le.AppendUint64(o, r.id)
	o = le.AppendUint64(o, r.time)
	o = le.AppendUint64(o, r.price)
	o = le.AppendUint16(o, r.count)
	g.out = append(o, r.kind, r.flags, 0, 0, 0xff, 0xff)
}

// columns appends a group of 128 rows, field after field.
func columns(g *gen) {
	var rows [128]row
	for i := range rows {
		rows[i] = g.row()
	}
	o := append(g.out, "COLS"...)
	o = le.AppendUint32(o, uint32(len(rows)))
	for _, r := range rows {
		o = le.AppendUint64(o, r.id)
	}
	for i, r := range rows {
		o = le.AppendUint32(o, uint32(r.time-rows[max(i-1, 0)].time))
	}
	for _, r := range rows {
		o = le.AppendUint64(o, r.price)
	}
	for _, r := range rows {
		o = le.AppendUint16(o, r.count)
	}
	for _, r := range rows {
		o = append(o, r.kind)
	}
	for _, r := range rows {
		o = append(o, r.flags)
	}
	g.out = o
}

// dna appends new bases, or a repeat with a few mutations.
func dna(g *gen) {
	if len(g.out) == 0 {
		g.string(">seq1 chromosome\n")
	}
	if g.oneIn(6) && len(g.out) > 1000 {
		// Copy bases only; base breaks the lines anew.
		at := g.below(len(g.out) - 500)
		for _, c := range g.out[at : at+g.between(30, 400)] {
			if c < 'A' || c > 'T' {
				continue
			}
			if g.oneIn(40) {
				c = "ACGT"[g.below(4)]
			}
			g.base(c)
		}
		return
	}
	for range 8 {
		for x, i := g.next(), 0; i < 32; i++ {
			g.base("ACGT"[x&3])
			x >>= 2
		}
	}
}

func (g *gen) base(c byte) {
	g.bytes(c)
	g.clock++
	if g.clock%60 == 0 {
		g.bytes('\n')
	}
}

// image appends one line of 512 samples: a shaded bright disc on black, with sensor noise.
func image(g *gen) {
	const width = 512
	y := width/4 + int(g.clock)
	g.clock++
	x := g.next() // five bits are the noise of one sample
	for i := range width {
		if i%12 == 0 {
			x = g.next()
		}
		dx, dy := i-width/2, y%width-width/2
		v := 0
		if d := dx*dx + dy*dy; d < 230*230 {
			v = 1200 - d>>6 + dx*dy>>9 + int(x&15+x>>4&15)
		}
		x >>= 5
		g.out = le.AppendUint16(g.out, uint16(v))
	}
}

// opcodes are common x86-64 instructions. A byte 0x11 stands for a varying byte, 0x22 for four.
var opcodes = [...]string{
	"\x48\x89\xc7", "\x48\x8b\x45\x11", "\x48\x89\x45\x11", "\x8b\x44\x24\x11",
	"\x31\xc0", "\x85\xc0", "\x74\x11", "\x75\x11",
	"\xe8\x22", "\xe8\x22", "\xe8\x22", "\x48\x8d\x3d\x22", "\x0f\x84\x22", "\xe9\x22",
	"\x48\x83\xec\x11", "\x48\x83\xc4\x11",
	"\x5d\xc3", "\x55\x48\x89\xe5", "\x41\x54\x53", "\x48\x01\xd0", "\x0f\xb6\x00",
	"\x66\x0f\x1f\x44\x00\x00",
}

// executable appends a function, or sometimes a jump table or a group of strings.
func executable(g *gen) {
	switch c := g.below(12); c {
	case 0:
		base := uint32(len(g.out))
		for range g.between(4, 20) {
			g.out = le.AppendUint32(g.out, base+uint32(g.below(4096)))
		}
	case 1:
		for range g.between(2, 10) {
			g.name()
			g.bytes(0)
		}
	default:
		for range g.between(10, 80) {
			op := opcodes[min(g.below(len(opcodes)), g.below(len(opcodes)))]
			for _, b := range []byte(op) {
				switch b {
				case 0x11:
					g.bytes(byte(g.geometric() * 8))
				case 0x22:
					// Targets of calls are few, and the operand is relative to the call.
					target := uint32(g.below(64)*g.below(64)) << 6
					g.out = le.AppendUint32(g.out, target-uint32(len(g.out)))
				default:
					g.bytes(b)
				}
			}
		}
		for len(g.out)%16 != 0 {
			g.bytes(0xcc)
		}
	}
}
