package merge

import (
	"errors"
	"slices"

	"github.com/gopz/compress"
)

// Most combinations that are tried: those of ten runs in two copies, and as many of parts.
const (
	triesOfBlock = 2048
	triesOfFile  = 256
)

// try looks for choices with which f succeeds, among the parts that f reads and that are not
// confirmed. It tries the present choices, those of each copy alone, combinations of whole runs,
// and then those of parts, from the likeliest ones on, most in all. If f never succeeds, the
// likeliest choices stay, and the error is that of the first call, or of the first one that has
// known the format.
func (c *copies) try(most int, f func() error) error {
	for _, p := range c.open { // by reads before this
		p.open = false
	}
	c.open = c.open[:0]
	var first error
	next := c.combinations(most / 2)
	for range most {
		err := f()
		switch {
		case err == nil:
			return nil
		case stops(err):
			return err
		case first == nil, errors.Is(first, compress.ErrFormat) && !errors.Is(err, compress.ErrFormat):
			first = err
		}
		if !next() {
			break
		}
	}
	take(c.open, likeliest)
	return first
}

// combinations returns a function that makes the next choice of the open parts, of which there may
// be more each time. It returns false behind the last one. At most mostRuns of them are of whole
// runs.
func (c *copies) combinations(mostRuns int) (next func() bool) {
	const (
		byCopy = iota
		byRun
		byPart
	)
	stage, n := byCopy, 0
	var runs []*run
	return func() bool {
		if stage == byCopy {
			if n < len(c.list) {
				take(c.open, n)
				n++
				return true
			}
			stage, n = byRun, 0
			take(c.open, likeliest)
			return true
		}
		if stage == byRun {
			runs = c.addRuns(runs)
			n++
			if n < mostRuns && advanceRuns(runs) {
				return true
			}
			stage = byPart
			take(c.open, likeliest)
		}
		return advance(c.open)
	}
}

// likeliest stands in place of the number of a copy.
const likeliest = -1

// take takes parts from one copy as far as it has them, else the likeliest choices.
func take(parts []*part, copy int) {
	for _, p := range parts {
		p.pick = 0
		if copy != likeliest {
			p.pick = max(0, p.of[copy])
		}
	}
}

// run is the open parts of a run.
type run struct {
	number int
	parts  []*part
	copy   int // that all parts are taken from, or likeliest
}

// addRuns adds the open parts that are in no run yet.
func (c *copies) addRuns(runs []*run) []*run {
	known := 0
	for _, r := range runs {
		known += len(r.parts)
	}
	for _, p := range c.open[known:] {
		i := slices.IndexFunc(runs, func(r *run) bool { return r.number == p.run })
		if i < 0 {
			i = len(runs)
			runs = append(runs, &run{number: p.run, copy: likeliest})
		}
		runs[i].parts = append(runs[i].parts, p)
	}
	return runs
}

// advanceRuns goes to the next combination of copies. It returns false behind the last one.
func advanceRuns(runs []*run) bool {
	for _, r := range runs {
		for r.copy++; r.copy < len(r.parts[0].of); r.copy++ {
			// A single part has a choice for each variant.
			if k := r.parts[0].of[r.copy]; len(r.parts) > 1 || k > 0 && r.parts[0].choices[k] == r.copy {
				take(r.parts, r.copy)
				return true
			}
		}
		r.copy = likeliest
		take(r.parts, likeliest)
	}
	return false
}

// advance goes to the next combination. It returns false behind the last one.
func advance(open []*part) bool {
	for _, p := range open {
		p.pick++
		if p.pick < len(p.choices) {
			return true
		}
		p.pick = 0
	}
	return false
}
