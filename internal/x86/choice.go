package x86

import (
	"bytes"
	"encoding/binary"

	"github.com/gopz/compress/internal/pieces"
)

// Choose decides which ranges to filter by counting repeated numbers. In code the targets of
// instructions repeat more often than the displacements. In other data with such bytes it is the
// other way round: the filter breaks repeats.
//
// Ranges and statistics start anew at each program. So the copies of a program in an archive have
// the same ranges and remain one long match.

const (
	// unit is the granularity of ranges in bytes.
	unit = 16 << 10
	// minGain is the minimum gain of a range in repeated numbers, and the loss behind a range that
	// ends it. The description of a range takes about six bytes, which is less.
	minGain = 32
	// The gain of a unit is reduced by one for this many candidates, and by unitCost for the time
	// to decode.
	candidateShare = 16
	unitCost       = 2

	tableLog = 12 // log₂ of the size of each table
)

// elfMagic begins programs and libraries of Linux and other systems. Choose ignores occurrences
// within a unit of the last one.
var elfMagic = []byte("\x7fELF")

// Memory bounds the size of a [Chooser] in bytes for blocks of up to 64 MiB. Two ranges never begin
// within a unit of each other.
const Memory = 160 << 10

// Chooser chooses ranges. The zero value is ready to use and keeps its scratch memory between
// calls. A Chooser must not be used concurrently.
type Chooser struct {
	// Checkpoint, unless it is nil, is called after at most 2 MiB of content, and 256 KiB of
	// programs, on the caller's goroutine. It may block. It may panic to abandon the work; the
	// Chooser can then be used again.
	Checkpoint func()

	displacements, targets [1 << tableLog]uint32 // the last number of each hash
	list                   []span
	ranges                 []byte
}

// span is a range of content.
type span struct{ begin, end int }

// Choose returns the ranges of content to filter, for [Encode], or nil if there are none. The
// result is valid until the next call of Choose.
func (c *Chooser) Choose(content []byte) []byte {
	c.list = c.list[:0]
	for at, from := 0, 0; at < len(content); {
		end := len(content)
		if n := c.indexMagic(content[min(from, end):]); n >= 0 {
			end = from + n
		}
		c.chooseProgram(content[at:end], at)
		at, from = end, end+unit
	}
	if len(c.list) == 0 {
		return nil
	}
	c.ranges = binary.AppendUvarint(c.ranges[:0], uint64(len(c.list)))
	last := 0
	for _, s := range c.list {
		for _, x := range [2]int{s.begin - last, s.end - s.begin} {
			c.ranges = binary.AppendUvarint(c.ranges, uint64(x))
		}
		last = s.end
	}
	return c.ranges
}

// indexMagic returns the position of elfMagic in p, -1 if there is none.
func (c *Chooser) indexMagic(p []byte) int {
	for at := 0; ; at += pieces.Size {
		end := min(at+pieces.Size+len(elfMagic)-1, len(p))
		if n := bytes.Index(p[at:end], elfMagic); n >= 0 {
			return at + n
		}
		if end == len(p) {
			return -1
		}
		c.checkpoint()
	}
}

func (c *Chooser) checkpoint() {
	if c.Checkpoint != nil {
		c.Checkpoint()
	}
}

// chooseProgram appends the ranges of p, which begins at position base of the content. It maximises
// the total gain less minGain a range.
func (c *Chooser) chooseProgram(p []byte, base int) {
	clear(c.displacements[:])
	clear(c.targets[:])
	var begin, end int // of the current range, or of a possible one
	gain, inside := 0, false
	for at := 0; at < len(p); at += unit {
		if at%checkpointBytes == 0 {
			c.checkpoint()
		}
		to := min(at+unit, len(p))
		view := p[:min(to+stepSize-1, len(p))]
		unitGain := -unitCost
		candidates := 0
		for i := nextCandidate(view, at); i >= 0; i = nextCandidate(view, i+1) {
			v := binary.LittleEndian.Uint32(p[i+1:])
			unitGain += seenBefore(&c.targets, extend(v+uint32(i+stepSize)))
			unitGain -= seenBefore(&c.displacements, v)
			candidates++
		}
		unitGain -= candidates / candidateShare
		// Inside a range, gain is the current total less its maximum.
		gain += unitGain
		switch {
		case !inside && gain <= 0:
			gain, begin = 0, to
		case !inside && gain >= minGain, inside && gain >= 0:
			gain, end, inside = 0, to, true
		case inside && gain <= -minGain:
			c.list = append(c.list, span{base + begin, base + end})
			gain, begin, inside = 0, to, false
		}
	}
	if inside {
		c.list = append(c.list, span{base + begin, base + end})
	}
}

// seenBefore returns 1 if v is the last number with its hash, else 0.
func seenBefore(table *[1 << tableLog]uint32, v uint32) int {
	v++ // 0 stands for none
	entry := &table[v*0x9e3779b1>>(32-tableLog)]
	if *entry == v {
		return 1
	}
	*entry = v
	return 0
}
