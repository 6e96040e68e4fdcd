package interp

// machine is what the model knows of a GPU. docs/notes/gpu-counts.md has the reason of each figure.
type machine struct {
	processors float64 // multiprocessors
	clock      float64 // Hz
	reached    float64 // part of a bound that kernels reach
	dispatch   float64 // seconds between two dispatches

	// Of a multiprocessor:
	threads   int     // invocations that are resident
	groups    int     // workgroups that are
	memory    int     // bytes of workgroup memory
	issue     float64 // instructions of warps in a cycle
	expand    float64 // instructions for one of the interpreter
	hitCycles float64 // cycles of the first cache for a segment

	// Of the rest, in bytes a second:
	cache  float64 // second cache
	dram   float64 // memory
	missed float64 // part of the loads of sectors that the workgroup has loaded before, and misses
	again  float64 // bytes that memory moves for each byte that a dispatch has to load or store
	fetch  float64 // sectors that a miss brings from memory

	// Latencies in cycles:
	instruction float64
	hit         float64 // load from the first cache
	miss        float64 // from the second one
	far         float64 // from memory
	shared      float64 // access to workgroup memory
	atomic      float64 // atomic on it
	conflict    float64 // each invocation that waits for another one's atomic
	barrier     float64
	together    float64 // accesses of a warp that overlap
}

// h100 has a low and a high guess for an H100 (SXM).
var h100 = [2]machine{
	{
		processors: 132, clock: 1.6e9, reached: 0.7, dispatch: 10e-6,
		threads: 1024, groups: 32, memory: 100 << 10, issue: 2, expand: 1.4, hitCycles: 1.5,
		cache: 3.5e12, dram: 3.35e12, missed: 0.2, again: 1.5, fetch: 1,
		instruction: 4.5, hit: 45, miss: 280, far: 700, shared: 33, atomic: 60, conflict: 2,
		barrier: 40, together: 1,
	},
	{
		processors: 132, clock: 1.98e9, reached: 0.9, dispatch: 3e-6,
		threads: 2048, groups: 32, memory: 228 << 10, issue: 3, expand: 0.75, hitCycles: 0.5,
		cache: 5.5e12, dram: 3.35e12, missed: 0, again: 1, fetch: 2,
		instruction: 2.5, hit: 33, miss: 200, far: 480, shared: 23, atomic: 25, conflict: 0.5,
		barrier: 15, together: 2,
	},
}

// division is how many instructions a division takes, beyond that of the interpreter.
const division = 19

// ownMemory is the workgroup memory that a workgroup takes besides its own, in bytes.
const ownMemory = 1024

// a5000 returns an RTX A5000, for which others have measured radix sorts.
func a5000() (m [2]machine) {
	m = h100
	for i := range m {
		m[i].processors, m[i].clock = 64, []float64{1.17e9, 1.7e9}[i]
		m[i].threads, m[i].groups, m[i].memory = []int{768, 1536}[i], 16, []int{64, 100}[i]<<10
		m[i].cache, m[i].dram = []float64{1e12, 2e12}[i], 768e9
	}
	return m
}
