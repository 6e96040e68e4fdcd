package interp

import (
	"flag"
	"math"
	"testing"
)

// use is a kernel with its counts for a batch.
type use struct {
	name   string
	size   int // invocations of a workgroup
	memory int // bytes of workgroup memory
	Counters
}

// scaled returns the use for a batch of n blocks like the one that was counted. All counts grow
// with the number of blocks, but for dispatches and the longest chain.
func (u use) scaled(n int64) use {
	c := Counters{}
	c.addTimes(&u.Counters, n)
	c.Dispatches, c.Longest = u.Dispatches, u.Longest
	u.Counters = c
	return u
}

// The bounds of the model.
const (
	issue = iota
	firstCache
	secondCache
	dram
	shared
	latency
	bounds
)

var boundNames = [bounds]string{
	"issue", "first", "second", "memory", "workgroup", "latency",
}

// resident returns how many workgroups a multiprocessor has at a time.
func (m *machine) resident(u *use) int {
	return max(1, min(m.groups, m.threads/max(u.size, warp), m.memory/(u.memory+ownMemory)))
}

// instructions returns the instructions of a GPU for work.
func (m *machine) instructions(w *Work) float64 {
	return float64(w.Issued+division*w.Divisions) * m.expand
}

// chain returns the cycles of work that is done one piece after the other.
func (m *machine) chain(u *use, w *Work) float64 {
	misses := float64(w.Misses)
	misses += m.missed * (float64(w.Loads) - misses)
	far := 0.0 // part of the misses that memory serves
	if u.Sectors > 0 {
		far = min(1, float64(u.Memory)/float64(u.Sectors)) / m.fetch
	}
	access := (float64(w.Loads)-misses)*m.hit + misses*(m.miss+far*(m.far-m.miss)) +
		float64(w.Segments-w.Requests)*m.hitCycles +
		float64(w.Shared)*m.shared + float64(w.BankCycles) - float64(w.Shared)
	return m.instructions(w)*m.instruction + access/m.together +
		float64(w.Atomics)*m.atomic + float64(w.Conflicts)*m.conflict + float64(w.Barriers)*m.barrier
}

// times returns the seconds that each bound alone allows.
func (m *machine) times(u *use) (t [bounds]float64) {
	cycles := m.processors * m.clock * m.reached
	t[issue] = m.instructions(&u.Work) / m.issue / cycles
	t[firstCache] = float64(u.Segments) * m.hitCycles / cycles
	repeated := float64(u.Segments) - float64(u.Sectors)
	t[secondCache] = 32 * (float64(u.Sectors) + m.missed*max(0, repeated)) / (m.cache * m.reached)
	t[dram] = 32 * float64(u.Memory) * m.again / (m.dram * m.reached)
	atomics := float64(u.Atomics) + float64(u.Conflicts)*m.conflict
	t[shared] = (float64(u.BankCycles) + atomics) / cycles
	if u.Workgroups > 0 && u.Dispatches > 0 {
		slots := m.processors * float64(m.resident(u))
		waves := math.Ceil(float64(u.Workgroups) / float64(u.Dispatches) / slots)
		mean := m.chain(u, &u.Chain) / float64(u.Workgroups)
		t[latency] = max(mean*waves*float64(u.Dispatches), m.chain(u, &u.Longest)) / m.clock
	}
	return t
}

// estimate returns the time of all dispatches in seconds, and the bound that is greatest.
func (m *machine) estimate(u *use) (seconds float64, bound int) {
	t := m.times(u)
	for k := range t {
		if t[k] > t[bound] {
			bound = k
		}
	}
	return t[bound] + float64(u.Dispatches)*m.dispatch, bound
}

// total returns the time of the kernels that a function selects.
func (m *machine) total(list []use, selects func(name string) bool) (seconds float64) {
	for i := range list {
		if selects(list[i].name) {
			t, _ := m.estimate(&list[i])
			seconds += t
		}
	}
	return seconds
}

var modelBytes = flag.Int("modelbytes", 256<<20, "bytes of a batch for TestModel")

