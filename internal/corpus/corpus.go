// Package corpus generates test data of many kinds, and finds real files in the directory that
// PZ_CORPUS names. Only tests import it.
//
// The bytes of a kind depend on the seed alone: they are the same on every platform and in every
// run. Data of size m is a prefix of data of size n > m. Generators use integers only, because some
// processors fuse floating-point operations.
package corpus

// Kind is one kind of generated data.
type Kind struct {
	Name string // one word, usable as the name of a subtest
	Doc  string // content and purpose
	unit func(g *gen)
}

// Make returns n bytes of the kind with seed 0.
func (k Kind) Make(n int) []byte { return k.MakeSeed(n, 0) }

// MakeSeed returns n bytes of the kind. The seed changes everything in them that is random.
func (k Kind) MakeSeed(n int, seed uint64) []byte {
	// Most units are shorter than the slack, so the last one rarely makes the buffer grow.
	const slack = 4 << 10
	g := &gen{rng: newRNG(seed), out: make([]byte, 0, n+slack)}
	for len(g.out) < n {
		k.unit(g)
	}
	return g.out[:n:n]
}

// Kinds returns all kinds. The order is fixed; a new kind goes to the end.
func Kinds() []Kind {
	return []Kind{
		{"text", "prose: words by Zipf's law, a few word pairs much more common", text},
		{"log", "lines that differ in a clock, an address and a number", logLines},
		{"json", "nested records with constant keys and varying values", jsonRecords},
		{"source", "code: indentation, few keywords, names that repeat nearby", source},
		{"records", "32-byte binary rows: slow counters, noise in the low bytes", records},
		{"columns", "the fields of such rows, column by column as in a column store", columns},
		{"dna", "four letters in lines of 60, with distant and inexact repeats", dna},
		{"image", "16-bit samples of a smooth noisy picture: skewed symbols, few matches", image},
		{"exe", "x86-like instructions with call targets, jump tables and strings", executable},
		{"runs", "repeated short patterns, many periods: 1, 2, odd, around powers of two", runs},
		{"far", "random data that repeats at offsets from 64 KiB to 1 MiB", far},
		{"short", "random bytes and matches of 3 to 8 bytes: many sequences, little gain", short},
		{"sparse", "zeros with a rare byte: very long matches, near-certain symbols", sparse},
		{"skewed", "bytes with about two bits of entropy each, without matches", skewed},
		{"flat", "shuffles of all 256 values: a flat histogram", flat},
		{"zeros", "zero bytes only", zeros},
		{"random", "incompressible", random},
		{"packed", "compressed data: frames of Rice codes, almost incompressible", packed},
		{"mixed", "pieces of all other kinds, of odd lengths", mixed},
	}
}

// ByName returns the kind called name. It panics if there is none.
func ByName(name string) Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	panic("corpus: no kind named " + name)
}
