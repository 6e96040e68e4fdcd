package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// levelSpec is the value of --levels: levels by tool, those under "" for all other tools.
type levelSpec map[string][]int

// maxLevel bounds the levels that --levels may name.
const maxLevel = 99

// parseLevels parses lists separated by spaces. "1,3-5 zstd=19" stands for level 19 of zstd and
// levels 1, 3, 4 and 5 of all others.
func parseLevels(s string) (levelSpec, error) {
	spec := levelSpec{}
	for word := range strings.FieldsSeq(s) {
		name, list, ok := strings.Cut(word, "=")
		if !ok {
			name, list = "", word
		}
		for item := range strings.SplitSeq(list, ",") {
			first, last, isRange := strings.Cut(item, "-")
			if !isRange {
				last = first
			}
			lo, err1 := strconv.Atoi(first)
			hi, err2 := strconv.Atoi(last)
			if err1 != nil || err2 != nil || hi < lo || hi > maxLevel {
				return nil, fmt.Errorf("%q is neither a level nor a range of levels", item)
			}
			for l := lo; l <= hi; l++ {
				spec[name] = append(spec[name], l)
			}
		}
	}
	return spec, nil
}

// of returns the levels of a tool that has levels lo to hi, or def if the spec names none for it.
func (s levelSpec) of(tool string, def []int, lo, hi int) []int {
	levels, ok := s[tool]
	if !ok {
		levels, ok = s[""]
	}
	if !ok {
		return def
	}
	return slices.DeleteFunc(slices.Clone(levels), func(l int) bool { return l < lo || l > hi })
}

// span returns the levels lo to hi.
func span(lo, hi int) (levels []int) {
	for l := lo; l <= hi; l++ {
		levels = append(levels, l)
	}
	return levels
}
