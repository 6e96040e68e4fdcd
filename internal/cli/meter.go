package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/gopz/compress"
)

// meter counts what passes from a source to its output, and remembers whether the output failed. The library reads,
// writes and reports progress in the caller's own calls, so nothing here needs a lock.
type meter struct {
	app   *app
	in    *source
	r     countReader
	w     countWriter
	start time.Time
	last  compress.Progress
	grew  bool // the source held more than was read of it
	bar   *bar
}

type countReader struct {
	m *meter
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.m.in.f.Read(p)
	c.n += int64(n)
	c.m.bar.fed(c.n)
	c.m.in.keepHead(p[:n])
	return n, err
}

type countWriter struct {
	m   *meter
	w   io.Writer
	n   int64
	err error
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if c.m.app.cfg.mode == modeRecover {
		c.m.bar.update(0, c.n) // nothing else tells how far it has come
	}
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		c.err = err
	}
	return n, err
}

func (a *app) newMeter(in *source, out *output) *meter {
	m := &meter{app: a, in: in, start: time.Now()}
	m.r.m, m.w.m = m, m
	m.bar = a.newBar(in, out, m.start)
	return m
}

// direct says whether the library gets the file itself. It has to see that it is a regular one: only then reading
// cannot wait for somebody else, and it reads ahead across short blocks and joined streams instead of working on one
// at a time. A Writer does not ask.
func (m *meter) direct() bool { return m.app.cfg.mode != modeCompress && m.in.regular() }

// reader is the source as the library gets it.
func (m *meter) reader() io.Reader {
	if m.direct() {
		return m.in.f
	}
	return &m.r
}

// read is how much of the source has been read.
func (m *meter) read() int64 {
	if m.direct() {
		if at, err := m.in.f.Seek(0, io.SeekCurrent); err == nil {
			return at - m.in.start
		}
	}
	return m.r.n
}

func (m *meter) passed(p compress.Progress) {
	m.last = p
	done := p.Compressed
	if m.app.cfg.mode == modeCompress {
		done = p.Content
	}
	m.bar.update(done, p.Content)
}

func (m *meter) done() { m.bar.end() }

// summary is the line of -v about one file.
func (a *app) summary(in *source, out *output, m *meter) {
	if !a.cfg.verbose || a.cfg.mode == modeRecover { // which has said what was saved
		return
	}
	// What the library says about content, not what was written: -t writes nothing.
	content, packed := m.last.Content, m.read()
	if a.cfg.mode == modeCompress {
		content, packed = packed, m.w.n
	}
	seconds := max(time.Since(m.start).Seconds(), 1e-6)
	to := " -> " + printable(out.name)
	if a.cfg.mode == modeTest {
		to = " OK"
	}
	blocks := ""
	if a.cfg.mode == modeCompress || !standard(in) { // whose pieces mean nothing to anybody
		word := "block"
		if a.cfg.mode == modeCompress && a.cfg.format == "zst" {
			word = "frame"
		}
		blocks = fmt.Sprintf("%d %s, ", m.last.Blocks, plural(m.last.Blocks, word))
	}
	a.say(in.name, "%s:1, %d content, %d compressed bytes, %s%d %s, %.1f MB/s%s",
		ratioText(content, packed), content, packed, blocks,
		a.sched.Workers(), plural(int64(a.sched.Workers()), "thread"), float64(content)/1e6/seconds, to)
}

// ratioText is content over compressed size.
func ratioText(content, packed int64) string { return fmt.Sprintf("%.3f", ratio(content, packed)) }

func ratio(content, packed int64) float64 {
	if packed == 0 {
		return 0
	}
	return float64(content) / float64(packed)
}

func plural(n int64, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
