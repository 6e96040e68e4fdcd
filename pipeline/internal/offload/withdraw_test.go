package offload

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopz/compress/gpu"
)

// TestWithdraw: requests that wait are canceled if they match, and keep their order if not.
func TestWithdraw(t *testing.T) {
	c, s := stopped(4, gpu.SoftConfig{Batch: 8})
	for i := range 6 {
		c.Offer(request(gpu.Stage0, i, 0, i%2 == 0), time.Time{})
	}
	c.Withdraw(func(block any) bool { return block.(int) >= 3 && block != 5 })
	if got := s.take(); !slices.Equal(got, []result{{3, Canceled}, {4, Canceled}}) {
		t.Errorf("completed %v", got)
	}
	var got []any
	for _, r := range c.nextBatch().requests {
		got = append(got, r.Block)
	}
	if !slices.Equal(got, []any{0, 2, 1, 5}) {
		t.Errorf("left in the order %v", got)
	}
}

// held returns a Coordinator of a device that holds its batches of up to four requests until open
// is closed, and that has a batch of the given requests.
func held(t *testing.T, list ...*Request) (c *Coordinator, s *fakeScheduler, open chan struct{}) {
	t.Helper()
	open, s = make(chan struct{}), &fakeScheduler{}
	c = New(s, 2, gpu.NewSoft(nothing, gpu.SoftConfig{
		Batch: 4, Concurrent: 1, Observe: func(gpu.Op, []*gpu.Request) { <-open },
	}))
	c.busy.Store(true) // all are in one batch
	for i, r := range list {
		if !c.Offer(r, time.Time{}) {
			t.Fatal("refused", i)
		}
	}
	go c.serveRequests()
	synctest.Wait()
	return c, s, open
}

// TestWithdrawOnDevice: requests on the device are dropped at once if they match, strict ones as
// well. The device finishes the others.
func TestWithdrawOnDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, open := held(t, request(gpu.Stage0, 0, 9, false), request(gpu.Stage0, 1, 9, true),
			request(gpu.Stage0, 2, 9, true))
		c.Withdraw(func(block any) bool { return block != 1 })
		if got := s.take(); !slices.Equal(got, []result{{2, Dropped}, {0, Dropped}}) {
			t.Errorf("completed %v", got)
		}
		close(open)
		synctest.Wait()
		if got := s.take(); !slices.Equal(got, []result{{1, Finished}}) {
			t.Errorf("when the device is done: %v", got)
		}
	})
}

// TestWithdrawMeanwhile: a request whose run is closed after it left its queue, and before its
// batch begins, is dropped.
func TestWithdrawMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := stopped(2, gpu.SoftConfig{Batch: 4})
		for i := range 2 {
			c.Offer(request(gpu.StageN, i, 9, true), time.Time{})
		}
		x := c.nextBatch()
		s.closed = 1
		c.Withdraw(func(block any) bool { return block == 1 })
		c.beginBatch(x)
		synctest.Wait()
		if got := s.take(); !slices.Equal(got, []result{{1, Dropped}, {0, Finished}}) &&
			!slices.Equal(got, []result{{0, Finished}, {1, Dropped}}) {
			t.Errorf("completed %v", got)
		}
		<-c.ends
	})
}

// TestReclaimLate: late requests that are not strict are reclaimed, once a worker is idle.
func TestReclaimLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, open := held(t, request(gpu.Stage0, 0, 1<<20, false), request(gpu.Stage0, 1, 1<<20, true))
		time.Sleep(time.Second)
		if got := s.take(); len(got) != 0 {
			t.Errorf("without an idle worker: %v", got)
		}
		s.mu.Lock()
		s.idle = 1
		s.mu.Unlock()
		time.Sleep(time.Second)
		if got := s.take(); !slices.Equal(got, []result{{0, Reclaimed}}) {
			t.Errorf("with an idle worker: %v", got)
		}
		close(open)
		synctest.Wait()
		if got := s.take(); !slices.Equal(got, []result{{1, Finished}}) {
			t.Errorf("when the device is done: %v", got)
		}
		if c.Status().Busy {
			t.Error("busy without requests")
		}
	})
}
