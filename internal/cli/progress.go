package cli

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	// barDelay is the default of app.barDelay. On shorter work the bar would flicker.
	barDelay = time.Second
	// barPeriod is the time between two drawings. It divides a second, so seconds count up evenly.
	barPeriod = 200 * time.Millisecond
	// barPulse moves through the bar until it is known how much has been processed.
	barPulse = "==="
	// barTextColumns is the largest width of the text beside name and bar.
	barTextColumns = 47
)

// progressBar shows the progress on one source, or on all that a run with batches has processed. It
// appears only if standard error is a terminal. The nil bar shows nothing.
//
// Its own goroutine draws it, because a block of 64 MiB can take a minute. When compressing, parts
// of blocks count as well. When restoring, whole blocks count. The rate is an average from the
// start: blocks complete seldom or several at once, so recent updates give no rate.
type progressBar struct {
	app   *app
	name  string
	width int   // largest width of the bar, in columns
	total int64 // final value of done, in bytes; -1 if unknown
	start time.Time

	read    atomic.Int64 // bytes read of the source; 0 where they are not counted
	done    atomic.Int64 // bytes of the source that have been processed
	content atomic.Int64 // bytes of content that have been processed
	// position is the content that a Writer has compressed, with parts of the blocks in work, in
	// bytes. It is 0 when restoring. Else it takes the place of done and content.
	position atomic.Int64

	stop   chan struct{} // closed to end the goroutine
	exited chan struct{} // closed by the goroutine

	mu    sync.Mutex // held while the terminal is written to
	drawn int        // columns of the last drawing

	run *progress // what the bar shows in place of a source; else nil
}

// progress is what a run has processed.
type progress struct {
	files   atomic.Int64
	content atomic.Int64 // in bytes
	sum     totals       // of -v
	start   time.Time    // zero until the first batch
	shown   bool         // a bar is wanted
}

// addFile counts a file that has been processed.
func (p *progress) addFile(m *meter) {
	p.files.Add(1)
	if m != nil {
		p.content.Add(m.last.Content)
	}
}

// showRun shows the bar of the run, unless the user writes a list of files at the terminal.
func (a *app) showRun() {
	p := &a.batch.progress
	if p.start.IsZero() {
		p.start = a.now()
		p.shown = !a.cfg.quiet && a.isTerminal(a.stderr)
		for _, l := range a.cfg.lists {
			p.shown = p.shown && (l.path != "-" || !a.isTerminal(a.stdin))
		}
	}
	if p.shown && a.bar == nil {
		a.startBar(&progressBar{run: p, total: -1, start: p.start})
	}
}

// newProgressBar starts a bar, which shows task in front of the name. It returns nil if no bar is
// wanted or content passes through the same terminal.
func (a *app) newProgressBar(task string, in *source, out *output, start time.Time) *progressBar {
	if a.cfg.quiet || !a.isTerminal(a.stderr) {
		return nil
	}
	if out.f != nil && a.isTerminal(out.f) || a.isTerminal(in.f) {
		return nil
	}
	b := &progressBar{name: task + printable(in.name), total: -1, start: start}
	// Recover does not report what it has read.
	switch size := in.size(); {
	case a.cfg.mode == modeRecover:
	case size > 0:
		b.total = size
	case a.cfg.mode == modeCompress && a.cfg.streamSize > 0:
		b.total = a.cfg.streamSize
	}
	a.startBar(b)
	return b
}

// startBar begins to draw a bar.
func (a *app) startBar(b *progressBar) {
	b.app, b.stop, b.exited = a, make(chan struct{}), make(chan struct{})
	columns, _, err := term.GetSize(int(a.stderr.Fd()))
	if err != nil || columns <= 0 {
		columns = 80
	}
	// A line that wraps could not be cleared.
	b.width = max(0, min(24, columns-barTextColumns-20))
	b.name = fitName(b.name, min(columns-barTextColumns-b.width, 40))
	a.bar = b
	go b.draw()
}

// setDone sets the processed bytes of the source and of the content.
func (b *progressBar) setDone(done, content int64) {
	if b != nil {
		b.done.Store(done)
		b.content.Store(content)
	}
}

