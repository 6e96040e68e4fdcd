package cli

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/term"
)

// statusLine is a line of text on standard error that is rewritten. It appears only on a terminal.
// Its owner clears it before anything else is printed. The zero value with app set is ready to use.
type statusLine struct {
	app   *app
	drawn int       // columns on the screen
	last  time.Time // of the last drawing
}

// show shows the text that f returns, at once after a clear and then at most every barPeriod.
func (s *statusLine) show(f func() string) {
	a := s.app
	if a.cfg.quiet || !a.isTerminal(a.stderr) {
		return
	}
	now := a.now()
	if now.Sub(s.last) < barPeriod {
		return
	}
	s.last = now
	columns, _, err := term.GetSize(int(a.stderr.Fd()))
	if err != nil || columns <= 0 {
		columns = 80
	}
	// A line that wraps could not be cleared.
	text := []rune(f())
	text = text[:min(len(text), columns-1)]
	fmt.Fprintf(a.stderr, "\r%s%s", string(text), strings.Repeat(" ", max(0, s.drawn-len(text))))
	s.drawn = len(text)
	a.temp.drawn.Store(int64(s.drawn))
}

// clear removes the line from the screen.
func (s *statusLine) clear() {
	if s.drawn > 0 {
		fmt.Fprintf(s.app.stderr, "\r%s\r", strings.Repeat(" ", s.drawn))
		s.drawn = 0
		s.app.temp.drawn.Store(0)
	}
	s.last = time.Time{}
}

// clearLine removes from the screen the line that does not stay, when a signal ends the program.
// The terminal may have added ^C to the line. clearLine does not wait long for a terminal that is
// stopped.
func (a *app) clearLine() {
	n := a.temp.drawn.Load()
	if n == 0 {
		return
	}
	cleared := make(chan struct{})
	go func() {
		fmt.Fprintf(a.stderr, "\r%s\r", strings.Repeat(" ", int(n)+len("^C")))
		close(cleared)
	}()
	select {
	case <-cleared:
	case <-time.After(barPeriod):
	}
}
