package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/merge"
)

// isCopy reports whether a file is one of the operands of --merge behind the first one.
func (a *app) isCopy(fi os.FileInfo) bool {
	return slices.ContainsFunc(a.cfg.copies, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && os.SameFile(fi, info)
	})
}

// mergeTo writes the file that the source and the other operands are copies of.
func (a *app) mergeTo(w io.Writer, in *source, m *meter, opts []compress.ReaderOption) error {
	if !in.regular() {
		return errNotRegular
	}
	names := append([]string{in.name}, a.cfg.copies...)
	copies := []merge.Copy{{Src: &countReaderAt{m}, Size: in.info.Size()}}
	infos := []os.FileInfo{in.info}
	for _, path := range a.cfg.copies {
		f, info, err := openCopy(path)
		if err != nil {
			return fmt.Errorf("the copy %s: %s", printable(path), reason(err))
		}
		defer f.Close()
		for i, other := range infos {
			switch {
			case !os.SameFile(info, other):
			case path == in.name:
				return errors.New("is named twice; name another copy")
			default:
				return fmt.Errorf("the copy %s is the same file as %s; name another copy",
					printable(path), printable(names[i]))
			}
		}
		infos = append(infos, info)
		copies = append(copies, merge.Copy{Src: f, Size: info.Size()})
	}
	report, err := merge.Merge(w, copies, opts...)
	if err != nil {
		return a.explainMerge(in, m, report, err)
	}
	a.reportMerge(in, names, report)
	for i, n := range report.Different {
		if size := copies[i].Size; n > size/2 {
			a.warn(names[i], "differs from the result in %d%% of its bytes; is it a copy of the same file?",
				int(float64(n)/float64(size)*100))
		}
	}
	return nil
}

// openCopy opens a copy of a file.
func openCopy(path string) (*os.File, os.FileInfo, error) {
	if info, err := os.Stat(path); err != nil { // to open a named pipe would wait for a writer
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, errors.New("is not a regular file")
	}
	f, err := openShared(path, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// explainMerge prints what Merge says is lost, and returns an error that is about no single copy.
func (a *app) explainMerge(in *source, m *meter, report *merge.Report, err error) error {
	if m.w.err != nil || report == nil || errors.Is(err, compress.ErrMemory) {
		return err
	}
	for _, r := range report.Lost {
		a.print(in.name, "intact in no copy: bytes %d to %d of the file", r.Offset, r.Offset+r.Size-1)
	}
	var e *compress.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("cannot be merged: %s", libraryReason(err))
	}
	d := a.diagnose(in, e)
	what, advice := d.what, d.advice
	switch {
	case errors.Is(e, compress.ErrTrailing):
		what, advice = trailingGarbage+atByte(in, e), "cut it off, or leave out the copy that has it"
	case d.damaged != "":
		what = d.damaged + atByte(in, e) + " is damaged in all copies"
	case d.cut:
		what = "the end is missing in all copies" + fromBlock(in, e)
	}
	if !d.whole {
		what = "cannot be merged: " + what
	}
	switch {
	case report.Unlike:
		advice = "most bytes of the copies differ; " +
			"are they of the same file, with no bytes missing or inserted?"
	case len(report.Lost) > 0:
		advice = "--recover saves the other blocks of a copy"
	}
	if advice != "" {
		what += "; " + advice
	}
	return errors.New(a.withDetails(what, err))
}

// reportMerge says what comes from which copy.
func (a *app) reportMerge(in *source, names []string, report *merge.Report) {
	if a.cfg.quiet {
		return
	}
	if report.Parts == 0 {
		a.print(in.name, "the copies are equal, and intact")
		return
	}
	for i, n := range report.Used {
		if n > 0 {
			text := "%d bytes that differ were taken from this copy"
			if n == 1 {
				text = "%d byte that differs was taken from this copy"
			}
			a.print(names[i], text, n)
		}
	}
	if n := report.Healed; n > 0 {
		a.print(in.name, "%d bytes that no copy has intact were restored from the parity", n)
	}
}
