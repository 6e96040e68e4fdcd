package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress"
)

// recoverTo writes the intact blocks of a damaged file to w, and reports on standard error what is
// lost and how much is saved.
func (a *app) recoverTo(w io.Writer, in *source, m *meter, opts []compress.ReaderOption) error {
	if !in.regular() {
		return errNotRegular
	}
	lost, known := int64(0), true
	tell := func(d compress.Damage) {
		// print instead of warn: -q must not hide that content is missing.
		text := damageText(d, unitOf(in))
		if errors.Is(d.Err, compress.ErrDictionary) {
			text += "; it " + needsDictionary(d.Err) + "; give it with -D"
		}
		if d.Err != nil {
			text = a.withDetails(text, d.Err)
		}
		a.print(in.name, "%s", text)
	}
	var copies compress.Damage // reports of bytes that repeat lost content, in one
	flush := func() {
		if copies.Span > 0 {
			tell(copies)
		}
		copies = compress.Damage{}
	}
	err := compress.Recover(w, in.readerAt(), in.info.Size(), func(d compress.Damage) error {
		a.raise(exitWarning)
		lost += max(d.Content, 0)
		known = known && d.Content >= 0 && (d.Kind != compress.DamageCheck || in.is(compress.Zstd))
		if d.Kind == compress.DamageWindow {
			d.Content += copies.Content
			d.Span += copies.Span
			copies = d
			return nil
		}
		flush()
		tell(d)
		return nil
	}, append(opts, compress.WithZeroFill(a.cfg.zeroFill))...)
	flush()
	if err != nil {
		return err
	}
	saved := m.w.n
	if a.cfg.zeroFill {
		saved -= lost
	}
	switch {
	case saved == 0 && (lost > 0 || !known):
		return errors.New("nothing can be saved")
	case a.cfg.quiet:
	case known:
		a.print(in.name, "saved %d of %d %s", saved, saved+lost, plural(saved+lost, "byte"))
	default:
		a.print(in.name, "saved %d %s; the amount lost is unknown", saved, plural(saved, "byte"))
	}
	return nil
}

// unitOf returns the word for the parts of a source that reports name.
func unitOf(in *source) string {
	switch {
	case in.is(compress.Zstd):
		return "frame"
	case in.is(compress.Gzip):
		return "member"
	}
	return "block"
}

// damageText describes a damaged part of a file. unit is the word for its blocks.
func damageText(d compress.Damage, unit string) string {
	stream := ""
	if d.Stream > 0 {
		stream = fmt.Sprintf(" of stream %d", d.Stream)
	}
	var e *compress.Error
	errors.As(d.Err, &e)
	switch {
	case d.Kind == compress.DamageFrame:
		return frameDamage(d, e, unit, stream)
	case d.Kind == compress.DamageUnknown && e != nil && e.Part == compress.PartStray:
		return fmt.Sprintf("%s %d%s at byte %d of the file is left out: %s",
			unit, d.Block, stream, e.Offset, e.Detail)
	case d.Kind == compress.DamageUnknown && e != nil &&
		d.Stream > 0 && d.Block == 0 && d.Content < 0:
		return fmt.Sprintf("trailing garbage or a damaged stream, from byte %d of the file on",
			e.Offset)
	}
	where := contentRange(d)
	switch {
	case d.Kind == compress.DamageWindow && unit == "block":
		return fmt.Sprintf("lost: %d of %d bytes of later blocks, which repeat lost content",
			d.Content, d.Span)
	case d.Kind == compress.DamageWindow:
		return fmt.Sprintf("lost: %d of %d bytes of member %d, which repeat lost content",
			d.Content, d.Span, d.Stream)
	case d.Kind == compress.DamageCheck && unit == "frame":
		return fmt.Sprintf("not verified: %d bytes of frame %d, in front of damage", d.Span, d.Block)
	case d.Kind == compress.DamageCheck:
		return checkDamage(d)
	case d.Kind == compress.DamageUnknown && unit == "member":
		return fmt.Sprintf("lost: an unknown amount of member %d, %s", d.Stream, where)
	case d.Kind == compress.DamageUnknown:
		return fmt.Sprintf("lost: an unknown number of %ss from %s %d%s on, %s",
			unit, unit, d.Block, stream, where)
	case d.Blocks == 1:
		return fmt.Sprintf("lost: %s %d%s, %s", unit, d.Block, stream, where)
	}
	return fmt.Sprintf("lost: %ss %d to %d%s, %s", unit, d.Block, d.Block+d.Blocks-1, stream, where)
}

// frameDamage describes damage that costs no content. e is nil if the cause is unknown.
func frameDamage(d compress.Damage, e *compress.Error, unit, stream string) string {
	const noLoss = "; no content is lost"
	switch {
	case e != nil && e.Part == compress.PartStray:
		return fmt.Sprintf("bytes that belong to no frame (byte %d)%s", e.Offset, noLoss)
	case e != nil && e.Part == compress.PartBlock:
		return fmt.Sprintf("%s %d%s is not at its place (byte %d)%s", unit, d.Block, stream,
			e.Offset, noLoss)
	case errors.Is(d.Err, compress.ErrTruncated), e != nil && e.Part == compress.PartIndex:
		return "the index" + stream + " is damaged" + noLoss
	}
	return "the header" + stream + " is damaged" + noLoss
}

// checkDamage describes content that its checksum does not confirm.
func checkDamage(d compress.Damage) string {
	reason := "a part of the member is lost"
	switch {
	case errors.Is(d.Err, compress.ErrChecksum):
		reason = "the checksum is wrong"
	case errors.Is(d.Err, compress.ErrTruncated):
		reason = "the checksum is missing"
	}
	return fmt.Sprintf("not verified: %d bytes of member %d; %s", d.Span, d.Stream, reason)
}

// contentRange describes the content that is lost.
func contentRange(d compress.Damage) string {
	switch {
	case d.ContentOffset >= 0 && d.Content > 0:
		last := d.ContentOffset + d.Content - 1
		return fmt.Sprintf("bytes %d to %d of the content", d.ContentOffset, last)
	case d.ContentOffset >= 0:
		return fmt.Sprintf("from byte %d of the content on", d.ContentOffset)
	case d.Content >= 0:
		return fmt.Sprintf("%d bytes at an unknown offset of the content", d.Content)
	}
	return "at an unknown offset of the content"
}
