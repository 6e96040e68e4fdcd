package compress

import (
	"io"
	"math"

	"github.com/gopz/compress/internal/zstfile"
)

// walkFrames goes through a .zst file from header to header, verifying how frames and blocks follow one another and not what is in
// them. It calls f behind each frame that is not skippable, with the offset of its end, and reports whether the last one is a seek table.
func walkFrames(ra io.ReaderAt, size int64, o *options, f func(fr *zstFrame, end int64) error) (table bool, err error) {
	all := foreign{opt: o}
	all.in.beginAt(ra, size)
	z := &all.zs
	z.begin(&all)
	for {
		if err := o.canceled(); err != nil {
			return false, err
		}
		at := all.in.off()
		switch err := z.nextFrame(); err {
		case nil:
		case errStreamEnd:
			if z.skip > 0 {
				table = z.kind == zstfile.SeekTableKind && z.seekTable(ra, at+zstfile.SkippableHeaderSize+z.skip)
			}
			continue
		case io.EOF:
			return table, nil
		default:
			return false, err
		}
		if err := z.frame.whole(math.MaxInt64); err != io.EOF {
			return false, err
		}
		table = false
		if err := f(&z.frame, all.in.off()); err != nil {
			return false, err
		}
	}
}

// seekTable reports whether the skippable frame that ends at an offset, and whose header has been read, is a seek table.
func (z *zstScanner) seekTable(ra io.ReaderAt, end int64) bool {
	var p [zstfile.SeekFooterSize]byte
	if z.skip < int64(len(p)) || readAt(ra, p[:], end-int64(len(p))) != nil {
		return false
	}
	f, err := zstfile.ParseSeekFooter(p[:], end)
	return err == nil && f.TableSize() == zstfile.SkippableHeaderSize+z.skip
}
