// Package merge gives back a file from several damaged copies of it: .pz, .gz and .zst files.
// Damage rarely hits the same place of two copies. Where they differ, the checks in the file tell
// which of them is right.
//
//	f, err := os.Create("file.pz")
//	…
//	report, err := merge.Merge(f, []merge.Copy{{a, sizeOfA}, {b, sizeOfB}})
package merge

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/parity"
)

// Copy is a copy of a file.
type Copy struct {
	Src  io.ReaderAt
	Size int64 // in bytes; a copy of which the end is missing has fewer than the others
}

// Report says what Merge found.
type Report struct {
	Size  int64   // bytes of the file
	Parts int     // where copies differ
	Used  []int64 // bytes that each copy has given to these parts
	// Different are how many bytes of each copy are not those of the file. If they are most of a
	// copy, it is perhaps a copy of another file.
	Different []int64
	// Lost are the parts of the file that are intact in no copy, as far as they are known: blocks
	// of a file with an index, in which copies differ. It is empty if the file is merged.
	Lost []Range
	// Unlike says that the file is not merged and each copy differs from all others in more than
	// 90% of its bytes. Then they are copies of different files, or bytes are missing or too many
	// in them.
	Unlike bool
	// Healed is how many bytes the file's own parity has given.
	Healed int64
}

// Range is a part of a file.
type Range struct {
	Offset, Size int64
}

// errNoCheck is the reason why a merged file cannot be trusted.
var errNoCheck = errors.New("the copies differ, and the file has no checks of its content that tell " +
	"which of them is right")

// These are the reasons why copies are not those of one file.
var (
	errFormats = errors.New("the copies are files of different formats")
	errIntact  = errors.New("two copies are intact and differ; they are not copies of the same file")
)

// Merge writes to dst the file that the copies are copies of. There must be two or more. Bytes may
// be wrong in a copy, or its end may be missing. Inside it none may be missing or too many. What
// cannot be read counts as damage.
//
// Where copies differ, Merge takes for each block of the file the bytes that its check confirms. A
// block may come from several copies. Damage of two copies that is less than 64 bytes apart counts
// as one, unless a sector of 4 KiB ends there. Merge tries up to 2048 combinations for each block,
// and for headers and indexes. Bytes that most copies have come first, and then those of the first
// copy. A .gz file, and a .zst file without a seek table, count as one block, for which Merge tries
// 256. What no copy has intact the parity of the file may restore.
//
// The result is decompressed before Merge writes it, so that all its checks hold. Bytes without a
// check, such as the name in a .gz header, are those of most copies. If the file cannot be given
// back, Merge writes nothing. The error then wraps compress.ErrCorrupt or compress.ErrTruncated,
// and the report says which parts are lost.
//
// Copies of a file without checks of its content are an error too, and so are copies that are not
// of one file: copies of different formats, and two that are intact but have different content, or
// the same one in mostly different bytes. Where at most one of them is intact, Merge cannot tell;
// see Report.Different and Report.Unlike.
//
// Other errors are those of dst and of the options, which are those of a compress.Reader. Merge
// verifies checks in any case.
//
// Merge reads each copy once to compare them, and what it chooses twice more. It decompresses
// blocks that differ once for each try, and the result once. If the copies differ, it also
// decompresses each of them up to its first damage, and compares each with the result, or with all
// others if there is none. It takes the memory of a compress.Reader and of a compress.ReaderAt.
func Merge(dst io.Writer, copies []Copy, opts ...compress.ReaderOption) (*Report, error) {
	if len(copies) < 2 {
		return nil, errors.New("compress: merge takes two copies or more")
	}
	c, err := compare(copies)
	if err != nil {
		return nil, err
	}
	opts = append(slices.Clip(opts), compress.WithChecksum(true))
	m := merger{copies: c, opts: opts, report: &Report{Size: c.size, Parts: len(c.parts)}}
	if err := m.checkCopies(); err != nil {
		return m.report, err
	}
	if err := m.choose(); err != nil {
		m.report.Unlike = !stops(err) && m.unlike()
		return m.report, err
	}
	m.report.Used = c.used()
	return m.report, m.write(dst)
}

// merger is a call of Merge.
type merger struct {
	*copies
	opts   []compress.ReaderOption
	report *Report
	format compress.Format // that of the copies, or the zero value if it is not known
	table  bool            // copies of a .zst file differ where only a seek table may confirm the bytes

	healing *parity.ReaderAt // nil if the file has no parity
	final   io.ReaderAt      // the merged file
	size    int64            // of it
	sum     maphash.Hash     // of what was verified
}

