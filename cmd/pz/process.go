package main

import (
	"bytes"
	"errors"
	"io"
	"runtime"

	"github.com/gopz/compress"
)

// process compresses, decompresses or tests one entry, from opening it to the commit of the result.
func (a *app) process(e entry) {
	in := a.openSource(e)
	if in == nil {
		return
	}
	if in.f != a.stdin {
		defer in.close()
	}
	if a.cfg.mode != modeCompress && in.f == a.stdin && !a.cfg.force && a.isTerminal(a.stdin) {
		a.fail("", "compressed data is not read from a terminal (name a FILE or redirect; -f reads it anyway)")
		return
	}
	out := &output{app: a, name: "nowhere"}
	if a.cfg.mode != modeTest {
		var done func()
		out, done = a.openOutput(e, in)
		defer done()
		if out == nil {
			return
		}
	}

	// Only a file that took a name of its own can stand in for the source: what went to standard output, a device
	// or a pipe may never have been stored.
	remove := a.cfg.remove && out.temp != "" && in.link != nil
	if remove {
		if !a.removable(in) {
			out.discard()
			return
		}
		var err error
		if in.at, err = e.place(e.base); err != nil {
			out.discard()
			a.fail(e.path, "its directory cannot be opened: %s", reason(err))
			return
		}
		if e.root == nil {
			defer in.at.root.Close()
		}
	}

	m := a.newMeter(in, out)
	err := a.transfer(in, out, m)
	m.done()
	if m.r.n+m.w.n > 1<<20 {
		// The buffers of this file would otherwise still be there when those of the next one are made, and the
		// memory that --help states is for one.
		defer runtime.GC()
	}
	if err != nil {
		out.discard()
		a.report(in, out, m, err)
		return
	}
	if remove && in.changed() {
		a.warn(in.name, "changed while it was read -- not removed")
		remove = false
	}
	if out.temp != "" {
		if err := out.commit(in, remove); err != nil {
			a.fail(out.name, "%s", reason(err))
			return
		}
	}
	a.summary(in, out, m)
}

// transfer moves the data. After an error a Writer is left without Close, which would put a good end to a bad stream.
func (a *app) transfer(in *source, out *output, m *meter) error {
	opts := append(a.options(), compress.WithProgress(m.passed))
	var w io.Writer = io.Discard
	if out.f != nil {
		m.w.w = out.f
		w = &m.w
	}
	if a.cfg.mode == modeRecover {
		return a.recoverTo(w, in, opts)
	}
	var r io.Reader = &m.r
	if a.cfg.mode == modeCompress {
		if size := in.size(); size >= 0 {
			opts = append(opts, compress.WithContentSize(size))
			r = &sizedReader{r: r, left: size}
		}
		zw, err := compress.NewWriter(w, opts...)
		if err != nil {
			return err
		}
		if _, err := zw.ReadFrom(r); err != nil {
			return err
		}
		return zw.Close()
	}

	if a.cfg.force && a.cfg.mode == modeDecompress && out.f == a.stdout {
		head, foreign, err := sniff(r)
		if err != nil {
			return err
		}
		r = io.MultiReader(bytes.NewReader(head), r)
		if foreign {
			_, err := io.Copy(w, r)
			return err
		}
	}
	zr, err := compress.NewReader(r, opts...)
	if err != nil {
		return err
	}
	defer zr.Close()
	_, err = zr.WriteTo(w)
	return err
}

// sniff says whether the data is something else than .pz, which -dcf passes through unchanged as gzip does. The
// version byte is looked at, too, because a text may well begin with PZ; versions stay below the control
// characters that texts contain.
func sniff(r io.Reader) (head []byte, foreign bool, err error) {
	head = make([]byte, 3)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	head = head[:n]
	return head, !bytes.HasPrefix(head, []byte("PZ")) || n == 3 && head[2] >= '\t', err
}

// report says which of source, result and library failed.
func (a *app) report(in *source, out *output, m *meter, err error) {
	switch {
	case m.w.err != nil:
		a.fail(out.name, "%s", reason(m.w.err))
		a.stopped = out.f == a.stdout
	case m.r.err != nil:
		a.fail(in.name, "%s", reason(m.r.err))
	default:
		a.fail(in.name, "%s%s", libraryReason(err), a.advice(err))
	}
}

// advice is what somebody can do about an error of the library.
func (a *app) advice(err error) string {
	switch {
	case errors.Is(err, compress.ErrMemory) && a.cfg.mode == modeCompress:
		return " (raise -M, or choose smaller blocks with -B or a lower level)"
	case errors.Is(err, compress.ErrMemory):
		return " (raise -M)"
	case errors.Is(err, compress.ErrVersion):
		return " (a newer pz may read it)"
	case errors.Is(err, compress.ErrFormat):
		return " (only .pz files can be read)"
	case errors.Is(err, compress.ErrTruncated):
		return " (the end is missing; --recover FILE -o OUT saves what is there)"
	case errors.Is(err, compress.ErrCorrupt):
		return " (the file is damaged; --recover FILE -o OUT saves the intact blocks)"
	}
	return ""
}
