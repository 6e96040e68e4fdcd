package parity

import (
	"fmt"
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// ErrNoParity says that a file has no parity, or that all of it is lost.
var ErrNoParity error = &noParity{}

type noParity struct{}

func (*noParity) Error() string { return "compress: the file has no parity" }

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
	switch s {
	case Intact:
		return "intact"
	case Healed:
		return "healed"
	case Lost:
		return "lost"
	case NoSection:
		return "no section"
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

// err returns an error if something is lost.
func (r *Report) err() error {
	for i, z := range r.Zones {
		switch {
		case z.State == Lost && z.Damaged > 0:
			return errs.At(errs.Corrupt, z.Offset, fmt.Sprintf(
				"zone %d cannot be healed: %d of %d slices are damaged, %d of parity are left",
				i, z.Damaged, z.Slices, z.ParityLeft))
		case z.State == Lost:
			return errs.At(errs.Corrupt, z.Offset, fmt.Sprintf("zone %d cannot be healed", i))
		case z.State == NoSection:
			return errs.At(errs.Corrupt, z.Offset, fmt.Sprintf("the section of zone %d is lost", i))
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
// be the same file. What cannot be healed is copied as it is. Then the error wraps
// compress.ErrCorrupt or compress.ErrTruncated, and the report says which zones are lost. Without
// parity Repair writes nothing and returns ErrNoParity. Other errors are those of dst, and of a src
// that ends before size.
//
// A part of src that cannot be read counts as damage, down to a sector of 4 KiB. If no parity is
// found then, the error is that of src.
//
// Repair reads src about twice, and more of it where bytes have moved. It takes the memory of the
// largest zone and its section, and less than 100 bytes for each packet of the file.
func Repair(dst io.Writer, src io.ReaderAt, size int64) (*Report, error) {
	p, err := repair(dst, src, size)
	if err != nil {
		return nil, err
	}
	return p.report, p.report.err()
}

// Verify does the work of Repair without writing. If the file is not intact, the error wraps
// compress.ErrCorrupt or compress.ErrTruncated. Repair would heal all of it if the report has no
// zone that is Lost or NoSection, and EndMissing is false.
func Verify(src io.ReaderAt, size int64) (*Report, error) {
	p, err := repair(nil, src, size)
	if err != nil {
		return nil, err
	}
	if err := p.report.err(); err != nil {
		return p.report, err
	}
	for i, z := range p.report.Zones {
		if z.State == Healed {
			return p.report, errs.At(errs.Corrupt, z.Offset,
				fmt.Sprintf("zone %d is damaged; parity can heal it", i))
		}
	}
	return p.report, nil
}

// part is a part of the repaired file.
type part struct {
	at      int64 // in the repaired file
	size    int64
	src     int64    // in the source
	section *section // of the zone, with its section, that this part is; nil for plain bytes
}

// pass goes through a file from the front and makes the repaired one.
type pass struct {
	healer
	dst        io.Writer // nil if nothing is to be written
	report     *Report
	parts      []part
	out        int64 // bytes of the repaired file
	sectionBuf []byte
	copyBuf    []byte
}

const copyChunk = 64 << 10 // bytes copied at once

func repair(dst io.Writer, src io.ReaderAt, size int64) (*pass, error) {
	f := &file{src: src, size: size}
	p := &pass{healer: healer{file: f}, dst: dst, report: &Report{}}
	sections, err := f.findSections()
	if err != nil {
		return nil, err
	}
	switch {
	case len(sections) > 0:
	case f.readErr != nil:
		return nil, f.readErr
	default:
		return nil, ErrNoParity
	}
	var before *section
	for _, s := range sections {
		if err := p.zone(s, before); err != nil {
			return nil, err
		}
		before = s
	}
	if !before.last {
		p.report.EndMissing = true
	}
	err = p.stray(before.hi, size)
	p.report.ReadErr = f.readErr
	return p, err
}

// findSections returns the sections of the file, in order.
func (f *file) findSections() ([]*section, error) {
	list, err := f.chain()
	if err != nil {
		return nil, err
	}
	if list == nil {
		return f.scan()
	}
	for i, s := range list {
		list[i], err = f.section(s)
		if err != nil {
			return nil, err
		}
		if list[i] == nil {
			return f.scan()
		}
	}
	return list, nil
}

// stray copies bytes that belong to no zone.
func (p *pass) stray(from, to int64) error {
	p.report.Unprotected += to - from
	return p.copy(from, to)
}

// copy copies bytes of the source.
func (p *pass) copy(from, to int64) error {
	if to <= from {
		return nil
	}
	p.parts = append(p.parts, part{at: p.out, size: to - from, src: from})
	return p.copyOut(from, to)
}

// copyOut is copy without a part of its own. Without dst it reads all the same, so that the report
// says what cannot be read.
func (p *pass) copyOut(from, to int64) error {
	if p.copyBuf == nil {
		p.copyBuf = make([]byte, copyChunk)
	}
	for from < to {
		data := p.copyBuf[:min(to-from, copyChunk)]
		holes, err := p.read(data, from)
		if err != nil {
			return err
		}
		for _, h := range holes {
			p.report.Unreadable += h.Size
		}
		if err := p.write(data); err != nil {
			return err
		}
		from += int64(len(data))
	}
	return nil
}

// write writes bytes of the repaired file.
func (p *pass) write(data []byte) error {
	p.out += int64(len(data))
	if p.dst == nil {
		return nil
	}
	_, err := container.WriteFull(p.dst, data)
	return err
}

// zone heals a zone and writes it, and what is in front of it.
func (p *pass) zone(s, before *section) error {
	z, err := p.load(s)
	if err != nil {
		return err
	}
	if s.pinned {
		z.begins = s.after
		return p.zoneHere(z, s.after)
	}
	z.begins = min(max(z.begins, s.lo), s.end)
	begin := int64(0) // of a zone behind the one before
	follows := before != nil && !before.last
	if follows {
		begin = before.geometry.endOffset()
	}
	if follows && s.offset == begin {
		return p.zoneHere(z, s.after) // what is between them is stray
	}
	if err := p.correctStart(z); err != nil {
		return err
	}
	z.begins = max(z.begins, s.after)
	if s.offset > begin {
		p.report.Zones = append(p.report.Zones,
			Zone{Offset: p.out, Size: z.begins - s.after, State: NoSection})
		err = p.copy(s.after, z.begins)
	} else {
		p.report.EndMissing = p.report.EndMissing || follows
		err = p.stray(s.after, z.begins)
	}
	if err != nil {
		return err
	}
	return p.zoneHere(z, z.begins)
}

// zoneHere writes a zone and its section. In the source they begin at from.
func (p *pass) zoneHere(z *zone, from int64) error {
	r := Zone{
		Offset: p.out, Size: int64(z.size), Slices: z.slices(), Parity: z.parity,
		Damaged: z.missing, ParityLeft: z.parityLeft(), State: Healed,
	}
	whole, err := p.sectionIntact(z.section)
	if err != nil {
		return err
	}
	defer func() { p.report.Zones = append(p.report.Zones, r) }()
	if z.lost {
		r.State, r.Size = Lost, max(0, min(z.beginOffset(), z.hi)-from)
		return p.copy(from, z.hi)
	}
	if z.intact() && whole && z.begins == from {
		r.State = Intact
	}
	size := int64(z.size) + z.sectionSize()
	p.parts = append(p.parts, part{at: p.out, size: size, section: z.section})
	if err := p.write(z.data[:z.size]); err != nil {
		return err
	}
	switch {
	case whole:
		return p.copyOut(z.beginOffset(), z.beginOffset()+z.sectionSize())
	case p.dst == nil:
		p.out += z.sectionSize()
		return nil
	}
	slices := cutSlices(z.data, z.slice)
	p.sectionBuf, err = appendSection(p.sectionBuf[:0], z.geometry, slices, z.catalog)
	if err != nil {
		return err
	}
	return p.write(p.sectionBuf)
}
