package pipeline

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress/internal/container"
)

// countingDecoder passes input through. Calls of Decode that overlap, or come in the wrong order,
// fail.
type countingDecoder struct {
	t     *testing.T
	busy  atomic.Bool
	calls int // of Decode; unguarded: the race detector sees calls that are not ordered
	panic int // number of the call that panics, negative for one of Prepare
	hold  chan struct{}
}

// countedUnit is what a countingDecoder keeps of a unit.
type countedUnit struct {
	src    string
	number int64
	end    error
}

func (d *countingDecoder) Prepare(s *container.Serial) {
	u := s.State.(*countedUnit)
	if u.number%3 == 0 { // units come to Decode in another order than that of their turns
		time.Sleep(time.Duration(u.number%7) * 100 * time.Microsecond)
	}
	if int(u.number)+1 == -d.panic {
		panic("test")
	}
	s.Buf, s.History = append(append(s.Buf[:0], "history"...), u.src...), len("history")
}

func (d *countingDecoder) Decode(s *container.Serial) {
	if d.busy.Swap(true) {
		d.t.Error("two calls at once")
	}
	defer d.busy.Store(false)
	if d.hold != nil {
		<-d.hold
	}
	d.calls++
	if d.calls == d.panic {
		panic("test")
	}
	s.Buf = append(s.Buf, byte(d.calls), 0)
	s.Stop = s.State.(*countedUnit).end
}

func (d *countingDecoder) FinishContent(s *container.Serial) {
	s.Buf[len(s.Buf)-1] = byte(s.State.(*countedUnit).number)
}

func (*countingDecoder) Verify(*container.Serial) {}

// submitSerial submits a serial block.
func submitSerial(r *Run, d *countingDecoder, content string, end error) bool {
	b := r.Get()
	if b == nil {
		return false
	}
	b.Kind = codedKind
	b.Serial = &container.Serial{Decoder: d, State: &countedUnit{content, b.run.turns, end}}
	r.Submit(b)
	return true
}

// TestSerial decodes serial blocks of several runs with several workers.
func TestSerial(t *testing.T) {
	const blocks = 200
	for _, workers := range []int{1, 2, 5} {
		s := NewScheduler(workers)
		var runs [3]*Run
		var decoders [3]*countingDecoder
		for i := range runs {
			cfg := Config{Pipeline: Default(container.Gzip), Op: Decompress, InFlight: 4}
			runs[i], decoders[i] = s.Start(cfg), &countingDecoder{t: t}
		}
		for n := range blocks {
			for i, r := range runs {
				for !submitSerial(r, decoders[i], "content", io.EOF) {
					k := byte(n - r.Pending())
					want := append([]byte("content"), k+1, k)
					b, err := r.Next(true)
					if err != nil || b.Err != nil || !bytes.Equal(b.Out(), want) || b.Raw != len(want) ||
						b.Serial.(*container.Serial).Stop != io.EOF {
						t.Fatalf("block %d of run %d: %q, %v, %v; want %q", n, i, b.Out(), err, b.Err, want)
					}
					r.Put(b)
				}
			}
		}
		for i, r := range runs {
			for r.Pending() > 0 {
				b, _ := r.Next(true)
				r.Put(b)
			}
			r.Close()
			if decoders[i].calls != blocks {
				t.Errorf("%d calls, want %d", decoders[i].calls, blocks)
			}
		}
	}
}

// TestSerialClose closes a run while serial blocks wait for the first one.
func TestSerialClose(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s := NewScheduler(workers)
		d := &countingDecoder{t: t, hold: make(chan struct{})}
		r := s.Start(Config{Pipeline: Default(container.Gzip), Op: Decompress, InFlight: 4})
		for submitSerial(r, d, "content", nil) {
		}
		go func() {
			for !r.canceled.Load() {
				runtime.Gosched()
			}
			close(d.hold)
		}()
		r.Close()
		if d.calls > 1 {
			t.Errorf("%d calls, want one at most", d.calls)
		}
	}
}

// TestSerialPanic checks that a panic is the error of its block, and that the chain goes on.
func TestSerialPanic(t *testing.T) {
	for call, stage := range map[int]string{2: "inflate", -2: "speculate"} {
		d := &countingDecoder{t: t, panic: call}
		r := NewScheduler(2).Start(Config{Pipeline: Default(container.Gzip), Op: Decompress, InFlight: 3})
		for submitSerial(r, d, "content", nil) {
		}
		for n := 1; r.Pending() > 0; n++ {
			b, err := r.Next(true)
			var e *PanicError
			if err != nil || errors.As(b.Err, &e) != (n == 2) {
				t.Fatalf("block %d: %v, %v", n, err, b.Err)
			}
			if e != nil && e.Stage != stage {
				t.Errorf("panic in stage %q", e.Stage)
			}
			r.Put(b)
		}
		r.Close()
	}
}

// TestNoDecoder checks the error of a coded .gz block that is not a serial one.
func TestNoDecoder(t *testing.T) {
	r := NewScheduler(1).Start(Config{Pipeline: Default(container.Gzip), Op: Decompress, InFlight: 1})
	defer r.Close()
	b := r.Get()
	b.Src, b.Kind, b.Raw = b.Grow(5), codedKind, 5
	r.Submit(b)
	if b, _ = r.Next(true); !errors.Is(b.Err, ErrPayload) {
		t.Error(b.Err)
	}
}
