package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress"
)

// recoverTo writes the intact blocks of a damaged file to w, and reports on standard error what is
// lost and how much is saved. Parts of several formats may follow one another.
func (a *app) recoverTo(w io.Writer, in *source, m *meter, opts []compress.ReaderOption) error {
	if !in.regular() {
		return errNotRegular
	}
	opts = append(opts, compress.WithZeroFill(a.cfg.zeroFill))
	var l lostContent
	for next := int64(0); next >= 0; {
		in.start += next
		in.part += next
		var err error
		next, err = a.recoverPart(w, in, m, &l, opts)
		if err != nil {
			return err
		}
	}
	saved := m.w.n
	if a.cfg.zeroFill {
		saved -= l.bytes
	}
	switch {
	case saved == 0 && (l.bytes > 0 || l.unknown):
		return errors.New("nothing can be saved")
	case a.cfg.quiet:
		return nil
	}
	text := fmt.Sprintf("saved %d of %d %s", saved, saved+l.bytes, plural(saved+l.bytes, "byte"))
	if l.unknown {
		text = fmt.Sprintf("saved %d %s; the amount lost is unknown", saved, plural(saved, "byte"))
	}
	if l.damaged {
		text += in.repairable()
	}
	a.print(in.name, "%s", text)
	return nil
}

// A lostContent is how much content of a file is lost.
type lostContent struct {
	bytes   int64
	unknown bool // bytes are not all
	damaged bool // there is damage, which may be without lost content
}

// recoverPart is recoverTo for the part in one format that begins at in.start. It returns the size
// of the part if another one follows, and −1 if none does.
func (a *app) recoverPart(
	w io.Writer, in *source, m *meter, l *lostContent, opts []compress.ReaderOption,
) (next int64, err error) {
	content := m.w.n // in front of the part
	switch {
	case l.unknown:
		content = -1
	case !a.cfg.zeroFill:
		content += l.bytes
	}
	tell := func(d compress.Damage) {
		// print instead of warn: -q must not hide that content is missing.
		text := damageText(d, unitOf(in))
		var e *compress.Error
		switch {
		case errors.Is(d.Err, compress.ErrDictionary):
			text += "; it " + needsDictionary(d.Err) + "; give it with -D"
		case errors.Is(d.Err, compress.ErrMemory) && errors.As(d.Err, &e):
			what, advice := a.memoryExceeded(in, e)
			text += "; it " + what + "; " + advice
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
	next = -1
	src := io.NewSectionReader(in.readerAt(), in.start, in.info.Size()-in.start)
	err = compress.Recover(w, src, src.Size(), func(d compress.Damage) error {
		if off, ok := in.partEnd(d.Err); ok && d.Kind == compress.DamageFrame {
			next = off
			return nil
		}
		a.raise(exitWarning)
		l.damaged = true
		l.bytes += max(d.Content, 0)
		if d.Content < 0 || d.Kind == compress.DamageCheck && !in.is(compress.Zstd) {
			l.unknown = true
		}
		d = inFile(d, in.part, content)
		if d.Kind == compress.DamageWindow {
			d.Content += copies.Content
			d.Span += copies.Span
			copies = d
			return nil
		}
		flush()
		tell(d)
		return nil
	}, opts...)
	flush()
	return next, err
}

// inFile returns damage of a part that begins at an offset of the file, behind so many bytes of
// content; −1 if that is unknown.
func inFile(d compress.Damage, offset, content int64) compress.Damage {
	var e *compress.Error
	if errors.As(d.Err, &e) && e.Offset >= 0 {
		moved := *e
		moved.Offset += offset
		d.Err = &moved
	}
	switch {
	case content < 0:
		d.ContentOffset = -1
	case d.ContentOffset >= 0:
		d.ContentOffset += content
	}
	return d
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
		stream = fmt.Sprint(" of stream ", d.Stream)
	}
	part, where := fmt.Sprint(unit, " ", d.Block, stream), contentRange(d)
	if unit == "member" {
		part = fmt.Sprint("member ", d.Stream)
	}
	switch {
	case d.Kind == compress.DamageFrame:
		return libraryReason(d.Err) + "; no content is lost"
	case d.Kind == compress.DamageWindow:
		return fmt.Sprintf("lost: %d of %d bytes of later content, which repeat lost content",
			d.Content, d.Span)
	case d.Kind == compress.DamageCheck:
		return fmt.Sprintf("not verified: %d bytes of %s: %s", d.Span, part, libraryReason(d.Err))
	case d.Kind == compress.DamageUnknown && d.Stream > 0 && d.Block == 0 && unit != "member":
		return "trailing garbage, or a damaged stream: " + libraryReason(d.Err)
	case d.Kind == compress.DamageUnknown && unit == "member":
		return fmt.Sprintf("lost: an unknown amount of %s, %s", part, where)
	case d.Kind == compress.DamageUnknown:
		return fmt.Sprintf("lost: an unknown number of %ss from %s on, %s", unit, part, where)
	case d.Blocks > 1:
		return fmt.Sprintf("lost: %ss %d to %d%s, %s", unit, d.Block, d.Block+d.Blocks-1, stream, where)
	}
	return fmt.Sprintf("lost: %s, %s", part, where)
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
