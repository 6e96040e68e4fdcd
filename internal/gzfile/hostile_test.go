package gzfile

import (
	"bytes"
	"io"
	"testing"

	"github.com/gopz/compress/internal/container"
)

// longWrongBlock returns an empty stored block, and behind it a static block that has a symbol
// which does not exist behind 30,000 bytes of content.
func longWrongBlock() []byte {
	p, bits := []byte{0, 0, 0xff, 0xff}, 0
	add := func(code string) {
		for _, c := range code {
			if bits%8 == 0 {
				p = append(p, 0)
			}
			p[len(p)-1] |= byte(c-'0') << (bits % 8)
			bits++
		}
	}
	add("010" + "10010001") // BTYPE 1, and a literal
	for range 30_000 / 258 {
		add("11000101" + "00000") // the longest match, with offset 1
	}
	add("11000110") // literal/length symbol 286
	return p
}

// TestHostileSearch checks how much work it takes to search parts in which many places look as if
// decoding could start there. The search calls its checkpoint behind every piece of work.
func TestHostileSearch(t *testing.T) {
	for name, piece := range map[string][]byte{
		"markers":       longWrongBlock(),
		"headers":       []byte("\x1f\x8b\x08\x08\x01\x01\x01\x01\x01\x01"),
		"empty members": flushedMember(t, nil, 1),
	} {
		const parts = 20
		d := testDecoder()
		for i := range parts {
			d.input.addPart(bytes.Repeat(piece, mostPart/len(piece)), false, int64(i), true, io.EOF)
		}
		steps := 0
		s := container.Serial{Unit: 1, Checkpoint: func() { steps++ }}
		d.Prepare(&s)
		most := 2*searchMost/searchStep + 20
		if len(d.results) > 0 { // decoding an empty member takes four steps
			most += 4 * endsMost
		}
		if steps == 0 || steps > most {
			t.Errorf("%s: %d pieces of work for a part, at most %d are allowed", name, steps, most)
		}
	}
}

// TestWrongHeaders checks that a search gives up where headers of members seem to begin and do not.
func TestWrongHeaders(t *testing.T) {
	part := bytes.Repeat([]byte("\x1f\x8b\x08\x08\x01\x01\x01\x01\x01\x01"), mostPart/10)
	var a scout
	for from := int64(0); from >= 0 && a.wrong < 1000; {
		from = a.findMember(part, from, int64(len(part)))
	}
	if a.wrong > 20 {
		t.Errorf("%d wrong places", a.wrong)
	}
}
