package cli

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gopz/compress/internal/cli/internal/foreign"
)

// archives lists formats that pz does not read, with their magic numbers and the programs that read
// them.
var archives = []struct{ magic, name, tool string }{
	{"PK\x03\x04", "zip", "unzip"},
	{"PK\x05\x06", "zip", "unzip"}, // an empty archive
	{"7z\xbc\xaf\x27\x1c", "7z", "7z x"},
	{"\x89LZO\x00\r\n\x1a\n", "lzop", "lzop -d"},
	{"LRZI\x00", "lrzip", "lrzip -d"},
}

// magicSize is the size of the longest magic number, in bytes.
const magicSize = foreign.MagicSize

// foreignFormat returns the format of a source that pz restores and does not write, or nil.
func (s *source) foreignFormat() *foreign.Format {
	if _, ok := s.format(); ok {
		return nil
	}
	name := s.name
	if s.part > 0 {
		name = "" // it is that of the first part
	}
	return foreign.Detect(s.head(), name)
}

// recognize returns the name of a format that the mode does not read, and what reads it.
func (a *app) recognize(in *source) (name, tool string) {
	switch f := in.foreignFormat(); {
	case f == nil:
	case a.cfg.mode == modeRecover:
		return f.Name, `"pz -dc FILE", which restores the content before damage`
	default:
		return f.Name, "-t or -d, which read such files"
	}
	for _, f := range archives {
		if bytes.HasPrefix(in.head(), []byte(f.magic)) {
			return f.name, f.tool
		}
	}
	return "", ""
}

// explainForeign returns a message about an error of a decoder of package foreign, or "".
func (a *app) explainForeign(in *source, err error) (text string) {
	var trailing *foreign.TrailingError
	var filter *foreign.FilterError
	switch {
	case errors.Is(err, foreign.ErrCut):
		text = "is cut short; the end is missing"
	case errors.Is(err, foreign.ErrMemory):
		limit := a.cfg.memory
		if limit == 0 {
			limit = foreign.DefaultMemory
		}
		text = "needs more memory for its dictionary than " + formatSize(limit) + "; raise -M"
	case errors.As(err, &filter):
		text = "needs the filter for " + filter.Filter + `, which pz does not have; use "xz -dc FILE"`
	case errors.Is(err, foreign.ErrFeature):
		text = "needs a feature that pz does not have"
	case errors.Is(err, foreign.ErrCorrupt):
		text = "is damaged"
	case errors.As(err, &trailing):
		text = fmt.Sprintf("has other data behind its end (byte %d)", in.part+trailing.Offset)
	default:
		return ""
	}
	if in.regular() && in.part == 0 && !a.cfg.toStdout {
		switch {
		case trailing != nil:
			text += `; "pz -dc FILE" restores the content before it`
		case errors.Is(err, foreign.ErrCut), errors.Is(err, foreign.ErrCorrupt):
			text += "; " + dcBeforeDamage
		}
	}
	return a.withDetails(text, err)
}

// isTar reports whether a regular file is a tar archive in POSIX or GNU format.
func isTar(in *source) bool {
	if !in.regular() {
		return false
	}
	p := make([]byte, tarHead)
	_, err := in.readerAt().ReadAt(p, in.start)
	return err == nil && isTarHead(p)
}

// tarHead is how many bytes isTarHead needs.
const tarHead = 262

// isTarHead reports whether a tar archive in POSIX or GNU format begins with p.
func isTarHead(p []byte) bool { return len(p) >= tarHead && string(p[257:tarHead]) == "ustar" }
