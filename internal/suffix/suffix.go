// Package suffix sorts the suffixes of a text, in time and memory proportional to its size whatever it holds.
//
// The method is induced sorting (Nong, Zhang and Chan, "Two Efficient Algorithms for Linear Time Suffix Array Construction", 2011). A suffix is small if it
// is below the one that begins a byte later, and large otherwise; small ones with a large one in front of them are called leftmost. Once the leftmost ones are in
// order, one pass over them from the least on puts the large ones into place, and one from the greatest down the small ones. The same two passes put leftmost ones
// in order as far as the next leftmost one; named by that order they are a text of half the size at most, whose suffixes have the order that is looked for.
package suffix

import "slices"

// symbol is what texts consist of: bytes, and names of what lies between leftmost suffixes.
type symbol interface{ ~uint8 | ~int32 }

// Scratch is how many entries of scratch memory Sort needs for a text of size bytes.
func Scratch(size int) int { return max(size, 2*256) }

// Sort sets sa to the beginnings of all suffixes of text, the least suffix first; one that is the beginning of another is below it. Both have the same length, less
// than 2³¹. The content of scratch, Scratch(len(text)) entries or more, does not matter. Calls with different memory may run at the same time.
func Sort(sa []int32, text []byte, scratch []int32) {
	if len(sa) != len(text) {
		panic("suffix: not as many entries as suffixes")
	}
	sort(sa, text, 256, scratch)
}

// sort is Sort for symbols below kinds.
func sort[T symbol](sa []int32, text []T, kinds int, scratch []int32) {
	n := len(text)
	if n < 2 {
		clear(sa)
		return
	}
	b := buckets{scratch[:kinds:kinds], scratch[kinds : 2*kinds : 2*kinds]}
	count(b, text)
	clear(sa)
	b.setEnds()
	m := placeLMS(sa, text, b)
	b.setStarts()
	induceLPartial(sa, text, b)
	b.setEnds()
	induceSPartial(sa, text, b, m)
	names := nameLMS(sa, text, m)
	if names < m {
		reduced := reducedText(sa, m)
		sort(sa[:m], reduced, names, scratch)
		restorePositions(sa, text, m)
		count(b, text)
	}
	b.setEnds()
	placeSortedLMS(sa, text, b, m)
	b.setStarts()
	induceL(sa, text, b)
	b.setEnds()
	induceS(sa, text, b)
}

// buckets are the parts of an array where suffixes that begin with the same symbol lie.
type buckets struct {
	counts []int32 // of suffixes, by symbol
	at     []int32 // an end of each bucket, which moves when it is filled from there
}

func count[T symbol](b buckets, text []T) {
	clear(b.counts)
	for _, c := range text {
		b.counts[c]++
	}
}

func (b buckets) setStarts() {
	sum, at := int32(0), b.at[:len(b.counts)]
	for c, n := range b.counts {
		at[c] = sum
		sum += n
	}
}

func (b buckets) setEnds() {
	sum, at := int32(0), b.at[:len(b.counts)]
	for c, n := range b.counts {
		sum += n
		at[c] = sum
	}
}

// leftmost calls f with the beginnings of the leftmost suffixes, from the last to the first.
func forEachLMS[T symbol](text []T, f func(i int)) {
	next, rising := text[len(text)-1], false
	for i := len(text) - 2; i >= 0; i-- {
		c := text[i]
		if c < next {
			rising = true
		} else if c > next && rising {
			rising = false
			f(i + 1)
		}
		next = c
	}
}

// placeLeftmost puts the leftmost suffixes at the ends of their buckets, in any order, and returns how many there are.
func placeLMS[T symbol](sa []int32, text []T, b buckets) (m int) {
	forEachLMS(text, func(i int) {
		m++
		c := text[i]
		b.at[c]--
		sa[b.at[c]] = int32(i)
	})
	return m
}

// In the passes an entry is the beginning of a suffix if the one that begins before it is to be placed from there in this pass, and its complement if in the pass of the other
// direction. What begins at 0 has none before it, and is left alone like an empty entry.

// mark returns the complement of k if yes, k otherwise, without a branch that nobody can foresee.
func complementIf(k int32, yes bool) int32 {
	x := int32(0)
	if yes {
		x = -1
	}
	return k ^ x
}

// partLarge places the large suffixes as far as the order of the leftmost ones goes, and leaves only those that small ones come in front of.
func induceLPartial[T symbol](sa []int32, text []T, b buckets) {
	at := b.at
	last := int32(len(text) - 1)
	c := text[last]
	sa[at[c]] = complementIf(last, text[last-1] < c)
	at[c]++
	for i := range sa {
		j := sa[i]
		if j <= 0 {
			continue
		}
		sa[i] = 0
		k := j - 1
		c := text[k]
		v := k
		if k > 0 {
			v = complementIf(k, text[k-1] < c)
		}
		to := at[c]
		at[c] = to + 1
		sa[to] = v
	}
}

