package compress

import (
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/pipeline"
)

// This file reads the blocks of a file ahead, and gives them to the run of a Reader.

// readAhead reads one more block and submits it. It reports whether another call makes sense at
// once.
func (r *Reader) readAhead() bool {
	if r.end != nil || r.input == waiting || r.input == held && !r.goesOn() {
		return false
	}
	if r.source == nil {
		r.open()
	}
	if r.input == atUnit {
		if err := r.source.Next(&r.unit); err != nil {
			return r.pause(err)
		}
		r.input = atPayload
	}
	if r.run == nil || r.runFormat != r.format || !r.runSpec.Serves(&r.unit.Spec) {
		if r.pending() > 0 {
			return false
		}
		if err := r.beginRun(); err != nil {
			r.end = err
			return false
		}
	}
	if r.unit.Alone && r.pending() > 0 {
		return false
	}
	b := r.run.Get()
	if b == nil {
		if r.pending() == 0 {
			r.end = errNoBlock
		}
		return false
	}
	var err error
	b.Src, err = r.source.Payload(&r.unit, b.Src)
	if err != nil {
		r.run.Put(b)
		r.input = atUnit
		return r.pause(err)
	}
	r.submit(b)
	r.input = atUnit
	if r.unit.Pause {
		r.input = held
	}
	return r.input == atUnit
}

// goesOn releases input that was held if reading on does not block after all. Sources of .gz and
// .zst read no more at once than has come.
func (r *Reader) goesOn() bool {
	if r.ready == nil || r.format == PZ || !r.ready() {
		return false
	}
	r.input = atUnit
	return true
}

// pause handles what comes in place of a unit, and returns what readAhead does.
func (r *Reader) pause(err error) bool {
	switch err {
	case container.ErrNothingYet:
		if !r.nonBlocking {
			r.input = held
		}
		return r.nonBlocking
	case container.ErrWait:
		r.input = waiting
	default:
		r.end = err
	}
	return false
}

// open detects the format of the input and begins to read it.
func (r *Reader) open() {
	var in container.Start
	if r.memory != nil {
		in = container.MemoryStart(r.memory)
	} else {
		in = container.ReadStart(r.src, &r.head, r.nonBlocking)
		in.Ready = r.ready
	}
	var ok bool
	r.format, ok, _ = container.Detect(in.Head)
	switch {
	case r.opt.onlyZstd:
		r.format = Zstd
	case !ok:
		r.format = PZ
	}
	r.source = r.sources.beginFile(r.format, &in, &r.opt, r.sched.Workers())
}

// beginRun begins a run for the unit.
func (r *Reader) beginRun() (err error) {
	u := &r.unit
	cfg := r.opt.readerConfig(pipelineOf(r.format, u.Pipeline), &u.Spec)
	var b budget
	if r.format == PZ {
		b, err = r.opt.readerBudget(cfg)
	} else {
		b, err = r.opt.standardBudget(cfg.Pipeline, u.Spec)
	}
	if err != nil {
		return err
	}
	cfg.InFlight = b.inFlight
	if err := r.sched.Check(cfg); err != nil {
		return errs.Wrap(errs.Device, err)
	}
	r.start(r.sched, cfg)
	r.runFormat, r.runSpec = r.format, u.Spec
	if len(r.places) < b.inFlight {
		r.places = make([]container.Place, b.inFlight)
	}
	return nil
}

// submit gives a block whose payload has been read to the workers.
func (r *Reader) submit(b *pipeline.Block) {
	u := &r.unit
	b.Kind, b.Raw, b.Sum = uint8(u.Kind), u.Raw, u.Sum
	b.Into, b.CallerOwned = nil, u.Place.CallerOwned
	if r.into != nil && r.format == PZ {
		b.Into = r.into(u)
	}
	if u.Decoder != nil {
		b.Serial = r.serial(u)
	}
	b.Tag = r.count % int64(len(r.places))
	r.count++
	r.places[b.Tag] = u.Place
	r.run.Number(u.Place.Block)
	if u.Alone {
		r.run.Do(b) // to hand it to a worker costs a turn of the processor
		return
	}
	waits := u.Pause || u.Decoder == nil && u.Place.Content <= smallContent
	r.submitBlock(b, u.Raw, waits)
}

// serial returns the part of a unit in serial decoding.
func (r *Reader) serial(u *container.Unit) (s *container.Serial) {
	if n := len(r.serials); n > 0 {
		s, r.serials = r.serials[n-1], r.serials[:n-1]
	} else {
		s = new(container.Serial)
	}
	s.Decoder, s.Unit = u.Decoder, u.Number
	return s
}
