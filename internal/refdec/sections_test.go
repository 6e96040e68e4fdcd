package refdec

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/internal/testenv"
)

// TestSections decodes files with sections, and damaged ones. All decoders must agree.
func TestSections(t *testing.T) {
	files := goldenFiles(t)
	first, small := files["flushed.pz"], files["tiny.pz"]
	makeSection := func(kind section.Kind, body int) []byte {
		size := int64(body) + section.MinSize
		p := append(section.AppendHeader(nil, kind, size), make([]byte, body)...)
		return section.AppendFooter(p, size)
	}
	parity, unknown := makeSection(section.Parity, 100), makeSection(section.MaySkip|9, 0)
	cases := map[string][]byte{
		"all":           slices.Concat(parity, first, unknown, parity, small, unknown),
		"must not skip": slices.Concat(first, makeSection(9, 10), small),
		"no stream":     parity,
		"too short":     slices.Concat(first, section.AppendHeader(nil, section.Parity, 32)),
		"cut":           slices.Concat(first, parity[:60]),
	}
	for bit := range 8 * (section.HeaderSize + 3) {
		bad := slices.Concat(first, parity, small)
		bad[len(first)+bit/8] ^= 1 << (bit % 8)
		if _, err := agree(t, bad); (err == nil) != (bit >= 8*section.HeaderSize) {
			t.Errorf("bit %d of a section: %v", bit, err)
		}
	}
	python := ""
	if !testenv.Emulated() {
		python = testenv.Tool(t, "python3")
	}
	for name, file := range cases {
		want, werr := agree(t, file)
		if (werr == nil) != (name == "all") {
			t.Errorf("%s: %v", name, werr)
		}
		if python != "" {
			got, err := decodePython(t, python, file)
			if !bytes.Equal(got, want) || (err == nil) != (werr == nil) {
				t.Errorf("%s: decode.py: %d bytes, %v; refdec: %d bytes, %v",
					name, len(got), err, len(want), werr)
			}
		}
	}
}
