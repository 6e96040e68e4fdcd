package gzindex

import (
	"bufio"
	"io"

	"github.com/gopz/compress/internal/errs"
)

// Write writes the index to w in format f: GZIDX1, Gztool0 or Bgzip. Another format is an error
// that wraps errs.Option, and so is what the index lacks for the format:
//
//   - GZIDX needs FileSize.
//   - gztool's .gzi needs ContentSize.
//   - bgzip's .gzi holds nothing but checkpoints with Header, and the others hold none of these.
//
// A window of GZIDX has always 32 KiB: Write decompresses it, which may find damage. Errors of w
// are returned as they are.
func (x *Index) Write(w io.Writer, f Format) error {
	if reason := x.check(); reason != "" {
		return errs.BadOption("index of a .gz file: %s", reason)
	}
	if f != Bgzip {
		for i := range x.Checkpoints {
			if x.Checkpoints[i].Header {
				return errs.BadOption("%v lists Deflate blocks; checkpoint %d is a header", f, i)
			}
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	var err error
	switch f {
	case GZIDX1:
		err = x.writeGZIDX(out)
	case Gztool0:
		err = x.writeGztool(out)
	case Bgzip:
		err = x.writeBgzip(out)
	default:
		err = errs.BadOption("no index of a .gz file is written as %v", f)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}
