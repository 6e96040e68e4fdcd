package lz77

import (
	"math/bits"

	"github.com/gopz/compress/internal/suffix"
	"github.com/gopz/compress/simd"
)

// intervals finds, for each position, the nearest earlier match of every length there is a longer one than of all nearer ones; but that a position within a match, see enter, may be passed over for one farther back.
//
// In the sorted suffixes of the block those that have n bytes in common lie side by side: an interval of length n. It holds those of greater lengths, so that
// intervals are a tree with the suffixes as leaves (Abouelhoda, Kurtz and Ohlebusch, "Replacing suffix trees with enhanced suffix arrays", 2004). On the way from a suffix up to the
// root, the position that was the last to go through an interval is the nearest one that has as many bytes in common with it.
//
// A way is not gone interval by interval. What a position was the last to go through are stretches of ways, and only the lower end of a stretch is a candidate: the intervals above it have a
// shorter match with the same position. So each position keeps where its stretch ends. Another one that comes to it anywhere cuts it there, takes over what is above, and goes on behind the
// end. So are paths exposed in dynamic trees (Sleator and Tarjan, "A data structure for dynamic trees", 1983), in a number of stretches that on average grows with the logarithm of their
// size. An interval may name a position that has lost it, which leads to the one that cut it off, which may have lost it as well: to find who has it takes more steps then, for each stretch.
// On 512 KiB of data made to be bad for match finders there were 67 at the most, and 11 for a position on average where zeros have a few ones among
// them, 0.6 on text. No bound is proven: the intervals where one is cut off need not be of ever lower classes.
type lcpIntervals struct {
	// By number of the interval, from 1 on: the interval that it is in, until a position goes through it, and then that position, plus 1. That may have lost it since, when its
	// stretch was cut below.
	nodes []int32
	// By position, plus 1: the interval that its suffix is in, until it goes its way, and then the one that its stretch ends below. While intervals are made, what measure sets.
	links []int32
	// An interval is stated as its number and, above numberBits bits, the class of its length, from 1 on; 0 is the root, which is too short.
	numberBits uint
	classes    [PricedLengths]uint8 // by length
	lengths    [maxClasses + 1]int  // the least in each class
	firstWide  uint32               // the least class that has several lengths

	nice, minMatch, minOffset, maxOffset, maxOffset3 int

	prefetched int // the position up to which ways were looked at
	visits     [maxClasses + 1]visit
}

// visit is a candidate in the making: intervals of a class and of longer ones were last gone through by position at.
type visit struct {
	class uint32
	at    int
}

const (
	// maxClasses bounds the classes of lengths. On pieces of 5 to 12 MB of text, images, tables and XML 255, which tell all lengths apart, are no smaller (tables 0.3%), and slower on tables; 31
	// make tables and XML 0.5% larger.
	maxClasses = 63
	// entered is how many stretches of its way a position goes that no candidates are asked of, and wholeWay more than there are. Text, tables, programs and XML are within 0.1% of what they are with the whole way, in 0.93 of
	// the time on tables and XML. With 1 and 2 tables are 0.4% and 0.1% larger in layout Plain, and as fast.
	maxInsertSteps = 4
	allSteps       = 1 << 30
	// abreast is how many ways are looked at together, and fewAbreast how few are not worth while. 64 take 1.01 to 1.04 of the time, 256 as much.
	prefetchAhead = 128
	minPrefetch   = 7
)

// intervalsMemory is what they take for blocks of size bytes, in bytes, with what the runtime rounds up.
func lcpMemory(size int) int { return 4*size + 4*linksLen(size) + 16<<10 }

// linksRoom is how many links there are: where suffixes are sorted, they are scratch memory.
func linksLen(size int) int { return max(size+1, suffix.Scratch(size)) }

// reset begins a block of which what lies before start is in front of it.
func (t *lcpIntervals) reset(params *Params, limits *Limits, src []byte, start int) {
	n := len(src)
	if cap(t.nodes) < n {
		t.nodes, t.links = make([]int32, n), make([]int32, linksLen(n))
	}
	t.nodes, t.links = t.nodes[:n], t.links[:linksLen(n)]
	t.nice, t.minMatch = params.Nice, params.minNewMatch(limits)
	t.minOffset, t.maxOffset = limits.minOffset(), limits.MaxOffset
	t.maxOffset3 = limits.maxOffset3()
	t.classify(n)
	suffix.Sort(t.nodes, src, t.links)
	t.computeLCP(src)
	t.build()
	t.prefetched = 0
	for i := range start {
		t.insertFull(i)
	}
}

// classify makes the classes of lengths for a block of n bytes: one for each of the short lengths, if there are too many then others for several of the long ones, and one for nice.
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

// measure sets links, by position plus 1, to the class of how many bytes its suffix has in common with the one below it in the sorted suffixes, which are in nodes.
//
// From one position of the text to the next that falls by one at most (Kasai and others, "Linear-Time Longest-Common-Prefix Computation in Suffix Arrays and Its Applications", 2001; Kärkkäinen, Manzini and
// Puglisi, "Permuted Longest-Common-Prefix Array", 2009), so that what is known to be equal need not be compared. Within a batch what is known is what the last position in front of it had, less the way from
// there: up to batch bytes are compared once more, and the time is still in proportion to the text.
func (t *lcpIntervals) computeLCP(src []byte) {
	var begin [batch]uint64 // the bytes below, behind those that are known to be equal: loaded one by one, each would be waited for
	nodes, links, last := t.nodes, t.links[:len(t.nodes)+1], len(src)-8
	from := nodes[0] // itself: there is none below it
	for _, p := range nodes {
		links[p+1] = from
		from = p
	}
	n := 0
	for p := 0; p < len(nodes); p += batch {
		below, least := links[p+1:min(p+1+batch, len(links))], n-1
		for k, q := range below {
			begin[k%batch] = load64(src, min(int(q)+max(least-k, 0), last))
		}
		for k, q := range below {
			a, b, known := min(int(q), p+k), max(int(q), p+k), max(least-k, 0)
			if a == b {
				n = 0
			} else if x := begin[k%batch] ^ load64(src, min(p+k+known, last)); x != 0 && b+known <= last {
				n = min(known+bits.TrailingZeros64(x)>>3, t.nice)
			} else {
				n = commonBytes(src, a, b, known, min(len(src), b+t.nice))
			}
			below[k] = int32(t.classes[n])
		}
	}
}

