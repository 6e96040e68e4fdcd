package offload

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopz/compress/gpu"
)

// paced is a device that takes a fixed time for a batch and some time for each byte.
type paced struct {
	*gpu.Soft
	fixed   time.Duration
	perByte float64 // ns
	sizes   [][]int // of the blocks of all batches so far
	err     error   // of each request
}

func (d *paced) Run(op gpu.Op, batch []*gpu.Request) error {
	took, sizes := d.fixed, []int(nil)
	for _, r := range batch {
		took += time.Duration(d.perByte * float64(r.Size))
		sizes = append(sizes, r.Size)
		r.Err = d.err
	}
	time.Sleep(took)
	d.sizes = append(d.sizes, sizes)
	return nil
}

const (
	trialBlock = 4 << 20
	workerPace = 20 // ns for each byte
)

var trialContent = make([]byte, trialBlock)

// try returns a Coordinator for a device that has to prove its pace. The pace of workers is known
// if learned is set.
func try(d *paced, learned bool) (*Coordinator, *fakeScheduler) {
	s := &fakeScheduler{}
	d.Soft = gpu.NewSoft(nothing, gpu.SoftConfig{Batch: 8, Trial: true})
	c := New(s, 4, d)
	if learned {
		c.Learn(gpu.Stage0, false, trialBlock, workerPace*trialBlock)
	}
	return c, s
}

// offerBlocks offers blocks of Auto as workers would, and returns how many the device got.
func offerBlocks(c *Coordinator, n int) (got int) {
	for i := range n {
		q := &gpu.Request{Op: gpu.Stage0, Size: trialBlock, Src: trialContent}
		if c.Accepts(q, IfPays) && c.Offer(&Request{Block: i, GPU: q}, time.Time{}) {
			got++
		}
	}
	return got
}

// blocksOf returns the number of blocks of each batch that is not a probe.
func blocksOf(sizes [][]int) (blocks []int) {
	for _, b := range sizes {
		if !slices.Contains(b, warmSize) && !slices.Contains(b, probeSize) {
			blocks = append(blocks, len(b))
		}
	}
	return blocks
}

// TestTrial: a device that is slower than a worker gets a probe, and few blocks or none. One that
// is faster gets batches that grow.
func TestTrial(t *testing.T) {
	const manyBatches = -1
	for _, tt := range []struct {
		name    string
		device  paced
		learned bool
		probes  int
		batches int // of blocks; manyBatches stands for all
		slow    bool
	}{
		{"unknown pace of workers", paced{perByte: 1}, false, 0, 0, false},
		{"fast", paced{perByte: 1, fixed: time.Millisecond}, true, 2, manyBatches, false},
		{"as fast as a worker", paced{perByte: workerPace - 1}, true, 2, manyBatches, false},
		{"high latency", paced{perByte: 1, fixed: 35 * time.Millisecond}, true, 2, manyBatches, false},
		{"software adapter", paced{perByte: 1000}, true, 2, 0, true},
		{"half as fast", paced{perByte: 2 * workerPace}, true, 2, 2, true},
		{"errors", paced{err: errTest}, true, 1, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &tt.device
			c, s := try(d, tt.learned)
			for range 9 {
				offerBlocks(c, 8)
				time.Sleep(time.Minute)
				synctest.Wait()
			}
			probes := 0
			for _, sizes := range d.sizes {
				if sizes[0] == warmSize || sizes[0] == probeSize {
					probes++
				}
			}
			got, longest := blocksOf(d.sizes), 1
			for _, n := range got {
				if n > 2*longest {
					t.Errorf("%s: batches of %v blocks; they may double", tt.name, got)
				}
				longest = max(longest, n)
			}
			many := tt.batches == manyBatches
			if probes != tt.probes || !many && len(got) != tt.batches || many && longest <= 4 {
				t.Errorf("%s: %d probes, batches of %v blocks; want %d and %d",
					tt.name, probes, got, tt.probes, tt.batches)
			}
			if slow := c.trials[gpu.Stage0].inState(tooSlow); slow != tt.slow {
				t.Errorf("%s: too slow: %v", tt.name, slow)
			}
			for _, r := range s.take() {
				if r.out != Finished && r.out != Declined {
					t.Errorf("%s: outcome %v", tt.name, r.out)
				}
			}
			if st := c.Status(); st.Busy || c.Err() != nil {
				t.Errorf("%s: %+v, error %v", tt.name, st, c.Err())
			}
		})
	}
}

