package rans

import "github.com/gopz/compress/rans/internal/model"

// Parameters of the groups, for those who run them elsewhere.
const (
	Lanes    = model.Lanes    // of a group
	MinState = model.MinState // least state; all states of a group are that where the encoder begins and the decoder ends
	ProbBits = model.ProbBits // frequencies of a table sum to 1<<ProbBits
)

// Work is what the groups of 32 lanes of one input have to do, for those who do it elsewhere than here, on a GPU for example. It
// is valid until the next call of the coder that made it. Short inputs have no such groups; the coder does them itself.
type Work struct {
	Tables []*[256]uint16 // frequencies; each sums to 1<<ProbBits and none is all of it
	Groups []Group

	segs []int // the segments that Tables are of
}

// Group is one group of lanes.
type Group struct {
	// States are those that the decoder begins with, in [MinState, MinState<<16). The encoder's are a result.
	States [Lanes]uint32
	// Words are 16 bits each, in the order in which the decoder takes them. The encoder's are a result, at most one for each symbol.
	Words []byte
	Parts []Part
	// Symbols is the sum of the lengths of all parts.
	Symbols int
}

// Part is a run of symbols with one table. Symbol i of it belongs to lane i mod Lanes.
type Part struct {
	Data  []byte // the decoder's are a result
	Table int    // number in Work.Tables
	// Encoder only: the number of the stream, and where in it Data begins.
	Stream, At int
}

// reset makes w the work of what is coded in the segments.
func (w *Work) reset(segs []segment, coded int) {
	w.Tables, w.Groups, w.segs = w.Tables[:0], w.Groups[:0], w.segs[:0]
	if coded < model.SmallLimit {
		return
	}
	for i := range segs {
		if segs[i].mode == modeCoded {
			w.Tables = append(w.Tables, (*[256]uint16)(&segs[i].freq))
			w.segs = append(w.segs, i)
		}
	}
	cut := groupCut(coded)
	w.add(segs, 0, cut)
	w.add(segs, cut, coded)
}

// add appends the group of the symbols from number from to number to of the coded sequence.
func (w *Work) add(segs []segment, from, to int) {
	if len(w.Groups) < cap(w.Groups) {
		w.Groups = w.Groups[:len(w.Groups)+1]
	} else {
		w.Groups = append(w.Groups, Group{})
	}
	g := &w.Groups[len(w.Groups)-1]
	g.Parts, g.Words, g.Symbols = g.Parts[:0], nil, to-from
	at := 0
	for t, i := range w.segs {
		data := segs[i].data
		if a, b := max(at, from)-at, min(at+len(data), to)-at; a < b {
			g.Parts = append(g.Parts, Part{data[a:b], t, segs[i].stream, segs[i].at + a})
		}
		at += len(data)
	}
}

// Open is Decode without the symbols of groups of 32 lanes: w says where these go, and what to make them of. Whoever does so must find that each group ends with
// all states MinState and all words used; otherwise the input is corrupt. Nothing but the symbols depends on that.
// Words refers to src.
func (d *Decoder) Open(src []byte, limits []int, streams ...*[]byte) (w *Work, rest []byte, err error) {
	if src, err = d.begin(src, limits, streams); err != nil {
		return nil, nil, err
	}
	w = &d.work
	if w.reset(d.segs, d.coded); len(w.Groups) == 0 {
		src, err = d.symbols(src)
	}
	for i := range w.Groups {
		g := &w.Groups[i]
		if g.Words, src, err = model.OpenGroup(src, g.States[:]); err != nil {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	rest, err = d.end(src)
	return w, rest, err
}

// Begin is the first half of Append, without the symbols of groups of 32 lanes: w says what these are. Whoever codes them, each group backward and with all
// states MinState at first, puts the results into w and calls End, with the slice that Begin has returned.
func (e *Encoder) Begin(dst []byte, stored int, streams ...[]byte) (_ []byte, w *Work) {
	dst = e.begin(dst, stored, streams)
	w = &e.work
	if w.reset(e.segs, e.coded); len(w.Groups) == 0 && e.coded > 0 {
		dst = e.group(dst, 0, e.coded, smallLanes)
	}
	return dst, w
}

// BeginCounts is Begin for those who have counted the symbols already: counts has how often each of the 256 symbols comes in each unit of each stream that is not one
// of the stored. A stream's units have the size that UnitSize says of what is left of it. The counts of a unit must sum to its size.
func (e *Encoder) BeginCounts(dst []byte, stored int, counts []uint16, streams ...[]byte) (_ []byte, w *Work) {
	if e.counts = counts; counts == nil {
		e.counts = []uint16{}
	}
	dst, w = e.Begin(dst, stored, streams...)
	e.counts = nil
	return dst, w
}

// End is the second half of Append.
func (e *Encoder) End(dst []byte) []byte {
	for i := range e.work.Groups {
		g := &e.work.Groups[i]
		dst = model.AppendGroup(dst, g.States[:], g.Words)
	}
	return e.end(dst)
}

// LogTable returns the table from which the encoder computes costs: log₂(1 + (i + ½)/2048) for each
// i, in 1/65536 bit. Devices that compute the same costs read it.
func LogTable() [2048]uint32 { return model.LogTable() }
