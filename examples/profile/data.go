package main

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// pieceSize is the size of a piece of one kind in bytes. A block has several pieces, so that blocks
// are alike.
const pieceSize = 48 << 10

// makeContent returns the first n bytes of an endless sequence that is always the same: pieces of
// prose, log lines and binary rows. Every stage has about as much work on it as on common files.
func makeContent(n int) []byte {
	g := &generator{out: make([]byte, 0, n+pieceSize+4096)}
	g.makeWords()
	for i := 0; len(g.out) < n; i++ {
		end := len(g.out) + pieceSize
		add := []func(){g.sentence, g.logLine, g.sentence, g.row}[i%4]
		for len(g.out) < end {
			add()
			g.again()
		}
	}
	return g.out[:n:n]
}

type generator struct {
	out   []byte
	state uint64
	words [4096][]byte
	clock uint64
}

// next is splitmix64 (Steele, Lea and Flood 2014).
func (g *generator) next() uint64 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (g *generator) makeWords() {
	const letters = "eeeeettttaaaooooiiinnnsssrrrhhhddllluuccmmffyywwggppbbvkxqjz"
	for i := range g.words {
		w := make([]byte, 2+bits.Len(uint(i))/2+int(g.next()%5))
		for j := range w {
			w[j] = letters[g.next()%uint64(len(letters))]
		}
		g.words[i] = w
	}
}

// word appends a word, equally often one of the first 2, 4, 8 … 4096. That is close to Zipf's law.
func (g *generator) word() {
	v := g.next()
	g.out = append(g.out, g.words[v>>8%(2<<(v&255*12>>8))]...)
}

// again repeats earlier content, once in eight calls.
func (g *generator) again() {
	v := g.next()
	n, back := 16+int(v>>8&255), 512+int(v>>16&(1<<18-1))
	if v&7 == 0 && back < len(g.out) {
		from := len(g.out) - back
		g.out = append(g.out, g.out[from:from+n]...)
	}
}

func (g *generator) sentence() {
	for range 5 + g.next()%12 {
		g.word()
		g.out = append(g.out, ' ')
	}
	g.out = append(g.out[:len(g.out)-1], ".\n"...)
}

func (g *generator) logLine() {
	v := g.next()
	g.clock += v & 1023
	g.out = strconv.AppendUint(append(g.out, "2024-03-07T12:"...), 1000000000+g.clock, 10)
	g.out = append(g.out, [...]string{" INFO ", " INFO ", " INFO ", " WARN "}[v>>10&3]...)
	subjects := [...]string{"http request path=/api/v1/", "cache lookup key=", "sql query table="}
	g.out = append(g.out, subjects[v>>12%3]...)
	g.word()
	g.out = strconv.AppendUint(append(g.out, " client=10.0."...), v>>20&31, 10)
	g.out = strconv.AppendUint(append(g.out, " took="...), v>>30&4095, 10)
	g.out = append(g.out, "us\n"...)
}

func (g *generator) row() {
	v := g.next()
	g.clock += v & 63
	g.out = binary.LittleEndian.AppendUint64(g.out, g.clock)
	g.out = binary.LittleEndian.AppendUint32(g.out, uint32(v>>8&0xfff))
	g.out = binary.LittleEndian.AppendUint32(g.out, uint32(v>>20&7)*1000)
	g.out = binary.LittleEndian.AppendUint16(g.out, uint16(v>>40))
	g.out = append(g.out, "row\x00\x00\x00"...)
}
