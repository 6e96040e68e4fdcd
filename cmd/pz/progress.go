package main

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// barDelay is how long work takes before it gets a progress bar. Shorter work would only flicker.
const barDelay = time.Second

// bar shows how much of a source has been read. It is shown to people only: standard error must be a terminal.
type bar struct {
	make func() *progressbar.ProgressBar // nil: none wanted
	from time.Time
	bar  *progressbar.ProgressBar
}

func (a *app) newBar(in *source, out *output, start time.Time) bar {
	if a.cfg.quiet || !a.isTerminal(a.stderr) || out.f != nil && a.isTerminal(out.f) {
		return bar{} // nor is it drawn into the content that goes to the same terminal
	}
	total := int64(-1)
	if size := in.size(); size > 0 {
		total = size
	}
	return bar{from: start.Add(barDelay), make: func() *progressbar.ProgressBar {
		return progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(a.stderr),
			progressbar.OptionSetDescription(printable(in.name)),
			progressbar.OptionShowBytes(true),
			progressbar.OptionUseIECUnits(true),
			progressbar.OptionSetWidth(24),
			progressbar.OptionThrottle(100*time.Millisecond),
			// Without this it draws from a goroutine of its own where the size is not known.
			progressbar.OptionSetSpinnerChangeInterval(0),
		)
	}}
}

func (b *bar) update(n int64) {
	if b.make == nil {
		return
	}
	if b.bar == nil {
		if time.Now().Before(b.from) {
			return
		}
		b.bar = b.make()
	}
	b.bar.Set64(n)
}

// clear removes the bar, so that messages start on an empty line.
func (b *bar) clear() {
	if b.bar != nil {
		b.bar.Clear()
		b.bar = nil
	}
	b.make = nil
}
