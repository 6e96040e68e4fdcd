// Package sim simulates how long a cluster takes to compress a large file in groups of blocks, as
// package pzbeam does. It draws random numbers from a seed, so results repeat.
package sim

import (
	"container/heap"
	"math/rand/v2"
)

// Cluster says what a run has. Speeds are bytes per second, times are seconds.
type Cluster struct {
	Workers  int
	Cores    int     // of a worker
	Compress float64 // speed of one core
	Network  float64 // speed of a worker's network, each way
	Store    float64 // speed of the object store for all workers together, each way
	Latency  float64 // of a request to the store
	Start    float64 // workers start at random within this time

	Slow       float64 // this part of the workers is slow
	SlowFactor float64 // and takes this many times as long
	Fail       float64 // chance that a group fails and takes its bundle with it

	Splits int     // work items at first
	Move   bool    // joining reads and writes the parts, in place of a copy within the store
	Copies float64 // parts that the store copies at the same time
	Seed   uint64
}

// File says what is compressed.
type File struct {
	Content float64 // bytes
	Group   float64 // bytes of content in a group
	Ratio   float64 // of compression
}

// Result is a simulated run.
type Result struct {
	Groups  int
	Encode  float64 // seconds until the last group is done
	Join    float64 // seconds of joining
	Busy    float64 // part of the workers' time until then that they worked on groups that counted
	Redone  int     // groups that were done again
	Splits  int     // work items that were split while they ran
	Longest float64 // seconds of the longest group
}

// Total returns the seconds of the whole run.
func (r *Result) Total() float64 { return r.Encode + r.Join }

// item is a range of groups.
type item struct{ next, end int }

// worker is one that works on an item. It has done the groups [item.first, item.next).
type worker struct {
	id    int
	until float64 // when the current group is done
	slow  float64
	busy  bool
	first int // of the bundle
	item  item
}

// queue has workers by the time of their next event.
type queue []*worker

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, k int) bool {
	return q[i].until < q[k].until || q[i].until == q[k].until && q[i].id < q[k].id
}
func (q queue) Swap(i, k int) { q[i], q[k] = q[k], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*worker)) }
func (q *queue) Pop() any {
	old := *q
	w := old[len(old)-1]
	*q = old[:len(old)-1]
	return w
}

// group returns the seconds that a worker takes for a group. It reads, compresses and writes at the
// same time, so that the slowest of them counts.
func (c *Cluster) group(f *File) float64 {
	net := min(c.Network, c.Store/float64(c.Workers))
	read, compute := f.Group/net, f.Group/(c.Compress*float64(c.Cores))
	return 3*c.Latency + max(read, compute, f.Group/f.Ratio/net)
}

// Run simulates a run.
func Run(c Cluster, f File) (r Result) {
	rnd := rand.New(rand.NewPCG(c.Seed, 0))
	r.Groups = int((f.Content + f.Group - 1) / f.Group)
	var waiting []item
	splits := min(c.Splits, r.Groups)
	for i := range splits {
		waiting = append(waiting, item{i * r.Groups / splits, (i + 1) * r.Groups / splits})
	}
	one := c.group(&f)
	var q queue
	for id := range c.Workers {
		w := &worker{id: id, until: rnd.Float64() * c.Start, slow: 1}
		if rnd.Float64() < c.Slow {
			w.slow = c.SlowFactor
		}
		heap.Push(&q, w)
	}
	useful, done := 0.0, 0
	var idle []*worker
	for q.Len() > 0 && done < r.Groups {
		w := heap.Pop(&q).(*worker)
		now := w.until
		if w.busy {
			w.item.next++
			if rnd.Float64() < c.Fail {
				// The bundle is lost: all its groups are to be done again.
				again := w.item.next - w.first
				r.Redone += again
				done -= again - 1
				useful -= float64(again-1) * one * w.slow
				w.item.next = w.first
				waiting = append(waiting, w.item)
				w.busy = false
			} else {
				done, useful = done+1, useful+one*w.slow
				r.Encode, r.Longest = now, max(r.Longest, one*w.slow)
				w.busy = w.item.next < w.item.end
			}
		}
		if !w.busy {
			if len(waiting) == 0 {
				if x := largest(q); x != nil {
					// As runners do: the item is split behind the group that runs now.
					half := (x.item.next + 1 + x.item.end + 1) / 2
					waiting = append(waiting, item{half, x.item.end})
					x.item.end = half
					r.Splits++
				}
			}
			if len(waiting) == 0 {
				idle = append(idle, w)
				continue
			}
			w.item, waiting = waiting[0], waiting[1:]
			w.first, w.busy = w.item.next, true
		}
		w.until = now + one*w.slow
		heap.Push(&q, w)
		// A failure may leave work for workers that had none.
		for len(waiting) > 0 && len(idle) > 0 {
			x := idle[len(idle)-1]
			idle = idle[:len(idle)-1]
			x.until, x.busy = now, false
			heap.Push(&q, x)
			break
		}
	}
	r.Busy = useful / (r.Encode * float64(c.Workers))
	r.Join = c.join(&f, r.Groups)
	return r
}

// largest returns the worker whose item has the most groups behind the current one, nil if none has
// any.
func largest(q queue) (best *worker) {
	most := 1
	for _, w := range q {
		if n := w.item.end - w.item.next; w.busy && n > most {
			best, most = w, n
		}
	}
	return best
}

// join returns the seconds that one worker takes to join the parts.
func (c *Cluster) join(f *File, parts int) float64 {
	if c.Move {
		return c.Latency*float64(parts) + f.Content/f.Ratio/c.Network
	}
	return c.Latency * (2 + float64(parts)/c.Copies)
}
