// Package corpus makes test data of many kinds without files, and finds real files where there are some.
// It is for tests only: nothing that ships imports it.
//
// The bytes of a kind are a function of the seed alone: the same on every platform and in every run, and data of size m is the
// first m bytes of data of size n ≥ m. Generators therefore use integers only; floating point may be fused on some processors.
package corpus

// Kind is one sort of data.
type Kind struct {
	Name string // one word, fit for the name of a subtest
	Doc  string // what it is there for
	unit func(g *gen)
}

// Make returns n bytes of the kind, always the same.
func (k Kind) Make(n int) []byte { return k.MakeSeed(n, 0) }

// MakeSeed returns n bytes of the kind, different ones for every seed where the kind has anything to vary.
func (k Kind) MakeSeed(n int, seed uint64) []byte {
	// Units are mostly shorter than the slack, so that the last one seldom makes the buffer grow.
	const slack = 4 << 10
	g := &gen{rng: newRNG(seed), out: make([]byte, 0, n+slack)}
	for len(g.out) < n {
		k.unit(g)
	}
	return g.out[:n:n]
}

// Kinds returns every kind there is. The order is fixed; new kinds go to the end.
func Kinds() []Kind {
	return []Kind{
		{"text", "prose: words by Zipf's law, some word pairs far more common than others", text},
		{"log", "lines that differ in a clock, an address and a number", logLines},
		{"json", "nested records with the same keys and varying values", jsonRecords},
		{"source", "code: indentation, few keywords, names that come back nearby", source},
		{"records", "32-byte binary rows: period, slow counters, noise in the low bytes", records},
		{"columns", "the fields of such rows column by column, as a column store writes them", columns},
		{"dna", "four letters in lines of 60, with far and inexact repeats", dna},
		{"image", "16-bit samples of a smooth picture with noise: order-0 redundancy, hardly a match", image},
		{"exe", "x86-like instructions with call targets, jump tables and strings", executable},
		{"runs", "short patterns repeated, with every sort of period: 1, 2, odd ones, around powers of two", runs},
		{"far", "random data that repeats at distances from 64 KiB to 1 MiB", far},
		{"short", "random bytes and matches of 3 to 8 bytes: many sequences, little gain", short},
		{"sparse", "zeros with a rare byte: very long matches, near-certain symbols", sparse},
		{"skewed", "bytes of about two bits each without any match", skewed},
		{"flat", "shuffles of all 256 values: the flattest histogram there can be", flat},
		{"zeros", "one byte for ever", zeros},
		{"random", "nothing to gain", random},
		{"packed", "already compressed: frames of Rice codes, all but incompressible", packed},
		{"mixed", "pieces of all the others, of odd lengths, one after the other", mixed},
	}
}

// ByName returns the kind of that name; it panics if there is none, for that is a slip in a test.
func ByName(name string) Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	panic("corpus: no kind named " + name)
}
