package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// figures are the results from which constants follow.
type figures struct {
	open, compile time.Duration
	transfers     []transfer
	stages        []figure
	flights       []flightLine
}

type transfer struct {
	bytes    int
	up, down time.Duration
}

// figure is a stage at a point.
type figure struct {
	stageLine
	timing
	cpu, verify time.Duration
}

// content returns the bytes of content of the batch.
func (x *figure) content() int { return x.Block * x.Blocks }

// inOne returns the bytes of content of a submission of the batch.
func (x *figure) inOne() int { return min(x.content(), x.InOne) }

// last returns the last figure of a stage, nil if there is none.
func (f *figures) last(s *stage) *figure {
	for _, x := range slices.Backward(f.stages) {
		if x.Stage == s.name && x.K == s.k {
			return &x
		}
	}
	return nil
}

// fullBatch is the content in bytes of a batch that keeps a GPU busy. Without a batch of that size
// some constants have no value.
const fullBatch = 16 << 20

// hasFull reports whether there is a full batch.
func hasFull(list []*figure) bool {
	return slices.ContainsFunc(list, func(x *figure) bool { return x.content() >= fullBatch })
}

// near is the part of the best speed that counts as equal to it.
const near = 0.9

// never is the value of a constant that keeps work from the device.
const never = "never"

// constants reports the constants of package gpu/internal/host and of the trial of backend Auto
// that follow from the figures.
func (d *device) constants() {
	if d.failed || d.dev == nil {
		return
	}
	f := &d.figures
	add := func(name string, value any, unit, rule string) {
		d.report.addLine(constantLine{"constant", d.name, name, value, unit, rule})
	}
	add("fusedMinAuto", f.fusedMinAuto(), "bytes", fmt.Sprintf("least block from which on fused with 16 "+
		"candidates, in its largest batch, is faster than %d times one thread", runtime.GOMAXPROCS(0)))
	add("mostContent", f.smallest("fused", (*figure).inOne), "bytes",
		"least content of a submission with 90% of the best speed, 16 candidates")
	add("maxFused", f.largest("fused"), "bytes", "largest block with 90% of the best speed, 16 candidates")
	add("concurrent", f.concurrent(), "batches", "2 if two batches at a time are 5% faster in any stage")
	blocks := func(x *figure) int { return x.Blocks }
	add("matchBatch", f.smallest("match", blocks), "blocks",
		"least batch of 1 MiB blocks with 90% of the best speed, 16 candidates")
	add("entropyBatch", f.greater(f.smallest("decode", blocks), f.smallest("encode", blocks)), "blocks",
		"the same for decode and encode, the greater one")
	add("latency", f.latency(), "ms", "what the slowest stage takes for one block of 64 KiB in addition "+
		"to twice the time of a thread, doubled; at least 1")
	add("probeSize", f.probeSize(), "bytes", "least block that match with 16 candidates does in twice the "+
		"time of a thread")
	add("startAfter", f.startAfter(), "s", "ten times what opening and compiling take; at least 1")
	add("longest pause of a poll", f.pause(), "µs",
		"5% of the shortest submission of 16 MiB; from 20 to 50")
	add("words in one round trip", f.oneTrip(), "", "whether downloading all the space for words takes "+
		"less than another round trip: encode, 1 MiB blocks, largest batch up to 16")
}

// of returns the figures of a stage with 16 candidates, if it has candidates.
func (f *figures) of(stage string) (list []*figure) {
	for i := range f.stages {
		if x := &f.stages[i]; x.Stage == stage && (x.K == 0 || x.K == 16) {
			list = append(list, x)
		}
	}
	return list
}

// best returns the figure with the highest speed.
func best(list []*figure) *figure {
	return slices.MaxFunc(list, func(a, b *figure) int {
		return int(math.Copysign(1, a.DeviceMBps-b.DeviceMBps))
	})
}

