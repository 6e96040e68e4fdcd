package main

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// makeContent returns the first n bytes of an endless sequence that is always the same: prose, log
// lines and binary rows by turns, in pieces much smaller than a block, so that blocks are alike.
func makeContent(n int) []byte {
	const letters = "eeeeettttaaaooooiiinnnsssrrrhhhddllluuccmmffyywwggppbbvkxqjz"
	r := rand.New(rand.NewPCG(1, 2))
	words := make([][]byte, 4096) // frequent words are short
	for i := range words {
		words[i] = make([]byte, 2+bits.Len(uint(i))/2+r.IntN(5))
		for j := range words[i] {
			words[i][j] = letters[r.IntN(len(letters))]
		}
	}
	// One of the first 2, 4, 8 … 4096 words, each set equally often, is close to Zipf's law.
	word := func() []byte { return words[r.IntN(2<<r.IntN(12))] }
	out := make([]byte, 0, n+4096)
	for i := 0; len(out) < n; i++ {
		switch i / 512 % 3 {
		case 0:
			for range 5 + r.IntN(12) {
				out = append(append(out, word()...), ' ')
			}
			out = append(out, ".\n"...)
		case 1:
			out = fmt.Appendf(out, "2024-03-07T12:%09d INFO path=/api/v1/%s client=10.0.0.%d took=%dus\n",
				37*i, word(), r.IntN(32), r.IntN(4096))
		case 2:
			out = binary.LittleEndian.AppendUint64(out, uint64(41*i))
			out = binary.LittleEndian.AppendUint32(out, 1000*r.Uint32N(8))
			out = binary.LittleEndian.AppendUint32(out, r.Uint32N(1<<16))
		}
	}
	return out[:n:n]
}
