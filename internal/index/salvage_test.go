package index

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/testenv"
)

var errTest = errors.New("test error")

const sector = container.Sector

func newSalvage(src io.ReaderAt, size int64) *Salvage {
	return &Salvage{Src: src, Limits: &container.Limits{}, Size: size, File: &File{Size: size}}
}

// sectors returns n sectors of bytes that are not zero.
func sectors(n int) []byte { return bytes.Repeat([]byte("data"), n*sector/4) }

// TestPeekBadSectors reads across sectors that fail. Peek must return zeros for these alone.
func TestPeekBadSectors(t *testing.T) {
	data := sectors(6)
	src := &testenv.BadSectors{Data: data, Bad: map[int64]bool{1: true, 4: true}}
	want := bytes.Clone(data)
	clear(want[sector : 2*sector])
	clear(want[4*sector : 5*sector])
	for _, off := range []int64{0, 1, 100, sector - 1, sector, sector + 7, 3 * sector} {
		for _, n := range []int{1, 10, sector, sector + 1, 3 * sector, 6 * sector} {
			s := newSalvage(src, int64(len(data)))
			end := min(off+int64(n), s.Size)
			got := s.Peek(make([]byte, n), off)
			if !bytes.Equal(got, want[off:end]) {
				t.Errorf("Peek of %d bytes at %d: wrong bytes", n, off)
			}
			bad := bytes.IndexByte(want[off:end], 0) >= 0
			if (s.ReadErr != nil) != bad || bad && !errors.Is(s.ReadErr, testenv.ErrSector) || s.Err != nil {
				t.Errorf("Peek of %d bytes at %d: ReadErr = %v, Err = %v", n, off, s.ReadErr, s.Err)
			}
		}
	}
}

// TestPeekEnd reads at the end of the file, also if the file has become shorter.
func TestPeekEnd(t *testing.T) {
	data := sectors(2)
	size := int64(len(data))
	s := newSalvage(&testenv.BadSectors{Data: data}, size)
	for _, c := range []struct{ off, want int64 }{
		{size - 10, 10}, {size, 0}, {size + 5, 0},
	} {
		if got := s.Peek(make([]byte, 100), c.off); int64(len(got)) != c.want {
			t.Errorf("Peek at %d: %d bytes, want %d", c.off, len(got), c.want)
		}
	}
	s = newSalvage(&testenv.BadSectors{Data: data[:size-50]}, size)
	if got := s.Peek(make([]byte, 100), size-100); len(got) != 50 || s.Size != size-50 {
		t.Errorf("shorter file: %d bytes, size %d; want 50, size %d", len(got), s.Size, size-50)
	}
}

// readerAtFunc is a function as a ReaderAt.
type readerAtFunc func(p []byte, off int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// TestPeekErrors reads from a source with wrong counts, and after the context has ended.
func TestPeekErrors(t *testing.T) {
	for _, n := range []int{-1, 11, 5} {
		src := readerAtFunc(func(p []byte, off int64) (int, error) { return n, nil })
		s := newSalvage(src, 10)
		if got := s.Peek(make([]byte, 10), 0); len(got) != 10 || s.ReadErr != errs.BadCount {
			t.Errorf("count of %d: %d bytes, %v; want errs.BadCount", n, len(got), s.ReadErr)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	s := newSalvage(&testenv.BadSectors{Data: sectors(1)}, sector)
	s.Limits = &container.Limits{Context: ctx}
	if got := s.Peek(make([]byte, 10), 0); got != nil || !errors.Is(s.Err, errTest) {
		t.Errorf("canceled: %d bytes, %v; want none and the cause", len(got), s.Err)
	}
}

// TestGaps checks that at most maxGaps gaps are kept without a block between them.
func TestGaps(t *testing.T) {
	s := newSalvage(nil, 1)
	for i := range 2 * maxGaps {
		s.AddGap(Gap{Kind: DamageBlocks, Block: int64(i), Blocks: 1, Content: 100})
	}
	if len(s.Gaps) != maxGaps {
		t.Fatalf("%d gaps, want %d", len(s.Gaps), maxGaps)
	}
	last := s.Gaps[maxGaps-1]
	if last.Kind != DamageUnknown || last.Blocks != 0 || last.Content != -1 {
		t.Errorf("last gap: %+v, want unknown damage", last)
	}
	if first := s.Gaps[0]; first.Kind != DamageBlocks || first.Content != 100 {
		t.Errorf("first gap: %+v, want it as it was added", first)
	}
	s.AddBlock(Block{Raw: 1}, func() Stream { return Stream{} })
	s.AddGap(Gap{Kind: DamageFrame})
	if n := len(s.Gaps); n != maxGaps+1 || s.Gaps[n-1].Before != 1 {
		t.Errorf("gap behind a block: %+v of %d", s.Gaps[n-1], n)
	}
}

// TestRows checks that a gap begins a new row.
func TestRows(t *testing.T) {
	s := newSalvage(nil, 1)
	s.NewRow = true
	rows := 0
	add := func() {
		s.AddBlock(Block{Raw: 10}, func() Stream {
			rows++
			return Stream{ID: rows}
		})
	}
	add()
	add()
	s.AddGap(Gap{})
	add()
	f := s.File
	if len(f.Streams) != 2 || f.Streams[0].Blocks != 2 || f.Streams[1].First != 2 ||
		f.Content != 30 {
		t.Fatalf("rows %+v, %d bytes of content", f.Streams, f.Content)
	}
}

// TestAccount checks that the memory limit ends the search.
func TestAccount(t *testing.T) {
	s := newSalvage(nil, 1)
	s.Limits = &container.Limits{MaxMemory: 3 * 1000}
	s.AccountFor(1000)
	if s.Err != nil {
		t.Error("within the limit:", s.Err)
	}
	s.AccountFor(1001)
	if !errors.Is(s.Err, errs.Memory) {
		t.Errorf("above the limit: %v, want errs.Memory", s.Err)
	}
}

// TestIntact checks that the bytes decoded are bounded.
func TestIntact(t *testing.T) {
	s := newSalvage(nil, 100)
	calls := 0
	fail := func() (bool, error) {
		calls++
		return false, nil
	}
	const size = 5_000_000
	for range 100 {
		s.Intact(size, fail)
	}
	if most := (minTried+maxTried*100)/size + 1; calls != most {
		t.Errorf("%d blocks decoded, want %d", calls, most)
	}
	s = newSalvage(nil, 100)
	if s.Intact(1, func() (bool, error) { return false, errTest }) || s.Err != errTest {
		t.Errorf("decode fails: Err = %v, want its error", s.Err)
	}
}
