package optimal

import (
	"math/bits"

	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/internal/suffix"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// batch is the number of positions that are looked up at once.
const batch = 32

// lcpIntervals finds, for each position, the nearest earlier match of every class of lengths that
// no nearer match has. It does so for all distances in the block.
//
// In the sorted suffixes of the block, suffixes with n bytes in common are neighbours: an LCP
// interval of length n. Intervals of greater lengths lie within it. So intervals form a tree with
// the suffixes as leaves; its root has length 0. Abouelhoda, Kurtz and Ohlebusch describe that tree
// in "Replacing suffix trees with enhanced suffix arrays", 2004.
//
// Positions are inserted in the order of the block. Each climbs from its suffix to the root and
// leaves its number in every interval on its path. The number that it finds in an interval is the
// nearest position that has that many bytes in common with it.
//
// Writing every interval would cost the depth of the tree. But the intervals last visited by one
// position form a segment of a path. Only the lower end of a segment is a candidate: the rest has
// shorter matches with the same position. So each position stores only where its segment ends
// above. A position that reaches the segment cuts it there, takes over the part above, and
// continues behind its end. Sleator and Tarjan expose paths that way in "A data structure for
// dynamic trees", 1983. An interval may still name a position whose segment was cut below. That
// position's entry leads on to the one that cut it.
//
// Cost: sorting and building take time proportional to the block, whatever the window is. An
// insertion visits a number of segments that grows with the logarithm of the tree on average. No
// worst-case bound is proven. On 512 KiB of adverse data it took at most 67 steps to find the owner
// of a segment, and 11 on average. Almost all of the time is cache misses, so paths of many
// positions are prefetched together. Memory: 8 bytes for each position.
//
// A position within a long match climbs only maxInsertSteps segments; see insertRange.
type lcpIntervals struct {
	// nodes has an entry for each interval, by number from 1 on: the interval around it until a
	// position visits it, then that position plus 1. Its segment may have been cut below since.
	nodes []int32
	// links has an entry for each position plus 1: the interval of its suffix until it is inserted,
	// then the interval above its segment. computeLCP and suffix.Sort use it as scratch memory.
	links []int32
	// A reference to an interval holds its number and, from bit numberBits on, the class of its
	// length, from 1 on. 0 is the root.
	numberBits uint
	classes    [PricedLengths]uint8 // by length
	lengths    [maxClasses + 1]int  // least length of each class
	firstWide  uint32               // least class that has several lengths

	nice, minMatch, minOffset, maxOffset, maxOffset3 int

	prefetched int // end of the positions whose paths are prefetched
	visits     [maxClasses + 1]visit
}

// visit records that position at was the last one in the intervals of class and of longer ones.
type visit struct {
	class uint32
	at    int
}

const (
	// maxClasses is the greatest number of classes of lengths. 255 classes, one for each length,
	// are 0.3% smaller on tables at best, and slower; 31 make tables and XML 0.5% larger.
	maxClasses = 63
	// maxInsertSteps is the number of segments that a position within a match climbs. All segments
	// take 1.07 times as long; sizes are within 0.1%.
	maxInsertSteps = 4
	// allSteps is more than the segments of any path.
	allSteps = 1 << 30
	// prefetchAhead is the number of positions whose paths are prefetched together. 64 and 256 are
	// no faster.
	prefetchAhead = 128
	// buildStep is the number of suffixes between checkpoints while intervals are built, a multiple
	// of batch. Each takes up to 100 ns.
	buildStep = 1 << 14
	// minPrefetch is the number of remaining paths at which prefetching ends.
	minPrefetch = 7
)

// lcpMemory returns the memory for blocks of size bytes, in bytes, rounded up as the runtime does.
func lcpMemory(size int) int {
	size = lcpRoom(size)
	return 4*size + 4*linksLen(size) + 16<<10
}

// lcpRoom returns the positions that there is room for if a block has so many. The first block of a
// frame has no window, and those behind it are longer by that. Without more room their tables would
// be made twice, and take twice the memory until the garbage collector runs.
func lcpRoom(size int) int { return size + size/16 }

// linksLen returns the length of links, which suffix.Sort uses as scratch memory.
func linksLen(size int) int { return max(size+1, suffix.Scratch(size)) }

// reset begins a block and inserts the positions in front of start.
func (t *lcpIntervals) reset(c *config, src []byte, start int, checkpoint func()) {
	n := len(src)
	if cap(t.nodes) < n {
		room := lcpRoom(n)
		t.nodes, t.links = make([]int32, room), make([]int32, linksLen(room))
	}
	t.nodes, t.links = t.nodes[:n], t.links[:linksLen(n)]
	t.nice, t.minMatch = c.Nice, c.MinNew
	t.minOffset, t.maxOffset = c.MinOffset, c.MaxOffset
	t.maxOffset3 = c.maxOffset3()
	t.classify(n)
	suffix.Sort(t.nodes, src, t.links, checkpoint)
	t.computeLCP(src, checkpoint)
	t.build(checkpoint)
	t.prefetched = 0
	for i := range start {
		if i%checkpointStep == 0 {
			checkpoint()
		}
		t.insertFull(i)
	}
}

// classify sets the classes of lengths for a block of n bytes. Each length has its own class if the
// bits of a reference allow it. Otherwise short lengths have their own classes, long lengths share
// classes, and nice has one for itself.
func (t *lcpIntervals) classify(n int) {
	t.numberBits = max(uint(bits.Len(uint(n-1))), 32-uint(bits.Len(maxClasses)))
	most, all := 1<<(32-t.numberBits)-1, t.nice-t.minMatch+1
	single := all
	if all > most {
		single = most / 2
	}
	t.firstWide = uint32(single) + 1
	clear(t.classes[:])
	last := 0
	for k := range all {
		class := k + 1
		if class > single && all > most {
			class = single + 1 + (k-single)*(most-single-1)/(all-single-1)
		}
		t.classes[t.minMatch+k] = uint8(class)
		if class > last {
			last = class
			t.lengths[class] = t.minMatch + k
		}
	}
}

// computeLCP sets links, by position plus 1, to a class of lengths: that of the common prefix of
// the position's suffix and the suffix before it in nodes, which is in sorted order.
//
// It goes in the order of the text, where that length falls by one at most from position to
// position. So it compares only the bytes behind the known ones. (Kasai and others, "Linear-Time
// Longest-Common-Prefix Computation in Suffix Arrays and Its Applications", 2001; Kärkkäinen,
// Manzini and Puglisi, "Permuted Longest-Common-Prefix Array", 2009.)
//
// Within a batch the known length is that of the last position in front of the batch, less the
// distance. Up to batch bytes are compared twice; the time stays linear.
func (t *lcpIntervals) computeLCP(src []byte, checkpoint func()) {
	// The first 8 bytes of each other suffix behind the known ones. Loading all of a batch first
	// lets the cache misses overlap.
	var begin [batch]uint64
	nodes, links, last := t.nodes, t.links[:len(t.nodes)+1], len(src)-8
	from := nodes[0] // itself, since no suffix is before it
	for left := nodes; len(left) > 0; {
		n := min(len(left), buildStep)
		for _, p := range left[:n] {
			links[p+1] = from
			from = p
		}
		left = left[n:]
		checkpoint()
	}
	n := 0
	for p := 0; p < len(nodes); p += batch {
		if p%buildStep == 0 {
			checkpoint()
		}
		below, least := links[p+1:min(p+1+batch, len(links))], n-1
		for k, q := range below {
			begin[k%batch] = finder.Load64(src, min(int(q)+max(least-k, 0), last))
		}
		for k, q := range below {
			a, b, known := min(int(q), p+k), max(int(q), p+k), max(least-k, 0)
			if a == b {
				n = 0
				below[k] = 0
				continue
			}
			x := begin[k%batch] ^ finder.Load64(src, min(p+k+known, last))
			if x != 0 && b+known <= last {
				n = min(known+bits.TrailingZeros64(x)>>3, t.nice)
			} else {
				n = kernels.EqualFrom(src, a, b, known, min(len(src), b+t.nice))
			}
			below[k] = int32(t.classes[n])
		}
	}
}

// build turns the sorted suffixes in nodes and the classes in links into intervals. It overwrites
// both, each entry after it was read. A stack holds the intervals that contain the current suffix.
func (t *lcpIntervals) build(checkpoint func()) {
	var (
		open    [maxClasses + 1]uint32 // stack of open intervals, each within the one before
		top     = 0
		number  = uint32(0)
		classes [batch]uint32 // of the next suffixes, loaded together so that cache misses overlap
	)
	nodes, links, shift := t.nodes, t.links, t.numberBits&31
	mask := uint32(1)<<shift - 1
	last := int(nodes[0])
	for i := 0; i <= len(nodes); i++ {
		p, class := 0, uint32(0)
		if i < len(nodes) {
			if i%batch == 0 {
				if i%buildStep == 0 {
					checkpoint()
				}
				t.prefetchLinks(i + batch)
				for j, p := range nodes[i:min(i+batch, len(nodes))] {
					classes[j%batch] = uint32(links[p+1])
				}
			}
			p, class = int(nodes[i]), classes[i%batch]
		}
		if i == 0 {
			continue
		}
		// There are no more numbers than suffixes read so far, whose entries they take.
		at := open[top&maxClasses]
		if class > at>>shift {
			number++
			at = class<<shift | number
			top++
			open[top&maxClasses] = at
		}
		links[last+1] = int32(at)
		for class < at>>shift {
			top--
			in := open[top&maxClasses]
			if class > in>>shift {
				number++
				in = class<<shift | number
				top++
				open[top&maxClasses] = in
			}
			nodes[at&mask] = int32(in)
			at = in
		}
		last = p
	}
	nodes[0], links[0] = 0, 0 // for prefetchPaths
}

// prefetchLinks prefetches the links of the batch of sorted suffixes that begins at i.
func (t *lcpIntervals) prefetchLinks(i int) {
	var at [batch]uint32
	n := 0
	for _, p := range t.nodes[min(i, len(t.nodes)):min(i+batch, len(t.nodes))] {
		at[n%batch] = uint32(p + 1)
		n++
	}
	simd.Prefetch(t.links, at[:n], 1<<32-1)
}

// insertFull inserts position i with its whole path. It returns the number of candidates, which are
// in visits, the longest first.
func (t *lcpIntervals) insertFull(i int) (n int) {
	if i >= t.prefetched {
		t.prefetched = t.prefetchPaths(i, len(t.nodes), allSteps)
	}
	return t.climb(i, allSteps)
}

// insertRange inserts the positions [i, end), which lie within a match, without a search. Each
// climbs at most maxInsertSteps segments. Above them, where matches are short, the earlier position
// stays. It may be out of reach where the window ends in the block: at one position in a thousand
// the longest match found is then shorter.
func (t *lcpIntervals) insertRange(i, end int) {
	for reached := t.prefetched; i < end; i++ {
		if i >= reached {
			reached = t.prefetchPaths(i, end, maxInsertSteps)
		}
		t.climb(i, maxInsertSteps)
	}
}

// climb moves position i up at most so many segments of its path. It returns the number of
// candidates in visits.
func (t *lcpIntervals) climb(i, most int) (n int) {
	nodes, links, shift := t.nodes, t.links, t.numberBits&31
	mask := uint32(1)<<shift - 1
	own := int32(i + 1)
	at, by := uint32(links[own]), uint32(0)
	links[own] = 0
	for { // intervals that no position has visited
		if at == 0 {
			return 0
		}
		node := &nodes[at&mask]
		if by = uint32(*node); by <= mask && by != 0 {
			break
		}
		*node = own
		at = by
	}
	for {
		link := &links[by]
		end := uint32(*link)
		for end > at { // by's segment was cut below this interval, by the position that nodes names
			by = uint32(nodes[end&mask])
			link = &links[by]
			end = uint32(*link)
		}
		nodes[at&mask] = own
		*link = int32(at)
		t.visits[n&maxClasses] = visit{at >> shift, int(by) - 1}
		n++
		if end == 0 || n == most {
			links[own] = int32(end)
			return n
		}
		at = end
		by = uint32(nodes[at&mask])
	}
}

// prefetchPaths prefetches the entries that up to prefetchAhead positions from i to end need for so
// many steps, one step of all of them at a time. It returns the first position that it did not
// reach.
//
// A step must wait for the one before it, but positions need not wait for each other. Each loop
// only reads, and its loads are prefetched before it.
func (t *lcpIntervals) prefetchPaths(i, end, steps int) (reached int) {
	nodes, links := t.nodes, t.links[:len(t.nodes)+1]
	mask := uint32(1)<<(t.numberBits&31) - 1
	var paths, last [prefetchAhead]uint32
	n := 0
	for _, at := range links[i+1 : min(i+prefetchAhead, end)+1] {
		paths[n%prefetchAhead] = uint32(at)
		n++
	}
	reached = i + n
	for ; n > minPrefetch && steps > 0; steps-- {
		paths, last := paths[:n], last[:n]
		simd.Prefetch(nodes, paths, mask)
		for k, at := range paths {
			in := uint32(nodes[at&mask])
			by := in
			if in > mask { // not visited
				by = 0
			}
			paths[k], last[k] = in, by
		}
		simd.Prefetch(links, last, mask)
		left := 0
		for k, by := range last {
			in, at := paths[k], uint32(links[by])
			if in > mask {
				at = in
			}
			paths[left] = at
			left += int((at | -at) >> 31) // unless at is the root
		}
		n = left
	}
	return reached
}

// find inserts position i and appends its candidates to dst, the shortest first, with lengths up to
// nice. Positions must ascend from call to call of find, insertFull and insertRange.
func (t *lcpIntervals) find(dst []candidate, src []byte, i int, model PriceModel) []candidate {
	end := min(len(src), i+t.nice)
	best, begin := t.minMatch-1, len(dst)
	for n := t.insertFull(i); n > 0; n-- {
		v := t.visits[(n-1)&maxClasses]
		d, length := i-v.at, t.lengths[v.class&maxClasses]
		if d > t.maxOffset {
			continue
		}
		if d < t.minOffset {
			if d = int(finder.LeastMultiple[d&(lz77.MinOffset-1)]); d > i || d > t.maxOffset {
				continue
			}
			length = kernels.EqualFrom(src, i-d, i, 0, end)
		} else if v.class >= t.firstWide {
			length = kernels.EqualFrom(src, i-d, i, length, end)
		}
		if length <= best || length == 3 && d > t.maxOffset3 {
			continue
		}
		best = length
		for len(dst) > begin && dst[len(dst)-1].offset() >= d { // positions that climbed less far
			dst = dst[:len(dst)-1]
		}
		dst = append(dst, newCandidate(length, d, model))
	}
	return dst
}
