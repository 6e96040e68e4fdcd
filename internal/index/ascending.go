package index

import "sort"

// Ascending chooses as many numbers as possible that ascend, none of them negative, and says which
// (Fredman 1975, "On computing the length of longest increasing subsequences").
func Ascending(numbers []int64) (keep []bool) {
	keep = make([]bool, len(numbers))
	sorted := true
	for i, n := range numbers {
		keep[i] = n >= 0
		sorted = sorted && keep[i] && (i == 0 || n > numbers[i-1])
	}
	if sorted {
		return keep
	}
	var ends []int // where the best rows of 1, 2, 3 … numbers end
	before := make([]int, len(numbers))
	for i, n := range numbers {
		if n < 0 {
			continue
		}
		k := sort.Search(len(ends), func(k int) bool { return numbers[ends[k]] >= n })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		}
		ends[k] = i
	}
	clear(keep)
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			keep[i] = true
		}
	}
	return keep
}
