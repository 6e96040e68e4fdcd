// Package suffix sorts the suffixes of a text. Time and memory are proportional to the size of the
// text, whatever it holds.
//
// The algorithm is SA-IS, induced sorting (Nong, Zhang and Chan, "Two Efficient Algorithms for
// Linear Time Suffix Array Construction", 2011). A suffix is of type S if it is less than the
// suffix one byte later, and of type L otherwise. An S suffix behind an L suffix is leftmost S, or
// LMS.
//
//  1. Put the LMS suffixes into the buckets of their first symbols, in any order.
//  2. Induce the order of LMS substrings, up to the next LMS suffix. A pass over the array from the
//     least suffix up places the L suffixes; a pass from the greatest down places the S suffixes.
//  3. Name the LMS substrings by that order. The names are a text of at most half the size. If
//     names repeat, sort its suffixes by recursion. This gives the order of the LMS suffixes.
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

// Sort sets sa to the beginnings of all suffixes of text in ascending order. A suffix that is a
// prefix of another one is less. sa and text have the same length, below 2³¹; Sort panics if their
// lengths differ. scratch has at least Scratch(len(text)) entries of any content. Concurrent calls
// need different sa and scratch.
//
// Sort calls checkpoint, unless it is nil, after each piece of at most 1<<15 entries or symbols of
// every pass. checkpoint may panic; sa and scratch then hold nothing of use.
func Sort(sa []int32, text []byte, scratch []int32, checkpoint func()) {
	if len(sa) != len(text) {
		panic("suffix: sa and text differ in length")
	}
	if checkpoint == nil {
		checkpoint = func() {}
	}
	sort(sa, text, 256, scratch, checkpoint)
}

// piece is the number of entries or symbols between checkpoints. A random access to memory may take
// 100 ns, so a piece takes up to 3 ms.
const piece = 1 << 15

// sort is Sort for symbols below kinds.
func sort[T symbol](sa []int32, text []T, kinds int, scratch []int32, checkpoint func()) {
	n := len(text)
	if n < 2 {
		clear(sa)
		return
	}
	b := buckets{scratch[:kinds:kinds], scratch[kinds : 2*kinds : 2*kinds]}
	count(b, text, checkpoint)
	clearPieces(sa, checkpoint)
	b.setEnds(checkpoint)
	m := placeLMS(sa, text, b, checkpoint)
	b.setStarts(checkpoint)
	induceL(sa, text, b, induceLPartialPiece[T], checkpoint)
	b.setEnds(checkpoint)
	induceSPartial(sa, text, b, m, checkpoint)
	names := nameLMS(sa, text, m, checkpoint)
	if names < m {
		reduced := reducedText(sa, m, checkpoint)
		sort(sa[:m], reduced, names, scratch, checkpoint)
		restorePositions(sa, text, m, checkpoint)
		count(b, text, checkpoint)
	}
	b.setEnds(checkpoint)
	placeSortedLMS(sa, text, b, m, checkpoint)
	b.setStarts(checkpoint)
	induceL(sa, text, b, induceLPiece[T], checkpoint)
	b.setEnds(checkpoint)
	induceS(sa, text, b, checkpoint)
}

// firstPiece returns the first piece of p and the rest.
func firstPiece[E any](p []E) (part, rest []E) {
	n := min(piece, len(p))
	return p[:n], p[n:]
}

// lastPiece returns the last piece of p and the rest.
func lastPiece[E any](p []E) (part, rest []E) {
	n := max(0, len(p)-piece)
	return p[n:], p[:n]
}

// clearPieces clears p.
func clearPieces(p []int32, checkpoint func()) {
	for len(p) > 0 {
		part, rest := firstPiece(p)
		clear(part)
		p = rest
		checkpoint()
	}
}

// buckets divides a suffix array by the first symbols of the suffixes.
type buckets struct {
	counts []int32 // number of suffixes by first symbol
	at     []int32 // next free place of each bucket, from its start or its end
}

func count[T symbol](b buckets, text []T, checkpoint func()) {
	clearPieces(b.counts, checkpoint)
	for len(text) > 0 {
		part, rest := firstPiece(text)
		for _, c := range part {
			b.counts[c]++
		}
		text = rest
		checkpoint()
	}
}

func (b buckets) setStarts(checkpoint func()) {
	sum, counts, at := int32(0), b.counts, b.at
	for len(counts) > 0 {
		part, rest := firstPiece(counts)
		to := at[:len(part)]
		for c, n := range part {
			to[c] = sum
			sum += n
		}
		counts, at = rest, at[len(part):]
		checkpoint()
	}
}

