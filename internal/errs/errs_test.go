package errs

import (
	"errors"
	"testing"
)

// TestErrorText checks that an error names the library once.
func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{Wrap(Device, Device), "compress: no device for this"},
		{Wrap(Corrupt, Wrap(Corrupt, errors.New("x"))), "compress: x"},
		{&Error{Kind: Corrupt, Block: 2, Offset: 3}, "compress: block 2 at byte 3: corrupt input"},
		{&Error{Kind: Corrupt, Block: -1, Offset: -1, Detail: "d", Err: Closed},
			"compress: d: already closed"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
