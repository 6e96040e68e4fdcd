package compress

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/section"
)

// makeSection returns a section with a body.
func makeSection(kind section.Kind, body []byte) []byte {
	size := int64(len(body)) + section.MinSize
	p := append(section.AppendHeader(nil, kind, size), body...)
	return section.AppendFooter(p, size)
}

// TestSections reads files with sections, which decoders pass over.
func TestSections(t *testing.T) {
	content := mixedBytes(9*testBlock + 99)
	first := encode(t, content[:5*testBlock], WithBlockSize(testBlock))
	small := encode(t, content[5*testBlock:5*testBlock+900])
	last := encode(t, content[5*testBlock+900:], WithBlockSize(testBlock))
	parity := makeSection(section.Parity, randomBytes(200_000, 1))
	empty := makeSection(section.MaySkip|77, nil)
	for name, file := range map[string][]byte{
		"behind each": slices.Concat(first, parity, small, parity, last, parity),
		"several":     slices.Concat(empty, parity, first, empty, parity, empty, small, empty, empty, last),
		"nested":      slices.Concat(first, makeSection(section.Parity, first), small, last),
		"many":        slices.Concat(first, small, bytes.Repeat(empty, 50_000), last, empty),
	} {
		checkAllReaders(t, file, content, WithConcurrency(2))
		info, err := fileInfo(file)
		if err != nil || len(info.Streams) != 3 || info.Content != int64(len(content)) || !info.Seekable {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		// The index of the first stream is damaged, so that all is searched.
		bad := slices.Clone(file)
		at := bytes.Index(file, first)
		bad[at+len(first)-40] ^= 1
		got, list := recoverAll(t, bad)
		equal(t, got, content, name)
		if len(list) != 1 || list[0].Kind != DamageFrame {
			t.Errorf("%s: damage %+v", name, list)
		}
	}
}

// TestBadSections checks that damaged and unknown sections are errors of their kind.
func TestBadSections(t *testing.T) {
	content := textBytes(3*testBlock, 1)
	first := encode(t, content[:testBlock], WithBlockSize(testBlock))
	second := encode(t, content[testBlock:], WithBlockSize(testBlock))
	whole := makeSection(section.Parity, textBytes(1000, 2))
	for name, c := range map[string]struct {
		section []byte
		kind    error
	}{
		"unknown": {makeSection(5, nil), ErrVersion},
		"header":  {flipped(whole, 9), ErrChecksum},
		"kind":    {flipped(whole, 4), ErrChecksum},
		"shorter": {whole[:len(whole)-1], ErrTrailing},
		"longer":  {append(whole[:len(whole):len(whole)], 0), ErrTrailing},
	} {
		for _, rest := range [][]byte{nil, second} {
			file := slices.Concat(first, c.section, rest)
			got, err := decodeSame(t, allReaders(t), file, fmt.Sprint(name, len(rest)))
			kind := c.kind
			if rest == nil && name == "shorter" {
				kind = ErrTruncated
			}
			if !errors.Is(err, kind) || !bytes.Equal(got, content[:testBlock]) {
				t.Errorf("%s, %d bytes behind: %d bytes, %v; want %v", name, len(rest), len(got), err, kind)
			}
			if _, err := openFile(file); rest == nil && !errors.Is(err, kind) {
				t.Errorf("%s: NewReaderAt: %v, want %v", name, err, kind)
			}
			// Whatever the section is, recovery finds all blocks, and tells what is wrong.
			got, list := recoverAll(t, file)
			equal(t, got, content[:testBlock+len(content[testBlock:])*min(len(rest), 1)], name)
			if len(list) == 0 {
				t.Errorf("%s, %d bytes behind: no damage", name, len(rest))
			}
		}
	}
	// The file ends in a section.
	for n := section.HeaderSize; n < len(whole); n++ {
		got, list := recoverAll(t, append(first, whole[:n]...))
		equal(t, got, content[:testBlock], "cut")
		if len(list) != 1 || list[0].Kind != DamageFrame || !errors.Is(list[0].Err, ErrTruncated) {
			t.Fatalf("cut at %d: %+v", n, list)
		}
	}
	// Damage behind the header does not concern decoders. A ReaderAt needs the footer.
	bad := slices.Concat(first, flipped(whole, len(whole)-1))
	if got, err := decode(bad); err != nil || !bytes.Equal(got, content[:testBlock]) {
		t.Errorf("damaged footer: %d bytes, %v", len(got), err)
	}
	if _, err := openFile(bad); !errors.Is(err, ErrCorrupt) {
		t.Errorf("damaged footer: NewReaderAt: %v", err)
	}
	if got, err := decode(whole); !errors.Is(err, ErrTruncated) {
		t.Errorf("no stream: %d bytes, %v", len(got), err)
	}
}

// flipped returns a copy of p with a flipped bit.
func flipped(p []byte, at int) []byte {
	q := slices.Clone(p)
	q[at] ^= 0x10
	return q
}

// TestZstdSections reads .zst files with sections, which are skippable frames.
func TestZstdSections(t *testing.T) {
	content := mixedBytes(9*testBlock + 99)
	opts := []Option{WithFormat(Zstd), WithBlockSize(testBlock)}
	first, second := encode(t, content[:5*testBlock], opts...), encode(t, content[5*testBlock:], opts...)
	frame := func(body []byte) []byte {
		return skippableFrame(10, section.AppendFooter(body, int64(8+len(body)+section.FooterSize)))
	}
	parity, empty := frame(randomBytes(100_000, 1)), frame(nil)
	for name, file := range map[string][]byte{
		"behind each": slices.Concat(first, parity, second, parity),
		"several":     slices.Concat(empty, parity, first, empty, parity, empty, second, empty, empty),
		"between":     slices.Concat(first, parity, second),
	} {
		checkAllReaders(t, file, content, WithConcurrency(2))
		info, err := fileInfo(file)
		if err != nil || info.Content != int64(len(content)) || !info.Seekable {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
}
