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

// Report says what Repair or NewReaderAt found.
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

// Err returns what Repair cannot heal, or nil. It wraps compress.ErrCorrupt or
// compress.ErrTruncated.
func (r *Report) Err() error {
	for i, z := range r.Zones {
		if z.State == Lost || z.State == NoSection {
			return errs.At(errs.Corrupt, z.Offset, fmt.Sprintf("zone %d cannot be healed", i))
		}
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
// be the same file. What cannot be healed is copied as it is. Then the error is that of the report.
// Without parity Repair writes nothing and returns ErrNoParity. Other errors are those of dst, and
// of a src that ends before size.
//
// A part of src that cannot be read counts as damage, down to a sector of 4 KiB. If no parity is
// found then, the error is that of src.
//
// Repair reads src two or three times, and more of it where bytes have moved. For a damaged zone it
// takes memory as the package comment says, and less than 100 bytes for each packet of the file.
func Repair(dst io.Writer, src io.ReaderAt, size int64) (*Report, error) {
	r := newReaderAt(src, size)
	zones := r.chain()
	if zones == nil {
		zones = r.scan()
	}
	at := int64(0)
	buf := make([]byte, 64<<10)
	err := r.inspect(zones, func() error {
		for at < r.size {
			p := buf[:min(int64(len(buf)), r.size-at)]
			at += int64(len(p))
			container.ReadAround(r, p, at-int64(len(p)), func(from, to int, err error) error {
				r.report.Unreadable += int64(to - from)
				return nil
			})
			if _, err := container.WriteFull(dst, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.report, r.report.Err()
}

// inspect finds the parts of the repaired file and reports about them. It calls added while each
// zone is loaded, and at the end.
func (r *ReaderAt) inspect(zones []*zone, added func() error) error {
	switch {
	case r.short:
		return io.ErrUnexpectedEOF
	case len(zones) > 0:
	case r.readErr != nil:
		return r.readErr
	default:
		return ErrNoParity
	}
	next, end := int64(0), int64(0) // of the zone before: its Next, and where its section ends
	for _, z := range zones {
		r.load(z)
		r.addZone(z, next)
		if err := added(); err != nil {
			return err
		}
		z.unload()
		next, end = z.Next(), z.hi
	}
	r.report.EndMissing = r.report.EndMissing || next > 0
	r.report.Unprotected += r.file.size - end
	r.addPart(part{src: end, size: r.file.size - end})
	err := added()
	r.report.ReadErr = r.readErr
	return err
}

// addZone adds a zone that is loaded, and what is in front of it. A zone behind the one before was
// written at next.
func (r *ReaderAt) addZone(z *zone, next int64) {
	s := z.slots
	if next > 0 && z.Offset == next {
		s.begins = z.after // what is between them is stray
	}
	front := s.begins - z.after
	switch {
	case z.Offset > next:
		r.report.Zones = append(r.report.Zones, Zone{Offset: r.size, Size: front, State: NoSection})
	case z.Offset < next || next == 0:
		r.report.EndMissing = r.report.EndMissing || next > 0
		r.report.Unprotected += front
	}
	r.addPart(part{src: z.after, size: front})
	report := Zone{
		Offset: r.size, Size: int64(z.Size), Slices: z.Slices(), Parity: z.Parity,
		Damaged: s.missing, ParityLeft: s.parity, State: r.state(z),
	}
	p := part{src: s.begins, size: report.Size + z.SectionSize()}
	switch {
	case s.lost:
		report.Size = max(0, min(z.begin(), z.hi)-s.begins)
		p.size = z.hi - s.begins
	case report.State == Healed, s.begins != z.main.start:
		report.State, p.zone = Healed, z
	}
	r.report.Zones = append(r.report.Zones, report)
	r.addPart(p)
}

// addPart adds a part to the repaired file.
func (r *ReaderAt) addPart(p part) {
	if p.size <= 0 {
		return
	}
	p.at = r.size
	if p.zone != nil {
		p.zone.at = p.at
	}
	r.size += p.size
	r.parts = append(r.parts, p)
}
