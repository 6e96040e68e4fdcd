package host

import (
	"errors"
	"testing"
)

// TestPoll checks that Poll ends with the first success or error.
func TestPoll(t *testing.T) {
	n := 0
	if err := Poll(func() (bool, error) { n++; return n == 5, nil }); err != nil || n != 5 {
		t.Errorf("%d calls, error %v", n, err)
	}
	failed := errors.New("failed")
	n = 0
	if err := Poll(func() (bool, error) { n++; return true, failed }); err != failed || n != 1 {
		t.Errorf("%d calls, error %v", n, err)
	}
}
