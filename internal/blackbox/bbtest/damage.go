package bbtest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/section"
)

// DamageFile returns a file, its content, and the ends of its streams. Two streams have several
// blocks. In the second one flushes end blocks of all kinds. Small streams of all kinds surround
// it.
func DamageFile(t testing.TB) (file, content []byte, ends []int) {
	a := slices.Concat(TextBytes(BlockSize, 1), make([]byte, BlockSize), RandomBytes(90, 2))
	pieces := [][]byte{TextBytes(20, 3), TextBytes(700, 4), make([]byte, 50), TextBytes(30, 5)}
	b := slices.Concat(pieces...)
	one := Encode(t, a, compress.WithBlockSize(BlockSize))
	two, _ := FlushPieces(t, pieces, len(b), compress.WithBlockSize(BlockSize),
		compress.WithContentSize(int64(len(b))))
	streams := [][]byte{one}
	content = a
	add := func(p []byte, opts ...compress.WriterOption) {
		streams = append(streams, Encode(t, p, opts...))
		content = append(content, p...)
	}
	add(TextBytes(300, 6))
	add(make([]byte, 50))
	add(nil)
	streams, content = append(streams, two), append(content, b...)
	add(TextBytes(20, 7), bridge.Pipeline("lzr"))
	add(TextBytes(200, 8), bridge.Pipeline("lzr"))
	for _, p := range streams {
		file = append(file, p...)
		ends = append(ends, len(file))
	}
	return file, content, ends
}

// IsDamage reports whether err is one of the errors that a damaged file may give.
func IsDamage(err error) bool {
	kinds := []error{
		compress.ErrFormat, compress.ErrVersion, compress.ErrChecksum, compress.ErrCorrupt,
		compress.ErrTruncated,
	}
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// MakeSection returns a section with a body.
func MakeSection(kind section.Kind, body []byte) []byte {
	size := int64(len(body)) + section.MinSize
	p := append(section.AppendHeader(nil, kind, size), body...)
	return section.AppendFooter(p, size)
}

// PartOf returns the part that an error names.
func PartOf(err error) compress.Part {
	var e *compress.Error
	if errors.As(err, &e) {
		return e.Part
	}
	return compress.PartUnknown
}

// Patch returns p with other bytes at an offset. A negative one counts from the end.
func Patch(p []byte, at int, v ...byte) []byte {
	p = slices.Clone(p)
	if at < 0 {
		at += len(p)
	}
	copy(p[at:], v)
	return p
}

// Flip returns p with the lowest bit flipped at an offset. A negative one counts from the end.
func Flip(p []byte, at int) []byte {
	if at < 0 {
		at += len(p)
	}
	return Patch(p, at, p[at]^1)
}

// RecoverAll returns the content that Recover writes and the damage that it reports.
func RecoverAll(t testing.TB, file []byte, opts ...compress.ReaderOption) ([]byte, []compress.Damage) {
	t.Helper()
	var b bytes.Buffer
	var list []compress.Damage
	err := RecoverFrom(&b, file, func(d compress.Damage) error {
		list = append(list, d)
		return nil
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), list
}

// RecoverFrom calls Recover with a file in memory.
func RecoverFrom(
	w io.Writer, file []byte, report func(compress.Damage) error, opts ...compress.ReaderOption,
) error {
	return compress.Recover(w, bytes.NewReader(file), int64(len(file)), report, opts...)
}
