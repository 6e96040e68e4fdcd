package interp

import (
	"sync"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/gputest"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/internal/testenv"
)

// opener returns a function that opens devices on interpreters with a seed.
func opener(seed uint64) gputest.Open {
	return func(c gputest.Config) (gpu.Device, error) {
		d, err := host.New(New(Options{Seed: seed}), host.Config{Name: "interpreter", Kind: gpu.Software})
		if err != nil {
			return nil, err
		}
		d.SetFault(c.Fault)
		return d, nil
	}
}

// TestConforms runs the conformance suite. PZ_SEED chooses the order of invocations.
func TestConforms(t *testing.T) {
	testenv.Slow(t)
	for _, seed := range testenv.Seeds(t, 1) {
		gputest.RunSmall(t, opener(seed))
	}
}

// TestConcurrent runs batches at the same time, for Go's race detector.
func TestConcurrent(t *testing.T) {
	d, err := opener(1)(gputest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var wg sync.WaitGroup
	for _, kind := range []string{"decode", "match"} {
		wg.Go(func() {
			if err := gputest.Try(d, kind, 10_000); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
