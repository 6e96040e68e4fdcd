package fse

import (
	"encoding/binary"

	"github.com/gopz/compress/internal/bitio"
)

// Encoder encodes byte strings with one table. The zero value is ready for Table.Build; it keeps
// its scratch memory between calls.
type Encoder struct {
	Table EncTable

	// The bits that the states emit, from the last symbol to the first. The chain of states depends
	// on table lookups and the chain of bits on nothing, so each has a loop of its own.
	values []uint16
	counts []uint8

	// Of the encoded string:
	n    int       // number of values
	last [2]uint32 // states behind the first symbols
	two  bool      // there are two states
	bits int       // size without the mark at the end
}

// Append encodes src with one state or two interleaved ones and appends the result to dst: a bit
// string to be read backward, with the states at its end (RFC 8878, section 4.1). src must have at
// least as many symbols as there are states, all with a probability in Table.
func (e *Encoder) Append(dst, src []byte, states int) []byte {
	e.Encode(src, states)
	return e.AppendEncoded(dst)
}

// Encode encodes src as Append does and returns the size of the result in bytes. AppendEncoded
// appends it.
func (e *Encoder) Encode(src []byte, states int) (size int) {
	n := len(src) - states
	if cap(e.values) < n+3 {
		e.values = make([]uint16, n+3+n/8)
		e.counts = make([]uint8, n+3+n/8)
	}
	values, counts := e.values[:n], e.counts[:n]
	e.n, e.two = n, states == 2
	if e.two {
		e.last[0], e.last[1], e.bits = e.Table.chains(src, values, counts)
	} else {
		e.last[0], e.bits = e.Table.chain(src, values, counts)
	}
	e.bits += states * int(e.Table.log)
	return e.bits/8 + 1
}

// AppendEncoded appends the string that Encode has encoded to dst. Encode must come before the next
// AppendEncoded.
func (e *Encoder) AppendEncoded(dst []byte) []byte {
	n, mask := e.n, uint64(1)<<e.Table.log-1
	w := bitio.Writer{Out: dst}
	w.Room(e.bits + 1)
	putAll(&w, e.values[:n+3], e.counts[:n+3], n)
	if e.two {
		w.Put(uint64(e.last[1])&mask, e.Table.Log())
	}
	w.Put(uint64(e.last[0])&mask, e.Table.Log())
	w.Put(1, 1)
	w.Align()
	return w.Out
}

// chain runs one state from the last symbol to the first. It returns the state and the number of
// bits emitted.
func (t *EncTable) chain(src []byte, values []uint16, counts []uint8) (state uint32, bits int) {
	last := len(src) - 1
	state = t.Start(src[last])
	src = src[:last]
	//pz:nobce
	for len(src) >= 1 && len(values) >= 1 && len(counts) >= 1 {
		next, n := t.Next(state, src[len(src)-1])
		values[0], counts[0] = uint16(state&(1<<(n&31)-1)), uint8(n)
		bits += int(n)
		state = next
		src, values, counts = src[:len(src)-1], values[1:], counts[1:]
	}
	return state, bits
}

// chains runs two states from the last two symbols to the first two. The first state has symbols 0,
// 2, 4 and so on. It returns the states and the number of bits emitted.
func (t *EncTable) chains(
	src []byte, values []uint16, counts []uint8,
) (first, second uint32, bits int) {
	last := len(src) - 1
	a, b := t.Start(src[last]), t.Start(src[last-1])
	src = src[:last-1]
	//pz:nobce
	for len(src) >= 2 && len(values) >= 2 && len(counts) >= 2 {
		nextA, nA := t.Next(a, src[len(src)-1])
		nextB, nB := t.Next(b, src[len(src)-2])
		values[0], counts[0] = uint16(a&(1<<(nA&31)-1)), uint8(nA)
		values[1], counts[1] = uint16(b&(1<<(nB&31)-1)), uint8(nB)
		bits += int(nA + nB)
		a, b = nextA, nextB
		src, values, counts = src[:len(src)-2], values[2:], counts[2:]
	}
	if len(src) == 0 {
		return b, a, bits // with an even number of symbols the last one belongs to the second state
	}
	next, n := t.Next(a, src[0])
	values[0], counts[0] = uint16(a&(1<<(n&31)-1)), uint8(n)
	return next, b, bits + int(n)
}

// putAll writes the n values, from values[0] on, for whose bits w must have room. values and counts
// must have three spare elements.
func putAll(w *bitio.Writer, values []uint16, counts []uint8, n int) {
	clear(values[n:])
	clear(counts[n:])
	to, acc, have, at := w.Out[len(w.Out):cap(w.Out)], w.Acc, w.N, 0
	for len(values) >= 4 && len(counts) >= 4 {
		v0, v1, v2, v3 := uint64(values[0]), uint64(values[1]), uint64(values[2]), uint64(values[3])
		n0, n1, n2, n3 := uint(counts[0]), uint(counts[1]), uint(counts[2]), uint(counts[3])
		// Four values have at most 48 bits, and at most 7 bits are pending.
		v01 := v0 | v1<<(n0&63)
		v23 := v2 | v3<<(n2&63)
		acc |= (v01 | v23<<((n0+n1)&63)) << (have & 63)
		have += n0 + n1 + n2 + n3
		binary.LittleEndian.PutUint64(to[at:], acc)
		at += int(have >> 3)
		acc >>= have &^ 7 & 63
		have &= 7
		values, counts = values[4:], counts[4:]
	}
	w.Out, w.Acc, w.N = w.Out[:len(w.Out)+at], acc, have
}
