package index

import (
	"context"
	"errors"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/testenv"
)

// TestFind finds blocks and streams by offset and number.
func TestFind(t *testing.T) {
	f := &File{
		Content: 60,
		Streams: []Stream{{First: 0, Blocks: 2}, {First: 2, Blocks: 1, Skipped: 5}},
		Blocks:  []Block{{Content: 0, Raw: 10}, {Content: 10, Raw: 20}, {Content: 30, Raw: 30}},
	}
	for _, c := range []struct{ off, block int64 }{
		{0, 0}, {9, 0}, {10, 1}, {29, 1}, {30, 2}, {59, 2},
	} {
		if got := f.Find(c.off); got != c.block {
			t.Errorf("Find(%d) = %d, want %d", c.off, got, c.block)
		}
	}
	for _, c := range []struct{ block, stream, number int64 }{{0, 0, 0}, {1, 0, 1}, {2, 1, 5}} {
		st, number := f.StreamOf(c.block)
		if st != &f.Streams[c.stream] || number != c.number {
			t.Errorf("StreamOf(%d) = %+v, %d; want stream %d, %d",
				c.block, *st, number, c.stream, c.number)
		}
	}
	if got := f.Earlier(1, 1); got != 0 {
		t.Errorf("Earlier(1, 1) = %d, want 0", got)
	}
	for _, c := range []struct{ distance, want int64 }{{3, -1}, {4, 1}, {5, 0}, {6, -1}} {
		if got := f.Earlier(2, c.distance); got != c.want {
			t.Errorf("Earlier(2, %d) = %d, want %d", c.distance, got, c.want)
		}
	}
	f.Streams[1].ID = 1
	if got := f.Earlier(2, 4); got != -1 {
		t.Errorf("Earlier reaches block %d of another stream", got)
	}
	if got := f.Blocks[1].ContentEnd(); got != 30 {
		t.Errorf("End = %d, want 30", got)
	}
	if got, want := f.Memory(3), int64(2*StreamMemory+3*BlockMemory); got != want {
		t.Errorf("Memory(3) = %d, want %d", got, want)
	}
}

// TestCancelable checks that reads fail once the context has ended.
func TestCancelable(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	src := &testenv.BadSectors{Data: make([]byte, 10)}
	c := Cancelable{Src: src, Limits: &container.Limits{Context: ctx}}
	if n, err := c.ReadAt(make([]byte, 10), 0); n != 10 || err != nil {
		t.Errorf("ReadAt: %d, %v", n, err)
	}
	cancel(errTest)
	if n, err := c.ReadAt(make([]byte, 10), 0); n != 0 || !errors.Is(err, errTest) {
		t.Errorf("ReadAt, canceled: %d, %v, want the cause", n, err)
	}
}
