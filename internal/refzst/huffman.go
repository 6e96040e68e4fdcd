package refzst

import "math/bits"

const maxCodeLength = 11

// A leaf of a Huffman table is a symbol and the length of its code in bits.
type leaf struct{ symbol, length uint8 }

// A huffman is a Huffman table: the leaf for each value of the next bits.
type huffman []leaf

// readHuffman reads the description of a table.
func readHuffman(in *input) huffman {
	n := int(in.byte())
	if n < 128 {
		return makeHuffman(codedWeights(&input{in.take(n)}))
	}
	n -= 127
	b := in.take((n + 1) / 2)
	var w []uint8
	for i := range n {
		w = append(w, b[i/2]>>(4-i%2*4)&15)
	}
	return makeHuffman(w)
}

// codedWeights reads weights that are coded with FSE. Two states take turns.
func codedWeights(in *input) []uint8 {
	t := readFSE(in, &codes[weights])
	r := newBackward(in.data)
	state, other := r.take(t.log()), r.take(t.log())
	check(r.left >= 0, "weights end early")
	var w []uint8
	for r.left >= 0 { // at the end, the states that are left have one symbol more
		w = append(w, t[state].symbol)
		state, other = other, t.next(state, r)
		check(len(w) < 255, "too many weights")
	}
	return append(w, t[state].symbol)
}

// makeHuffman returns the table for the weights of all symbols but the last. A code of weight w has
// 2^(w-1) cells of the table.
func makeHuffman(w []uint8) huffman {
	sum := 0
	for _, x := range w {
		check(x <= maxCodeLength, "a weight is too large")
		sum += 1 << x >> 1
	}
	log := bits.Len(uint(sum))
	last := 1<<log - sum
	check(sum > 0 && log <= maxCodeLength && last&(last-1) == 0, "weights do not fit together")
	w = append(w, uint8(bits.Len(uint(last))))
	var t huffman
	for x := 1; x <= log; x++ {
		for s := range w {
			if int(w[s]) == x {
				for range 1 << x >> 1 {
					t = append(t, leaf{uint8(s), uint8(log + 1 - x)})
				}
			}
		}
	}
	return t
}

// decode fills out with the symbols of a stream.
func (t huffman) decode(out, stream []byte) {
	r := newBackward(stream)
	log := bits.Len(uint(len(t))) - 1
	for i := range out {
		l := t[r.peek(log)]
		out[i] = l.symbol
		r.left -= int(l.length)
		check(r.left >= 0, "literals end early")
	}
	r.checkEnd()
}
