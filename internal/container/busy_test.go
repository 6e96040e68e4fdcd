package container

import (
	"runtime"
	"testing"
	"time"
)

// TestBusyness counts pieces of work that have shared a processor.
func TestBusyness(t *testing.T) {
	var b Busyness
	note := func(n int, shared bool) {
		for range n {
			b.Note(shared, true)
			b.Note(!shared, false) // says nothing
		}
	}
	note(sharedMost-1, true)
	note(1, false)
	note(1, true)
	if b.Lasts() {
		t.Error("busy too early")
	}
	note(1, true)
	if !b.Lasts() || b.next != busyFirst {
		t.Errorf("not busy, or for %v", b.next)
	}
	for range 9 {
		b.until = time.Now()
		note(sharedMost/2, true)
	}
	if !b.Lasts() || b.next != busyLast {
		t.Errorf("not busy, or for %v", b.next)
	}
	b.until = time.Now()
	note(sharedMost, false)
	if b.Lasts() || b.next != 0 {
		t.Errorf("busy, or next for %v", b.next)
	}
}

// TestStopwatch tells waiting from work. A thread that sleeps has no processor.
func TestStopwatch(t *testing.T) {
	if threadTime() == 0 {
		t.Skip("the processor time of a thread is unknown here")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := StartWatch()
	if _, ok := w.Shared(); ok {
		t.Error("no time says something")
	}
	for end := threadTime() + time.Millisecond; threadTime() < end; { // else its time may be 0
	}
	time.Sleep(20 * time.Millisecond)
	if shared, ok := w.Shared(); !shared || !ok {
		t.Errorf("asleep: %v, %v", shared, ok)
	}
}
