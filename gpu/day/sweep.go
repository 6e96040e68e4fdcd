package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/internal/measuring"
)

// point is a batch: so many blocks of so many bytes.
type point struct{ block, blocks int }

// points are the batches of the sweep. A GPU takes milliseconds for the first ones. A block of 4
// KiB has two workgroups of 2,048 positions, one of 1 MiB has 512.
var points = []point{
	{4 << 10, 1}, {16 << 10, 1}, {64 << 10, 1}, {256 << 10, 1}, {1 << 20, 1}, {1 << 20, 4}, {1 << 20, 16},
	{1 << 20, 64}, {4 << 20, 4}, {256 << 10, 64}, {64 << 10, 256}, {4 << 20, 16}, {256 << 10, 256},
	{1 << 20, 2}, {1 << 20, 8}, {1 << 20, 32}, {1 << 20, 128}, {1 << 20, 256}, {4 << 20, 64},
	{64 << 10, 1024},
}

const (
	// mostRepeats is how often a figure is measured if there is time. The median counts.
	mostRepeats = 7
	// again is how often a kernel is repeated where the device has no clock.
	again = 4
	// firstRate is a guess of the slowest device, in bytes per second, before a stage has run.
	firstRate = 1e6
)

// sweep measures all stages with all points. A stage that is too slow for a point is left out
// there.
func (d *device) sweep(l *limit) error {
	stages := allStages()
	rates := make([]float64, len(stages)) // bytes per second of the last point
	leftOut := make([]string, len(stages))
	for _, p := range points {
		for i := range stages {
			s, rate := &stages[i], cmp.Or(rates[i], firstRate)
			took := time.Duration(float64(p.block*p.blocks) / rate * 1e9)
			// Twice before the measurement, and on the CPU.
			n := l.repeats(3*took, mostRepeats)
			if n == 0 {
				leftOut[i] += fmt.Sprintf(" %dx%d", p.blocks, p.block)
				continue
			}
			took, err := d.measure(s, p, n)
			if err != nil {
				return fmt.Errorf("%v: %d blocks of %d bytes: %w", s, p.blocks, p.block, err)
			}
			if took > 0 {
				rates[i] = float64(p.block*p.blocks) / took.Seconds()
			}
		}
	}
	for i := range stages {
		if leftOut[i] != "" {
			l.leaveOut(fmt.Sprintf("%v: blocks x bytes:%s", &stages[i], leftOut[i]))
		}
	}
	return nil
}

// largeContents are the contents of submissions that large measures, in bytes.
var largeContents = []int{64 << 20, 256 << 20}

// large measures sizes of submissions that the memory of a GPU may allow.
func (d *device) large(l *limit) error {
	if d.software {
		l.leaveOut("larger submissions: a software adapter has no use for them")
		return nil
	}
	defer d.dev.SetContent(d.dev.Content())
	stages := allStages()
	for _, n := range largeContents {
		if most := d.dev.MaxContent(); n > most {
			l.leaveOut(fmt.Sprintf("submissions of %d bytes: the buffers allow %d", n, most))
			continue
		}
		d.dev.SetContent(n)
		for i := range stages {
			s := &stages[i]
			last := d.figures.last(s)
			if s.k != 0 && s.k != 16 || last == nil {
				continue
			}
			took := last.total * time.Duration(n/last.content()+1)
			repeats := l.repeats(3*took, mostRepeats)
			if repeats == 0 {
				l.leaveOut(fmt.Sprintf("%v: submissions of %d bytes", s, n))
				continue
			}
			if _, err := d.measure(s, point{1 << 20, n >> 20}, repeats); err != nil {
				return fmt.Errorf("%v: submissions of %d bytes: %w", s, n, err)
			}
			if d.dev.Content() < n {
				l.leaveOut(fmt.Sprintf("submissions of %d bytes: the GPU has too little memory", n))
				return nil
			}
		}
	}
	return nil
}

// inOne returns the most content of a submission in bytes.
func (d *device) inOne() int { return d.dev.Content() }

// timing is one run of a batch.
type timing struct {
	*host.Trace
	total time.Duration
}

// runBatch runs a batch once.
func (d *device) runBatch(batch []*gpu.Request) (timing, error) {
	for _, r := range batch {
		r.FreeCandidates()
	}
	start := time.Now()
	t, err := d.dev.Trace(batch[0].Op, batch)
	return timing{t, time.Since(start)}, err
}

