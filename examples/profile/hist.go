package main

import (
	"math/bits"
	"time"
)

// hist is a histogram of durations. A bucket is at most an eighth of its durations wide. A hist
// takes 4 KB, however many durations it counts.
type hist struct {
	count   int64
	sum     time.Duration
	max     time.Duration
	buckets [488]int64 // enough for every time.Duration
}

func bucket(d time.Duration) int {
	n := uint64(max(d, 0))
	if n < 8 {
		return int(n)
	}
	e := bits.Len64(n) - 4
	return 8*e + int(n>>e)
}

// upper returns the largest duration of a bucket.
func upper(bucket int) time.Duration {
	if bucket < 16 {
		return time.Duration(bucket)
	}
	e := bucket/8 - 1
	return time.Duration(uint64(bucket-8*e+1)<<e - 1)
}

func (h *hist) addDuration(d time.Duration) {
	h.count++
	h.sum += d
	h.max = max(h.max, d)
	h.buckets[bucket(d)]++
}

func (h *hist) merge(o *hist) {
	h.count += o.count
	h.sum += o.sum
	h.max = max(h.max, o.max)
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
}

// quantile returns a duration that the part q of all does not exceed. It is at most an eighth too
// long.
func (h *hist) quantile(q float64) time.Duration {
	left := int64(q * float64(h.count))
	for i, n := range h.buckets {
		if left -= n; left < 0 {
			return min(upper(i), h.max)
		}
	}
	return h.max
}

func (h *hist) mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return h.sum / time.Duration(h.count)
}
