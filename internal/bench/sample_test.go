package main

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"
)

// samplesOf returns samples of so many milliseconds on both clocks.
func samplesOf(ms ...float64) (list []sample) {
	for _, n := range ms {
		d := time.Duration(n * float64(time.Millisecond))
		list = append(list, sample{d, d})
	}
	return list
}

func TestMedian(t *testing.T) {
	if m := median(samplesOf(9, 1, 5)); m != samplesOf(5)[0] {
		t.Errorf("median of three: %v", m)
	}
	if m := median([]sample{{1, 40}, {3, 10}, {9, 30}, {7, 20}}); m != (sample{5, 25}) {
		t.Errorf("median of four: %v", m)
	}
	if s := spread(samplesOf(4, 5, 7), wallClock); s != 0.6 {
		t.Errorf("spread %v", s)
	}
}

func TestFastest(t *testing.T) {
	n := time.Duration(4)
	s, err := fastest(context.Background(), 0, func() (sample, error) { n--; return sample{n, n}, nil })
	if err != nil || s.cpu != 3 {
		t.Errorf("without time for two tries: %v, %v", s, err)
	}
	var tries []time.Duration
	const least = 20 * time.Millisecond
	begin := time.Now()
	s, err = fastest(context.Background(), least, func() (sample, error) {
		time.Sleep(time.Millisecond)
		n--
		tries = append(tries, max(n, -n))
		return sample{n, max(n, -n)}, nil
	})
	if err != nil || s.cpu != slices.Min(tries) {
		t.Errorf("%v, %v; want the least processor time of %v", s, err, tries)
	}
	if took := time.Since(begin); took < least {
		t.Errorf("tries for %v, want at least %v", took, least)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = fastest(ctx, time.Hour, func() (sample, error) { return sample{}, nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTimed checks that processor time counts work.
func TestTimed(t *testing.T) {
	work := 0
	s, err := timed(func() error {
		for i := range 10_000_000 {
			work ^= i
		}
		return nil
	})
	if err != nil || s.wall <= 0 || s.cpu <= 0 {
		t.Errorf("%v, %v (%d)", s, err, work)
	}
}

func TestByTurns(t *testing.T) {
	var got []int
	if err := byTurns(4, 3, func(i int) error { got = append(got, i); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 2, 1, 0, 2, 2, 0, 1, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTotals(t *testing.T) {
	a, b := setting{"a", 1, 1}, setting{"b", 1, 1}
	one := samplesOf(1, 1, 1)
	rows := withTotals([]*entry{
		{result: result{a, "x", 1000, 100, samplesOf(1, 9, 5), one}},
		{result: result{a, "y", 3000, 300, samplesOf(2, 1, 1), one}},
		{result: result{b, "x", 1000, 500, samplesOf(4, 4, 4), one}},
	})
	if len(rows) != 5 || rows[2].file != total || rows[4].file != total {
		t.Fatalf("%+v", rows)
	}
	sum := rows[2]
	if sum.size != 4000 || sum.ratio() != 10 || !reflect.DeepEqual(sum.compress, samplesOf(3, 10, 6)) {
		t.Errorf("%+v", sum)
	}
	if speed := sum.speed(sum.compress, wallClock); speed != 4000/1e6/0.006 {
		t.Errorf("%v MB/s", speed)
	}
	if rows[0].compress[0] != one[0] {
		t.Error("withTotals changes a file's samples")
	}
}