// runBatches runs a batch n times and returns the run that took the median time.
func (d *device) runBatches(batch []*gpu.Request, n int) (timing, error) {
	var list []timing
	for range n {
		r, err := d.runBatch(batch)
		if err != nil {
			return timing{}, err
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b timing) int { return cmp.Compare(a.total, b.total) })
	return list[len(list)/2], nil
}

// batch returns requests of a stage for a point.
func (d *device) batch(s *stage, p point) (batch []*gpu.Request, blocks []*block, bytes int, err error) {
	blocks, err = d.data.some(p.block, p.blocks)
	if err != nil {
		return nil, nil, 0, err
	}
	for i := range p.blocks {
		b := blocks[i%len(blocks)]
		batch = append(batch, s.request(b))
		bytes += s.bytes(b)
	}
	return batch, blocks, bytes, nil
}

// measure measures a stage at a point and reports it. It returns how long the device took for a
// batch, 0 if it does not do this work.
func (d *device) measure(s *stage, p point, repeats int) (time.Duration, error) {
	batch, blocks, bytes, err := d.batch(s, p)
	if err != nil || !d.dev.Accepts(batch[0]) {
		return 0, err
	}
	first, err := d.runBatch(batch)
	if err != nil || first.Submissions == 0 { // the host does small blocks by itself
		return 0, err
	}
	for i, r := range batch {
		if r.Err != nil || !s.equal(blocks[i%len(blocks)], r) {
			return 0, errors.Join(errOtherResult, r.Err)
		}
	}
	verify, err := timed(func() error {
		for _, r := range batch {
			if s.verify != nil && !s.verify(r) {
				return errOtherResult
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	t, err := d.runBatches(batch, repeats)
	if err != nil {
		return 0, err
	}
	cpu, err := timed(func() error {
		for i := range blocks {
			if err := s.cpu(batch[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	cpu = cpu * time.Duration(len(batch)) / time.Duration(len(blocks))
	z := sizes{s.name, s.k, p.block, p.blocks, d.inOne(), bytes}
	line := stageOf(d.name, z, t, cpu, verify)
	line.Repeats = repeats
	d.report.addLine(line)
	d.figures.stages = append(d.figures.stages, figure{line, t, cpu, verify})
	return t.total, d.kernels(s, z, batch, t, repeats)
}

// timed returns how long f takes.
func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return max(time.Since(start), time.Microsecond), err
}

// speed returns MB/s with four digits.
func speed(bytes int, d time.Duration) float64 {
	return rounded(measuring.MBps(int64(bytes), max(d, time.Microsecond)))
}

// Clocks of lines: the device's, or how much longer submissions take if kernels run more often.
const (
	byTimestamps  = "timestamps"
	bySubmissions = "submissions"
)

func stageOf(device string, z sizes, t timing, cpu, verify time.Duration) stageLine {
	line := stageLine{
		Result: "stage", Device: device, sizes: z, Clock: bySubmissions,
		CPU: speed(z.Bytes, cpu), DeviceMBps: speed(z.Bytes, t.total),
		Host: speed(z.Bytes, t.Pack+t.Unpack+verify),
		Pack: micros(t.Pack), Submitted: micros(t.Away), Unpack: micros(t.Unpack), Verify: micros(verify),
	}
	if t.Clock {
		up, kernels, down := micros(t.Up), micros(t.kernels()), micros(t.Down)
		line.Clock, line.Up, line.Kernels, line.Down = byTimestamps, &up, &kernels, &down
	}
	return line
}

// kernels returns the time of all kernels.
func (t *timing) kernels() (sum time.Duration) {
	for _, k := range t.Trace.Kernels {
		sum += k.Time
	}
	return sum
}

// kernels reports each kernel of a batch.
func (d *device) kernels(s *stage, z sizes, batch []*gpu.Request, t timing, repeats int) error {
	for _, k := range t.Trace.Kernels {
		line := kernelLine{"kernel", d.name, z, byTimestamps, k.Name, k.Groups, k.Dispatches, 0, 0}
		took := k.Time
		if !t.Clock {
			if !slices.Contains(s.kernels, k.Name) {
				continue
			}
			line.Clock = bySubmissions
			d.dev.Again(k.Name, again)
			more, err := d.runBatches(batch, repeats)
			d.dev.Again("", 0)
			if err != nil {
				return err
			}
			took = max(0, more.Away-t.Away) / again
		}
		line.US = micros(took)
		if took > 0 {
			line.MBps = speed(z.Bytes, took)
		}
		d.report.addLine(line)
	}
	return nil
}
