package compress

import (
	"errors"
	"io"
)

// Damage is a part of a .pz file whose content is lost.
type Damage struct {
	Stream        int   // number of the stream, from 0
	Block         int64 // number of the first block lost
	Blocks        int64 // how many are lost in a row; 0 if it is only the index, −1 if that is not known
	ContentOffset int64 // where in the content of the file it is missing; −1 if that is not known
	Content       int64 // bytes missing; −1 if that is not known
	Err           error // what is wrong with the first of them
}

// Recover writes to w the content of all blocks of a damaged .pz file that are intact, in order. What is lost it tells
// report, which may be nil, between the writes; an error that report returns ends the recovery. Lost content is left
// out, or, with [WithZeroFill], replaced by zeros where its size is known.
//
// With an intact index one damaged block costs that block alone. Without, as in a file that was cut, the blocks are
// searched from the front. Recover returns nil if it came through, however much was lost; errors are those of w, report
// and the options.
func Recover(w io.Writer, src io.ReaderAt, size int64, report func(Damage) error, opts ...Option) error {
	o, err := newOptions(opts)
	if err != nil {
		return err
	}
	if size < 0 {
		return optionError("file size %d is negative", size)
	}
	if report == nil {
		report = func(Damage) error { return nil }
	}
	x, err := readIndex(src, size, o.readerLimit())
	var gaps []gap
	var e *Error
	switch {
	case err == nil:
	case errors.Is(err, ErrMemory) || !errors.As(err, &e):
		return err
	default:
		if x, gaps, err = searchBlocks(src, size, o.readerLimit()); err != nil {
			return err
		}
	}
	r, err := newReaderAt(src, x, o)
	if err != nil {
		return err
	}
	defer r.Close()
	v := recovery{w: w, report: report, r: r, gaps: gaps}
	return v.run()
}

// gap is damage that was found without an index, in front of a block.
type gap struct {
	before int64 // number of the block in the index
	Damage
}

// recovery is a call of Recover.
type recovery struct {
	w      io.Writer
	report func(Damage) error
	r      *ReaderAt
	gaps   []gap
	lost   Damage // blocks that follow one another, to be reported; Blocks is 0 if there are none
	offset int64  // of the next block's content; −1 if that is not known
	zeros  []byte
}

func (v *recovery) run() error {
	r := v.r
	n := int64(len(r.index.blocks))
	var held []*slot
	defer func() {
		for _, s := range held {
			r.slots.put(s)
		}
	}()
	for block, ahead := int64(0), int64(0); block < n; block++ {
		if err := r.opt.canceled(); err != nil {
			return err
		}
		for ahead < n {
			s, err := r.get(ahead, len(held) == 0)
			if err != nil {
				return err
			}
			if s == nil {
				break
			}
			held = append(held, s)
			ahead++
		}
		if err := v.gap(block); err != nil {
			return err
		}
		data, err := r.wait(held[0])
		if cerr := r.opt.canceled(); cerr != nil {
			return cerr
		}
		if err != nil {
			err = v.lose(block, err)
		} else {
			err = v.keep(data)
		}
		if err != nil {
			return err
		}
		r.slots.put(held[0])
		held = held[:copy(held, held[1:])]
	}
	return v.gap(n)
}

// gap reports what is missing in front of a block.
func (v *recovery) gap(block int64) error {
	for len(v.gaps) > 0 && v.gaps[0].before == block {
		if err := v.flush(); err != nil {
			return err
		}
		d := v.gaps[0].Damage
		v.gaps = v.gaps[1:]
		if d.ContentOffset = v.offset; v.offset < 0 {
			d.Content = -1
		}
		if err := v.tell(d); err != nil {
			return err
		}
	}
	if block == int64(len(v.r.index.blocks)) {
		return v.flush()
	}
	return nil
}

// keep writes an intact block.
func (v *recovery) keep(data []byte) error {
	if err := v.flush(); err != nil {
		return err
	}
	if v.offset >= 0 {
		v.offset += int64(len(data))
	}
	_, err := writeFull(v.w, data)
	return err
}

// lose notes that a block is lost.
func (v *recovery) lose(block int64, err error) error {
	st, number := v.r.index.streamOf(block)
	if v.lost.Blocks > 0 && v.lost.Stream != st.id {
		if err := v.flush(); err != nil {
			return err
		}
	}
	if v.lost.Blocks == 0 {
		v.lost = Damage{Stream: st.id, Block: number, ContentOffset: v.offset, Err: err}
	}
	v.lost.Blocks++
	v.lost.Content += int64(v.r.index.blocks[block].raw)
	return nil
}

// flush reports the blocks that were lost in a row.
func (v *recovery) flush() error {
	if v.lost.Blocks == 0 {
		return nil
	}
	d := v.lost
	v.lost = Damage{}
	return v.tell(d)
}

// tell reports damage and fills the place with zeros if that is wanted.
func (v *recovery) tell(d Damage) error {
	if err := v.report(d); err != nil {
		return err
	}
	switch {
	case d.Content < 0:
		v.offset = -1
	case v.offset >= 0:
		v.offset += d.Content
	}
	if !v.r.opt.zeroFill {
		return nil
	}
	if v.zeros == nil {
		v.zeros = make([]byte, 32<<10)
	}
	for n := d.Content; n > 0; {
		p := v.zeros[:min(n, int64(len(v.zeros)))]
		if _, err := writeFull(v.w, p); err != nil {
			return err
		}
		n -= int64(len(p))
	}
	return nil
}
