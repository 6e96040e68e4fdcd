package zstfile

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/zstframe"
)

// A decoder decodes the frames of a file that are cut into parts. Its part is a unit.
type decoder struct {
	checks bool // compare checksums
	limits *container.Limits
	dict   *zstd.Dictionary // nil for none

	// What Decode uses, in the order of the parts.
	zstd    zstd.Decoder
	carry   zstd.Carry // that it began with
	current int64      // the last part that it decoded without parsing ahead
	ring    ring
	total   int64 // content of the frame so far, in bytes
	content int64 // of the file
	err     error // what follows the content
	memory  atomic.Int64

	// What Verify uses.
	hash   xxhash.Digest
	summed int64                            // content of the frame so far, in bytes
	ends   func(parts *part, content int64) // called behind a frame that states no size
	free   []*part                          // not in use
}

// A part is some blocks of a frame. It is a [container.SerialDecoder] for one unit. Where that
// pays, Prepare parses the blocks ahead of their turn. The Scanner makes a part, a worker calls
// Prepare, another one Decode, and the Reader Verify.
type part struct {
	dec    *decoder
	unit   int64 // number of the unit
	frame  *frameInfo
	offset int64 // of the first block in the file
	blocks int
	size   int   // of the blocks in bytes
	bound  int   // most content of the blocks in bytes
	end    int64 // offset of the end in the file
	ahead  bool  // Prepare parses it
	begins bool  // it begins the frame
	last   bool  // it has the frame's last block
	ends   bool  // it ends the frame
	damage error // of the frame that the Scanner has found, or nil
	sum    uint32

	carry  zstd.Carry // of the blocks before; only in frames with parts that are parsed ahead
	parsed zstd.Parsed
}

// frameInfo says what the parts of a frame have in common. It does not change.
type frameInfo struct {
	Header
	number   int64
	offset   int64
	start    int64 // of its content in that of the file, −1 if only the decoder knows
	window   int64 // that its content needs
	inFlight int   // most parts in flight
	ring     int   // size of the ring in bytes
	counted  bool  // the Scanner counts its content
	damage   error // that was found before the frame was cut into parts, or nil
}

var errSize = errors.New("content of another size than the frame header states")

// errPanicked is what a decoder returns after a panic.
var errPanicked = errs.New(errs.Internal, "a decoder panicked")

// parsers holds memory that Prepare uses.
var parsers = sync.Pool{New: func() any { return new(zstd.EntropyDecoder) }}

// reset begins a file. No part of the file before is in flight.
func (d *decoder) reset() {
	d.ring.reset()
	d.content, d.err, d.limits = 0, nil, nil
}

// newPart returns a part of a frame.
func (d *decoder) newPart(f *frameInfo, unit int64) *part {
	p := new(part)
	if n := len(d.free); n > 0 {
		p, d.free = d.free[n-1], d.free[:n-1]
	}
	parsed := p.parsed
	*p = part{dec: d, frame: f, unit: unit, damage: f.damage, parsed: parsed}
	return p
}

// Prepare implements container.SerialDecoder.
func (p *part) Prepare(s *container.Serial) {
	if !p.ahead {
		return
	}
	e := parsers.Get().(*zstd.EntropyDecoder)
	defer parsers.Put(e)
	e.Reset(p.frame.Window, p.dec.dict, &p.carry)
	for src := s.Src; len(src) > 0; {
		n, err := e.Parse(&p.parsed, src)
		if err != nil {
			return // Decode returns it in its turn
		}
		src = src[n:]
		yield(s)
	}
}

// yield calls the checkpoint.
func yield(s *container.Serial) {
	if s.Checkpoint != nil {
		s.Checkpoint()
	}
}

// Decode implements container.SerialDecoder.
func (p *part) Decode(s *container.Serial) {
	d := p.dec
	s.Buf, s.History, s.Used = nil, 0, p.end
	if d.err == nil {
		d.err = errPanicked // unless decode returns
		d.err = d.decode(p, s)
	}
	s.Total, s.Stop = d.content, d.err
}

