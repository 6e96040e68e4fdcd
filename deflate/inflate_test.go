package deflate

import (
	"encoding/binary"
	"errors"

	"github.com/gopz/compress/huffman"
	"github.com/gopz/compress/lz77"
)

// inflated describes a decoded Deflate stream.
type inflated struct {
	content []byte
	seqs    []lz77.Sequence
	blocks  [3]int // by type
	bits    int    // of the stream
}

var errInflate = errors.New("inflate: corrupt input")

// inflate decodes a Deflate stream with the decoder of package huffman and reports its structure.
// before is the content that matches may refer to.
func inflate(code, before []byte) (in inflated, err error) {
	var lits, offs huffman.Decoder
	code = append(code[:len(code):len(code)], make([]byte, 16)...)
	end := 8 * (len(code) - 16)
	window := func() uint64 {
		return binary.LittleEndian.Uint64(code[in.bits>>3:]) >> (in.bits & 7)
	}
	take := func(n int) int {
		if in.bits+n > end {
			panic(errInflate)
		}
		v := int(window() & (1<<n - 1))
		in.bits += n
		return v
	}
	symbol := func(d *huffman.Decoder) int {
		s, n, ok := d.Symbol(window())
		if !ok || in.bits+int(n) > end {
			panic(errInflate)
		}
		in.bits += int(n)
		return s
	}
	must := func(err error) {
		if err != nil {
			panic(errInflate)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			if r != errInflate {
				panic(r)
			}
			err = errInflate
		}
		in.content = in.content[len(before):]
	}()
	in.content = append(in.content, before...)
	run := 0
	for last := false; !last; {
		last = take(1) == 1
		kind := take(2)
		if kind > typeDynamic {
			panic(errInflate)
		}
		in.blocks[kind]++
		var lens [litLenSymbols + offsetSymbols]uint8
		split := litLenSymbols
		switch kind {
		case typeStored:
			in.bits = (in.bits + 7) &^ 7
			n := take(16)
			if take(16) != n^0xffff || in.bits+8*n > end {
				panic(errInflate)
			}
			in.content = append(in.content, code[in.bits/8:in.bits/8+n]...)
			in.bits += 8 * n
			run += n
			continue
		case typeFixed:
			copy(lens[:], fixed.lengths.litLen[:])
			copy(lens[split:], fixed.lengths.offset[:])
		case typeDynamic:
			split = take(5) + firstLength
			total := split + take(5) + 1
			if split > maxLitLen {
				panic(errInflate)
			}
			var code [lengthSymbols]uint8
			for _, s := range lengthOrder[:take(4)+4] {
				code[s] = uint8(take(3))
			}
			must(lits.InitDeflate(code[:]))
			for i := 0; i < total; {
				s, n, v := symbol(&lits), 1, uint8(0)
				switch s {
				case repeatPrevious:
					n = 3 + take(2)
					if i == 0 {
						panic(errInflate)
					}
					v = lens[i-1]
				case repeatZeros:
					n = 3 + take(3)
				case repeatManyZeros:
					n = 11 + take(7)
				default:
					v = uint8(s)
				}
				if i+n > total {
					panic(errInflate)
				}
				for range n {
					lens[i] = v
					i++
				}
			}
		}
		must(lits.InitDeflate(lens[:split]))
		must(offs.InitDeflate(lens[split:]))
		for {
			s := symbol(&lits)
			if s == endOfBlock {
				break
			}
			if s < literals {
				in.content = append(in.content, byte(s))
				run++
				continue
			}
			if s -= firstLength; s >= lengthSlots {
				panic(errInflate)
			}
			length := MinMatch
			for lengthSlot[length] != uint8(s) {
				length++
			}
			length += take(int(lengthExtra[s]))
			slot := symbol(&offs)
			if slot >= maxOffsets {
				panic(errInflate)
			}
			offset := slot + 1
			if slot >= 4 {
				offset = (2+slot&1)<<(slot/2-1) + 1
			}
			offset += take(int(offsetExtra[slot]))
			from := len(in.content) - offset
			if from < 0 {
				panic(errInflate)
			}
			for i := range length {
				in.content = append(in.content, in.content[from+i])
			}
			in.seqs = append(in.seqs, lz77.Sequence{
				LitLen: uint32(run), MatchLen: uint32(length), Offset: uint32(offset),
			})
			run = 0
		}
	}
	return in, nil
}
