package lzseq

import (
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/lz77"
)

// executor is lz77.Execute or lz77.ExecuteExact.
type executor func(
	dst []byte, at int, lits []byte, seqs []lz77.Sequence,
) (end int, rest []byte, ok bool)

// executePieces is execute with a checkpoint after each piece of content, for a batch with long
// sequences. It divides these.
func (s *Streams) executePieces(
	execute executor, dst []byte, at int, lits []byte, seqs []lz77.Sequence,
) (end int, rest []byte, ok bool) {
	for len(seqs) > 0 {
		n, size := 0, 0
		for n < len(seqs) && size <= pieces.Size {
			size += int(seqs[n].LitLen) + int(seqs[n].MatchLen)
			n++
		}
		if size > pieces.Size {
			n-- // the last one is too long
		}
		at, lits, ok = execute(dst, at, lits, seqs[:n])
		if !ok {
			return at, lits, false
		}
		s.checkpoint()
		seqs = seqs[n:]
		if n == 0 {
			at, lits, ok = s.executeLong(execute, dst, at, lits, seqs[0])
			if !ok {
				return at, lits, false
			}
			seqs = seqs[1:]
		}
	}
	return at, lits, true
}

// executeLong is executePieces for one sequence of more than a piece. A match that is cut into
// several with the same offset gives the same content.
func (s *Streams) executeLong(
	execute executor, dst []byte, at int, lits []byte, q lz77.Sequence,
) (end int, rest []byte, ok bool) {
	n := int(q.LitLen)
	pieces.Copy(dst[at:], lits[:n], s.Checkpoint)
	at, lits, q.LitLen = at+n, lits[n:], 0
	for left := int(q.MatchLen); left > 0; left -= int(q.MatchLen) {
		q.MatchLen = uint32(min(left, pieces.Size))
		at, lits, ok = execute(dst, at, lits, []lz77.Sequence{q})
		if !ok {
			return at, lits, false
		}
		s.checkpoint()
	}
	return at, lits, true
}
