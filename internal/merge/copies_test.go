package merge

import (
	"errors"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/container"
)

// TestManyParts: chunks in which all bytes differ are no reason to give up.
func TestManyParts(t *testing.T) {
	c := &copies{}
	different := slices.Repeat([]bool{true}, 16)
	for i := range int64(2 * maxParts) {
		if err := c.note(different, 16*i); err != nil {
			t.Fatalf("after %d chunks: %v", i, err)
		}
	}
	last := c.parts[len(c.parts)-1]
	if len(c.parts) != manyParts || last.endOffset() != 32*maxParts {
		t.Errorf("%d parts, the last one ends at %d", len(c.parts), last.endOffset())
	}
	// Gaps of equal bytes do not go away.
	var err error
	for i := int64(0); i < 2*maxParts && err == nil; i++ {
		err = c.note(different, last.endOffset()+1000*(i+1))
	}
	if err != errTooMany {
		t.Errorf("too many parts: %v", err)
	}
}

// TestManyCuts: too many cuts of a part are an error before its pieces are read.
func TestManyCuts(t *testing.T) {
	reads := 0
	src := readerAt(func(p []byte, off int64) (int, error) {
		reads++
		return len(p), nil
	})
	const size = 5 * maxParts
	c := &copies{list: []Copy{{src, size}, {src, size}}, parts: []*part{{size: size}}}
	cuts := make([]int64, size)
	for i := range cuts {
		cuts[i] = int64(i)
	}
	if err := c.split(cuts); err != errTooMany || reads > 0 {
		t.Errorf("%v after %d reads", err, reads)
	}
}

// TestHoles: sectors that cannot be read make one hole.
func TestHoles(t *testing.T) {
	src := readerAt(func([]byte, int64) (int, error) { return 0, errors.New("input/output error") })
	holes, err := Copy{src, 20 * container.Sector}.read(make([]byte, 30*container.Sector), 0)
	if err != nil || !slices.Equal(holes, []hole{{0, 30 * container.Sector}}) {
		t.Errorf("%v, %v", holes, err)
	}
}
