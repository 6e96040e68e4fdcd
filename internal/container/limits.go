package container

import (
	"context"

	"github.com/gopz/compress/internal/errs"
)

// DefaultMemory is the memory limit in bytes where the caller sets none.
const DefaultMemory = 1 << 30

// Limits is what the caller allows a read of a file to take, and when to stop.
type Limits struct {
	Context    context.Context // nil never ends
	MaxMemory  int64           // bytes; 0 is for DefaultMemory
	Target     int64           // bytes; more only where one block takes more; 0 is for none
	MaxDecoded int64           // bytes of content; −1 is for no limit
	Checks     bool            // verify checks of content
	MaxWindow  int64           // most window in bytes that a frame of .zst may state; 0 is for no limit

	// BadSection is called for each section of parity that is seen to be damaged. It may be nil.
	BadSection func()
}

// SawSection says whether a section of parity is intact, as far as was seen.
func (l *Limits) SawSection(intact bool) {
	if !intact && l.ChecksSections() {
		l.BadSection()
	}
}

// ChecksSections reports whether damage of sections counts.
func (l *Limits) ChecksSections() bool { return l != nil && l.BadSection != nil }

// Memory returns the memory limit in bytes.
func (l *Limits) Memory() int64 {
	if l.MaxMemory == 0 {
		return DefaultMemory
	}
	return l.MaxMemory
}

// Within returns the bytes that several blocks in flight may take together: limit, or the target if
// that is lower.
func (l *Limits) Within(limit int64) int64 {
	if l.Target > 0 {
		return min(l.Target, limit)
	}
	return limit
}

// TooLarge reports whether n more bytes after size bytes of content are more than MaxDecoded.
func (l *Limits) TooLarge(size, n int64) bool {
	return l.MaxDecoded >= 0 && n > l.MaxDecoded-size
}

// Canceled returns an error if the context has ended: its cause, which is also the context's own
// error for errors.Is.
func (l *Limits) Canceled() error {
	if l.Context == nil || l.Context.Err() == nil {
		return nil
	}
	return errs.Cause(l.Context)
}
