package compress

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Damage is a part of a file that is damaged.
type Damage struct {
	Kind          DamageKind
	Stream        int   // number of the stream, from 0
	Block         int64 // number of the first block lost, or of the one that would come next
	Blocks        int64 // how many are lost in a row, with DamageBlocks; 0 otherwise
	ContentOffset int64 // where in the content of the file it is missing; −1 if that is not known
	Content       int64 // bytes missing; −1 if that is not known
	Err           error // what is wrong with the first of them
}

// DamageKind says what damage has done.
type DamageKind uint8

const (
	DamageBlocks  DamageKind = iota // blocks are lost, and it is known how many
	DamageUnknown                   // it is not known what is lost: any number of blocks, or none
	DamageFrame                     // the header or the index of a stream is damaged; no content is lost
)

// Recover writes to w the content of all blocks of a damaged .pz file that are intact, in order. What is lost it tells
// report, which may be nil, between the writes; an error that report returns ends the recovery. Lost content is left
// out, or, with [WithZeroFill], replaced by zeros where its size is known. A stream's header alone does not make it
// known: the end of a file that was cut is not replaced.
//
// A .zst file with a seek table is taken for one with an index, whose blocks are its frames. If the table is damaged, or does not fit the frames because
// bytes are missing or have come in, the frames are searched from the front; that finds those which say how much content they have and are not too large for
// the memory, as those of a Writer do. In a file without any, and in .gz, there is nothing to search for: [ErrNoIndex]. Where the table is gone a .zst file that stands in a
// damaged frame is taken for a part of the file, as nothing tells them apart.
//
// With an intact index one damaged block costs that block alone. Without, as in a file that was cut, the blocks are
// searched from the front. Parts of the file that cannot be read are damage like any other; [Damage].Err wraps what src
// said.
//
// Recover returns nil if it came through, however much was lost. What has neither the header of a stream nor a block is an
// [ErrFormat], and nothing is written; other errors are those of w, report, the options, the context and the limits. Zeros count for [WithMaxDecodedSize] like content does.
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
	o.sched, o.workers = &Scheduler{o.scheduler()}, 0 // one for all that follows
	var gaps []gap
	x, err := readIndex(cancelable{src, &o}, size, o.readerLimit())
	if cerr := o.canceled(); cerr != nil {
		return cerr
	}
	switch {
	case err == nil:
	case isZstd(cancelable{src, &o}, size):
		x, gaps, err = searchFrames(src, size, &o)
	case errors.Is(err, ErrNoIndex):
		// what has no index has no blocks that could be found either
	default:
		if x, gaps, err = searchBlocks(src, size, &o); errors.Is(err, ErrFormat) {
			// Neither the first frame nor the last table of a .zst file may be left.
			if fx, fgaps, ferr := searchFrames(src, size, &o); !errors.Is(ferr, ErrNoIndex) {
				x, gaps, err = fx, fgaps, ferr
			}
		}
	}
	if err != nil {
		return err
	}
	r, err := newReaderAt(src, x, o)
	if err != nil {
		return err
	}
	defer r.Close()
	v := recovery{w: w, report: report, r: r, gaps: gaps}
	return v.run()
}

// cancelable is an input that cannot be read after the context has ended.
type cancelable struct {
	src io.ReaderAt
	opt *options
}

func (c cancelable) ReadAt(p []byte, off int64) (int, error) {
	if err := c.opt.canceled(); err != nil {
		return 0, err
	}
	return c.src.ReadAt(p, off)
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
	wrote  int64
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
	if err := v.gap(n); err != nil {
		return err
	}
	return r.opt.canceled()
}

// gap reports what is missing in front of a block.
func (v *recovery) gap(block int64) error {
	for len(v.gaps) > 0 && v.gaps[0].before == block {
		if err := v.flush(); err != nil {
			return err
		}
		d := v.gaps[0].Damage
		v.gaps = v.gaps[1:]
		d.ContentOffset = v.offset
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
	return v.write(data)
}

// write writes content, or zeros in its place.
func (v *recovery) write(p []byte) error {
	if most := v.r.opt.maxDecoded; most >= 0 && int64(len(p)) > most-v.wrote {
		return &Error{Kind: ErrTooLarge, Block: -1, Offset: -1, Detail: fmt.Sprintf("what is saved is more than %d bytes", most)}
	}
	n, err := writeFull(v.w, p)
	v.wrote += int64(n)
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
	case d.Content < 0 || d.Content > math.MaxInt64-max(v.offset, 0):
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
		if err := v.r.opt.canceled(); err != nil {
			return err
		}
		p := v.zeros[:min(n, int64(len(v.zeros)))]
		if err := v.write(p); err != nil {
			return err
		}
		n -= int64(len(p))
	}
	return nil
}
