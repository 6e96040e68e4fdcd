package compress

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/pzfile"
)

// Plan says how content of a known size is cut into blocks, so that pieces of a file can be
// compressed apart, for instance on different machines. A piece is one or more consecutive blocks.
// The file is [Plan.Header], the pieces in order, and [Plan.Trailer]. It is byte for byte the file
// that a [Writer] with the same options and [WithContentSize] makes, and in .zst [WithSeekable].
//
// All machines make the Plan with the same size and the same options. Only options that change
// memory, workers or devices may differ. The methods may be called from several goroutines at the
// same time; [WithMaxMemory] limits each call of Encode. To read or verify pieces of a file on
// different machines, see [ReaderAt.Recover].
type Plan struct {
	opt     options
	blocks  int64
	id      uint64 // of what the bytes of the file depend on, except for the content
	writers sync.Pool
}

// NewPlan returns the Plan for content of size bytes. Errors are those of [NewWriter], and an
// [ErrOption] for [WithRsyncable] and [WithLongDistance].
func NewPlan(size int64, opts ...WriterOption) (*Plan, error) {
	if size < 0 {
		return nil, errs.BadOption("content size %d is negative", size)
	}
	p := new(Plan)
	planned := writerOption(func(o *options) error {
		if o.contentSize >= 0 && o.contentSize != size {
			return errs.BadOption("WithContentSize(%d) for a Plan of %d bytes", o.contentSize, size)
		}
		o.planned, o.contentSize = true, size
		return nil
	})
	if err := p.opt.setWriter(append(opts[:len(opts):len(opts)], planned), size); err != nil {
		return nil, err
	}
	o := &p.opt
	o.sched, o.workers, o.private = &Scheduler{o.scheduler()}, 0, nil // one for all calls of Encode
	p.blocks = (size-1)/int64(o.blockSize) + 1
	if size == 0 {
		p.blocks = 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, o.pipe.Name, o.level, o.blockSize, o.limits.Checks, size, o.tuning, o.modTime, o.name)
	if o.dict != nil {
		fmt.Fprint(h, o.dict.ID(), pzfile.Checksum(0, o.dict.Content()))
	}
	p.id = h.Sum64()
	return p, nil
}

// Size returns the bytes of content.
func (p *Plan) Size() int64 { return p.opt.contentSize }

// Blocks returns the number of blocks, 0 for empty content.
func (p *Plan) Blocks() int64 { return p.blocks }

// BlockSize returns the bytes of content in each block but the last, which may be shorter.
func (p *Plan) BlockSize() int { return p.opt.blockSize }

// Content returns the content of the blocks first … last−1: the bytes from ≤ i < to.
func (p *Plan) Content(first, last int64) (from, to int64) {
	return p.at(first), p.at(last)
}

// Input returns the content that [Plan.Encode] reads for the blocks first … last−1: the bytes from
// ≤ i < to. In .gz it begins with the 32 KiB in front of the blocks, which matches may refer to.
func (p *Plan) Input(first, last int64) (from, to int64) {
	from, to = p.Content(first, last)
	return max(0, from-int64(p.opt.reach())), to
}

// at returns where in the content a block begins.
func (p *Plan) at(block int64) int64 {
	return min(min(max(block, 0), p.blocks)*int64(p.opt.blockSize), p.Size())
}

// Encode compresses the blocks first … last−1 and writes them to w: one piece of the file. It reads
// the bytes that [Plan.Input] names from r, and no others. It uses r and w only on the caller's
// goroutine. If r ends early, the error is [ErrContentSize]. Other errors are those of r, w, the
// context and the limits. After an error the bytes in w are of no use.
func (p *Plan) Encode(w io.Writer, r io.Reader, first, last int64) (*Piece, error) {
	if first < 0 || first >= last || last > p.blocks {
		return nil, errs.BadOption("blocks %d … %d of %d", first, last-1, p.blocks)
	}
	z, _ := p.writers.Get().(*Writer)
	if z == nil {
		var err error
		z, err = p.opt.newWriter()
		if err != nil {
			return nil, err
		}
	}
	piece := &Piece{plan: p.id, first: first}
	z.Reset(w)
	z.piece = piece
	z.header(p.whole()) // Plan.Header returns it
	if err := z.encodePiece(p, r, last); err != nil {
		return nil, z.fail(err)
	}
	z.piece, z.dst = nil, nil
	z.releaseScratch()
	p.writers.Put(z)
	return piece, nil
}

// encodePiece compresses the blocks from z.piece.first to last−1, which r has.
func (w *Writer) encodePiece(p *Plan, r io.Reader, last int64) error {
	first := w.piece.first
	if w.opt.pipe.Format == PZ {
		w.frames.pz.SetBlock(first)
	}
	from, to := p.Content(first, last)
	start, _ := p.Input(first, last)
	w.blocks, w.ended, w.in, w.done.content = first, first, from, from
	w.window = slices.Grow(w.window[:0], int(from-start))[:from-start]
	missing := to - start
	n, err := container.ReadFull(r, w.window)
	if err != nil && !errs.IsEnd(err) {
		return err
	}
	missing -= int64(n)
	if n == len(w.window) {
		m, err := w.ReadFrom(io.LimitReader(r, to-from))
		if err != nil {
			return err
		}
		missing -= m
	}
	if missing > 0 {
		return errs.New(ErrContentSize, fmt.Sprintf("input of blocks %d … %d ends %d bytes early",
			first, last-1, missing))
	}
	w.cur.Last = last == p.blocks
	if err := w.submit(true); err != nil {
		return err
	}
	return w.writeDone(true)
}

