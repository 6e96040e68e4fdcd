// Package suffix sorts the suffixes of a text. Time and memory are proportional to the size of the
// text, whatever it holds.
//
// The algorithm is SA-IS, induced sorting (Nong, Zhang and Chan, "Two Efficient Algorithms for Linear
// Time Suffix Array Construction", 2011). A suffix is of type S if it is less than the suffix one byte
// later, and of type L otherwise. An S suffix behind an L suffix is leftmost S, or LMS.
//
//  1. Put the LMS suffixes into the buckets of their first symbols, in any order.
//  2. Induce the order of LMS substrings, up to the next LMS suffix. A pass over the array from the
//     least suffix up places the L suffixes; a pass from the greatest down places the S suffixes.
//  3. Name the LMS substrings by that order. The names are a text of at most half the size. If names
//     repeat, sort its suffixes by recursion. This gives the order of the LMS suffixes.
//  4. Put the LMS suffixes into their buckets in order and induce the order of all others.
//
// index/suffixarray of the standard library uses the same algorithm; this one works in the caller's
// memory.
package suffix

import "slices"

// symbol is an element of a text: a byte, or the name of an LMS substring.
type symbol interface{ ~uint8 | ~int32 }

// Scratch returns the number of entries of scratch memory that Sort needs for a text of size bytes.
func Scratch(size int) int { return max(size, 2*256) }

// Sort sets sa to the beginnings of all suffixes of text in ascending order. A suffix that is a prefix
// of another one is less. sa and text have the same length, below 2³¹; Sort panics if their lengths
// differ. scratch has at least Scratch(len(text)) entries of any content. Concurrent calls need
// different sa and scratch.
func Sort(sa []int32, text []byte, scratch []int32) {
	if len(sa) != len(text) {
		panic("suffix: sa and text differ in length")
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

// buckets divides a suffix array by the first symbols of the suffixes.
type buckets struct {
	counts []int32 // number of suffixes by first symbol
	at     []int32 // next free place of each bucket, from its start or its end
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

// forEachLMS calls f with the beginnings of the LMS suffixes, from the last to the first.
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

// placeLMS puts the LMS suffixes at the ends of their buckets, in any order, and returns their number.
func placeLMS[T symbol](sa []int32, text []T, b buckets) (m int) {
	forEachLMS(text, func(i int) {
		m++
		c := text[i]
		b.at[c]--
		sa[b.at[c]] = int32(i)
	})
	return m
}

// During the passes each entry places the suffix that begins one symbol earlier. An entry is a beginning
// if this pass does that, and the complement of a beginning if the pass in the other direction does.
// No suffix begins before 0, so an entry of 0 is skipped like an empty one.

// complementIf returns the complement of k if yes, else k, without a branch.
func complementIf(k int32, yes bool) int32 {
	x := int32(0)
	if yes {
		x = -1
	}
	return k ^ x
}

// induceLPartial places the L suffixes by the order of the LMS substrings, and keeps only those that an
// S suffix precedes.
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

// induceSPartial places the S suffixes in the same way. It leaves the m LMS suffixes at the front of sa,
// in the order of their substrings.
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

// batch is the number of LMS substrings that nameLMS loads at a time, so that cache misses overlap.
const batch = 32

// nameLMS gives the m LMS suffixes, which are sorted by substring at the front of sa, ascending names;
// equal substrings get the same name. It returns the number of names. A name stands behind the m
// suffixes, at half the position of its suffix, as a complement; all other entries there are 0.
func nameLMS[T symbol](sa []int32, text []T, m int) (names int) {
	lengths := sa[m:]
	clear(lengths)
	// The entries hold the lengths of the substrings first, including the first symbol of the next.
	// The last substring reaches beyond the text, so that it equals no other.
	end := len(text) + 1
	forEachLMS(text, func(i int) {
		lengths[i/2] = int32(end - i)
		end = i + 1
	})
	last, length := 0, 0
	var (
		ahead [batch]int32 // lengths of the next substrings
		heads [batch]T     // their second symbols
		head  T
	)
	for i, j := range sa[:m] {
		if i%batch == 0 {
			for k, j := range sa[i:min(i+batch, m)] {
				ahead[k%batch], heads[k%batch] = lengths[j/2], text[j+1]
			}
		}
		p, n := int(j), int(ahead[i%batch])
		if h := heads[i%batch]; n != length || h != head || max(p, last)+n > len(text) ||
			!slices.Equal(text[p:p+n], text[last:last+n]) {
			names++
			last, length, head = p, n, h
		}
		lengths[p/2] = ^int32(names - 1)
	}
	return names
}

// reducedText moves the names of the m LMS suffixes to the end of sa, in the order of the text, and
// returns them.
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

// restorePositions turns the m indices of LMS suffixes at the front of sa into their beginnings.
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

// placeSortedLMS moves the sorted LMS suffixes from the front of sa to the ends of their buckets and
// clears all other entries.
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

// induceL places the L suffixes.
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

// induceS places the S suffixes.
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