// TestModel estimates the time of all kernels on an H100, for a batch of blocks like that of
// TestCounts. With -counts it prints the tables of docs/notes/gpu-counts.md.
func TestModel(t *testing.T) {
	c := count(t)
	blocks := int64(max(1, *modelBytes/c.size))
	bytes := float64(blocks) * float64(c.size)
	list := c.uses(t)
	for i := range list {
		u := list[i].scaled(blocks)
		list[i] = u
		slow, _ := h100[0].estimate(&u)
		fast, _ := h100[1].estimate(&u)
		if !(0 < fast && fast <= slow) || math.IsInf(slow, 0) {
			t.Errorf("%s: from %v to %v s", u.name, fast, slow)
		}
		if *printCounts {
			printUse(&u, bytes)
		}
	}
	if *printCounts {
		printTotals(list, c, float64(blocks))
	}
}

// TestModelRules checks what must hold for any figures.
func TestModelRules(t *testing.T) {
	for _, u := range count(t).uses(t) {
		for i, m := range h100 {
			many := u.scaled(1000)
			before, _ := m.estimate(&many)
			more := m
			more.processors *= 2
			if after, _ := more.estimate(&many); after > before {
				t.Errorf("%s: %v s, with more multiprocessors %v", u.name, before, after)
			}
			m.dispatch = 0
			a, b := u.scaled(1e6), u.scaled(2e6)
			one, _ := m.estimate(&a)
			two, _ := m.estimate(&b)
			if math.Abs(two/one-2) > 0.02 {
				t.Errorf("%s, guess %d: twice the blocks take %v times as long", u.name, i, two/one)
			}
		}
	}
	idle := use{name: "x", size: 32, Counters: Counters{Dispatches: 1, Workgroups: 1}}
	idle.Issued, idle.Chain.Issued, idle.Longest.Issued = 1000, 1000, 1000
	at := h100[0].times(&idle)
	if at[firstCache] != 0 || at[secondCache] != 0 || at[dram] != 0 || at[shared] != 0 {
		t.Errorf("without requests: %v", at)
	}
}

// TestModelByHand compares a kernel of two workgroups with figures computed by hand.
func TestModelByHand(t *testing.T) {
	m := machine{
		processors: 2, clock: 1000, reached: 0.5, dispatch: 7, threads: 64, groups: 9, memory: 3000,
		issue: 2, expand: 3, hitCycles: 2, cache: 320, dram: 64, missed: 0.25,
		again: 2, fetch: 1, instruction: 4, hit: 30, miss: 200, far: 500, shared: 20, atomic: 50,
		conflict: 5, barrier: 11, together: 2,
	}
	each := Work{
		Issued: 100, Divisions: 2, Requests: 10, Segments: 16, Loads: 8, Misses: 4, Sectors: 10,
		Shared: 6, BankCycles: 24, Barriers: 2, Atomics: 3, Conflicts: 4,
	}
	u := use{size: 32, memory: 400}
	u.Counters = Counters{
		Dispatches: 1, Workgroups: 1, Work: each, Chain: each, Longest: each, Memory: 5,
	}
	two := u.scaled(2)
	if n := m.resident(&two); n != 2 { // by threads and by workgroup memory
		t.Errorf("%d workgroups are resident", n)
	}
	want := [bounds]float64{
		// Two multiprocessors reach half of 1,000 cycles a second.
		issue:       2 * (100 + 2*19) * 3 / 2 / 1000.0,
		firstCache:  2 * 16 * 2 / 1000.0,
		secondCache: 2 * 32 * (10 + 0.25*6) / 160,
		dram:        2 * 32 * 5 * 2 / 32.0,
		shared:      2 * (24 + 3 + 4*5) / 1000.0,
		// Half of the sectors come from memory: a miss takes 350 cycles. One load more misses. The
		// accesses take 3*30 + 5*350 + 6*2 + 6*20 + 24 - 6 = 1990 cycles, and half of them overlap.
		latency: (138*3*4 + 1990/2 + 3*50 + 4*5 + 2*11) / 1000.0,
	}
	for k, got := range m.times(&two) {
		if math.Abs(got-want[k]) > 1e-9 {
			t.Errorf("%s: %v s, want %v", boundNames[k], got, want[k])
		}
	}
	seconds, bound := m.estimate(&two)
	if bound != dram || math.Abs(seconds-27) > 1e-9 {
		t.Errorf("%v s, bound by %s", seconds, boundNames[bound])
	}
}