// choose makes the merged file and verifies it.
func (m *merger) choose() error {
	var indexErr error
	if len(m.parts) > 0 && m.format != compress.Gzip { // of which NewReaderAt decompresses all
		if indexErr = m.chooseBlocks(); stops(indexErr) {
			return indexErr
		}
		m.table = m.format == compress.Zstd &&
			slices.ContainsFunc(m.parts, func(p *part) bool { return !p.right })
	}
	err := m.complete()
	switch {
	case err == nil:
	case m.healing != nil:
		// Each try may restore a lot. Those with one copy each show most of what there is.
		err = m.try(1+len(m.list), m.complete)
	case indexErr != nil:
		return indexErr
	case len(m.report.Lost) == 0:
		err = m.try(triesOfFile, m.complete)
	}
	if err != nil {
		return err
	}
	m.report.Lost = nil // without parity
	if m.healing != nil {
		m.report.Healed = m.healing.Healed()
		return nil
	}
	return m.checked()
}

// complete lets parity restore what the choices leave damaged, and verifies the result.
func (m *merger) complete() error {
	m.final, m.size, m.healing = m.copies, m.copies.size, nil
	r, err := parity.NewReaderAt(m.copies, m.size)
	switch {
	case err == nil:
		m.healing, m.final, m.size = r, r, r.Size()
	case !errors.Is(err, parity.ErrNoParity):
		return err
	}
	if err := m.verify(); err != nil {
		return err
	}
	if m.healing == nil {
		return nil
	}
	return m.healing.Err()
}

// chooseBlocks chooses the index of a file, and then the parts of each block. A block that no
// choice makes intact becomes a part of the report's Lost. A file without an index is no error.
func (m *merger) chooseBlocks() error {
	var r *compress.ReaderAt
	without := false
	err := m.try(triesOfBlock, func() (err error) {
		r, err = compress.NewReaderAt(m.copies, m.copies.size, m.opts...)
		if err == nil && m.format == compress.Zstd {
			// Frames are found without a seek table too, but this choice may have damaged one.
			if table, _ := bridge.ProbeZstd(m.copies, m.copies.size); !table {
				r.Close()
				err = compress.ErrNoIndex
			}
		}
		without = without || errors.Is(err, compress.ErrNoIndex)
		return err
	})
	switch {
	case err != nil && without:
		return nil
	case err != nil:
		return err
	}
	defer r.Close()
	var cuts []int64
	for b := range r.Blocks() {
		if m.differs(b.Offset, b.Size) {
			cuts = append(cuts, b.Offset, b.Offset+b.Size)
		}
	}
	if err := m.split(cuts); err != nil {
		return err
	}
	number := int64(-1)
	for b := range r.Blocks() {
		number++
		if !m.differs(b.Offset, b.Size) {
			continue
		}
		err := m.try(triesOfBlock, func() error {
			return r.Recover(io.Discard, number, number+1, func(d compress.Damage) error { return d.Err })
		})
		switch {
		case stops(err):
			return err
		case err != nil:
			m.report.Lost = append(m.report.Lost, Range{Offset: b.Offset, Size: b.Size})
		default:
			m.confirm(b.Offset, b.Size)
		}
	}
	return nil
}

// verify decompresses the merged file, and takes the hash of what it has read.
func (m *merger) verify() error {
	m.sum.Reset()
	src := io.TeeReader(io.NewSectionReader(m.final, 0, m.size), &m.sum)
	r, err := compress.NewReader(src, m.opts...)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := r.WriteTo(io.Discard); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, src); err != nil || !m.table {
		return err
	}
	// A Reader does not need a seek table.
	if table, _ := bridge.ProbeZstd(m.final, m.size); !table {
		return nil
	}
	at, err := compress.NewReaderAt(m.final, m.size, m.opts...)
	if err != nil {
		return err
	}
	defer at.Close()
	_, err = at.WriteTo(io.Discard)
	return err
}

// checked returns an error if the copies differ and blocks have no checks.
func (m *merger) checked() error {
	if len(m.parts) == 0 {
		return nil
	}
	known, err := m.hasChecks(m.final, m.size)
	if err == nil && !known {
		err = errNoCheck
	}
	return err
}

// write writes the merged file. What it reads must be what was verified.
func (m *merger) write(dst io.Writer) error {
	var sum maphash.Hash
	sum.SetSeed(m.sum.Seed())
	w := io.MultiWriter(dst, &sum)
	if len(m.parts) > 0 {
		counter := &differences{list: m.list, n: make([]int64, len(m.list))}
		m.report.Different = counter.n
		w = io.MultiWriter(dst, &sum, counter)
	}
	n, err := io.Copy(w, io.NewSectionReader(m.final, 0, m.size))
	switch {
	case err != nil:
		return err
	case n != m.size || sum.Sum64() != m.sum.Sum64():
		return fmt.Errorf("a copy has changed while it was read: %w", compress.ErrCorrupt)
	}
	return nil
}

// stops reports whether an error is not one that other bytes could mend.
func stops(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, compress.ErrOption) || errors.Is(err, errTooMany)
}
