package container

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestCanceled checks that the error is both the context's error and its cause.
func TestCanceled(t *testing.T) {
	var l Limits
	if err := l.Canceled(); err != nil {
		t.Error("no context:", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	l.Context = ctx
	if err := l.Canceled(); err != nil {
		t.Error("context that goes on:", err)
	}
	cancel(errTest)
	err := l.Canceled()
	if !errors.Is(err, errTest) || !errors.Is(err, context.Canceled) ||
		err.Error() != errTest.Error() {
		t.Errorf("canceled with a cause: %v, want the cause and context.Canceled", err)
	}

	plain, stop := context.WithCancel(t.Context())
	stop()
	l.Context = plain
	if err := l.Canceled(); err != context.Canceled {
		t.Errorf("canceled: %v, want context.Canceled", err)
	}
	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	l.Context = late
	if err := l.Canceled(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: %v, want context.DeadlineExceeded", err)
	}
}

// TestLimits checks the default memory limit, and the limit of content without overflow.
func TestLimits(t *testing.T) {
	if n := (&Limits{}).Memory(); n != DefaultMemory {
		t.Errorf("Memory = %d, want %d", n, DefaultMemory)
	}
	if n := (&Limits{MaxMemory: 5}).Memory(); n != 5 {
		t.Errorf("Memory = %d, want 5", n)
	}
	const huge = 1<<63 - 1
	for _, c := range []struct {
		limit, size, n int64
		want           bool
	}{
		{-1, huge, huge, false},
		{10, 0, 10, false},
		{10, 0, 11, true},
		{10, 10, 0, false},
		{10, 10, 1, true},
		{0, 0, 0, false},
		{0, 0, 1, true},
		{10, 5, huge, true},
	} {
		if got := (&Limits{MaxDecoded: c.limit}).TooLarge(c.size, c.n); got != c.want {
			t.Errorf("limit %d: TooLarge(%d, %d) = %v, want %v", c.limit, c.size, c.n, got, c.want)
		}
	}
}
