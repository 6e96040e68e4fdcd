package main

import (
	"fmt"
	"io"

	"github.com/gopz/compress"
)

// recoverTo writes what is intact of a damaged file and says on standard error what is lost.
func (a *app) recoverTo(w io.Writer, in *source, opts []compress.Option) error {
	if !in.regular() {
		return errNoIndex
	}
	opts = append(opts, compress.WithZeroFill(a.cfg.zeroFill))
	return compress.Recover(w, in.f, in.info.Size(), func(d compress.Damage) error {
		// Not through warn: -q must not hide what is missing from the result.
		a.atLeast(exitWarning)
		a.say(in.name, "%s", damageText(d))
		return nil
	}, opts...)
}

func damageText(d compress.Damage) string {
	because := ""
	if d.Err != nil {
		because = ": " + libraryReason(d.Err)
	}
	if d.Kind == compress.DamageFrame {
		return "no content is lost here, but the header or the index is damaged" + because
	}
	what := "an unknown number of blocks"
	if d.Kind == compress.DamageBlocks {
		what = fmt.Sprintf("%d %s", d.Blocks, plural(d.Blocks, "block"))
	}
	where := "at an unknown place of the content"
	switch {
	case d.ContentOffset >= 0 && d.Content > 0:
		where = fmt.Sprintf("bytes %d to %d of the content", d.ContentOffset, d.ContentOffset+d.Content-1)
	case d.ContentOffset >= 0:
		where = fmt.Sprintf("from byte %d of the content on", d.ContentOffset)
	case d.Content >= 0:
		where = fmt.Sprintf("%d bytes at an unknown place of the content", d.Content)
	}
	return fmt.Sprintf("lost: %s from block %d of stream %d on, %s%s", what, d.Block, d.Stream, where, because)
}
