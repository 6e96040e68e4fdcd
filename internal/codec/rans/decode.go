package rans

import (
	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/simd"
)

// Decoder decodes what an Encoder has written. The zero value is ready to use and keeps its scratch
// memory between calls. A Decoder must not be used concurrently.
type Decoder struct {
	// Checkpoint, unless it is nil, is called between pieces of the work, on the caller's
	// goroutine: after at most 2 MiB of the streams, which take less than about 5 ms. It may block.
	// It may panic to abandon the work; the Decoder can then be used again, and refers to memory of
	// the caller's until then. The result does not depend on it.
	Checkpoint func()

	segs   []segment
	coded  int // number of symbols in segments of modeCoded
	groups [2]groupDecoder
	work   LaneWork
}

// Decode decodes len(streams) streams from the front of src and returns the rest of src.
//
// Each stream replaces the slice that its pointer refers to. Decode reuses the memory of that slice
// if it suffices; the capacity is at least Slack bytes more than the length. limits has the maximum
// size of each stream in bytes; Decode rejects a longer stream before it allocates memory. The
// streams hold no reference to src.
//
// All errors are a CorruptError. After an error the content of the streams is undefined.
func (d *Decoder) Decode(src []byte, limits []int, streams ...*[]byte) (rest []byte, err error) {
	src, err = d.readStreams(src, limits, streams)
	if err != nil {
		return nil, err
	}
	src, err = d.decodeSymbols(src)
	for i := range d.groups {
		d.groups[i].Words, d.groups[i].Dst = nil, nil // drop the references to the caller's memory
	}
	if err != nil {
		return nil, err
	}
	return d.readStored(src)
}

// readStreams reads the sizes and segment heads of all streams.
func (d *Decoder) readStreams(
	src []byte, limits []int, streams []*[]byte,
) (rest []byte, err error) {
	d.segs, d.coded = d.segs[:0], 0
	for i, s := range streams {
		n, size := model.Uvarint(src)
		if size == 0 || n > uint64(limits[i]) {
			return nil, CorruptError("stream too long")
		}
		model.GrowStream(s, n, limits[i])
		src, err = d.readHeads(src[size:], *s, i)
		if err != nil {
			return nil, err
		}
	}
	return src, nil
}

// readStored reads the stored segments, which follow the coded ones.
func (d *Decoder) readStored(src []byte) (rest []byte, err error) {
	for i := range d.segs {
		s := &d.segs[i]
		if s.mode == modeStored {
			if len(src) < len(s.data) {
				return nil, CorruptError("stored bytes missing")
			}
			pieces.Copy(s.data, src[:len(s.data)], d.Checkpoint)
			src = src[len(s.data):]
		}
		s.data = nil
	}
	return src, nil
}

// readHeads reads the segment heads of a stream.
func (d *Decoder) readHeads(src, stream []byte, index int) ([]byte, error) {
	for len(stream) > 0 {
		if len(src) == 0 {
			return nil, CorruptError("segment head missing")
		}
		flags := src[0]
		m, last := mode(flags&3), flags&lastSegment != 0
		byDefault := flags&defaultTable != 0
		if flags&^(defaultTable|lastSegment|3) != 0 || m >= modes ||
			byDefault && (m != modeCoded || index >= model.Defaults) {
			return nil, CorruptError("unknown segment mode")
		}
		src = src[1:]
		n := uint64(len(stream))
		if !last {
			v, size := model.Uvarint(src)
			if size == 0 || v >= n || v < minSegment {
				return nil, CorruptError("bad segment size")
			}
			n, src = v, src[size:]
		}
		s := growSegments(&d.segs)
		s.data, s.mode = stream[:n:n], m
		stream = stream[n:]
		switch m {
		case modeSymbol:
			if len(src) == 0 {
				return nil, CorruptError("symbol missing")
			}
			for left := s.data; len(left) > 0; {
				var piece []byte
				piece, left = pieces.First(left)
				simd.Fill(piece, src[0])
				d.checkpoint()
			}
			src = src[1:]
		case modeCoded:
			s.isDefault, s.stream = byDefault, index
			if byDefault {
				s.freq = *model.Default(index)
			} else {
				var err error
				src, err = s.freq.Read(src)
				if err != nil {
					return nil, err
				}
			}
			d.coded += int(n)
			if len(d.segs)%checkpointSegments == 0 {
				d.checkpoint()
			}
		}
	}
	return src, nil
}

func (d *Decoder) checkpoint() {
	if d.Checkpoint != nil {
		d.Checkpoint()
	}
}

// decodeSymbols decodes the coded sequence.
func (d *Decoder) decodeSymbols(src []byte) (rest []byte, err error) {
	a := &d.groups[0]
	switch {
	case d.coded == 0:
		return src, nil
	case d.coded < model.SmallLimit:
		src, err = a.open(src, 0, d.coded, smallLanes)
		if err != nil {
			return nil, err
		}
		for a.next(d.segs, nil) {
			if !a.decodeScalar() {
				return nil, model.ErrWords
			}
		}
		return src, a.checkEnd()
	}
	for i := 0; i < fullGroups(d.coded); i += 2 {
		src, err = d.decodePair(src, i)
		if err != nil {
			return nil, err
		}
	}
	return src, nil
}

// decodePair decodes the groups first and first+1, which src begins with, and returns the rest of
// src.
func (d *Decoder) decodePair(src []byte, first int) (rest []byte, err error) {
	a, b := &d.groups[0], &d.groups[1]
	middle := groupEnd(d.coded, first+1)
	src, err = a.open(src, groupEnd(d.coded, first), middle, Lanes)
	if err != nil {
		return nil, err
	}
	src, err = b.open(src, middle, groupEnd(d.coded, first+2), Lanes)
	if err != nil {
		return nil, err
	}
	for a.next(d.segs, nil) && b.next(d.segs, a) {
		kernels.DecodeLanes2(&a.DecodeGroup, &b.DecodeGroup)
		if !a.decodeRest() || !b.decodeRest() {
			return nil, model.ErrWords
		}
		d.checkpoint()
	}
	for a.next(d.segs, nil) {
		kernels.DecodeLanes(&a.DecodeGroup)
		if !a.decodeRest() {
			return nil, model.ErrWords
		}
		d.checkpoint()
	}
	for b.next(d.segs, a) {
		kernels.DecodeLanes(&b.DecodeGroup)
		if !b.decodeRest() {
			return nil, model.ErrWords
		}
		d.checkpoint()
	}
	if err := a.checkEnd(); err != nil {
		return nil, err
	}
	return src, b.checkEnd()
}
