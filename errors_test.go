package compress

import (
	"errors"
	"io"
	"testing"
)

func TestErrorText(t *testing.T) {
	for want, err := range map[string]error{
		"compress: block 3 at byte 1234: checksum mismatch":      &Error{Kind: ErrChecksum, Block: 3, Offset: 1234},
		"compress: stream 2, block 0 at byte 7: corrupt input":   &Error{Kind: ErrCorrupt, Stream: 2, Offset: 7},
		"compress: at byte 10: input is cut short":               &Error{Kind: ErrTruncated, Block: -1, Offset: 10},
		"compress: stream 1: memory limit exceeded":              &Error{Kind: ErrMemory, Stream: 1, Block: -1, Offset: -1},
		"compress: invalid option":                               &Error{Kind: ErrOption, Block: -1, Offset: -1},
		"compress: block 1: bad payload":                         &Error{Kind: ErrCorrupt, Block: 1, Offset: -1, Err: errors.New("bad payload")},
		"compress: level 12 is not in 1 … 9":                     WithLevel(12)(new(options)),
		"compress: content is larger than allowed":               ErrTooLarge,
		"compress: block 1 at byte 0: reading: unexpected EOF":   &Error{Kind: ErrCorrupt, Block: 1, Detail: "reading", Err: io.ErrUnexpectedEOF},
		"compress: at byte 5: data after the end of the stream!": &Error{Kind: ErrCorrupt, Block: -1, Offset: 5, Detail: "data after the end of the stream!"},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