// fusedMinAuto returns the least block size for which the device beats all threads, and keeps doing
// so for larger ones.
func (f *figures) fusedMinAuto() any {
	bySize := map[int]*figure{} // the largest batch
	for _, x := range f.of("fused") {
		if y := bySize[x.Block]; y == nil || x.Blocks > y.Blocks {
			bySize[x.Block] = x
		}
	}
	if len(bySize) == 0 {
		return nil
	}
	var value any = never
	var sizes []int
	for size := range bySize {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	for _, size := range slices.Backward(sizes) {
		x := bySize[size]
		if x.DeviceMBps <= float64(runtime.GOMAXPROCS(0))*x.CPU {
			break
		}
		value = size
	}
	return value
}

// smallest returns the least measure of the batches of a stage whose speed is near the best. Only
// blocks of 1 MiB count.
func (f *figures) smallest(stage string, measure func(*figure) int) any {
	list := f.of(stage)
	list = slices.DeleteFunc(list, func(x *figure) bool { return x.Block != 1<<20 })
	if !hasFull(list) {
		return nil
	}
	top := best(list)
	least := measure(top)
	for _, x := range list {
		if x.DeviceMBps >= near*top.DeviceMBps {
			least = min(least, measure(x))
		}
	}
	return least
}

// largest returns the largest block of a stage whose speed is near the best.
func (f *figures) largest(stage string) any {
	list := f.of(stage)
	list = slices.DeleteFunc(list, func(x *figure) bool { return x.content() < fullBatch })
	if len(list) == 0 {
		return nil
	}
	top := best(list)
	most := top.Block
	for _, x := range list {
		if x.DeviceMBps >= near*top.DeviceMBps {
			most = max(most, x.Block)
		}
	}
	return most
}

// greater returns the greater one of two values, nil if one is missing.
func (f *figures) greater(a, b any) any {
	x, ok := a.(int)
	y, also := b.(int)
	if !ok || !also {
		return nil
	}
	return max(x, y)
}

func (f *figures) concurrent() any {
	if len(f.flights) == 0 {
		return nil
	}
	if slices.ContainsFunc(f.flights, func(x flightLine) bool { return x.Two > 1.05*x.One }) {
		return 2
	}
	return 1
}

func (f *figures) latency() any {
	var most time.Duration
	found := false
	for _, stage := range []string{"decode", "encode", "match"} {
		for _, x := range f.of(stage) {
			if x.Block == 64<<10 && x.Blocks == 1 {
				found, most = true, max(most, 2*(x.total-2*x.cpu))
			}
		}
	}
	if !found {
		return nil
	}
	return max(1, math.Ceil(most.Seconds()*1e3))
}

func (f *figures) probeSize() any {
	least, found := 0, false
	for _, x := range f.of("match") {
		if x.Blocks != 1 {
			continue
		}
		found = true
		if x.total <= 2*x.cpu && (least == 0 || x.Block < least) {
			least = x.Block
		}
	}
	switch {
	case !found:
		return nil
	case least == 0:
		return never
	}
	return least
}

func (f *figures) startAfter() any {
	if f.open == 0 {
		return nil
	}
	return max(1, math.Ceil(10*(f.open+f.compile).Seconds()))
}

func (f *figures) pause() any {
	var least time.Duration
	for i := range f.stages {
		x := &f.stages[i]
		if x.content() == fullBatch && (least == 0 || x.Away < least) {
			least = x.Away
		}
	}
	if least == 0 {
		return nil
	}
	return min(50, max(20, least.Microseconds()/20))
}

// oneTrip compares the time to download the space of words that encoding leaves empty with the time
// of the smallest transfer.
func (f *figures) oneTrip() any {
	list := slices.DeleteFunc(f.of("encode"), func(x *figure) bool {
		return x.Block != 1<<20 || x.Blocks > 16
	})
	if len(list) == 0 || len(f.transfers) < 2 {
		return nil
	}
	x := slices.MaxFunc(list, func(a, b *figure) int { return a.Blocks - b.Blocks })
	first, last := f.transfers[0], f.transfers[len(f.transfers)-1]
	// A symbol has at most two bytes of words.
	empty := max(0, 2*x.Bytes-int(x.DownBytes))
	return time.Duration(float64(last.down)*float64(empty)/float64(last.bytes)) < first.down
}
