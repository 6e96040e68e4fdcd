package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
)

// collectGarbage frees the buffers of the previous files before those of the next one are
// allocated. So the run stays within the memory that --help=all states.
func (a *app) collectGarbage() {
	if a.garbage > 1<<20 {
		runtime.GC()
		a.garbage = 0
	}
}

// checkName warns if the suffix of -o stands for another format than the file has. It does not
// change the exit code, because nothing is missing from the result.
func (a *app) checkName(out *output) {
	c := &a.cfg
	if c.mode == modeCompress && c.output != "" && !c.quiet && c.misnames(out.at.base) {
		a.print(out.name, "contains .%v data; the suffix does not say so", c.format)
	}
}

// transfer moves the data from in to out. After an error it does not close a Writer, because Close
// would write a valid end to an incomplete stream.
func (a *app) transfer(in *source, out *output, m *meter) error {
	switch {
	case out.f == nil:
		return a.convert(io.Discard, in, m)
	case out.temp == "":
		m.w.w = out.f
		return a.convert(&m.w, in, m)
	}
	file := &fileWriter{f: out.f, sparse: a.cfg.restores() && !a.cfg.noSparse}
	m.w.w = file
	err := a.convert(&m.w, in, m)
	if end := file.finishHole(); end != nil && m.w.err == nil {
		m.w.err, err = end, end
	}
	return err
}

// restores reports whether results are content of compressed files.
func (c *config) restores() bool { return c.mode == modeDecompress || c.mode == modeRecover }

// recovers reports whether the mode saves what is left of damaged files.
func (c *config) recovers() bool {
	return c.mode == modeRecover || c.mode == modeRepair || c.mode == modeMerge
}

// convert does the work of the mode on one source.
func (a *app) convert(w io.Writer, in *source, m *meter) error {
	switch a.cfg.mode {
	case modeRecover:
		return a.recoverTo(w, in, m, a.readOptions())
	case modeRepair:
		return a.repairTo(w, in, m)
	case modeMerge:
		return a.mergeTo(w, in, m, a.readOptions())
	case modeIndex:
		return a.indexTo(w, in, m, a.readOptions())
	case modeCompress:
		opts := append(a.writeOptions(), m.writeOptions()...)
		return a.protect(w, opts, func(w io.Writer, opts []compress.WriterOption) error {
			if a.cfg.tar {
				return a.archiveTo(w, m, opts)
			}
			return a.compress(w, in, m, opts)
		})
	}
	opts := append(in.readOptions(), compress.WithProgress(m.progress),
		bridge.Unverified(m.endsUnverified))
	return m.readHealing(func() error {
		w := m.restart(w)
		switch {
		case a.cfg.ranged():
			return a.restoreRange(w, in, m, opts)
		case a.cfg.deep:
			return a.testDeep(in, m, opts)
		}
		return a.restore(w, in, m, opts)
	})
}

// compress compresses in to w.
func (a *app) compress(w io.Writer, in *source, m *meter, opts []compress.WriterOption) error {
	opts = append(opts, a.nameOptions(in)...)
	r := m.reader()
	size := in.size()
	switch stated := a.cfg.streamSize; {
	case a.cfg.sized && size >= 0 && size != stated:
		return fmt.Errorf("has %d bytes, --stream-size says %d", size, stated)
	case size >= 0:
		sized := &sizedReader{r: r, in: in, left: size}
		defer func() { m.grew = sized.grew }()
		r = sized
		if size <= oneShot {
			return compressAtOnce(w, r, int(size), opts)
		}
		opts = append(opts, compress.WithContentSize(size))
	case a.cfg.sized:
		opts = append(opts, compress.WithContentSize(stated))
	}
	zw, err := compress.NewWriter(w, opts...)
	if err != nil {
		return err
	}
	if _, err = zw.ReadFrom(r); err == nil {
		err = zw.Close()
	}
	if errors.Is(err, compress.ErrContentSize) {
		return a.explainSize(m)
	}
	return err
}

// explainSize returns an error about content of another size than --stream-size.
func (a *app) explainSize(m *meter) error {
	if stated := a.cfg.streamSize; m.read() > stated {
		return fmt.Errorf("has more than the %d bytes of --stream-size", stated)
	}
	return fmt.Errorf("ends after %d bytes; --stream-size says %d", m.read(), a.cfg.streamSize)
}

// checkChanges warns if the source changed while it was read. It reports whether the source may
// still be removed.
func (a *app) checkChanges(in *source, m *meter, remove bool) bool {
	switch {
	case m.grew:
		a.warn(in.name, "grew while it was read; the result has the first %d bytes%s",
			m.read(), notRemoved(remove))
	case remove && in.changed():
		a.warn(in.name, "changed while it was read%s", notRemoved(remove))
	default:
		return remove
	}
	return false
}

// notRemoved returns what a warning adds about a source that --rm would have removed.
func notRemoved(remove bool) string {
	if remove {
		return "; the file is not removed"
	}
	return ""
}

// report prints an error of transfer: of the output if writing failed, and of the source otherwise.
func (a *app) report(in *source, out *output, m *meter, err error) {
	switch {
	case m.w.err != nil && out.f == a.stdout:
		a.failStdout(m.w.err)
		return
	case m.w.err != nil:
		a.fail(out.name, "%s", reason(m.w.err))
		return
	}
	text := a.explain(in, err)
	if in.parity != nil || a.cfg.mode == modeRecover {
		text += in.repairable()
	}
	a.fail(in.name, "%s", text)
}