// Header returns the bytes in front of the first piece. There are none if the file is a .pz file
// of one block with at most 65,000 bytes: its header is part of the block.
func (p *Plan) Header() []byte {
	var frames framers
	return frames.beginFile(&p.opt).Header(nil, p.whole())
}

// whole returns the size of the content if one block has it all, else −1.
func (p *Plan) whole() int {
	if p.blocks > 1 {
		return -1
	}
	return int(p.Size())
}

// Trailer returns the bytes behind the last piece. The pieces may be in any order. If they are not
// of p, or are not exactly its blocks, the error is [ErrOption]. Trailer takes up to 40 bytes of
// memory for each block, and needs no content.
func (p *Plan) Trailer(pieces ...*Piece) ([]byte, error) {
	pieces = slices.Clone(pieces)
	slices.SortFunc(pieces, func(a, b *Piece) int { return cmp.Compare(a.first, b.first) })
	var frames framers
	f := frames.beginFile(&p.opt)
	buf := f.Header(nil, p.whole())
	size := int64(len(buf))
	next := int64(0)
	for _, piece := range pieces {
		switch {
		case piece.plan != p.id:
			return nil, errs.BadOption("a piece at block %d of another plan", piece.first)
		case piece.first != next:
			return nil, errs.BadOption("a piece begins at block %d in place of %d", piece.first, next)
		case piece.Last() > p.blocks:
			return nil, errs.BadOption("a piece ends at block %d of %d", piece.Last(), p.blocks)
		}
		for _, b := range piece.blocks {
			info := container.Block{
				Kind: b.kind, Payload: int(b.payload), Raw: int(p.at(next+1) - p.at(next)), Sum: b.sum,
				Last: next+1 == p.blocks,
			}
			buf = f.BlockTrailer(f.BlockHeader(buf[:0], info), info)
			size += int64(len(buf)) + int64(b.payload)
			next++
		}
	}
	if next != p.blocks {
		return nil, errs.BadOption("pieces with %d blocks of %d", next, p.blocks)
	}
	return f.Trailer(nil, p.Size(), size), nil
}

// Piece describes a piece of a file for [Plan.Trailer]: which blocks it has, their sizes and
// checks. It takes 8 to 16 bytes a block, also as bytes. It does not hold the compressed blocks
// themselves.
type Piece struct {
	plan   uint64
	first  int64
	size   int64
	blocks []pieceBlock
}

// pieceBlock is a container.Block without what the plan says of it.
type pieceBlock struct {
	kind    container.Kind
	payload uint32 // bytes
	sum     uint32
}

// First returns the number of the first block.
func (p *Piece) First() int64 { return p.first }

// Last returns the number of the block behind the last one.
func (p *Piece) Last() int64 { return p.first + int64(len(p.blocks)) }

// Size returns the bytes that [Plan.Encode] wrote.
func (p *Piece) Size() int64 { return p.size }

// addBlock notes a block, and the bytes that it takes in the file.
func (p *Piece) addBlock(b container.Block, size int64) {
	p.blocks = append(p.blocks, pieceBlock{b.Kind, uint32(b.Payload), b.Sum})
	p.size += size
}

// pieceVersion begins the bytes of a Piece.
const pieceVersion = 1

// MarshalBinary implements [encoding.BinaryMarshaler]. Other versions of this package may not
// understand the bytes.
func (p *Piece) MarshalBinary() ([]byte, error) {
	dst := binary.LittleEndian.AppendUint64([]byte{pieceVersion}, p.plan)
	dst = binary.AppendUvarint(dst, uint64(p.first))
	dst = binary.AppendUvarint(dst, uint64(p.size))
	for _, b := range p.blocks {
		dst = binary.AppendUvarint(dst, uint64(b.payload)<<2|uint64(b.kind))
		dst = binary.LittleEndian.AppendUint32(dst, b.sum)
	}
	return binary.LittleEndian.AppendUint32(dst, pzfile.Checksum(0, dst)), nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. If data was not made by MarshalBinary,
// the error is an [ErrCorrupt].
func (p *Piece) UnmarshalBinary(data []byte) error {
	if len(data) < 13 || data[0] != pieceVersion {
		return errs.New(ErrCorrupt, "no description of a piece")
	}
	bad := errs.New(ErrCorrupt, "a damaged description of a piece")
	n := len(data) - 4
	if pzfile.Checksum(0, data[:n]) != binary.LittleEndian.Uint32(data[n:]) {
		return bad
	}
	data = data[:n]
	q := Piece{plan: binary.LittleEndian.Uint64(data[1:])}
	data = data[9:]
	next := func(most uint64) (v uint64, ok bool) {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > most {
			return 0, false
		}
		data = data[n:]
		return v, true
	}
	first, ok1 := next(math.MaxInt64 / 2)
	size, ok2 := next(math.MaxInt64 / 2)
	if !ok1 || !ok2 {
		return bad
	}
	q.first, q.size = int64(first), int64(size)
	for len(data) > 0 {
		v, ok := next(math.MaxInt32<<2 | 3)
		if !ok || v&3 == 0 || len(data) < 4 {
			return bad
		}
		b := pieceBlock{container.Kind(v & 3), uint32(v >> 2), binary.LittleEndian.Uint32(data)}
		q.blocks = append(q.blocks, b)
		data = data[4:]
	}
	*p = q
	return nil
}
