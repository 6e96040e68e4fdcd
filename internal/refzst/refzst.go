// Package refzst is a second decoder of .zst files, written from RFC 8878 alone.
//
// It shares no code with the library's decoder and does not try to be fast. It reads one symbol at
// a time, in the order in which the document describes them. Tests, and the command for its users
// (pz -t --deep), compare the two decoders. Where they differ, one of them is wrong.
package refzst

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

var (
	// ErrTruncated reports that the data end inside a frame, or that there are none.
	ErrTruncated = errors.New("truncated")
	// ErrCorrupt reports that the data contradict themselves or the format.
	ErrCorrupt = errors.New("corrupt")
	// ErrMemory reports that a frame needs more memory than the caller allows.
	ErrMemory = errors.New("needs more memory than the limit")
	// ErrDictionary reports that a frame needs another dictionary.
	ErrDictionary = errors.New("needs another dictionary")
)

const (
	frameMagic      = 0xFD2FB528
	skippableMagic  = 0x184D2A50 // the last four bits are free
	dictionaryMagic = 0xEC30A437

	maxBlock = 128 << 10

	blockRaw        = 0
	blockRLE        = 1
	blockCompressed = 2
)

// A decoder reads frames. Its functions pass errors to fail.
type decoder struct {
	w     io.Writer
	src   *bufio.Reader
	at    int64 // bytes read from src
	limit int64
	dict  dictionary
	place string // what is being read: the dictionary, a frame or a block
	start int64  // of that in src

	// The rest belongs to a frame.
	header
	entropy
	history  []byte // the dictionary's content and the frame's, as far back as matches reach
	begins   bool   // history begins with all of the dictionary's content
	produced uint64 // bytes of the frame's content
	hash     *xxhash.Digest

	payload  [maxBlock]byte // of a block
	literals [maxBlock]byte
}

// A failure is the value of a panic that takes an error to Decode. No other panic is recovered.
type failure struct{ err error }

// fail makes Decode return an error.
func fail(err error) { panic(failure{err}) }

// check fails unless ok. The text says what is wrong.
func check(ok bool, text string) {
	if !ok {
		corrupt(text)
	}
}

func corrupt(text string) { fail(fmt.Errorf("%w: %s", ErrCorrupt, text)) }

// Decode writes the content of all frames in src to w, up to the end of src. It passes over
// skippable frames. The dictionary may be plain content; an empty one is none.
//
// Decode keeps a block and the content that matches reach, at most limit bytes of both. Its buffer
// has up to a quarter more. It writes each block when it has decoded it: with an error, all content
// in front of it has been written. The error wraps one of this package, or is that of src or w.
func Decode(w io.Writer, src io.Reader, dict []byte, limit int64) (err error) {
	d := &decoder{w: w, src: bufio.NewReader(src), limit: limit, hash: xxhash.New()}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("refzst: %s at byte %d: %w", d.place, d.start, p.err)
		default:
			panic(p)
		}
	}()
	d.place = "dictionary"
	d.dict = parseDictionary(dict)
	for {
		if _, err := d.src.Peek(1); err == io.EOF && d.at > 0 {
			return nil
		}
		d.place, d.start = "frame", d.at
		d.anyFrame()
	}
}

// read fills b from the source.
func (d *decoder) read(b []byte) {
	n, err := io.ReadFull(d.src, b)
	d.at += int64(n)
	d.ended(err)
}

// ended fails if a read of the source has failed or ended early.
func (d *decoder) ended(err error) {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = ErrTruncated
	}
	if err != nil {
		fail(err)
	}
}

// number reads a little-endian number of n bytes, at most 8.
func (d *decoder) number(n int) uint64 {
	var b [8]byte
	d.read(b[:n])
	return binary.LittleEndian.Uint64(b[:])
}

// anyFrame reads a frame with content or a skippable one.
func (d *decoder) anyFrame() {
	magic := d.number(4)
	if magic == frameMagic {
		d.frame()
		return
	}
	check(magic&^15 == skippableMagic, "magic number of a frame")
	n, err := io.CopyN(io.Discard, d.src, int64(d.number(4)))
	d.at += n
	d.ended(err)
}

// frame reads a frame behind its magic number.
func (d *decoder) frame() {
	start := d.start
	d.header = d.readHeader()
	d.entropy, d.produced = d.dict.entropy, 0
	if d.dictNumber != 0 && d.dictNumber != d.dict.number {
		fail(ErrDictionary)
	}
	if !d.begins {
		d.history, d.begins = append(d.history[:0], d.dict.content...), true
	}
	d.history = d.history[:len(d.dict.content)]
	d.hash.Reset()
	d.place = "block"
	for last := false; !last; {
		d.start = d.at
		last = d.block()
	}
	d.place, d.start = "frame", start
	check(!d.hasSize || d.produced == d.size, "less content than its header states")
	if d.checksum {
		check(d.number(4) == d.hash.Sum64()&0xFFFF_FFFF, "checksum of the content")
	}
}

// block reads a block and writes its content.
func (d *decoder) block() (last bool) {
	h := d.number(3)
	size := int(h >> 3)
	check(size <= d.maxBlock(), "block is larger than blocks of the frame may be")
	d.makeRoom()
	before := len(d.history)
	switch h >> 1 & 3 {
	case blockRaw:
		d.history = d.history[:before+size]
		d.read(d.history[before:])
	case blockRLE:
		b := byte(d.number(1))
		for range size {
			d.history = append(d.history, b)
		}
	case blockCompressed:
		d.read(d.payload[:size])
		d.compressedBlock(&input{d.payload[:size]})
	default:
		corrupt("reserved kind of block")
	}
	content := d.history[before:]
	d.produced += uint64(len(content))
	check(!d.hasSize || d.produced <= d.size, "more content than the frame's header states")
	d.hash.Write(content)
	if _, err := d.w.Write(content); err != nil {
		fail(err)
	}
	return h&1 != 0
}

// maxBlock returns Block_Maximum_Size of the frame.
func (d *decoder) maxBlock() int { return int(min(d.window, maxBlock)) }

// makeRoom makes room for a block behind the history. It drops what no match reaches any more.
func (d *decoder) makeRoom() {
	if len(d.history)+d.maxBlock() <= cap(d.history) {
		return
	}
	keep := d.history
	if d.produced > d.window { // then the dictionary is out of reach too
		keep = keep[len(keep)-int(d.window):]
		d.begins = false
	}
	need := len(keep) + d.maxBlock()
	if int64(need) > d.limit {
		fail(ErrMemory)
	}
	to := d.history[:0]
	if need += need / 4; cap(to) < need { // a quarter more, so as not to move it for each block
		to = make([]byte, 0, need)
	}
	d.history = append(to, keep...)
}
