package gzfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// methodDeflate is the only compression method of RFC 1952.
const methodDeflate = 8

// Flags of a header.
const (
	flagText      = 1 << 0
	flagHeaderCRC = 1 << 1
	flagExtra     = 1 << 2
	flagName      = 1 << 3
	flagComment   = 1 << 4
)

// Values of Header.Speed and Header.OS.
const (
	Densest = 2 // slowest compression
	Fastest = 4

	Unix      = 3
	UnknownOS = 255
)

// Header is the header of a member.
type Header struct {
	// Name is the name of the compressed file, and Comment a comment; "" means none. They are UTF-8
	// here and Latin-1 in the file, as the format requires. Files of gzip have the bytes of the
	// file's name; Latin1 returns them.
	Name, Comment string
	ModTime       uint32 // of the file, in seconds since 1970; 0 is unknown
	Extra         []byte // subfields (RFC 1952, section 2.3.1.1); nil is none; at most 65,535 bytes
	Text          bool   // the content is probably text
	HeaderCRC     bool   // the header has a checksum of its own; old versions of gzip refuse such files
	Speed         uint8  // Densest, Fastest or 0
	OS            uint8  // system, or rather file system, that the file was on
}

// Append appends the header. If Name or Comment is too long, has a zero, or has characters outside
// Latin-1, or if Extra is too long, it returns dst as it was and ErrField.
func (h *Header) Append(dst []byte) ([]byte, error) {
	at := len(dst)
	var flags byte
	if h.Text {
		flags |= flagText
	}
	if h.HeaderCRC {
		flags |= flagHeaderCRC
	}
	if h.Extra != nil {
		flags |= flagExtra
	}
	if h.Name != "" {
		flags |= flagName
	}
	if h.Comment != "" {
		flags |= flagComment
	}
	p := append(dst, Magic...)
	p = append(p, methodDeflate, flags)
	p = binary.LittleEndian.AppendUint32(p, h.ModTime)
	p = append(p, h.Speed, h.OS)
	if h.Extra != nil {
		if len(h.Extra) > maxExtra {
			return dst, fmt.Errorf("%w: %d bytes of extra data", ErrField, len(h.Extra))
		}
		p = binary.LittleEndian.AppendUint16(p, uint16(len(h.Extra)))
		p = append(p, h.Extra...)
	}
	for _, s := range [...]string{h.Name, h.Comment} {
		if s == "" {
			continue
		}
		from, ok := len(p), false
		if p, ok = Latin1(p, s); !ok || len(p)-from > MaxString || bytes.IndexByte(p[from:], 0) >= 0 {
			return dst, fmt.Errorf("%w: name or comment cannot be written", ErrField)
		}
		p = append(p, 0)
	}
	if h.HeaderCRC {
		p = binary.LittleEndian.AppendUint16(p, uint16(Checksum(0, p[at:])))
	}
	return p, nil
}

// ParseHeader reads a header from the front of p and returns its size; more bytes may follow.
// ErrShort means that p may be the beginning of a header; MaxHeaderSize bytes are always enough.
// With ErrLong h has everything before the string that is too long. Extra refers to p.
func ParseHeader(p []byte) (h Header, size int, err error) {
	if n := min(len(p), len(Magic)); string(p[:n]) != Magic[:n] {
		return h, 0, ErrMagic
	}
	if len(p) > 2 && p[2] != methodDeflate {
		return h, 0, fmt.Errorf("%w %d", ErrMethod, p[2])
	}
	if len(p) > 3 && p[3] >= flagComment<<1 {
		return h, 0, fmt.Errorf("%w: unknown flags %#x", ErrField, p[3])
	}
	if len(p) < MinHeaderSize {
		return h, 0, ErrShort
	}
	flags := p[3]
	h = Header{
		ModTime:   binary.LittleEndian.Uint32(p[4:]),
		Text:      flags&flagText != 0,
		HeaderCRC: flags&flagHeaderCRC != 0,
		Speed:     p[8],
		OS:        p[9],
	}
	rest := p[MinHeaderSize:]
	if flags&flagExtra != 0 {
		if len(rest) < 2 {
			return h, 0, ErrShort
		}
		n := int(binary.LittleEndian.Uint16(rest))
		if len(rest)-2 < n {
			return h, 0, ErrShort
		}
		h.Extra, rest = rest[2:2+n:2+n], rest[2+n:]
	}
	if flags&flagName != 0 {
		h.Name, rest, err = parseString(rest)
		if err != nil {
			return h, 0, err
		}
	}
	if flags&flagComment != 0 {
		h.Comment, rest, err = parseString(rest)
		if err != nil {
			return h, 0, err
		}
	}
	if h.HeaderCRC {
		if len(rest) < 2 {
			return h, 0, ErrShort
		}
		if uint16(Checksum(0, p[:len(p)-len(rest)])) != binary.LittleEndian.Uint16(rest) {
			return h, 0, ErrChecksum
		}
		rest = rest[2:]
	}
	return h, len(p) - len(rest), nil
}

// parseString reads a zero-terminated string in Latin-1.
func parseString(p []byte) (s string, rest []byte, err error) {
	n := bytes.IndexByte(p[:min(len(p), MaxString+1)], 0)
	switch {
	case n >= 0:
		return FromLatin1(p[:n]), p[n+1:], nil
	case len(p) > MaxString:
		return "", nil, ErrLong
	}
	return "", nil, ErrShort
}

// Latin1 appends s to dst in Latin-1, as it is in a file. If s has other characters, ok is false
// and the result is useless.
func Latin1(dst []byte, s string) (p []byte, ok bool) {
	for _, r := range s {
		if r > 255 {
			return dst, false
		}
		dst = append(dst, byte(r))
	}
	return dst, true
}

// FromLatin1 returns the string that Latin1 turns into p. Written to a header, the string has the
// bytes of p again, which is how gzip stores a file name in any encoding.
func FromLatin1(p []byte) string {
	runes := make([]rune, len(p))
	for i, c := range p {
		runes[i] = rune(c)
	}
	return string(runes)
}
