package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/gopz/compress/internal/measuring"
)

// open opens the device, and runs each stage twice: the first run compiles kernels and reserves
// memory.
func (d *device) open(l *limit) error {
	start := time.Now()
	dev, err := openDevice(d.name)
	if err != nil {
		return err
	}
	d.dev = dev
	d.figures.open = time.Since(start)
	d.report.addLine(openLine{"open", d.name, "device", millis(d.figures.open), 0})
	stages := allStages()
	for i := range stages {
		s := &stages[i]
		if i > 0 && stages[i-1].name == s.name {
			continue // the same kernels
		}
		if l.left() <= 0 {
			l.leaveOut("compiling " + s.name)
			continue
		}
		batch, _, _, err := d.batch(s, point{64 << 10, 1})
		if err != nil {
			return err
		}
		if !dev.Accepts(batch[0]) {
			continue
		}
		var took [2]time.Duration
		for k := range took {
			r, err := d.runBatch(batch)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			took[k] = r.total
		}
		d.figures.compile += max(0, took[0]-took[1])
		name := "first run of " + s.name
		d.report.addLine(openLine{"open", d.name, name, millis(took[0]), millis(took[1])})
	}
	return nil
}

// transfers measures transfers of several sizes. The smallest is a round trip.
func (d *device) transfers(l *limit) error {
	for n := 256; n <= 64<<20; n *= 8 {
		var up, down []time.Duration
		for range mostRepeats {
			if len(up) > 0 && l.left() <= 0 {
				break
			}
			u, w, err := d.dev.Transfer(n)
			if err != nil {
				return err
			}
			up, down = append(up, u), append(down, w)
		}
		u, w := measuring.Middle(up), measuring.Middle(down)
		d.report.addLine(transferLine{"transfer", d.name, n, micros(u), micros(w), rounded(speed(n, u) / 1e3),
			rounded(speed(n, w) / 1e3)})
		d.figures.transfers = append(d.figures.transfers, transfer{n, u, w})
		if l.left() <= 0 && n < 64<<20 {
			l.leaveOut(fmt.Sprintf("transfers of more than %d bytes", n))
			return nil
		}
	}
	return nil
}

// inFlight measures batches one after the other, and two at a time.
func (d *device) inFlight(l *limit) error {
	stages := allStages()
	for i := range stages {
		s := &stages[i]
		if s.k != 0 && s.k != 16 {
			continue
		}
		var last *figure // the largest batch up to 16 MiB for which there is time
		for _, f := range d.figures.of(s.name) {
			if f.content() <= fullBatch && 8*f.total < l.left()/time.Duration(len(stages)-i) &&
				(last == nil || f.content() > last.content()) {
				last = f
			}
		}
		if last == nil {
			l.leaveOut(s.name)
			continue
		}
		if err := d.compareFlight(s, point{last.Block, last.Blocks}, l.repeats(6*last.total, 3)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// compareFlight runs two batches of a stage n times, one after the other and at the same time.
func (d *device) compareFlight(s *stage, p point, n int) error {
	n = max(n, 1)
	var one, two []time.Duration
	total := 0
	for range n + 1 { // the first round does not count
		var wg sync.WaitGroup
		var errs [2]error
		work := func(k int) {
			batch, _, bytes, err := d.batch(s, p)
			if err == nil {
				err = d.dev.Run(batch[0].Op, batch)
			}
			errs[k] = err
			if k == 0 {
				total = bytes
			}
		}
		start := time.Now()
		work(0)
		work(1)
		between := time.Now()
		for k := range errs {
			wg.Go(func() { work(k) })
		}
		wg.Wait()
		if err := firstError(errs[:]); err != nil {
			return err
		}
		one, two = append(one, between.Sub(start)), append(two, time.Since(between))
	}
	line := flightLine{"in flight", d.name, s.name, speed(2*total, measuring.Middle(one[1:])),
		speed(2*total, measuring.Middle(two[1:]))}
	d.report.addLine(line)
	d.figures.flights = append(d.figures.flights, line)
	return nil
}

func firstError(list []error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
