package cli

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

const (
	// barDelay is how long work takes before it gets a progress bar. Shorter work would only flicker.
	barDelay = time.Second
	// barPeriod is the time from one drawing to the next. Seconds count up steadily at any rate that divides them.
	barPeriod = 200 * time.Millisecond
	// barWaits moves through the bar as long as no block has passed.
	barWaits = "==="
)

// bar shows how far the work on a source has come. It is shown to people only: standard error must be a terminal.
//
// It has a goroutine of its own, because a block of 64 MiB can take ten seconds, in which nothing else would draw. The libraries
// that draw bars tell a rate from the last few updates, which with blocks that come seldom, or several at once, is no rate at all.
type bar struct {
	app   *app
	name  string
	width int   // of the bar itself, in columns, at most
	total int64 // what done grows to; −1 if that is not known
	start time.Time

	read    atomic.Int64 // bytes of the source that have been read, where somebody counts them
	done    atomic.Int64 // of the source, in bytes
	content atomic.Int64 // bytes of content that have passed

	stop chan struct{} // ends the goroutine
	gone chan struct{} // closed by it

	mu    sync.Mutex // held while something is written to the terminal
	drawn int        // columns that the last drawing took
}

// newBar returns nil, which is as good as a bar, if none is wanted.
func (a *app) newBar(in *source, out *output, start time.Time) *bar {
	if a.cfg.quiet || !a.isTerminal(a.stderr) || out.f != nil && a.isTerminal(out.f) || a.isTerminal(in.f) {
		return nil // nor is it drawn into the content that comes from or goes to the same terminal
	}
	b := &bar{app: a, name: printable(in.name), total: -1, start: start, stop: make(chan struct{}), gone: make(chan struct{})}
	// What Recover has read it does not tell.
	if size := in.size(); size > 0 && a.cfg.mode != modeRecover {
		b.total = size
	}
	columns, _, err := term.GetSize(int(a.stderr.Fd()))
	if err != nil || columns <= 0 {
		columns = 80
	}
	// A line that is longer than the screen could not be cleared. All but bar and name takes 47 columns.
	b.width = max(0, min(24, columns-47-20))
	b.name = fitName(b.name, min(columns-47-b.width, 40))
	a.bar = b
	go b.draw()
	return b
}

// update notes how far the work has come.
func (b *bar) update(done, content int64) {
	if b != nil {
		b.done.Store(done)
		b.content.Store(content)
	}
}

// fed notes how much of the source has been read.
func (b *bar) fed(n int64) {
	if b != nil {
		b.read.Store(n)
	}
}

func (b *bar) draw() {
	defer close(b.gone)
	wait := time.NewTimer(time.Until(b.start.Add(barDelay)))
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

func (b *bar) render() {
	done, content, elapsed := b.done.Load(), b.content.Load(), time.Since(b.start)
	text := b.name + ": " + barText(done, b.total, content, elapsed)
	read := b.read.Load()
	switch {
	case content == 0 && read > 0:
		// The first blocks are being worked on, and nobody knows how far that has come: something moves, and says no more than that.
		text = b.name + ": " + formatSize(read) + " read, " + elapsed.Truncate(time.Second).String()
		if at := b.width - len(barWaits); b.total > 0 && at >= 0 {
			at = int(elapsed/barPeriod) % (at + 1)
			text += fmt.Sprintf("      [%s%s%s]", strings.Repeat(" ", at), barWaits, strings.Repeat(" ", b.width-at-len(barWaits)))
		}
	case b.total > 0:
		part := min(1, float64(done)/float64(b.total))
		full := int(part * float64(b.width))
		text += fmt.Sprintf(" %3d%% [%s%s]", int(part*100), strings.Repeat("=", full), strings.Repeat(" ", b.width-full))
	}
	columns := 0
	for range text {
		columns++
	}
	// Spaces over what is left of a longer line.
	fmt.Fprintf(b.app.stderr, "\r%s%s", text, strings.Repeat(" ", max(0, b.drawn-columns)))
	b.drawn = columns
}

// clear takes the bar off the screen.
func (b *bar) clear() {
	if b.drawn > 0 {
		fmt.Fprintf(b.app.stderr, "\r%s\r", strings.Repeat(" ", b.drawn))
		b.drawn = 0
	}
}

// barText says how much content has passed, how fast, and how long it has taken and may still take.
func barText(done, total, content int64, elapsed time.Duration) string {
	text := formatSize(content)
	if content > 0 {
		text += fmt.Sprintf(", %.1f MB/s", float64(content)/1e6/elapsed.Seconds())
	}
	text += ", " + elapsed.Truncate(time.Second).String()
	if done > 0 && total >= done {
		// A guess of more than days is none, and may be more than a Duration holds.
		if left := elapsed.Seconds() / float64(done) * float64(total-done); left < 100*3600 {
			text += fmt.Sprintf(", %v left", time.Duration(left+0.5)*time.Second)
		}
	}
	return text
}

// aside clears the bar away for something else on the terminal. The next drawing brings it back.
func (b *bar) aside(f func()) {
	if b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.clear()
	}
	f()
}

// end removes the bar for good.
func (b *bar) end() {
	if b == nil {
		return
	}
	close(b.stop)
	<-b.gone
	b.aside(func() { b.app.bar = nil })
}

// fitName cuts a name to so many columns. Its end tells files apart.
func fitName(name string, columns int) string {
	rs := []rune(name)
	taken := 0
	for i := len(rs) - 1; i >= 0; i-- {
		taken++
		if rs[i] >= 0x1100 { // from here on most are two columns wide
			taken++
		}
		if taken > columns-1 && (i > 0 || taken > columns) {
			return "…" + string(rs[i+1:])
		}
	}
	return name
}
