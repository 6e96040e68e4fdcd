package cli

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/cli/internal/foreign"
)

// meter counts the bytes of one transfer and notes whether the output failed. The library reads,
// writes and reports progress on the caller's goroutine, so meter needs no lock.
type meter struct {
	app    *app
	in     *source
	out    *output
	r      countReader
	w      countWriter
	start  time.Time
	from   int64             // offset where reading begins
	last   compress.Progress // so far
	before compress.Progress // of parts in other formats that have been restored
	grew   bool              // the source holds more than was read
	partly bool              // a part of a damaged frame has been written
	bar    *progressBar

	foreign *foreign.Format // of a source that one core restores; else nil
}

type countReader struct {
	m      *meter
	n      int64
	recent recentBytes // when restoring
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.m.in.read(p)
	c.n += int64(n)
	c.m.bar.setRead(c.n)
	c.m.in.keepPrefix(p[:n])
	if c.m.app.cfg.mode != modeCompress {
		c.recent.addBytes(p[:n])
	}
	return n, err
}

type countWriter struct {
	m    *meter
	w    io.Writer
	n    int64
	head []byte // first bytes, with -v and --long
	err  error
}

// headSize is enough for the headers of a stream and of its first block.
const headSize = 64

func (c *countWriter) Write(p []byte) (int, error) {
	if room := headSize - len(c.head); room > 0 && c.m.app.cfg.verbose && c.m.app.cfg.window > 0 {
		c.head = append(c.head, p[:min(room, len(p))]...)
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	switch c.m.app.cfg.mode { // of which the library reports no progress
	case modeRecover:
		c.m.bar.setDone(0, c.n)
	case modeRepair: // the result has about as many bytes as the file
		c.m.bar.setDone(c.n, c.n)
	}
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		c.err = err
	}
	return n, err
}

// countReaderAt reads the source of a meter at any place, and counts what it reads.
type countReaderAt struct{ m *meter }

func (c *countReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.m.in.readerAt().ReadAt(p, off)
	c.m.r.n += int64(n)
	c.m.bar.setRead(c.m.r.n)
	return n, err
}

func (a *app) newMeter(in *source, out *output) *meter {
	m := &meter{app: a, in: in, out: out, start: a.now(), from: in.start}
	m.r.m, m.w.m = m, m
	if a.held == nil {
		m.bar = a.newProgressBar("", in, out, m.start)
	}
	return m
}

// direct reports whether the library reads the file itself. A Reader prefetches across short blocks
// and concatenated streams only if it sees a regular file, where a read does not block. A Writer
// has no such case.
func (m *meter) direct() bool {
	return m.app.cfg.mode != modeCompress && m.in.onDisk() && m.in.parity == nil
}

// reader returns the source as the library reads it.
func (m *meter) reader() io.Reader {
	if m.direct() {
		return m.in.f
	}
	return &m.r
}

// read returns how many bytes of the source have been read.
func (m *meter) read() int64 {
	if m.direct() {
		if at, err := m.in.f.Seek(0, io.SeekCurrent); err == nil {
			return at - m.from
		}
	}
	return m.r.n
}

// writeOptions returns the options with which a Writer reports progress to m.
func (m *meter) writeOptions() []compress.WriterOption {
	opts := []compress.WriterOption{compress.WithProgress(m.progress)}
	if m.bar != nil {
		opts = append(opts, bridge.Position(&m.bar.position))
	}
	return opts
}

// progress receives the progress of a Writer or Reader.
func (m *meter) progress(p compress.Progress) {
	p.Content += m.before.Content
	p.Compressed += m.before.Compressed
	p.Blocks += m.before.Blocks
	m.last = p
	done := p.Compressed
	if m.app.cfg.mode == modeCompress {
		done = p.Content
	}
	m.bar.setDone(done, p.Content)
}

func (m *meter) closeBar() { m.bar.close() }

// restart makes the meter ready to read the source, perhaps once more. It returns a writer to w
// that leaves out what has been written before.
func (m *meter) restart(w io.Writer) io.Writer {
	m.in.start, m.in.part = m.in.start-m.in.part, 0
	m.last, m.before, m.foreign = compress.Progress{}, compress.Progress{}, nil
	m.r = countReader{m: m}
	if m.w.n == 0 {
		return w
	}
	return &cutWriter{w: w, interval: interval{off: m.w.n, size: toEnd}}
}

// endsUnverified has a Reader end at a damaged frame before it returns a part of it, if the file
// has parity that may restore the frame.
func (m *meter) endsUnverified(partly bool) bool {
	if partly {
		m.partly = true
		return false
	}
	return m.in.openParity(true)
}

// summary prints the line of -v about one file. The modes of recovery and writeDictionary print
// their own. A part of the content has none, because its compressed size is not known.
func (a *app) summary(in *source, out *output, m *meter) {
	c := &a.cfg
	if !c.verbose || c.ranged() || c.recovers() || c.mode == modeIndex || c.mode == modeTrain ||
		c.mode == modeExtract || c.tar {
		return
	}
	// Content comes from the library, not from the writer: -t writes nothing.
	content, packed := m.last.Content, m.read()
	if a.cfg.mode == modeCompress {
		content, packed = packed, m.w.n
	}
	if a.ofGzip {
		a.printGzipSummary(in, out, content, packed)
		return
	}
	a.batch.progress.sum.addFile(content, packed)
	seconds := max(a.now().Sub(m.start).Seconds(), 1e-6)
	to := " -> " + printable(out.name)
	if a.cfg.mode == modeTest {
		to = " OK"
	}
	workers := a.sched.Workers()
	if m.foreign != nil {
		workers = 1
	}
	a.print(in.name, "%d bytes of content, %d compressed (%.3f:1), %s%d %s, %.1f MB/s%s",
		content, packed, ratio(content, packed), a.parts(in, m),
		workers, plural(int64(workers), "thread"), float64(content)/1e6/seconds, to)
	if len(m.w.head) > 0 && a.cfg.mode == modeCompress {
		a.hintMemory(out.name, a.restoreMemory(bytes.NewReader(m.w.head)), false)
	}
}

// totals counts the files that -v has printed a line for, and their bytes.
type totals struct {
	mu                     sync.Mutex
	files, content, packed int64
}

func (t *totals) addFile(content, packed int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files++
	t.content += content
	t.packed += packed
}

// printTotal prints the last line of -v if there were several files.
func (a *app) printTotal() {
	if t := &a.batch.progress.sum; t.files > 1 {
		a.print("", "%d files: %d bytes of content, %d compressed (%.3f:1)",
			t.files, t.content, t.packed, ratio(t.content, t.packed))
	}
}

// parts returns what -v says about the number of blocks, frames or members, which -l lists as well.
// It returns "" where a .gz or .zst file is restored: there the library counts pieces.
func (a *app) parts(in *source, m *meter) string {
	n, word := m.last.Blocks, "block"
	switch {
	case a.cfg.mode != modeCompress:
		if in.isStandard() || m.foreign != nil {
			return ""
		}
	case a.cfg.format == compress.Zstd:
		word = "frame"
		if c := &a.cfg; !c.seekable && !c.rsyncable && !c.tar && c.parity == 0 {
			n = 1 // of many blocks
		}
	case a.cfg.format == compress.Gzip:
		n, word = 1, "member" // a Writer writes one, of many blocks
	}
	return fmt.Sprintf("%d %s, ", n, plural(n, word))
}

// ratio returns content over compressed size, and 0 for an empty file.
func ratio(content, packed int64) float64 {
	if packed == 0 {
		return 0
	}
	return float64(content) / float64(packed)
}
