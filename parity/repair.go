package parity

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// ErrNoParity says that a file has no parity, or that all of it is lost.
var ErrNoParity = errors.New("compress: the file has no parity")

// State says how a zone is.
type State uint8

const (
	// Intact: the zone and its section are as they were written.
	Intact State = iota
	// Healed: something was damaged, moved or missing, and can be given back.
	Healed
	// Lost: more is damaged than parity can replace. Repair copies what is left.
	Lost
	// NoSection: the section is lost, so it is unknown whether the zone is intact. Repair copies
	// what is there. Several such zones in a row count as one.
	NoSection
)

// String returns the name of the state.
func (s State) String() string {
	names := [...]string{"intact", "healed", "lost", "no section"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Zone is the report about a zone.
type Zone struct {
	Offset int64 // of the first byte in the repaired file
	Size   int64 // in bytes, without the section
	State  State
	// Slices and Parity are how many slices the zone and its section have.
	Slices, Parity int
	// Damaged is how many slices of the zone are not in the file. It is 0 if that is unknown.
	Damaged int
	// ParityLeft is how many parity slices are intact.
	ParityLeft int
}

// Report says what Repair or Verify found.
type Report struct {
	Zones []Zone
	// Unprotected counts bytes in front of zones, between them and behind them that belong to none.
	// Repair copies them. They may be a file without parity that was joined to one with parity, or
	// stray bytes.
	Unprotected int64
	// EndMissing says that zones are missing at the end of the file.
	EndMissing bool
	// ReadErr is the error of the first part of src that could not be read. It is nil if all could.
	ReadErr error
	// Unreadable counts the bytes that Repair should copy and cannot read. It writes zeros for
	// them.
	Unreadable int64
}

// Intact reports whether all zones are intact, none is missing, and all of the file could be read.
func (r *Report) Intact() bool {
	for _, z := range r.Zones {
		if z.State != Intact {
			return false
		}
	}
	return !r.EndMissing && r.ReadErr == nil
}

// err returns an error if something is damaged, or with healed only if something is lost.
func (r *Report) err(healed bool) error {
	for i, z := range r.Zones {
		switch {
		case z.State == Intact, z.State == Healed && healed:
			continue
		case z.State == Healed:
			return errs.At(errs.Corrupt, z.Offset,
				fmt.Sprintf("zone %d is damaged; parity can heal it", i))
		}
		return errs.At(errs.Corrupt, z.Offset, fmt.Sprintf("zone %d cannot be healed: %v", i, z.State))
	}
	switch {
	case r.EndMissing:
		return errs.New(errs.Truncated, "zones are missing at the end of the file")
	case r.Unreadable > 0:
		e := errs.Wrap(errs.Corrupt, r.ReadErr)
		e.Detail = fmt.Sprintf("%d bytes without parity cannot be read", r.Unreadable)
		return e
	}
	return nil
}

// Repair writes to dst the file src, of size bytes, as it was before it was damaged. dst must not
// be the same file. What cannot be healed is copied as it is. Then the error wraps
// compress.ErrCorrupt or compress.ErrTruncated, and the report says which zones are lost. Without
// parity Repair writes nothing and returns ErrNoParity. Other errors are those of dst, and of a src
// that ends before size.
//
// A part of src that cannot be read counts as damage, down to a sector of 4 KiB. If no parity is
// found then, the error is that of src.
//
// Repair reads src two or three times, and more of it where bytes have moved. For a damaged zone it
// takes memory as the package comment says, and less than 100 bytes for each packet of the file.
func Repair(dst io.Writer, src io.ReaderAt, size int64) (*Report, error) {
	r := newReaderAt(src, size)
	if err := r.repair(dst); err != nil {
		return nil, err
	}
	return r.report, r.report.err(true)
}

// Verify does the work of Repair without writing. If the file is not intact, the error wraps
// compress.ErrCorrupt or compress.ErrTruncated. Repair would heal all of it if the report has no
// zone that is Lost or NoSection, and EndMissing is false.
func Verify(src io.ReaderAt, size int64) (*Report, error) {
	r := newReaderAt(src, size)
	if err := r.repair(nil); err != nil {
		return nil, err
	}
	return r.report, r.report.err(false)
}

// repair finds the parts of the repaired file, reports about them, and writes them to dst, unless
// that is nil.
func (r *ReaderAt) repair(dst io.Writer) error {
	zones := r.chain()
	if zones == nil {
		zones = r.scan()
	}
	switch {
	case r.short:
		return io.ErrUnexpectedEOF
	case len(zones) > 0:
	case r.readErr != nil:
		return r.readErr
	default:
		return ErrNoParity
	}
	r.size, r.report = 0, &Report{}
	var before *zone
	for _, z := range zones {
		r.load(z)
		if err := r.repairZone(dst, z, before); err != nil {
			return err
		}
		z.unload()
		before = z
	}
	r.report.EndMissing = r.report.EndMissing || !before.Last
	r.report.Unprotected += r.file.size - before.hi
	err := r.addPart(dst, part{src: before.hi, size: r.file.size - before.hi})
	r.report.ReadErr = r.readErr
	return err
}

// repairZone adds a zone that is loaded, and what is in front of it.
func (r *ReaderAt) repairZone(dst io.Writer, z, before *zone) error {
	next := int64(0) // where a zone behind the one before was written
	if before != nil {
		next = before.Next()
	}
	switch {
	case next > 0 && z.Offset == next:
		z.begins = z.after // what is between them is stray
	case z.Offset > next:
		r.report.Zones = append(r.report.Zones,
			Zone{Offset: r.size, Size: z.begins - z.after, State: NoSection})
	default:
		r.report.EndMissing = r.report.EndMissing || next > 0
		r.report.Unprotected += z.begins - z.after
	}
	if err := r.addPart(dst, part{src: z.after, size: z.begins - z.after}); err != nil {
		return err
	}
	report := Zone{
		Offset: r.size, Size: int64(z.Size), Slices: z.Slices(), Parity: z.Parity,
		Damaged: z.missing, ParityLeft: z.parity, State: Healed,
	}
	p := part{size: report.Size + z.SectionSize(), zone: z}
	switch {
	case z.lost:
		report.State, report.Size = Lost, max(0, min(z.begin(), z.hi)-z.begins)
		p = part{src: z.begins, size: z.hi - z.begins}
	case z.intact() && r.sectionIntact(z):
		report.State = Intact
	}
	r.report.Zones = append(r.report.Zones, report)
	return r.addPart(dst, p)
}

// addPart adds a part to the repaired file, and writes it to dst, unless that is nil. It reads
// plain bytes all the same, so that the report says what cannot be read.
func (r *ReaderAt) addPart(dst io.Writer, p part) error {
	if p.size <= 0 {
		return nil
	}
	p.at = r.size
	if p.zone != nil {
		p.zone.at = p.at
	}
	r.size += p.size
	r.parts = append(r.parts, p)
	if dst == nil && p.zone != nil {
		return nil
	}
	buf := make([]byte, min(64<<10, p.size))
	for at := int64(0); at < p.size; at += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), p.size-at)]
		if p.zone != nil {
			if err := r.readZone(buf, p.zone, at); err != nil {
				return err
			}
		} else {
			for _, h := range r.read(buf, p.src+at) {
				r.report.Unreadable += h.Size
			}
		}
		if dst != nil {
			if _, err := container.WriteFull(dst, buf); err != nil {
				return err
			}
		}
	}
	return nil
}
