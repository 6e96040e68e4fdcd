package compress

import (
	"io"
	"math"
)

// walkFrames goes through a .zst file from header to header, verifying how frames and blocks follow one another and not what is in
// them. It calls f behind each frame that is not skippable.
func walkFrames(ra io.ReaderAt, size int64, o *options, f func(*zstFrame)) error {
	all := foreign{opt: o}
	all.in.beginAt(ra, size)
	z := &all.zs
	z.begin(&all)
	for n := 0; ; n++ {
		if err := o.canceled(); err != nil {
			return err
		}
		switch err := z.nextFrame(); err {
		case nil:
		case errStreamEnd:
			continue
		case io.EOF:
			return nil
		default:
			return err
		}
		if err := z.frame.whole(math.MaxInt64); err != io.EOF {
			return err
		}
		f(&z.frame)
	}
}