// decode decodes a part. The error is what follows its content.
func (d *decoder) decode(p *part, s *container.Serial) error {
	f := p.frame
	if p.begins {
		if f.start >= 0 {
			d.content = f.start
		}
		if f.ContentSize >= 0 && d.limits.TooLarge(d.content, f.ContentSize) {
			return f.tooLarge()
		}
		d.zstd.Reset(f.Window, d.dict)
		d.ring.beginFrame(f.inFlight, f.ring, f.ContentSize)
		d.total, d.current = 0, p.unit-1
	}
	room := p.bound
	if p.ahead {
		room = p.parsed.Content()
	}
	dst, from := d.ring.beginPart(room+zstd.DecodeSlack, f.window, &d.zstd.Executor)
	d.memory.Store(int64(cap(d.ring.buf)))
	at, err := d.blocks(p, s, dst, from)
	short := err == nil && p.last && f.ContentSize >= 0 && d.total < f.ContentSize
	if short && p.begins {
		at = from // a frame of one part gives nothing then, nor does one that is a unit
	}
	if d.limits.TooLarge(d.content, int64(at-from)) {
		at, err = from+int(d.limits.MaxDecoded-d.content), f.tooLarge()
	}
	d.ring.endPart(from, at)
	s.Buf = dst[from:at:at]
	d.content += int64(at - from)
	switch {
	case err != nil:
		return err
	case short:
		return f.corrupt(errSize)
	}
	return nil
}

// blocks decodes the blocks of a part to dst[at:]. It returns the end of the content.
func (d *decoder) blocks(p *part, s *container.Serial, dst []byte, at int) (end int, err error) {
	if !p.ahead && d.current != p.unit-1 {
		d.carry = p.carry
		d.zstd.GoOn(&d.carry)
	}
	if !p.ahead {
		d.current = p.unit
	}
	f, src := p.frame, s.Src
	for i := 0; ; i++ {
		switch {
		case p.ahead && i < p.parsed.Blocks():
			end, err = d.zstd.Execute(dst, at, &p.parsed, i)
		case !p.ahead && len(src) > 0:
			var used int
			end, used, _, err = d.zstd.Block(dst, at, src)
			src = src[used:]
		default:
			return at, nil
		}
		if err == nil {
			d.total += int64(end - at)
			if f.ContentSize >= 0 && d.total > f.ContentSize {
				err = errSize
			}
		}
		if err != nil {
			return at, p.corrupt(s.Src, i, err)
		}
		at = end
		yield(s)
	}
}

// FinishContent implements container.SerialDecoder.
func (p *part) FinishContent(*container.Serial) {}

// Verify implements container.SerialDecoder.
func (p *part) Verify(s *container.Serial) {
	d, f := p.dec, p.frame
	if p.begins {
		d.summed = 0
		d.hash.Reset()
	}
	content := s.Content()
	d.summed += int64(len(content))
	if d.checks && f.Checksum {
		d.hash.Write(content)
	}
	if s.Stop == nil && p.ends {
		if d.checks && f.Checksum && p.sum != uint32(d.hash.Sum64()) {
			s.Stop = f.fail(errs.Checksum, f.offset, nil)
		} else if !f.counted {
			d.ends(p, d.summed)
		}
	}
	s.Partly, s.Damage = s.Stop != nil || !p.ends, cmp.Or(s.Stop, p.damage)
	p.parsed.Reset()
	d.free = append(d.free, p)
}

// corrupt returns the error of block i of the part. src is the part.
func (p *part) corrupt(src []byte, i int, err error) error {
	at := p.offset
	for ; i > 0; i-- {
		b, _ := zstframe.ParseBlock(src) // the Frame has done that
		n := zstframe.BlockHeaderSize + b.Size
		at, src = at+int64(n), src[n:]
	}
	return p.frame.fail(errs.Corrupt, at, err)
}

func (f *frameInfo) fail(kind error, at int64, err error) error {
	return &errs.Error{Kind: kind, Part: errs.PartBlock, Block: f.number, Offset: at, Err: err}
}

func (f *frameInfo) corrupt(err error) error { return f.fail(errs.Corrupt, f.offset, err) }

func (f *frameInfo) tooLarge() error { return f.fail(errs.TooLarge, f.offset, nil) }
