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
	p, err := repair(dst, &file{src: src, size: size})
	if err != nil {
		return nil, err
	}
	return p.report, p.report.err()
}

// Verify does the work of Repair without writing. If the file is not intact, the error wraps
// compress.ErrCorrupt or compress.ErrTruncated. Repair would heal all of it if the report has no
// zone that is Lost or NoSection, and EndMissing is false.
func Verify(src io.ReaderAt, size int64) (*Report, error) {
	p, err := repair(nil, &file{src: src, size: size})
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
	src     int64  // in the source
	section *found // of the zone, with its section, that this part is; nil for plain bytes
}

// pass goes through a file from the front and makes the repaired one.
type pass struct {
	*file
	dst     io.Writer // nil if nothing is to be written
	report  *Report
	parts   []part
	out     int64 // bytes of the repaired file
	zoneBuf []byte
	copyBuf []byte
}

func repair(dst io.Writer, f *file) (*pass, error) {
	p := &pass{file: f, dst: dst, report: &Report{}, copyBuf: make([]byte, 64<<10)}
	sections, err := f.sections()
	switch {
	case err != nil:
		return nil, err
	case len(sections) > 0:
	case f.readErr != nil:
		return nil, f.readErr
	default:
		return nil, ErrNoParity
	}
	var before *found
	for _, s := range sections {
		if err := p.repairZone(s, before); err != nil {
			return nil, err
		}
		before = s
	}
	p.report.EndMissing = p.report.EndMissing || !before.Last
	p.report.Unprotected += f.size - before.hi
	err = p.copy(before.hi, f.size)
	p.report.ReadErr = f.readErr
	return p, err
}

// sections returns the sections of the file, in order.
func (f *file) sections() ([]*found, error) {
	list, err := f.chain()
	if err != nil {
		return nil, err
	}
	for i, s := range list {
		list[i], err = f.packetsOf(s)
		if err != nil {
			return nil, err
		}
	}
	if list == nil {
		return f.scan(0, f.size)
	}
	return list, nil
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
	for from < to {
		data := p.copyBuf[:min(to-from, int64(len(p.copyBuf)))]
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

// repairZone heals a zone and writes it, and what is in front of it.
func (p *pass) repairZone(s, before *found) error {
	z, err := p.load(s, p.zoneBuf)
	if err != nil {
		return err
	}
	p.zoneBuf = z.data
	begin := int64(0) // of a zone behind the one before
	follows := before != nil && !before.Last
	if follows {
		begin = before.EndOffset()
	}
	switch {
	case follows && s.Offset == begin:
		z.begins = s.after // what is between them is stray
	case s.Offset > begin:
		p.report.Zones = append(p.report.Zones,
			Zone{Offset: p.out, Size: z.begins - s.after, State: NoSection})
	default:
		p.report.EndMissing = p.report.EndMissing || follows
		p.report.Unprotected += z.begins - s.after
	}
	if err := p.copy(s.after, z.begins); err != nil {
		return err
	}
	return p.writeZone(z)
}

// writeZone writes a zone and its section.
func (p *pass) writeZone(z *zone) error {
	r := Zone{
		Offset: p.out, Size: int64(z.Size), Slices: z.Slices(), Parity: z.Parity,
		Damaged: z.missing, ParityLeft: z.parityLeft(), State: Healed,
	}
	whole, err := p.sectionIntact(z.found)
	if err != nil {
		return err
	}
	defer func() { p.report.Zones = append(p.report.Zones, r) }()
	if z.lost {
		r.State, r.Size = Lost, max(0, min(z.begin(), z.hi)-z.begins)
		return p.copy(z.begins, z.hi)
	}
	if z.intact() && whole {
		r.State = Intact
	}
	p.parts = append(p.parts, part{at: p.out, size: r.Size + z.SectionSize(), section: z.found})
	if err := p.write(z.data[:z.Size]); err != nil {
		return err
	}
	if whole {
		return p.copyOut(z.begin(), z.begin()+z.SectionSize())
	}
	if p.dst == nil {
		p.out += z.SectionSize()
		return nil
	}
	section, err := z.section(nil)
	if err != nil {
		return err
	}
	return p.write(section)
}

// section appends the section of a zone that is not lost.
func (z *zone) section(dst []byte) ([]byte, error) {
	return appendSection(dst, z.Zone, cutSlices(z.data, z.Slice), z.catalog)
}
