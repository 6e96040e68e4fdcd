package interp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gopz/compress/lz77"
)

// printUse prints the times by each bound in milliseconds.
func printUse(u *use, bytes float64) {
	var seconds [2]float64
	var bound [2]int
	var times [2][bounds]float64
	for i := range h100 {
		seconds[i], bound[i] = h100[i].estimate(u)
		times[i] = h100[i].times(u)
	}
	fmt.Printf("| `%s` |", u.name)
	for k := range bounds {
		fmt.Printf(" %s–%s |", short(times[1][k]*1e3), short(times[0][k]*1e3))
	}
	binds := boundNames[bound[0]]
	if bound[1] != bound[0] {
		binds += ", " + boundNames[bound[1]]
	}
	fmt.Printf(" %s | %s–%s |\n", binds, short(bytes/seconds[0]/1e9), short(bytes/seconds[1]/1e9))
}

// short formats a number with up to two digits, or as an integer.
func short(x float64) string {
	switch {
	case x < 0.05:
		return "0"
	case x < 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// sum is a group of kernels.
type sum struct {
	name    string
	symbols bool // its rate is that of symbols
	selects func(kernel string) bool
}

var sums = []sum{
	{"Fused", false, func(s string) bool { return s != "rans_decode" && s != "histogram" }},
	{"match finding", false, func(s string) bool { return strings.HasPrefix(s, "match_") }},
	{"rANS decode", true, func(s string) bool { return s == "rans_decode" }},
	{"rANS encode", true, func(s string) bool { return s == "rans_encode" }},
}

// printTotals prints the rates of groups of kernels in GB/s, for so many blocks. Behind them is how
// much faster they are if single figures of the low guess become those of the high one.
func printTotals(list []use, c *counted, blocks float64) {
	bytes, symbols := blocks*float64(c.size), blocks*float64(c.symbols)
	fmt.Printf("%.0f blocks, %.0f bytes, %.0f symbols in %.0f lane groups\n",
		blocks, bytes, symbols, blocks*float64(c.groups))
	for _, s := range sums {
		n := bytes
		if s.symbols {
			n = symbols
		}
		slow, fast := h100[0].total(list, s.selects), h100[1].total(list, s.selects)
		fmt.Printf("| %s | %.2f–%.2f |", s.name, n/slow/1e9, n/fast/1e9)
		for _, g := range guesses {
			m := h100[0]
			g.set(&m, &h100[1])
			fmt.Printf(" %s %.0f%%,", g.name, 100*(slow/m.total(list, s.selects)-1))
		}
		fmt.Println()
	}
	printChanges(list, bytes)
	printGroups(list, c)
	printSort(list, bytes)
}

// guesses sets single figures to another guess.
var guesses = []struct {
	name string
	set  func(m, to *machine)
}{
	{"clock", func(m, to *machine) { m.clock = to.clock }},
	{"reached", func(m, to *machine) { m.reached = to.reached }},
	{"threads", func(m, to *machine) { m.threads = to.threads }},
	{"issue", func(m, to *machine) { m.issue = to.issue }},
	{"expand", func(m, to *machine) { m.expand = to.expand }},
	{"hitCycles", func(m, to *machine) { m.hitCycles = to.hitCycles }},
	{"instruction", func(m, to *machine) { m.instruction = to.instruction }},
	{"loads", func(m, to *machine) { m.hit, m.miss, m.far = to.hit, to.miss, to.far }},
	{"missed", func(m, to *machine) { m.missed = to.missed }},
	{"fetch", func(m, to *machine) { m.fetch = to.fetch }},
	{"together", func(m, to *machine) { m.together = to.together }},
	{"atomic", func(m, to *machine) { m.atomic, m.conflict = to.atomic, to.conflict }},
	{"cache", func(m, to *machine) { m.cache = to.cache }},
}

// printChanges prints the rate of Fused in GB/s if the parse needed fewer instructions.
func printChanges(list []use, bytes float64) {
	for _, part := range []int64{1, 2, 4} {
		changed := slices.Clone(list)
		for i := range changed {
			if u := &changed[i]; u.name == "fused_parse" {
				for _, w := range []*Work{&u.Work, &u.Chain, &u.Longest} {
					w.Issued /= part
				}
			}
		}
		slow := h100[0].total(changed, sums[0].selects)
		fast := h100[1].total(changed, sums[0].selects)
		fmt.Printf("Fused, fused_parse with 1/%d of the instructions: %.2f–%.2f GB/s, %.0f–%.0f ms\n",
			part, bytes/slow/1e9, bytes/fast/1e9, fast*1e3, slow*1e3)
	}
}

// printGroups prints the rate of one lane group and of as many as are resident, in GB/s of symbols.
func printGroups(list []use, c *counted) {
	for i := range list {
		u := &list[i]
		if !strings.HasPrefix(u.name, "rans_") {
			continue
		}
		for _, m := range h100 {
			each := float64(c.symbols) / float64(c.groups) / (m.chain(u, &u.Longest) / m.clock) / 1e9
			slots := int(m.processors) * m.resident(u)
			fmt.Printf("%s: %.3f GB/s for a lane group, %d resident\n", u.name, each, slots)
		}
	}
}

// printSort prints the rate of a sort of 32-bit keys in G pairs/s on an RTX A5000. The passes are
// those of the counted sort, but as many as 32 bits need.
func printSort(list []use, bytes float64) {
	isSort := func(s string) bool {
		return strings.HasPrefix(s, "match_") && s != "match_hash" && s != "match_best"
	}
	passes := 0
	for i := range list {
		if list[i].name == "match_count" {
			passes = int(list[i].Dispatches)
		}
	}
	rowBits := int(lz77.Levels[*countLevel].HashLog) // the block is large enough for all rows
	digit := (rowBits + passes - 1) / passes
	all := (32 + digit - 1) / digit
	for _, m := range a5000() {
		seconds := m.total(list, isSort) * float64(all) / float64(passes)
		fmt.Printf("sort on an A5000, %d passes: %.2f G pairs/s\n", all, bytes/seconds/1e9)
	}
}
