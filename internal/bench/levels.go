package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// levelSpec is what --levels says: levels by contestant, "" for all.
type levelSpec map[string][]int

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
			if err1 != nil || err2 != nil || hi < lo || hi > 99 {
				return nil, fmt.Errorf("%q is neither a level nor a range of levels", item)
			}
			for l := lo; l <= hi; l++ {
				spec[name] = append(spec[name], l)
			}
		}
	}
	return spec, nil
}

// of returns the levels for a contestant that has the levels lo … hi, those of def if nothing else was said.
func (s levelSpec) of(name string, def []int, lo, hi int) []int {
	levels, ok := s[name]
	if !ok {
		levels, ok = s[""]
	}
	if !ok {
		return def
	}
	return slices.DeleteFunc(slices.Clone(levels), func(l int) bool { return l < lo || l > hi })
}
