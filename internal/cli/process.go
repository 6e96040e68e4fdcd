package cli

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
	in.origin = a.originOf(in)
	out := &output{app: a, name: "nowhere"}
	if a.cfg.mode != modeTest {
		var done func()
		out, done = a.openOutput(e, in)
		defer done()
		if out == nil {
			return
		}
		// Whatever ends this, a panic included, as long as done has not closed the directory. After a commit there
		// is nothing left to discard.
		defer out.discard()
		if out.temp != "" {
			a.step("created")
		}
	}

	// Only a file that took a name of its own can stand in for the source: what went to standard output, a device
	// or a pipe may never have been stored.
	remove := a.cfg.remove && out.temp != "" && in.link != nil
	if remove {
		if !a.removable(in) {
			return
		}
		var err error
		if in.at, err = e.place(e.base); err != nil {
			a.fail(e.path, "its directory cannot be opened: %s", reason(err))
			return
		}
		if e.root == nil {
			defer in.at.root.Close()
		}
	}

	m := a.newMeter(in, out)
	if a.litter > 1<<20 {
		// The buffers of the files before would otherwise still be there when those of this one are made, and the
		// memory that --help states is for one.
		runtime.GC()
		a.litter = 0
	}
	err := a.transfer(in, out, m)
	m.done()
	a.litter += m.last.Content + m.w.n
	garbage := m.w.err == nil && errors.Is(err, compress.ErrTrailing) && standard(in)
	switch {
	case garbage:
		// All of the content is there and has been verified, unless what follows it is the rest of it, so the source stays.
		a.warn(in.name, "%s -- ignored%s", a.explain(in, err), kept(remove))
		remove = false
	case err != nil:
		a.report(in, out, m, err)
		return
	}
	remove = a.settled(in, m, remove)
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
		return a.recoverTo(w, in, m, opts)
	}
	r := m.reader()
	if a.cfg.mode == modeCompress {
		if size := in.size(); size >= 0 {
			opts = append(opts, compress.WithContentSize(size))
			sized := &sizedReader{r: r, in: in, left: size}
			defer func() { m.grew = sized.grew }()
			r = sized
		}
		zw, err := compress.NewWriter(w, append(opts, a.naming(in)...)...)
		if err != nil {
			return err
		}
		if _, err := zw.ReadFrom(r); err != nil {
			return err
		}
		return zw.Close()
	}

	if a.cfg.force && a.cfg.mode == modeDecompress && out.f == a.stdout {
		head, foreign, err := sniff(&m.r)
		if foreign || !m.direct() {
			r = io.MultiReader(bytes.NewReader(head), &m.r)
		} else if err == nil {
			_, err = in.f.Seek(in.start, io.SeekStart)
		}
		if err != nil {
			return err
		}
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

// settled warns of a source that somebody writes to, and says whether it may still be removed if it was to be.
func (a *app) settled(in *source, m *meter, remove bool) bool {
	switch {
	case m.grew:
		a.warn(in.name, "grew while it was read: the first %d bytes are compressed%s", m.read(), kept(remove))
	case remove && in.changed():
		a.warn(in.name, "changed while it was read%s", kept(remove))
	default:
		return remove
	}
	return false
}

// kept is what a warning adds about a source that was to be removed.
func kept(remove bool) string {
	if remove {
		return " -- not removed"
	}
	return ""
}

// sniff says whether the data is something that pz does not know, which -dcf passes through unchanged as gzip does.
func sniff(r io.Reader) (head []byte, foreign bool, err error) {
	head = make([]byte, magicSize)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	head = head[:n]
	return head, formatOf(head) == "", err
}

// report says what failed: the writing of the result, or the source, be it in the reading or in what the library finds
// in it.
func (a *app) report(in *source, out *output, m *meter, err error) {
	if m.w.err != nil {
		a.fail(out.name, "%s", reason(m.w.err))
		a.stopped = out.f == a.stdout
		return
	}
	a.fail(in.name, "%s", a.explain(in, err))
}