// partSmall places the small ones likewise, and leaves the leftmost ones, m in all, at the end of sa.
func induceSPartial[T symbol](sa []int32, text []T, b buckets, m int) {
	at := b.at
	top := len(sa)
	for i := len(sa) - 1; i >= 0; i-- {
		j := sa[i]
		if j >= 0 {
			if j > 0 {
				top--
				sa[top] = j
			}
			continue
		}
		k := ^j - 1
		c := text[k]
		v := k
		if k > 0 {
			v = complementIf(k, text[k-1] <= c)
		}
		to := at[c] - 1
		at[c] = to
		sa[to] = v
	}
	copy(sa[:m], sa[len(sa)-m:])
}

// batch is how many names are made at a time: what they are made from is read first, for all of them, so that it is waited for once.
const batch = 32

// name gives leftmost suffixes, which lie in order at the front of sa, names in that order: those alike up to the next leftmost one have the same. It returns how many there are.
// Names are behind the m suffixes, at half of where the suffix begins, as complements; all else there is 0.
func nameLMS[T symbol](sa []int32, text []T, m int) (names int) {
	lengths := sa[m:]
	clear(lengths)
	// A suffix's length goes there first: up to the next leftmost one, with its first symbol. The last one goes beyond the text, and is like no other.
	end := len(text) + 1
	forEachLMS(text, func(i int) {
		lengths[i/2] = int32(end - i)
		end = i + 1
	})
	last, length := 0, 0
	var (
		ahead [batch]int32 // lengths of the next ones, and their second symbols
		heads [batch]T
		head  T
	)
	for i, j := range sa[:m] {
		if i%batch == 0 {
			for k, j := range sa[i:min(i+batch, m)] {
				ahead[k%batch], heads[k%batch] = lengths[j/2], text[j+1]
			}
		}
		p, n := int(j), int(ahead[i%batch])
		if h := heads[i%batch]; n != length || h != head || max(p, last)+n > len(text) || !slices.Equal(text[p:p+n], text[last:last+n]) {
			names++
			last, length, head = p, n, h
		}
		lengths[p/2] = ^int32(names - 1)
	}
	return names
}

// reduce moves the names of m leftmost suffixes to the end of sa, in the order of the text, and returns them.
func reducedText(sa []int32, m int) []int32 {
	to := len(sa)
	for i := len(sa) - 1; i >= m; i-- {
		if v := sa[i]; v < 0 {
			to--
			sa[to] = ^v
		}
	}
	return sa[to:]
}

// restore turns the m numbers of leftmost suffixes at the front of sa into where these begin.
func restorePositions[T symbol](sa []int32, text []T, m int) {
	begin := sa[len(sa)-m:]
	forEachLMS(text, func(i int) {
		m--
		begin[m] = int32(i)
	})
	for i, j := range sa[:len(begin)] {
		sa[i] = begin[j]
	}
}

// spread moves the leftmost suffixes from the front of sa to the ends of their buckets, in their order. All else is empty then.
func placeSortedLMS[T symbol](sa []int32, text []T, b buckets, m int) {
	clear(sa[m:])
	for i := m - 1; i >= 0; i-- {
		j := sa[i]
		sa[i] = 0
		c := text[j]
		b.at[c]--
		sa[b.at[c]] = j
	}
}

// large places the large suffixes.
func induceL[T symbol](sa []int32, text []T, b buckets) {
	at := b.at
	last := int32(len(text) - 1)
	c := text[last]
	sa[at[c]] = complementIf(last, text[last-1] < c)
	at[c]++
	for _, j := range sa {
		if j <= 0 {
			continue
		}
		k := j - 1
		c := text[k]
		v := k
		if k > 0 {
			v = complementIf(k, text[k-1] < c)
		}
		to := at[c]
		at[c] = to + 1
		sa[to] = v
	}
}

// small places the small ones.
func induceS[T symbol](sa []int32, text []T, b buckets) {
	at := b.at
	for i := len(sa) - 1; i >= 0; i-- {
		j := sa[i]
		if j >= 0 {
			continue
		}
		sa[i] = ^j
		k := ^j - 1
		c := text[k]
		v := k
		if k > 0 {
			v = complementIf(k, text[k-1] <= c)
		}
		to := at[c] - 1
		at[c] = to
		sa[to] = v
	}
}
