package x86

import (
	"bytes"
	"encoding/binary"
)

// Which ranges of content are to be filtered is told from what it would be good for: numbers that come back. In code there are more of them among the places that are named than among
// distances; in everything else that has the bytes in question it is the other way round, for a filter only spoils what repeats.
//
// Programs begin anew what is known and where ranges may begin, so that those that are there twice, in an archive, have the same ranges, become the same bytes again, and one long match.

const (
	// unit is what ranges are made of in bytes.
	unit = 16 << 10
	// leastGain is what a range must gain, in numbers that come back, and what units behind a range must lose to end it: the bytes that say so, some six, are worth less than that.
	leastGain = 32
	// A unit is worth its gain less one for so many candidates, and less a constant that is for the time to decode.
	candidateShare = 16
	unitCost       = 2

	placesLog = 12 // log2 of the places of each table
)

// program is what programs and libraries of Linux and others begin with. They are not looked for within a unit of one another.
var program = []byte("\x7fELF")

// Memory is the size of a [Chooser] in bytes, with the ranges of a block of 64 MiB, of which none begins within a unit of the one before.
const Memory = 160 << 10

// Chooser is scratch memory for choices. The zero value is ready. It is not safe for concurrent use.
type Chooser struct {
	distances, targets [1 << placesLog]uint32 // the last number of each hash
	list               []span
	ranges             []byte
}

// span is a range of content.
type span struct{ begin, end int }

// Choose returns the ranges of content that are to be filtered, for [Encode], or nil if there are none. They are the Chooser's and valid up to its next use.
func (c *Chooser) Choose(content []byte) []byte {
	c.list = c.list[:0]
	for at, from := 0, 0; at < len(content); {
		end := len(content)
		if n := bytes.Index(content[min(from, end):], program); n >= 0 {
			end = from + n
		}
		c.program(content[at:end], at)
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

// program appends the ranges of what may be a program and begins at the given place: those that gain the most, if each costs leastGain.
func (c *Chooser) program(p []byte, base int) {
	clear(c.distances[:])
	clear(c.targets[:])
	var begin, end int // of the range, or of what may become one
	gain, inside := 0, false
	i := next(p, 0)
	for at := 0; at < len(p); at += unit {
		to := min(at+unit, len(p))
		worth := -unitCost
		candidates := 0
		for ; i >= 0 && i < to; i = next(p, i+1) {
			v := binary.LittleEndian.Uint32(p[i+1:])
			worth += seen(&c.targets, extend(v+uint32(i+size))) - seen(&c.distances, v)
			candidates++
		}
		worth -= candidates / candidateShare
		// Inside, gain is what the range has gained less the most that it ever had.
		gain += worth
		switch {
		case !inside && gain <= 0:
			gain, begin = 0, to
		case !inside && gain >= leastGain, inside && gain >= 0:
			gain, end, inside = 0, to, true
		case inside && gain <= -leastGain:
			c.list = append(c.list, span{base + begin, base + end})
			gain, begin, inside = 0, to, false
		}
	}
	if inside {
		c.list = append(c.list, span{base + begin, base + end})
	}
}

// seen returns 1 if v is the last number with its hash, else 0.
func seen(table *[1 << placesLog]uint32, v uint32) int {
	v++ // 0 is for none
	place := &table[v*0x9e3779b1>>(32-placesLog)]
	if *place == v {
		return 1
	}
	*place = v
	return 0
}
