package pipeline

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
)

// TestOfferPressure: a request that is taken removes 1, a full channel adds 2, a device that is lost 1.
func TestOfferPressure(t *testing.T) {
	c := newCoordinator(NewScheduler(1), gpu.NewSoft(Host, gpu.SoftConfig{}))
	c.busy.Store(true) // no goroutine takes anything out
	offer := func(want int64, ok bool) {
		t.Helper()
		if got := c.offer(&Block{run: new(Run), state: stateRunning}, gpu.Stage0, false, offerTimer{}); got != ok || c.pressure.Load() != want {
			t.Errorf("offer: %v, pressure %d; want %v, %d", got, c.pressure.Load(), ok, want)
		}
	}
	c.pressure.Store(5)
	offer(4, true)
	offer(3, true) // full now
	offer(5, false)
	c.lose(errTest)
	offer(6, false)
}

// TestStrictFirst: of a kind those go first that cannot go elsewhere.
func TestStrictFirst(t *testing.T) {
	c := newCoordinator(NewScheduler(2), gpu.NewSoft(Host, gpu.SoftConfig{}))
	c.busy.Store(true)
	for i := range int64(4) {
		if !c.offer(&Block{run: new(Run), state: stateRunning, Tag: i}, gpu.Stage0, i >= 2, offerTimer{}) {
			t.Fatal("refused")
		}
	}
	for _, want := range []int64{2, 3, 0, 1} {
		if b, _ := c.next(gpu.Stage0, false, math.MaxInt); b == nil || b.Tag != want {
			t.Errorf("got %+v, want block %d", b, want)
		}
	}
}

// TestWorkersWithinBlocks: with one block in flight there is one worker with one workspace, however soon the next block follows.
func TestWorkersWithinBlocks(t *testing.T) {
	seen := map[*workspace]bool{}
	s := NewScheduler(4)
	r := s.Start(Config{Pipeline: fake(func(ws *workspace, b *Block) error { seen[ws] = true; return nil }), Op: Decompress, InFlight: 1})
	defer r.Close()
	for i := range int64(20_000) {
		feed(t, r, i)
		r.Put(next(t, r))
	}
	if len(seen) != 1 {
		t.Errorf("%d workspaces for one block in flight", len(seen))
	}
}

// late is a device that writes what it was asked for after it was given up.
type late struct {
	gpu.Device
	hold, done chan struct{}
}

func (l late) Run(op gpu.Op, batch []*gpu.Request) error {
	<-l.hold
	for _, r := range batch {
		p := r.Dst[:cap(r.Dst)]
		for i := range p {
			p[i] = 0xEE
		}
	}
	close(l.done)
	return nil
}

// TestLateDeviceWrites: results that come too late go nowhere.
func TestLateDeviceWrites(t *testing.T) {
	s := NewScheduler(1)
	l := late{gpu.NewSoft(Host, gpu.SoftConfig{Patience: 20 * time.Millisecond}), make(chan struct{}), make(chan struct{})}
	r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: 1})
	defer r.Close()
	src := corpus.ByName("text").Make(deviceBlock)
	run := func() []byte {
		b := r.Get()
		copy(b.Grow(len(src)), src)
		r.Submit(b)
		b = next(t, r)
		r.Put(b)
		return b.Out()
	}
	want := bytes.Clone(run()) // the block has memory for its result now
	s.SetDevice(l)
	r.device, r.cfg.Assign = s.device.Load(), Assignment{Fused, Fused}
	got := run()
	close(l.hold)
	<-l.done
	if !bytes.Equal(got, want) {
		t.Error("a device that was given up has written into a block's result")
	}
}