// TestTrialHiccup: a single late batch does not end the use of a device, two in a row do. The
// requests that wait then go back to the workers.
func TestTrialHiccup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &paced{perByte: 1}
		c, s := try(d, true)
		round := func(perByte float64) {
			d.perByte = perByte
			for offerBlocks(c, 1) == 0 {
				time.Sleep(time.Second)
				synctest.Wait()
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		for range 3 {
			round(1)
			round(100)
		}
		if c.trials[gpu.Stage0].inState(tooSlow) {
			t.Fatal("given up after single late batches")
		}
		round(100)
		s.take()
		if !c.trials[gpu.Stage0].inState(tooSlow) || offerBlocks(c, 1) != 0 {
			t.Error("the device is in use although it is too slow")
		}
		strict := request(gpu.Stage0, 0, trialBlock, true)
		if !c.Accepts(strict.GPU, Always) || !c.Offer(strict, time.Time{}) {
			t.Error("a strict request is refused")
		}
		time.Sleep(time.Minute)
		if got := s.take(); !slices.Equal(got, []result{{0, Finished}}) {
			t.Errorf("strict request: %v", got)
		}
	})
}

// TestDecline: requests of Auto that wait for a device go back to the workers when it turns out to
// be too slow.
func TestDecline(t *testing.T) {
	c, s := stopped(4, gpu.SoftConfig{})
	for i := range 3 {
		c.Offer(request(gpu.Stage0, i, 0, i == 1), time.Time{})
	}
	c.decline(decodeWork)
	c.decline(work(gpu.Stage0))
	if got := s.take(); !slices.Equal(got, []result{{0, Declined}, {2, Declined}}) {
		t.Errorf("completed %v", got)
	}
}

// starting is a device that starts late.
type starting struct {
	*gpu.Soft
	starts int
}

func (d *starting) Start() { d.starts++ }

func (d *starting) Accepts(*gpu.Request) bool { return d.starts > 0 }

// TestStart: a device starts after eight seconds of work that it could have done, or at once for a
// strict request.
func TestStart(t *testing.T) {
	soft := gpu.NewSoft(nothing, gpu.SoftConfig{})
	d := &starting{Soft: soft}
	c := New(&fakeScheduler{}, 4, d)
	if offerBlocks(c, 100) != 0 || d.starts != 0 {
		t.Errorf("%d starts while the pace of workers is unknown", d.starts)
	}
	c.Learn(gpu.Stage0, false, trialBlock, 100*time.Millisecond)
	if offerBlocks(c, 80) != 0 || d.starts != 0 {
		t.Errorf("%d starts before 8 s of work", d.starts)
	}
	offerBlocks(c, 2)
	if d.starts != 1 {
		t.Errorf("%d starts after 8.1 s of work", d.starts)
	}
	d = &starting{Soft: soft}
	c = New(&fakeScheduler{}, 4, d)
	c.Accepts(&gpu.Request{Op: gpu.Stage0}, Always)
	if d.starts == 0 {
		t.Error("a strict request does not start the device")
	}
}

// TestProbeCopies: a probe has its own memory, since the worker goes on with the block.
func TestProbeCopies(t *testing.T) {
	q := &gpu.Request{Op: gpu.Stage0, Size: trialBlock, Window: 100, Src: make([]byte, trialBlock+100)}
	for i := range q.Src {
		q.Src[i] = byte(i)
	}
	p := newProbe(q, &gpu.Limits{MinSize: 10_000})
	clear(q.Src)
	for i, want := range []int{10_000, probeSize} {
		r := &p.requests[i]
		if r.Size != want || len(r.Src) != want || r.Window != 0 || r.Src[5] != 105 {
			t.Errorf("request %d: %d bytes, window %d", i, r.Size, r.Window)
		}
	}
}
