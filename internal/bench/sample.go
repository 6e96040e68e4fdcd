package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gopz/compress/internal/measuring"
)

// sample is the time that one operation takes: on the clock, and of processors in all threads.
// Processor time is what to compare on a machine that other programs use as well.
type sample struct{ wall, cpu time.Duration }

// clock chooses one of the times of a sample.
type clock func(sample) time.Duration

func wallClock(s sample) time.Duration { return s.wall }
func cpuClock(s sample) time.Duration  { return s.cpu }

func (s sample) plus(t sample) sample { return sample{s.wall + t.wall, s.cpu + t.cpu} }

// busy returns how many processors worked on average.
func (s sample) busy() float64 { return s.cpu.Seconds() / s.wall.Seconds() }

// median returns the median wall time and the median processor time.
func median(samples []sample) sample {
	return sample{measuring.Middle(times(samples, wallClock)), measuring.Middle(times(samples, cpuClock))}
}

func times(samples []sample, by clock) []time.Duration {
	list := make([]time.Duration, len(samples))
	for i, s := range samples {
		list[i] = by(s)
	}
	return list
}

// spread returns the distance from the fastest sample to the slowest as a part of the median.
func spread(samples []sample, by clock) float64 {
	v := times(samples, by)
	return (slices.Max(v) - slices.Min(v)).Seconds() / measuring.Middle(v).Seconds()
}

// timed returns the time that f takes.
func timed(f func() error) (sample, error) {
	cpu, start := processTime(), time.Now()
	err := f()
	s := sample{wall: time.Since(start)}
	s.cpu = processTime() - cpu
	if !hasProcessTime {
		s.cpu = s.wall
	}
	return sample{max(s.wall, time.Microsecond), max(s.cpu, time.Microsecond)}, err
}

// fastest repeats f for at least that long, once at the least, and returns the sample with the
// least processor time, as zstd -b does. The first try often finds cold caches.
func fastest(ctx context.Context, least time.Duration, f func() (sample, error)) (sample, error) {
	var tries []sample
	for end := time.Now().Add(least); ; {
		s, err := f()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return sample{}, err
		}
		tries = append(tries, s)
		if !time.Now().Before(end) {
			return slices.MinFunc(tries, func(a, b sample) int { return cmp.Compare(a.cpu, b.cpu) }), nil
		}
	}
}
