package rans

import "github.com/gopz/compress/internal/codec/rans/internal/model"

// Parameters of the lane groups, for callers that code them on a device.
const (
	Lanes = model.Lanes // number of lanes of a group
	// lower bound of states; the encoder begins with it and the decoder ends with it
	MinState = model.MinState
	ProbBits = model.ProbBits // the frequencies of a table sum to 1<<ProbBits
)

// LaneWork lists the lane groups that a caller codes in place of an Encoder or Decoder, for example
// on a GPU. It is valid until the next call of the Encoder or Decoder that returned it. Short
// inputs have no such groups.
type LaneWork struct {
	// frequencies; each table sums to 1<<ProbBits, and each entry is less than that
	Tables []*[256]uint16
	Groups []LaneGroup

	segs []int // segment of each table
}

// LaneGroup is a group of 32 lanes.
type LaneGroup struct {
	// States are the states with which the decoder begins, in [MinState, MinState<<16). For an
	// encoder the caller sets them.
	States [Lanes]uint32
	// Words are the 16-bit words in the order in which the decoder reads them. For an encoder the
	// caller sets them, at most one a symbol.
	Words []byte
	Spans []Span
	// Symbols is the total length of the spans.
	Symbols int
}

// Span is a range of a stream that is coded with one table. Symbol i belongs to lane i mod Lanes.
type Span struct {
	Data  []byte // for a decoder the caller fills it
	Table int    // index in LaneWork.Tables
	// Encoder only: the index of the stream, and that of Data[0] in it.
	Stream, At int
}

// reset makes w the work of the coded segments.
func (w *LaneWork) reset(segs []segment, coded int) {
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
	for i := range fullGroups(coded) {
		w.addGroup(segs, groupEnd(coded, i), groupEnd(coded, i+1))
	}
}

// MaxGroups returns the most lane groups of up to coded symbols.
func MaxGroups(coded int) int { return fullGroups(max(coded, model.SmallLimit)) }

// addGroup appends the group of the symbols [from, to) of the coded sequence.
func (w *LaneWork) addGroup(segs []segment, from, to int) {
	if len(w.Groups) < cap(w.Groups) {
		w.Groups = w.Groups[:len(w.Groups)+1]
	} else {
		w.Groups = append(w.Groups, LaneGroup{})
	}
	g := &w.Groups[len(w.Groups)-1]
	g.Spans, g.Words, g.Symbols = g.Spans[:0], nil, to-from
	at := 0
	for t, i := range w.segs {
		data := segs[i].data
		if a, b := max(at, from)-at, min(at+len(data), to)-at; a < b {
			g.Spans = append(g.Spans, Span{data[a:b], t, segs[i].stream, segs[i].at + a})
		}
		at += len(data)
	}
}

// Open is like Decode but leaves the groups of 32 lanes to the caller, who decodes what w lists.
// The caller must check that each group ends with all states MinState and all words used; otherwise
// the input is corrupt. All other checks are done. w.Groups[i].Words refers to src.
func (d *Decoder) Open(
	src []byte, limits []int, streams ...*[]byte,
) (w *LaneWork, rest []byte, err error) {
	src, err = d.readStreams(src, limits, streams)
	if err != nil {
		return nil, nil, err
	}
	w = &d.work
	w.reset(d.segs, d.coded)
	if len(w.Groups) == 0 {
		src, err = d.decodeSymbols(src)
	}
	for i := range w.Groups {
		g := &w.Groups[i]
		g.Words, src, err = model.OpenGroup(src, g.States[:])
		if err != nil {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	rest, err = d.readStored(src)
	return w, rest, err
}

// BeginPayload is the first half of Append. It leaves the groups of 32 lanes to the caller, who
// encodes what w lists: each group backward, from states MinState. The caller stores the results in
// w and passes the returned slice to End.
func (e *Encoder) BeginPayload(dst []byte, stored int, streams ...[]byte) (_ []byte, w *LaneWork) {
	dst = e.appendHeads(dst, stored, streams)
	w = &e.work
	w.reset(e.segs, e.coded)
	if len(w.Groups) == 0 && e.coded > 0 {
		dst = e.encodeGroup(dst, 0, e.coded, smallLanes)
	}
	return dst, w
}

// BeginHistograms is like BeginPayload for callers that have counted the symbols. histograms holds
// 256 counts for each unit of each stream that is not stored. HistogramUnit gives the size of the
// next unit from the length of the rest of the stream; the counts of a unit must sum to it.
func (e *Encoder) BeginHistograms(
	dst []byte, stored int, histograms []uint16, streams ...[]byte,
) (_ []byte, w *LaneWork) {
	e.histograms = histograms
	if histograms == nil {
		e.histograms = []uint16{}
	}
	defer func() { e.histograms = nil }()
	return e.BeginPayload(dst, stored, streams...)
}

// EndPayload is the second half of Append.
func (e *Encoder) EndPayload(dst []byte) []byte {
	for i := range e.work.Groups {
		g := &e.work.Groups[i]
		dst = model.AppendGroup(dst, g.States[:], g.Words, e.Checkpoint)
	}
	return e.appendStored(dst)
}

// LogTable returns the table from which the encoder computes costs: log₂(1 + (i + ½)/2048) for each
// i, in units of 1/65536 bit. Devices compute the same costs from it.
func LogTable() [2048]uint32 { return model.LogTable() }
