package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/parity"
)

// checkParity checks what --parity goes with.
func (c *config) checkParity() error {
	switch {
	case c.parity == 0:
	case c.format == compress.Gzip:
		return errors.New("--parity is for .pz and .zst files")
	case c.window > 0:
		return errors.New("--parity does not go with --long: repeats would reach out of the parts " +
			"that it protects")
	}
	return nil
}

// protect calls write with a writer that adds parity if --parity is given, and with the options for
// that. It completes the parity if write succeeds.
func (a *app) protect(
	w io.Writer, opts []compress.WriterOption, write func(io.Writer, []compress.WriterOption) error,
) error {
	if a.cfg.parity == 0 {
		return write(w, opts)
	}
	pw, err := parity.NewWriter(w, parity.Options{Percent: a.cfg.parity, Format: a.cfg.format})
	if err != nil {
		return err
	}
	if err := write(pw, append(opts, pw.WriterOption())); err != nil {
		return err
	}
	return pw.Close()
}

// repairTo writes the source as it was before it was damaged. The bar shows what is read until the
// first zone is written.
func (a *app) repairTo(w io.Writer, in *source, m *meter) error {
	if !in.regular() {
		return errNotRegular
	}
	report, err := parity.Repair(w, &countReaderAt{m}, in.info.Size())
	if report == nil {
		if errors.Is(err, parity.ErrNoParity) {
			return errors.New("has no parity; --recover saves what is intact")
		}
		return err
	}
	a.reportRepair(in, report, err)
	return nil
}

// reportRepair prints what Repair has returned.
func (a *app) reportRepair(in *source, report *parity.Report, err error) {
	if err != nil || report.Unprotected > 0 {
		a.raise(exitWarning)
	}
	if report.ReadErr != nil {
		a.print(in.name, "parts that cannot be read count as damage: %s", reason(report.ReadErr))
	}
	for i, z := range report.Zones {
		if text := zoneDamage(z); text != "" {
			a.print(in.name, "zone %d (byte %d): %s", i, z.Offset, text)
		}
	}
	switch {
	case report.EndMissing:
		a.print(in.name, "the end of the file is missing, with its parity")
	case report.Unprotected > 0 && !a.cfg.quiet:
		a.print(in.name, "%d bytes have no parity; copied", report.Unprotected)
	}
	if n := report.Unreadable; n > 0 {
		a.print(in.name, "%d bytes that cannot be read or repaired are zeros in the result", n)
	}
	switch {
	case err != nil:
		a.print(in.name, "not all could be repaired; --recover saves what is intact of the result")
	case !report.Intact() || a.cfg.quiet:
	case report.Unprotected > 0:
		a.print(in.name, "what has parity is intact")
	default:
		a.print(in.name, "is intact")
	}
}

// zoneDamage describes the damage of a zone. It returns "" for an intact one.
func zoneDamage(z parity.Zone) string {
	switch z.State {
	case parity.Healed:
		if z.Damaged == 0 {
			return "repaired: its parity"
		}
		return fmt.Sprintf("repaired: %d of %d slices", z.Damaged, z.Slices)
	case parity.Lost:
		if z.Damaged == 0 {
			return "not repaired: too much is damaged"
		}
		return fmt.Sprintf("not repaired: %d of %d slices are damaged, and %d of parity are left",
			z.Damaged, z.Slices, z.ParityLeft)
	case parity.NoSection:
		return "unknown: its parity is lost"
	}
	return ""
}

// openParity makes the source heal damage while it is read, if its file ends with parity. With
// everywhere it looks for parity in all of the file. It reports whether the source heals now and
// did not before.
func (s *source) openParity(everywhere bool) bool {
	switch {
	case s.parity != nil, !s.onDisk(), s.start != s.part:
		return false
	case everywhere && !s.mayHaveParity(), !everywhere && !parity.Present(s.f, s.info.Size()):
		return false
	}
	r, err := parity.NewReaderAt(s.f, s.info.Size())
	if err != nil {
		return false // the decoder says what is wrong
	}
	s.parity, s.healing = r, io.NewSectionReader(r, 0, r.Size())
	return true
}

