package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gopz/compress"
)

// recoverTo writes what is intact of a damaged file, and says on standard error what is lost and how much is saved.
func (a *app) recoverTo(w io.Writer, in *source, m *meter, opts []compress.Option) error {
	if !in.regular() {
		return errNoIndex
	}
	lost, known := int64(0), true
	err := compress.Recover(w, in.f, in.info.Size(), func(d compress.Damage) error {
		// Not through warn: -q must not hide what is missing from the result.
		a.atLeast(exitWarning)
		text := damageText(d, unitOf(in))
		if a.cfg.verbose && d.Err != nil {
			text += " (details: " + libraryReason(d.Err) + ")"
		}
		a.say(in.name, "%s", text)
		lost += max(d.Content, 0)
		known = known && d.Content >= 0
		return nil
	}, append(opts, compress.WithZeroFill(a.cfg.zeroFill))...)
	if err != nil {
		return err
	}
	saved := m.w.n
	if a.cfg.zeroFill {
		saved -= lost
	}
	switch {
	case saved == 0 && (lost > 0 || !known):
		return errors.New("nothing could be saved")
	case a.cfg.quiet:
	case known:
		a.say(in.name, "saved %d of %d %s", saved, saved+lost, plural(saved+lost, "byte"))
	default:
		a.say(in.name, "saved %d %s; how much is lost is not known", saved, plural(saved, "byte"))
	}
	return nil
}

// unitOf is what the blocks of a source are called: those of .zst are frames.
func unitOf(in *source) string {
	if formatOf(in.beginning()) == "zst" {
		return "frame"
	}
	return "block"
}

// damageText says what is lost, in the words for such files.
func damageText(d compress.Damage, unit string) string {
	stream := ""
	if d.Stream > 0 {
		stream = fmt.Sprintf(" of stream %d", d.Stream)
	}
	var e *compress.Error
	errors.As(d.Err, &e)
	var where string
	switch {
	case d.Kind == compress.DamageFrame && e != nil && strings.HasPrefix(e.Detail, "bytes"):
		return fmt.Sprintf("%s, at byte %d of the file; no content is lost by that", e.Detail, e.Offset)
	case d.Kind == compress.DamageFrame:
		part := "the header"
		if errors.Is(d.Err, compress.ErrTruncated) || e != nil && strings.HasPrefix(e.Detail, "index") {
			part = "the index"
		}
		return part + stream + " is damaged; no content is lost by that"
	case d.Kind == compress.DamageUnknown && d.Stream > 0 && d.Block == 0 && d.Content < 0 && e != nil:
		return fmt.Sprintf("trailing garbage, or a damaged stream, from byte %d of the file on", e.Offset)
	case d.ContentOffset >= 0 && d.Content > 0:
		where = fmt.Sprintf("bytes %d to %d of the content", d.ContentOffset, d.ContentOffset+d.Content-1)
	case d.ContentOffset >= 0:
		where = fmt.Sprintf("from byte %d of the content on", d.ContentOffset)
	case d.Content >= 0:
		where = fmt.Sprintf("%d bytes at an unknown place of the content", d.Content)
	default:
		where = "at an unknown place of the content"
	}
	switch {
	case d.Kind == compress.DamageUnknown:
		return fmt.Sprintf("lost: an unknown number of %ss from %s %d%s on, %s", unit, unit, d.Block, stream, where)
	case d.Blocks == 1:
		return fmt.Sprintf("lost: %s %d%s, %s", unit, d.Block, stream, where)
	}
	return fmt.Sprintf("lost: %ss %d to %d%s, %s", unit, d.Block, d.Block+d.Blocks-1, stream, where)
}
