package gzfile

import "errors"

// Skipper passes over a header that comes in pieces, and keeps nothing of it. Under
// GzipRules name and comment may have any length. The zero value is ready for a header.
type Skipper struct {
	Rules Rules

	head  [MinHeaderSize]byte
	have  int // bytes of head, of a number or of a string
	left  int // bytes of extra data
	crc   uint16
	sum   uint32
	stage stage
}

// stage is the part of a header that comes next.
type stage uint8

const (
	fixed stage = iota
	extraSize
	extraData
	name
	comment
	headerCRC
	behind
)

var stageFlags = [behind]byte{
	extraSize: flagExtra, extraData: flagExtra, name: flagName, comment: flagComment,
	headerCRC: flagHeaderCRC,
}

// Skip passes over the bytes of the header in p, n bytes, and reports whether the header ends
// there. Its errors are those of ParseHeader except ErrShort, and ErrLong under GzipRules.
// After an error the Skipper is unusable.
func (s *Skipper) Skip(p []byte) (n int, done bool, err error) {
	for i, b := range p {
		if s.stage != fixed && s.stage < headerCRC && s.head[3]&flagHeaderCRC != 0 {
			s.sum = Checksum(s.sum, p[i:i+1])
		}
		switch s.stage {
		case fixed:
			s.head[s.have] = b
			s.have++
			if err := s.checkFixed(); err != nil {
				return i, false, err
			}
			if s.have == MinHeaderSize {
				s.sum = Checksum(0, s.head[:])
				s.next()
			}
		case extraSize:
			s.left |= int(b) << (8 * s.have)
			s.have++
			if s.have < 2 {
				continue
			}
			s.next()
			if s.left == 0 {
				s.next()
			}
		case extraData:
			s.left--
			if s.left == 0 {
				s.next()
			}
		case name, comment:
			s.have++
			if b == 0 {
				s.next()
			} else if s.have == MaxStdString && s.Rules == StdRules {
				return i, false, ErrLong
			}
		case headerCRC:
			s.crc |= uint16(b) << (8 * s.have)
			s.have++
			if s.have < 2 {
				continue
			}
			if s.crc != uint16(s.sum) {
				return i, false, ErrChecksum
			}
			s.next()
		}
		if s.stage == behind {
			return i + 1, true, nil
		}
	}
	return len(p), false, nil
}

// checkFixed checks as much of the fixed part as there is.
func (s *Skipper) checkFixed() error {
	if s.Rules == StdRules {
		if s.have == MinHeaderSize && (string(s.head[:2]) != Magic || s.head[2] != methodDeflate) {
			return ErrMagic
		}
		return nil
	}
	if s.have > len(Magic)+2 {
		return nil // method and flags were right
	}
	if _, _, err := ParseHeader(s.head[:s.have]); err != nil && !errors.Is(err, ErrShort) {
		return err
	}
	return nil
}

// next goes to the next part that the header has.
func (s *Skipper) next() {
	s.have = 0
	for s.stage++; s.stage < behind && s.head[3]&stageFlags[s.stage] == 0; s.stage++ {
	}
}