func (b buckets) setEnds(checkpoint func()) {
	sum, counts, at := int32(0), b.counts, b.at
	for len(counts) > 0 {
		part, rest := firstPiece(counts)
		to := at[:len(part)]
		for c, n := range part {
			sum += n
			to[c] = sum
		}
		counts, at = rest, at[len(part):]
		checkpoint()
	}
}

// forEachLMS calls f with the beginnings of the LMS suffixes behind text[from:end], from the last
// to the first. next is the symbol at end, and rising says whether it begins an S suffix.
// forEachLMS returns both for from.
func forEachLMS[T symbol](
	text []T, from, end int, next T, rising bool, f func(i int),
) (T, bool) {
	for i := end - 1; i >= from; i-- {
		c := text[i]
		if c < next {
			rising = true
		} else if c > next && rising {
			rising = false
			f(i + 1)
		}
		next = c
	}
	return next, rising
}

// placeLMS puts the LMS suffixes at the ends of their buckets, in any order, and returns their
// number.
func placeLMS[T symbol](sa []int32, text []T, b buckets, checkpoint func()) (m int) {
	next, rising := text[len(text)-1], false
	for to := len(text) - 1; to > 0; to -= piece {
		next, rising = forEachLMS(text, max(0, to-piece), to, next, rising, func(i int) {
			m++
			c := text[i]
			b.at[c]--
			sa[b.at[c]] = int32(i)
		})
		checkpoint()
	}
	return m
}

// batch is the number of LMS substrings that nameLMS loads at a time, so that cache misses overlap.
const batch = 32

// nameLMS gives the m LMS suffixes, which are sorted by substring at the front of sa, ascending
// names; equal substrings get the same name. It returns the number of names. A name stands behind
// the m suffixes, at half the position of its suffix, as a complement; all other entries there are
// 0.
func nameLMS[T symbol](sa []int32, text []T, m int, checkpoint func()) (names int) {
	lengths := sa[m:]
	clearPieces(lengths, checkpoint)
	// The entries hold the lengths of the substrings first, including the first symbol of the next.
	// The last substring reaches beyond the text, so that it equals no other.
	end := len(text) + 1
	next, rising := text[len(text)-1], false
	for to := len(text) - 1; to > 0; to -= piece {
		next, rising = forEachLMS(text, max(0, to-piece), to, next, rising, func(i int) {
			lengths[i/2] = int32(end - i)
			end = i + 1
		})
		checkpoint()
	}
	last, length := 0, 0
	var (
		ahead [batch]int32 // lengths of the next substrings
		heads [batch]T     // their second symbols
		head  T
	)
	compared := 0 // work since the last checkpoint
	for i, j := range sa[:m] {
		if i%batch == 0 {
			if compared += 4 * batch; compared >= piece {
				compared = 0
				checkpoint()
			}
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
		compared += n / 8
		lengths[p/2] = ^int32(names - 1)
	}
	return names
}

// reducedText moves the names of the m LMS suffixes to the end of sa, in the order of the text, and
// returns them.
func reducedText(sa []int32, m int, checkpoint func()) []int32 {
	to := len(sa)
	for left := sa[m:]; len(left) > 0; {
		part, rest := lastPiece(left)
		for i := len(part) - 1; i >= 0; i-- {
			if v := part[i]; v < 0 {
				to--
				sa[to] = ^v
			}
		}
		left = rest
		checkpoint()
	}
	return sa[to:]
}

// restorePositions turns the m indices of LMS suffixes at the front of sa into their beginnings.
func restorePositions[T symbol](sa []int32, text []T, m int, checkpoint func()) {
	begin := sa[len(sa)-m:]
	next, rising := text[len(text)-1], false
	for to := len(text) - 1; to > 0; to -= piece {
		next, rising = forEachLMS(text, max(0, to-piece), to, next, rising, func(i int) {
			m--
			begin[m] = int32(i)
		})
		checkpoint()
	}
	for left := sa[:len(begin)]; len(left) > 0; {
		part, rest := firstPiece(left)
		for i, j := range part {
			part[i] = begin[j]
		}
		left = rest
		checkpoint()
	}
}

// placeSortedLMS moves the sorted LMS suffixes from the front of sa to the ends of their buckets
// and clears all other entries.
func placeSortedLMS[T symbol](sa []int32, text []T, b buckets, m int, checkpoint func()) {
	clearPieces(sa[m:], checkpoint)
	for left := sa[:m]; len(left) > 0; {
		part, rest := lastPiece(left)
		for i := len(part) - 1; i >= 0; i-- {
			j := part[i]
			part[i] = 0
			c := text[j]
			b.at[c]--
			sa[b.at[c]] = j
		}
		left = rest
		checkpoint()
	}
}
