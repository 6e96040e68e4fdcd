package main

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/gopz/compress/fse"
)

// The coders of single symbols get the literals of a block, in pieces as long as a block of zstd is at most. Every piece has a table of its
// own, and stands behind its length; one that is not worth coding is stored.

const entropyPiece = 128 << 10

var errPiece = errors.New("profile: piece of the wrong length")

// encodePieces codes the literals piece by piece. code appends a piece coded, or says that it cannot.
func encodePieces(s *scratch, in, out *item, code func(s *scratch, dst, src []byte, counts *[256]uint32) ([]byte, bool)) (int, error) {
	dst := out.coded[:0]
	for src := in.streams.Lits; len(src) > 0; {
		piece := src[:min(len(src), entropyPiece)]
		src = src[len(piece):]
		var counts [256]uint32
		for _, c := range piece {
			counts[c]++
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		ok := false
		// A single byte repeated has no use for a table, and a few bytes do not pay for one.
		if len(piece) >= 256 && counts[piece[0]] < uint32(len(piece)) {
			dst, ok = code(s, dst, piece, &counts)
		}
		if n := len(dst) - at - 4; !ok || n >= len(piece) {
			dst = append(dst[:at+4], piece...)
		}
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	out.coded = dst
	return len(dst), nil
}

func decodePieces(s *scratch, in, out *item, decode func(s *scratch, dst, src []byte) error) error {
	size := len(in.streams.Lits)
	out.streams.Lits = grow(out.streams.Lits, size)
	dst, src := out.streams.Lits, in.coded
	for len(dst) > 0 {
		if len(src) < 4 || int(binary.LittleEndian.Uint32(src)) > len(src)-4 {
			return errPiece
		}
		n := min(len(dst), entropyPiece)
		code := src[4 : 4+binary.LittleEndian.Uint32(src)]
		src = src[4+len(code):]
		if len(code) == n {
			copy(dst, code)
		} else if err := decode(s, dst[:n], code); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

func sameLiterals(a, b *item) bool { return bytes.Equal(a.streams.Lits, b.streams.Lits) }

func encodeFSE(s *scratch, in, out *item) (int, error) {
	return encodePieces(s, in, out, func(s *scratch, dst, src []byte, counts *[256]uint32) ([]byte, bool) {
		last := 255
		for counts[last] == 0 {
			last--
		}
		s.dist.Normalize(counts[:last+1], fse.AutoLog(11, len(src), last), false)
		dst = s.dist.Append(dst)
		s.fse.Table.Build(&s.dist)
		return s.fse.Append(dst, src, 2), true
	})
}

func decodeFSE(s *scratch, in, out *item) error {
	return decodePieces(s, in, out, func(s *scratch, dst, src []byte) error {
		n, err := s.dist.Read(src, 11, 256)
		if err != nil {
			return err
		}
		s.states.Build(&s.dist)
		return s.states.Decode(dst, src[n:], 2)
	})
}

func encodeHuffman(s *scratch, in, out *item) (int, error) {
	return encodePieces(s, in, out, func(s *scratch, dst, src []byte, counts *[256]uint32) ([]byte, bool) {
		dst, _, ok := s.builder.AppendBest(dst, &s.codes, counts)
		if !ok {
			return dst, false
		}
		return s.codes.Append4(dst, src), true
	})
}

func decodeHuffman(s *scratch, in, out *item) error {
	return decodePieces(s, in, out, func(s *scratch, dst, src []byte) error {
		var lens [256]uint8
		n, err := s.huffman.ReadTree(&lens, src)
		if err == nil {
			err = s.huffman.InitZstd(lens[:])
		}
		if err != nil {
			return err
		}
		return s.huffman.Decode4(dst, src[n:])
	})
}
