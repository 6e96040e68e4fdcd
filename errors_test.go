package compress

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
)

// TestErrorText checks the text of errors with and without places.
func TestErrorText(t *testing.T) {
	_, badLevel := NewWriter(io.Discard, WithLevel(12))
	for want, err := range map[string]error{
		"compress: block 3 at byte 1234: checksum mismatch": &Error{
			Kind: ErrChecksum, Block: 3, Offset: 1234,
		},
		"compress: stream 2, block 0 at byte 7: corrupt input": &Error{
			Kind: ErrCorrupt, Stream: 2, Offset: 7,
		},
		"compress: at byte 10: input is cut short": &Error{
			Kind: ErrTruncated, Block: -1, Offset: 10,
		},
		"compress: stream 1: memory limit exceeded": &Error{
			Kind: ErrMemory, Stream: 1, Block: -1, Offset: -1,
		},
		"compress: invalid option": &Error{
			Kind: ErrOption, Block: -1, Offset: -1,
		},
		"compress: block 1: bad payload": &Error{
			Kind: ErrCorrupt, Block: 1, Offset: -1, Err: errors.New("bad payload"),
		},
		"compress: level 12 is not in 1 … 9":       badLevel,
		"compress: content is larger than allowed": ErrTooLarge,
		"compress: block 1 at byte 0: reading: unexpected EOF": &Error{
			Kind: ErrCorrupt, Block: 1, Detail: "reading", Err: io.ErrUnexpectedEOF,
		},
		"compress: at byte 5: data after the end of the stream!": &Error{
			Kind: ErrCorrupt, Block: -1, Offset: 5, Detail: "data after the end of the stream!",
		},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

// TestErrorPart damages each part of a .pz and a .zst file, and checks the part that the error
// names.
func TestErrorPart(t *testing.T) {
	content := textBytes(3*testBlock, 1)
	pz := encode(t, content, WithBlockSize(testBlock))
	zst := encode(t, content, WithFormat(Zstd), WithBlockSize(testBlock))
	gz := encode(t, content, WithFormat(Gzip))
	table := frameAt(t, zst, 3)
	for _, c := range []struct {
		name string
		file []byte
		at   int // byte that is damaged
		want Part
	}{
		{"pz header", pz, 4, PartHeader},
		{"pz block header", pz, pzfile.MinHeaderSize + 3, PartBlock},
		{"pz payload", pz, pzfile.MinHeaderSize + pzfile.BlockHeaderSize + 9, PartBlock},
		{"pz index", pz, len(pz) - pzfile.FooterSize - 1, PartIndex},
		{"pz footer", pz, len(pz) - 5, PartIndex},
		{"gz header", gz, 3, PartHeader},
		{"zst frame header", zst, 4, PartHeader},
		{"zst payload", zst, frameAt(t, zst, 1) + 40, PartBlock},
		{"zst seek table", zst, table + 9, PartIndex},
	} {
		bad := slices.Clone(c.file)
		bad[c.at] ^= 0xff
		_, err := decode(bad)
		var e *Error
		if !errors.As(err, &e) || e.Part != c.want {
			t.Errorf("%s: %v with part %v, want part %v", c.name, err, partOf(err), c.want)
		}
	}
	small := []Option{WithMaxDecodedSize(testBlock)}
	skippable := append([]byte("\x50\x2a\x4d\x18\x64\x00\x00\x00"), make([]byte, 50)...)
	for _, c := range []struct {
		name string
		file []byte
		opts []Option
		want Part
	}{
		{"cut in a seek table", zst[:table+20], nil, PartIndex},
		{"cut in the header of a seek table", zst[:table+6], nil, PartIndex},
		{"cut in a skippable frame", append(slices.Clone(zst), skippable...), nil, PartStray},
		{"gz too large", gz, small, PartBlock},
		{"zst too large", zst, small, PartBlock},
		{"pz too large", pz, small, PartBlock},
	} {
		if _, err := decode(c.file, c.opts...); partOf(err) != c.want {
			t.Errorf("%s: %v with part %v, want part %v", c.name, err, partOf(err), c.want)
		}
	}
	stray := slices.Insert(slices.Clone(zst), frameAt(t, zst, 1), []byte("text")...)
	_, damage := recoverAll(t, stray)
	if len(damage) != 1 || partOf(damage[0].Err) != PartStray {
		t.Errorf("bytes between frames: %+v, want part %v", damage, PartStray)
	}
}

// partOf returns the part that an error names.
func partOf(err error) Part {
	var e *Error
	if errors.As(err, &e) {
		return e.Part
	}
	return PartUnknown
}

// TestErrorIs checks that errors match those of the standard library that callers know.
func TestErrorIs(t *testing.T) {
	w := newWriter(t, io.Discard)
	w.Close()
	_, err := w.Write([]byte("x"))
	if !errors.Is(err, ErrClosed) || !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write after Close: %v, want os.ErrClosed", err)
	}
	if _, err := decode(nil); !errors.Is(err, ErrTruncated) ||
		!errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("empty input: %v, want io.ErrUnexpectedEOF", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	_, err = AppendEncode(nil, []byte("x"), WithContext(ctx))
	if !errors.Is(err, context.Canceled) || !errors.Is(err, errTest) {
		t.Errorf("canceled: %v, want context.Canceled and its cause", err)
	}
	if !errors.Is(ErrChecksum, ErrCorrupt) || !errors.Is(ErrTrailing, ErrCorrupt) {
		t.Error("ErrChecksum and ErrTrailing must wrap ErrCorrupt")
	}
}
