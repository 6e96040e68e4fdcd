package main

import (
	"fmt"
	"io"
	"time"

	"github.com/gopz/compress"
)

// meter counts what passes from a source to its output, and remembers which side failed. The library reads, writes
// and reports progress in the caller's own calls, so nothing here needs a lock.
type meter struct {
	app   *app
	r     countReader
	w     countWriter
	start time.Time
	last  compress.Progress
	bar   bar
}

type countReader struct {
	m   *meter
	r   io.Reader
	n   int64
	err error
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	c.m.bar.update(c.n)
	return n, err
}

type countWriter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		c.err = err
	}
	return n, err
}

func (a *app) newMeter(in *source, out *output) *meter {
	m := &meter{app: a, start: time.Now()}
	m.r = countReader{m: m, r: in.f}
	m.bar = a.newBar(in, out, m.start)
	return m
}

func (m *meter) passed(p compress.Progress) { m.last = p }
func (m *meter) done()                      { m.bar.clear() }

// summary is the line of -v about one file.
func (a *app) summary(in *source, out *output, m *meter) {
	if !a.cfg.verbose {
		return
	}
	// What the library says about content, not what was written: -t writes nothing.
	content, packed := m.last.Content, m.r.n
	if a.cfg.mode == modeCompress {
		content, packed = m.r.n, m.w.n
	}
	seconds := max(time.Since(m.start).Seconds(), 1e-6)
	to := " -> " + printable(out.name)
	if a.cfg.mode == modeTest {
		to = " OK"
	}
	a.say(in.name, "%s:1, %d content, %d compressed bytes, %d %s, %d %s, %.1f MB/s%s",
		ratioText(content, packed), content, packed, m.last.Blocks, plural(m.last.Blocks, "block"),
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
