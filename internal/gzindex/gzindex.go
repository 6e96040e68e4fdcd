// Package gzindex reads and writes indexes of .gz files, which lie beside the files they index.
//
// An [Index] is a list of checkpoints. A decoder can start at a checkpoint, so a program reads any
// part of the content without decoding what lies before it. [ReadAt] makes an Index of a sidecar
// file, and [Index.Write] writes one. The formats are those of three programs:
//
//   - indexed_gzip: GZIDX, versions 0 and 1; version 1 is written (gzidx.go)
//   - gztool: .gzi, versions 0 and 1; version 0 is written (gztool.go)
//   - bgzip: .gzi, for BGZF files only (bgzip.go)
//
// Nothing in an index is trusted: counts and sizes allocate no more memory than the file has bytes
// for, up to a small factor. But an index may be well-formed and belong to another .gz file. So a
// reader of content must treat an error of the decoder, or a wrong checksum, as possible damage of
// the index too.
package gzindex

import (
	"fmt"
	"math"

	"github.com/gopz/compress/internal/errs"
)

// Unknown is the value of a size that the index does not have.
const Unknown = -1

// Format is the format of a sidecar file.
type Format uint8

// The formats. The zero value is that of an Index that comes from no file.
const (
	None    Format = iota
	GZIDX0         // indexed_gzip's format, version 0: each checkpoint but the first has a window
	GZIDX1         // version 1: a flag for each checkpoint says whether it has a window
	Gztool0        // gztool's format, version 0
	Gztool1        // version 1: with line numbers
	Bgzip          // bgzip's format: checkpoints are headers of members
)

var formatNames = [...]string{
	"none", "GZIDX version 0", "GZIDX version 1",
	"gztool's .gzi version 0", "gztool's .gzi version 1", "bgzip's .gzi",
}

// String returns the name of the format.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("format %d", uint8(f))
}

// An Index is an index of a .gz file. Goroutines may read it at the same time.
type Index struct {
	// Checkpoints are in ascending order of Bit. Their Content does not descend either.
	Checkpoints []Checkpoint
	FileSize    int64  // of the .gz file in bytes, or Unknown
	ContentSize int64  // of the content of all members in bytes, or Unknown
	Source      Format // the format that the index was read from
}

// A Checkpoint is a place where a decoder can start.
type Checkpoint struct {
	// Bit is the place in the .gz file, in bits from its beginning. Bits of a byte are counted as
	// Deflate does (RFC 1951, section 3.1.1): the least significant one is the first.
	Bit     int64
	Content int64 // bytes of content before the checkpoint
	// Window is the content just before the checkpoint.
	Window Window
	// Header says that the header of a member begins at Bit. Otherwise a Deflate block does.
	Header bool
}

// maxFile is the largest FileSize in bytes: a count of bits fits into an int64.
const maxFile = math.MaxInt64 / 8

// contentPerBit is the most content that a bit of a .gz file has, in bytes: a match of 258 bytes
// takes two bits at least.
const contentPerBit = 258 / 2

// checkpointMemory is the memory of a Checkpoint in bytes, its window excluded.
const checkpointMemory = 48

// check returns what is wrong with the index, or "".
func (x *Index) check() string {
	if x.FileSize < Unknown || x.FileSize > maxFile || x.ContentSize < Unknown {
		return "impossible size"
	}
	var before Checkpoint
	for i := range x.Checkpoints {
		c := &x.Checkpoints[i]
		if reason := x.checkOne(c, &before); reason != "" {
			return fmt.Sprintf("checkpoint %d %s", i, reason)
		}
		before = *c
	}
	if x.FileSize == Unknown || x.ContentSize == Unknown {
		return ""
	}
	end := Checkpoint{Bit: x.FileSize * 8, Content: x.ContentSize}
	if reason := x.checkOne(&end, &before); reason != "" {
		return "the end " + reason
	}
	return ""
}

// checkOne returns why c cannot follow the checkpoint before, or "".
func (x *Index) checkOne(c, before *Checkpoint) string {
	switch {
	case c.Bit < before.Bit:
		return "lies before its predecessor in the file"
	case c.Content < before.Content:
		return "lies before its predecessor in the content"
	case (c.Content-before.Content)/contentPerBit > c.Bit-before.Bit:
		return "has more content before it than Deflate can have"
	case x.FileSize != Unknown && c.Bit > x.FileSize*8:
		return "lies behind the end of the file"
	case x.ContentSize != Unknown && c.Content > x.ContentSize:
		return "lies behind the end of the content"
	case c.Header && (c.Bit&7 != 0 || !c.Window.Empty()):
		return "is a header with a window, or not at the beginning of a byte"
	}
	return ""
}

// corrupt returns an error about the byte at offset of an index.
func corrupt(kind error, offset int64, format string, args ...any) error {
	err := errs.At(kind, offset, "index of a .gz file: "+fmt.Sprintf(format, args...))
	err.Part = errs.PartIndex
	return err
}