// mayHaveParity reports whether a search of all of a damaged file for parity is worth its time.
func (s *source) mayHaveParity() bool {
	f, known := s.format()
	if !known {
		_, _, known = s.app.cfg.splitSuffix(s.name)
	}
	return known && f != compress.Gzip
}

// readOptions returns the library options for reading the source with all that is said of it.
func (s *source) readOptions() []compress.ReaderOption {
	return append(s.app.readOptions(), s.noteSections())
}

// noteSections returns the option that notes damaged sections of parity.
func (s *source) noteSections() compress.ReaderOption {
	return bridge.BadSection(func() { s.badSection.Store(true) })
}

// readHealing calls read, which reads the source. If that fails because of damage, and there is
// parity anywhere in the file, it calls read again. At the end it warns of damage.
func (m *meter) readHealing(read func() error) error {
	in := m.in
	in.openParity(false)
	healed := in.parity != nil
	err := read()
	if m.w.err == nil && isDamage(err) {
		in.openParity(true)
		again := in.parity != nil && !healed
		if again && (!m.partly || m.w.n == 0) { // else what is written may be wrong
			err = read()
		}
	}
	in.noteHealed()
	return in.notTrailing(err)
}

// notTrailing returns err, or damage in its place if err calls trailing garbage what is behind a
// lost section of parity: streams may follow.
func (s *source) notTrailing(err error) error {
	var e *compress.Error
	if !errors.Is(err, compress.ErrTrailing) || !errors.As(err, &e) || s.parity == nil {
		return err
	}
	if s.parity.Report().Err() == nil {
		return err
	}
	return &compress.Error{
		Kind: compress.ErrCorrupt, Offset: e.Offset, Block: -1, Detail: "a section of parity is damaged",
	}
}

// describeHealing is describe for a file that may be damaged. Of blocks that are found again after
// damage it reports each once.
func (a *app) describeHealing(
	in *source, report func(compress.BlockInfo) error,
) (l listing, err error) {
	defer in.noteHealed()
	in.openParity(false)
	reported := 0
	l, err = a.describe(in, func(b compress.BlockInfo) error {
		reported++
		return report(b)
	})
	if !isDamage(err) || !in.openParity(true) {
		return l, err
	}
	return a.describe(in, func(b compress.BlockInfo) error {
		if reported > 0 {
			reported--
			return nil
		}
		return report(b)
	})
}

// isDamage reports whether an error of reading may come from a damaged file.
func isDamage(err error) bool {
	var e *compress.Error
	var unreadable *fs.PathError
	return errors.As(err, &e) || errors.As(err, &unreadable)
}

// noteHealed warns if the file or its parity is damaged.
func (s *source) noteHealed() {
	const advice = `use "pz --repair FILE -o OUT" to repair it`
	const lost = "has damaged parity; compress its content again with --parity"
	bad := s.badSection.Load()
	if bad {
		s.openParity(true)
	}
	switch p := s.parity; {
	case p == nil && bad:
		s.app.warn(s.name, lost)
	case p == nil:
	case p.Healed() > 0:
		s.app.warn(s.name, "is damaged; %d bytes were restored from its parity; "+advice, p.Healed())
	case p.Report().EndMissing:
		s.app.warn(s.name, "is damaged; its end is missing, with its parity")
	case p.Report().Err() != nil, p.Err() != nil:
		s.app.warn(s.name, lost)
	case !p.Report().Intact(), bad:
		s.app.warn(s.name, "has damaged parity; "+advice)
	}
}

// repairable returns advice if the parity of a damaged file can heal it.
func (s *source) repairable() string {
	if !s.onDisk() || s.start != s.part {
		return ""
	}
	report, err := parity.Repair(io.Discard, s.f, s.info.Size())
	what := "it"
	switch {
	case report == nil, report.Intact():
		return ""
	case err == nil:
	case slices.ContainsFunc(report.Zones, func(z parity.Zone) bool { return z.State == parity.Healed }):
		what = "a part of it"
	default:
		return ""
	}
	return "; its parity can restore " + what + ": pz --repair FILE -o OUT"
}
