// Package container defines the interfaces between formats and streams: a Framer frames blocks, a
// Source yields them.
//
// A Framer makes the bytes around the payloads of blocks. A Source reads a file from the front and
// yields units, each of which becomes one block of a run. Neither knows how payloads are coded.
package container

import (
	"errors"
	"math"
	"math/bits"
)

// Kind says how a block's content is stored. The numbers are those of the .pz format.
type Kind uint8

// The kinds of blocks.
const (
	Stored Kind = 1 // the payload is the content
	Fill   Kind = 2 // the payload is one byte that the content repeats
	Coded  Kind = 3 // the payload is coded as the pipeline says
)

// A Block describes a compressed block for a Framer.
type Block struct {
	Kind    Kind
	Payload int    // bytes of payload
	Raw     int    // bytes of content
	Sum     uint32 // check of the content, as the format's pipeline computes it
	// Continues says that the block continues the frame of the block before it, and Flushed that a
	// flush ends it: the next block may continue its frame. The Sum is then that of the frame so
	// far. A .zst file of one frame has no sums of blocks.
	Continues, Flushed bool
	// Last says that no content follows, so that the payload ends the Deflate stream of a .gz
	// member, or the single frame of a .zst file.
	Last bool
}

// A Framer makes the bytes that surround the payloads of blocks. Methods append to dst and return
// the extended slice. The order of calls is Header, then BlockHeader and BlockTrailer for each
// block, then Trailer. The types that implement it have a Reset method that begins a new stream.
type Framer interface {
	// Header is called once, before the first block, or before Trailer if there is none. whole is
	// the size of the content if one block has it all and does not end with a flush, or if there is
	// no content. Otherwise it is −1.
	Header(dst []byte, whole int) []byte
	BlockHeader(dst []byte, b Block) []byte
	BlockTrailer(dst []byte, b Block) []byte
	// Trailer completes a stream. content and written are the bytes of content and of the stream
	// so far.
	Trailer(dst []byte, content, written int64) []byte
}

// ErrNothingYet: the next byte of input may not be available yet, for instance at the end of a
// stream. Call Next again to continue.
var ErrNothingYet = errors.New("container: nothing yet")

// ErrWait: the Source can only go on once all units so far have been delivered. Call Next again
// then.
var ErrWait = errors.New("container: wait for the units in flight")

// A Source reads one file from the front. Its methods are for one goroutine at a time, and read
// from the input only on the caller's goroutine.
type Source interface {
	// Next goes to the next unit. It returns ErrNothingYet, ErrWait, or io.EOF at the end of the
	// file, or an error that the file ends with.
	Next(u *Unit) error

	// Payload returns the payload of the unit that Next has returned, in p's memory if it has to
	// be copied, and completes u. It may return ErrNothingYet in place of a payload; then the
	// caller calls Next again.
	Payload(u *Unit, p []byte) ([]byte, error)

	// Release drops all references to the caller's memory and input.
	Release()
}

// A Unit becomes one block of a run: a block of .pz, a frame of .zst, or a part of a file that can
// only be decoded in order. A worker decodes that part with the Decoder.
type Unit struct {
	Spec
	Decoder SerialDecoder // of a part that workers decode in order, else nil
	Number  int64         // of such a part in the file, from 0

	Kind  Kind
	Raw   int    // bytes of content; with a Decoder, of the unit's input
	Sum   uint32 // check of the content; 0 if there is none to verify
	Place Place

	// Pause means that reading on may block. Deliver all content up to this unit first.
	Pause bool
	// Alone means that the caller's goroutine decodes the unit, when no other is in flight.
	Alone bool
}

// A Place says where a unit comes from.
type Place struct {
	Stream  int   // number of the stream, from 0
	Block   int64 // number of the block in its stream, −1 if the format has none
	Offset  int64 // of the unit's first byte in the file
	End     int64 // of the unit's payload in the file
	Content int64 // offset of the end of the unit's content in the content of the file
	Total   int64 // bytes of content that the file will have, −1 if unknown

	CallerOwned bool // the payload is the caller's memory
}

// Spec describes the units that a run can decode.
type Spec struct {
	Pipeline  uint8 // number of the pipeline in .pz files, 0 for the one of the format
	Checks    bool  // the run verifies Unit.Sum
	BlockSize int   // most content of a unit in bytes: a power of two, or fixed for the stream
	Extra     int64 // memory of the decoder for units in order, in bytes
	InOrder   bool  // units are decoded in order; without InFlight more than three gain nothing
	Payload   int   // memory of a unit in order besides its content, in bytes
	InFlight  int   // units in flight that the decoder is for, at most; 0 is for any number
	Window    int64 // of a .pz stream whose blocks refer to earlier ones, in bytes
	Sources   int   // most blocks that such a block refers to

	Dictionary uint32 // number of the dictionary in front of each unit of .pz; 0 if there is none
}

// Serves reports whether a run that was made for s can decode units of t.
func (s *Spec) Serves(t *Spec) bool {
	return s.Pipeline == t.Pipeline && s.Checks == t.Checks && s.BlockSize >= t.BlockSize &&
		s.Window == t.Window && s.Sources == t.Sources && s.Dictionary == t.Dictionary &&
		s.Extra >= t.Extra && s.Payload >= t.Payload && (t.InOrder || !s.InOrder) &&
		(t.InFlight == 0 || 0 < s.InFlight && s.InFlight <= t.InFlight)
}

// CeilPow2 returns the least power of two that is at least n. Where an int cannot hold it, CeilPow2
// returns math.MaxInt.
func CeilPow2(n int) int {
	switch {
	case n <= 1:
		return 1
	case n > math.MaxInt/2+1:
		return math.MaxInt
	}
	return 1 << bits.Len(uint(n-1))
}
