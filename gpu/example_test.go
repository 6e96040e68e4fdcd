package gpu_test

import (
	"fmt"
	"log"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
)

// A device of one's own runs requests, as this software device does. A program that only uses a
// device calls [gpu.Open]: see the example of compress.WithDevice.
func Example() {
	host := func(r *gpu.Request) error {
		var m lz77.Matcher
		r.Seqs = m.Parse(r.Seqs[:0], r.Src, r.Params, r.Limits)
		return nil
	}
	var device gpu.Device = gpu.NewSoft(host, gpu.SoftConfig{Batch: 4, Ops: []gpu.Op{gpu.Stage0}})
	defer device.Close()

	src := []byte("one potato, two potatoes, three potatoes, four; five potatoes, six potatoes, seven")
	r := &gpu.Request{
		Op: gpu.Stage0, Size: len(src), Src: src,
		Params: &lz77.Levels[5], Limits: lz77.Limits{MinMatch: 5, MaxOffset: 1<<16 - 1},
	}
	if !device.Accepts(r) {
		log.Fatal("the CPU has to do it")
	}
	if err := device.Run(r.Op, []*gpu.Request{r}); err != nil {
		log.Fatal(err) // the device is lost
	}
	fmt.Println(device.Info().Name, r.Err)
	fmt.Println(len(r.Seqs) > 0)
	// Output:
	// soft <nil>
	// true
}
