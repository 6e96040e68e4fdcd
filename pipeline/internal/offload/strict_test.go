package offload

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopz/compress/gpu"
)

// TestStrictAlone: strict requests change neither the score nor the counters of Auto, and count
// how often and how long they wait.
func TestStrictAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := stopped(1, gpu.SoftConfig{})
		strict, auto := new(Counters), new(Counters)
		offer := func(counters *Counters, isStrict bool) {
			r := request(gpu.Stage0, 0, 0, isStrict)
			r.Counters = counters
			c.Offer(r, time.Now())
		}
		for range 3 { // the last one finds the queue full
			offer(auto, false)
		}
		pressure := c.Status().Pressure
		for range 4 {
			offer(strict, true)
		}
		if p := c.Status().Pressure; p != pressure || p != 2 {
			t.Errorf("pressure %d after strict requests, %d before", p, pressure)
		}
		time.Sleep(time.Second)
		for range 6 {
			c.releaseBatch(c.nextBatch())
		}
		c.Lose(errTest)
		offer(strict, true)
		for _, tt := range []struct {
			name string
			got  *atomic.Int64
			want int64
		}{
			{"strict: full", &strict.Full, 0},
			{"strict: lost", &strict.Lost, 1},
			{"strict: waiting", &strict.StrictWaiting, 3},
			{"strict: wait", &strict.StrictWait, 4e9},
			{"auto: full", &auto.Full, 1},
			{"auto: strict waiting", &auto.StrictWaiting, 0},
			{"auto: strict wait", &auto.StrictWait, 0},
		} {
			if got := tt.got.Load(); got != tt.want {
				t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
			}
		}
		if p := c.Status().Pressure; p != pressure {
			t.Errorf("pressure %d after a lost strict request, %d before", p, pressure)
		}
	})
}