// build turns the sorted suffixes, which are in nodes, and the classes that measure set, into intervals. Both are overwritten on the way: each entry after it was read.
func (t *lcpIntervals) build() {
	var (
		open    [maxClasses + 1]uint32 // the intervals that go on, each of them in the one before
		top     = 0
		number  = uint32(0)
		classes [batch]uint32 // of what the next suffixes have in common with those below them: loaded one by one, each would be waited for
	)
	nodes, links, shift := t.nodes, t.links, t.numberBits&31
	mask := uint32(1)<<shift - 1
	last := int(nodes[0])
	for i := 0; i <= len(nodes); i++ {
		p, class := 0, uint32(0)
		if i < len(nodes) {
			if i%batch == 0 {
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
		// There are no more numbers than suffixes that have been read, whose places they take.
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
	nodes[0], links[0] = 0, 0 // for look
}

// loadLinks has the links loaded of the batch of sorted suffixes that begins at i.
func (t *lcpIntervals) prefetchLinks(i int) {
	var at [batch]uint32
	n := 0
	for _, p := range t.nodes[min(i, len(t.nodes)):min(i+batch, len(t.nodes))] {
		at[n%batch] = uint32(p + 1)
		n++
	}
	simd.Prefetch(t.links, at[:n], 1<<32-1)
}

// pass lets position i go its way, from its suffix up to the root, and returns how many candidates there are; they are in found, the longest first.
func (t *lcpIntervals) insertFull(i int) (n int) {
	if i >= t.prefetched {
		t.prefetched = t.prefetchPaths(i, len(t.nodes), allSteps)
	}
	return t.climb(i, allSteps)
}

// enter lets the positions from i to end, which lie within a match and have no candidates of their own, go the beginnings of their ways. Above them, where matches are short, the position stays that was there. Where the window
// ends in the block that one may be out of reach, which is no loss that counts: at some position in a thousand the longest match is a shorter one.
func (t *lcpIntervals) insertRange(i, end int) {
	for seen := t.prefetched; i < end; i++ {
		if i >= seen {
			seen = t.prefetchPaths(i, end, maxInsertSteps)
		}
		t.climb(i, maxInsertSteps)
	}
}

// climb lets position i go so many stretches of its way at the most, and returns how many candidates it came to.
func (t *lcpIntervals) climb(i, most int) (n int) {
	nodes, links, shift := t.nodes, t.links, t.numberBits&31
	mask := uint32(1)<<shift - 1
	own := int32(i + 1)
	at, by := uint32(links[own]), uint32(0)
	links[own] = 0
	for { // as long as nobody was there
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
		for end > at { // it has lost this interval to another one, and that perhaps to a third
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

// look loads what positions from i to end will need for so many steps, a step of all of them at a time, and returns the first one that it did not get to. Each step has to wait for the one before; those of different positions need not wait for each other. Nothing else
// is in the loops that read, each of which has what it reads asked for before it.
func (t *lcpIntervals) prefetchPaths(i, end, steps int) (seen int) {
	nodes, links := t.nodes, t.links[:len(t.nodes)+1]
	mask := uint32(1)<<(t.numberBits&31) - 1
	var ways, last [prefetchAhead]uint32
	n := 0
	for _, at := range links[i+1 : min(i+prefetchAhead, end)+1] {
		ways[n%prefetchAhead] = uint32(at)
		n++
	}
	seen = i + n
	for ; n > minPrefetch && steps > 0; steps-- {
		ways, last := ways[:n], last[:n]
		simd.Prefetch(nodes, ways, mask)
		for k, at := range ways {
			in := uint32(nodes[at&mask])
			by := in
			if in > mask { // nobody was there
				by = 0
			}
			ways[k], last[k] = in, by
		}
		simd.Prefetch(links, last, mask)
		left := 0
		for k, by := range last {
			in, at := ways[k], uint32(links[by])
			if in > mask {
				at = in
			}
			ways[left] = at
			left += int((at | -at) >> 31) // if it is not the root
		}
		n = left
	}
	return seen
}

// find appends the candidates of position i to dst, shortest first; lengths go up to nice. Each call of find, pass and enter must be for positions behind all that were before.
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
			if d = int(leastMultiple[d&(MinOffset-1)]); d > i || d > t.maxOffset {
				continue
			}
			length = commonBytes(src, i-d, i, 0, end)
		} else if v.class >= t.firstWide {
			length = commonBytes(src, i-d, i, length, end)
		}
		if length <= best || length == 3 && d > t.maxOffset3 {
			continue
		}
		best = length
		for len(dst) > begin && dst[len(dst)-1].offset() >= d { // those between did not go as far
			dst = dst[:len(dst)-1]
		}
		dst = append(dst, newCandidate(length, d, model))
	}
	return dst
}