// setRead sets the bytes read of the source.
func (b *progressBar) setRead(n int64) {
	if b != nil {
		b.read.Store(n)
	}
}

func (b *progressBar) draw() {
	defer close(b.exited)
	wait := time.NewTimer(time.Until(b.start.Add(b.app.barDelay)))
	defer wait.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-wait.C:
		}
		b.mu.Lock()
		b.render()
		b.mu.Unlock()
		wait.Reset(barPeriod)
	}
}

// render draws the bar. The caller holds the lock.
func (b *progressBar) render() {
	if b.run != nil {
		n := b.run.files.Load()
		b.name = fmt.Sprintf("%d %s", n, plural(n, "file"))
		b.content.Store(b.run.content.Load())
	}
	done, content, elapsed := b.done.Load(), b.content.Load(), b.app.now().Sub(b.start)
	if n := b.position.Load(); n > 0 {
		done, content = n, n
	}
	text := b.name + ": " + barText(done, b.total, content, elapsed)
	read := b.read.Load()
	switch {
	case content == 0 && read > 0:
		// No position is known, and no block is complete.
		text = b.name + ": " + formatSize(read) + " read, " + elapsed.Truncate(time.Second).String()
		if at := b.width - len(barPulse); b.total > 0 && at >= 0 {
			at = int(elapsed/barPeriod) % (at + 1)
			text += fmt.Sprintf("      [%s%s%s]", strings.Repeat(" ", at), barPulse,
				strings.Repeat(" ", b.width-at-len(barPulse)))
		}
	case b.total > 0:
		part := min(1, float64(done)/float64(b.total))
		full := int(part * float64(b.width))
		text += fmt.Sprintf(" %3d%% [%s%s]", int(part*100), strings.Repeat("=", full),
			strings.Repeat(" ", b.width-full))
	}
	columns := utf8.RuneCountInString(text)
	b.app.temp.drawn.Store(int64(max(columns, b.drawn))) // a signal may come behind the write
	// Spaces overwrite the rest of a longer line.
	fmt.Fprintf(b.app.stderr, "\r%s%s", text, strings.Repeat(" ", max(0, b.drawn-columns)))
	b.drawn = columns
}

// clear removes the bar from the screen. The caller holds the lock.
func (b *progressBar) clear() {
	if b.drawn > 0 {
		fmt.Fprintf(b.app.stderr, "\r%s\r", strings.Repeat(" ", b.drawn))
		b.drawn = 0
		b.app.temp.drawn.Store(0)
	}
}

// barText returns the amount of content, its rate, and the time taken and left.
func barText(done, total, content int64, elapsed time.Duration) string {
	text := formatSize(content)
	if content > 0 {
		text += fmt.Sprintf(", %.1f MB/s", float64(content)/1e6/elapsed.Seconds())
	}
	text += ", " + elapsed.Truncate(time.Second).String()
	if done > 0 && total >= done {
		// An estimate of more than 100 hours is useless, and may overflow a Duration.
		if left := elapsed.Seconds() / float64(done) * float64(total-done); left < 100*3600 {
			text += fmt.Sprintf(", %v left", time.Duration(left+0.5)*time.Second)
		}
	}
	return text
}

// hideWhile removes the bar from the screen and runs f, which may write to the terminal. The next
// drawing restores the bar.
func (b *progressBar) hideWhile(f func()) {
	if b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.clear()
	}
	f()
}

// close removes the bar and stops its goroutine.
func (b *progressBar) close() {
	if b == nil {
		return
	}
	close(b.stop)
	<-b.exited
	b.hideWhile(func() { b.app.bar = nil })
}

// fitName cuts a name to a number of columns. It keeps the end, which distinguishes files.
func fitName(name string, columns int) string {
	rs := []rune(name)
	taken := 0
	for i := len(rs) - 1; i >= 0; i-- {
		taken++
		if rs[i] >= 0x1100 { // most runes from here on take two columns
			taken++
		}
		if taken > columns-1 && (i > 0 || taken > columns) {
			return "…" + string(rs[i+1:])
		}
	}
	return name
}
