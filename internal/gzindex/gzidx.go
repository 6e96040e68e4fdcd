package gzindex

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/gopz/compress/internal/errs"
)

// indexed_gzip's format. Numbers are little-endian, sizes and offsets are in bytes.
//
//	5  "GZIDX"
//	1  version, 0 or 1
//	1  flags, 0
//	8  size of the .gz file
//	8  size of the content, 0 if unknown
//	4  content between checkpoints that the writer aimed at
//	4  size of a window
//	4  number of checkpoints
//
// Then for each checkpoint:
//
//	8  offset in the .gz file of the first whole byte
//	8  offset in the content
//	1  bits that belong to the checkpoint from the byte before
//	1  whether it has a window; version 1 only
//
// Then the windows follow, uncompressed. In version 0 each checkpoint but the first has one. The
// beginning of a window at less than 32 KiB of content is padding. A complete index has a last
// checkpoint at the end of the file, where nothing can be decoded. Index leaves that out.
const gzidxMagic = "GZIDX"

// Fields of GZIDX, in bytes.
const (
	gzidxMinWindow = WindowSize
	gzidxHeader    = len(gzidxMagic) + 2 + 8 + 8 + 4 + 4 + 4
	gzidxMaxPoint  = 18
)

// readGZIDX reads an index of indexed_gzip.
func readGZIDX(in *input, x *Index) error {
	order := binary.LittleEndian
	in.full(make([]byte, len(gzidxMagic)))
	version, flags := in.byte(), in.byte()
	if in.err == nil && (version > 1 || flags != 0) {
		return corrupt(errs.Version, int64(len(gzidxMagic)), "version %d of GZIDX, flags %d",
			version, flags)
	}
	x.Source = GZIDX0 + Format(version)
	x.FileSize = in.int63(order, maxFile, "file size")
	content := in.int63(order, maxContent, "content size")
	if content > 0 {
		x.ContentSize = content
	}
	in.uint32(order) // content between checkpoints
	if size := in.uint32(order); in.err == nil && size != WindowSize {
		in.fail("windows of %d bytes; Deflate has %d", size, WindowSize)
	}
	count := in.uint32(order)

	// windows has a bit for each checkpoint with a window.
	var windows []byte
	for i := uint32(0); i < count; i++ {
		offset := in.int63(order, maxFile, "offset")
		c := Checkpoint{Content: in.int63(order, maxContent, "offset in the content")}
		c.Bit = in.bit(offset, uint32(in.byte()))
		flag := byte(1)
		if version > 0 {
			flag = in.byte()
		} else if i == 0 {
			flag = 0
		}
		if flag > 1 {
			in.fail("impossible flag %d of a window", flag)
		}
		if !in.addCheckpoint(x, c) {
			return in.err
		}
		if i&7 == 0 {
			windows = append(windows, 0)
		}
		windows[i>>3] |= flag << (i & 7)
	}
	return in.gzidxWindows(x, windows)
}

// gzidxWindows reads the windows of the checkpoints whose bit is set, and removes the checkpoint at
// the end of the file.
func (in *input) gzidxWindows(x *Index, has []byte) error {
	var p Packer
	var content [WindowSize]byte
	last := len(x.Checkpoints) - 1
	for last >= 0 && x.Checkpoints[last].Bit == x.FileSize*8 {
		last--
	}
	for i := range x.Checkpoints {
		if has[i>>3]>>(i&7)&1 == 0 {
			continue
		}
		if in.lastOnly && i != last {
			in.skip(WindowSize)
			continue
		}
		in.full(content[:])
		c := &x.Checkpoints[i]
		if c.Bit < x.FileSize*8 && in.err == nil {
			c.Window = p.Pack(content[WindowSize-min(WindowSize, c.Content):])
			in.takeMemory(len(c.Window.zlib))
			if in.err == nil {
				in.err = in.limits.Canceled()
			}
		}
		if in.err != nil {
			return in.err
		}
	}
	if last < len(x.Checkpoints)-1 {
		if x.ContentSize == Unknown {
			x.ContentSize = x.Checkpoints[len(x.Checkpoints)-1].Content
		}
		x.Checkpoints = x.Checkpoints[:last+1]
	}
	return in.err
}

// writeGZIDX writes the index in version 1.
func (x *Index) writeGZIDX(w io.Writer) error {
	if x.FileSize == Unknown {
		return errs.BadOption("GZIDX needs the size of the .gz file")
	}
	points := x.Checkpoints
	if x.ContentSize != Unknown {
		end := Checkpoint{Bit: x.FileSize * 8, Content: x.ContentSize}
		points = append(points[:len(points):len(points)], end)
	}
	if int64(len(points)) > math.MaxUint32 {
		return errs.BadOption("GZIDX has no room for %d checkpoints", len(points))
	}
	b := make([]byte, 0, max(gzidxHeader, gzidxMaxPoint))
	b = append(b, gzidxMagic...)
	b = append(b, 1, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(x.FileSize))
	b = binary.LittleEndian.AppendUint64(b, uint64(max(0, x.ContentSize)))
	b = binary.LittleEndian.AppendUint32(b, x.spacing())
	b = binary.LittleEndian.AppendUint32(b, WindowSize)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(points)))
	if _, err := w.Write(b); err != nil {
		return err
	}
	for i := range points {
		c := &points[i]
		b = binary.LittleEndian.AppendUint64(b[:0], uint64(c.Bit+7)>>3)
		b = binary.LittleEndian.AppendUint64(b, uint64(c.Content))
		b = append(b, byte(-c.Bit&7), c.gzidxFlag())
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return writeGZIDXWindows(w, points)
}

// gzidxFlag says whether the checkpoint needs a window in GZIDX. indexed_gzip uses the bits of the
// byte before a checkpoint only if it has a window.
func (c *Checkpoint) gzidxFlag() byte {
	if c.Window.Empty() && c.Bit&7 == 0 {
		return 0
	}
	return 1
}

// writeGZIDXWindows writes the windows of points.
func writeGZIDXWindows(w io.Writer, points []Checkpoint) error {
	var u Unpacker
	var window [WindowSize]byte
	for i := range points {
		if points[i].gzidxFlag() == 0 {
			continue
		}
		content, err := u.Unpack(points[i].Window)
		if err != nil {
			return err
		}
		clear(window[:])
		copy(window[WindowSize-len(content):], content)
		if _, err := w.Write(window[:]); err != nil {
			return err
		}
	}
	return nil
}

// spacing returns the content between two checkpoints, on average, in bytes. indexed_gzip refuses
// less than a window.
func (x *Index) spacing() uint32 {
	n := len(x.Checkpoints)
	if n == 0 {
		return 1 << 20
	}
	end := max(x.ContentSize, x.Checkpoints[n-1].Content)
	return uint32(min(max(end/int64(n), gzidxMinWindow), math.MaxUint32))
}
