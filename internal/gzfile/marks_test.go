package gzfile

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/testenv"
)

// seenMark is a Mark with the checksum of its window.
type seenMark struct {
	bit, content int64
	size         int64 // of the window
	window, sum  uint32
}

// collect returns Marks that append to list.
func collect(spacing int64, list *[]seenMark) *Marks {
	return &Marks{Spacing: spacing, Visit: func(m *Mark) error {
		*list = append(*list, seenMark{m.Bit, m.Content, int64(len(m.Window)), Checksum(0, m.Window), m.Sum})
		return nil
	}}
}

// TestMarks compares the marks of decoding in order with the content, and those of decoding ahead
// with them: in files that are sound, damaged, and cut short.
func TestMarks(t *testing.T) {
	files := aheadFiles(t)
	files["tiny blocks"] = flushedMember(t, sentences(600_000, 3), 40)
	r := rand.New(rand.NewPCG(9, 9))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d := testDecoder()
		var all []seenMark
		for kind := range 8 {
			if (testenv.Race || testing.Short()) && kind%3 > 1 {
				continue
			}
			p := damage(files[name], kind, r)
			limits := &container.Limits{MaxDecoded: -1, Checks: true}
			if kind == 1 {
				limits.MaxDecoded = r.Int64N(2_000_000)
			}
			spacing := int64(1) << r.IntN(20)
			if kind == 0 {
				spacing = 1
			}
			var want []seenMark
			d.reset(limits)
			ordered := collect(spacing, &want)
			d.check.marks = ordered
			content, _ := decodeParts(d, p, io.EOF, func() int { return 1 << 30 })
			if kind == 0 {
				all = want
				checkMarks(t, name, want, content)
			}
			var got []seenMark
			d.reset(limits)
			ahead := collect(spacing, &got)
			d.check.marks = ahead
			again, _ := decodeAhead(d, p, 4, r)
			if !slices.Equal(got, want) || !bytes.Equal(again, content) || ahead.Rest != ordered.Rest ||
				ahead.Content != int64(len(content)) || ordered.Content != ahead.Content {
				t.Fatalf("%s, damage %d, spacing %d: %d marks, %d bytes, want %d, %d", name, kind, spacing,
					len(got), ahead.Content, len(want), len(content))
			}
			last := int64(-1)
			if kind == 5 {
				for _, m := range all {
					if m.content/spacing == last {
						continue
					}
					last = m.content / spacing
					if len(want) == 0 || want[0].bit != m.bit {
						t.Fatalf("%s, spacing %d: no mark at %d", name, spacing, m.content)
					}
					want = want[1:]
				}
			}
		}
	}
}

// checkMarks compares the sums of marks with the content.
func checkMarks(t *testing.T, name string, marks []seenMark, content []byte) {
	t.Helper()
	last := int64(0)
	for i, m := range marks {
		window, sum := content[m.content-m.size:m.content], Checksum(0, content[last:m.content])
		if sum != m.sum || m.window != Checksum(0, window) || m.size > windowSize {
			t.Fatalf("%s: mark %d at %d: %+v", name, i, m.content, m)
		}
		last = m.content
	}
	if len(marks) == 0 || marks[0].content != 0 {
		t.Errorf("%s: no mark at the beginning", name)
	}
}
