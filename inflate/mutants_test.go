package inflate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// python writes .gz with zlib: its arguments are a level, window bits, memory level and strategy.
const python = `import sys, zlib
level, window, memory, strategy = map(int, sys.argv[1:])
c = zlib.compressobj(level, 8, 16 + window, memory, strategy)
p = sys.stdin.buffer.read()
sys.stdout.buffer.write(c.compress(p[:len(p) // 2]) + c.flush(zlib.Z_PARTIAL_FLUSH))
sys.stdout.buffer.write(c.compress(p[len(p) // 2:]) + c.flush())
`

// streamWriters are programs that write .gz from standard input to standard output. FILE stands for
// the name of a file with the content.
var streamWriters = [][]string{
	{"gzip", "-1"}, {"gzip", "-6"}, {"gzip", "-9"}, {"pigz", "-1"}, {"pigz", "-9"}, {"pigz", "-11"},
	{"libdeflate-gzip", "-1"}, {"libdeflate-gzip", "-6"}, {"libdeflate-gzip", "-12"},
	{"7z", "a", "-an", "-tgzip", "-mx=9", "-si", "-so"},
	{"zopfli", "-c", "FILE"}, {"bgzip"}, {"igzip", "-0"}, {"igzip", "-3"},
	{"python3", "-c", python, "1", "15", "9", "0"}, {"python3", "-c", python, "2", "15", "1", "0"},
	{"python3", "-c", python, "3", "9", "8", "0"}, {"python3", "-c", python, "4", "15", "8", "1"},
	{"python3", "-c", python, "5", "12", "8", "0"}, {"python3", "-c", python, "6", "15", "8", "0"},
	{"python3", "-c", python, "7", "15", "8", "3"}, {"python3", "-c", python, "8", "15", "8", "4"},
	{"python3", "-c", python, "9", "15", "8", "2"}, {"python3", "-c", python, "0", "15", "8", "0"},
}

// firstStream returns the stream of the first member of a file.
func firstStream(t testing.TB, file []byte) []byte {
	t.Helper()
	at := 10
	if file[3]&4 != 0 {
		at += 2 + int(file[10]) + int(file[11])<<8
	}
	if file[3]&8 != 0 {
		at += bytes.IndexByte(file[at:], 0) + 1
	}
	got := byStandard(file[at:])
	if got.err != nil {
		t.Fatal(got.err)
	}
	return file[at : at+got.used]
}

// An example is a stream to mutate, taken apart.
type example struct {
	writer string
	list   []block
}

// examples returns streams of all programs that are installed, of compress/flate and of this module.
func examples(t testing.TB) (list []example) {
	r := rand.New(rand.NewPCG(9, 10))
	add := func(writer string, src []byte) {
		t.Helper()
		blocks, err := takeApart(src)
		if err != nil {
			t.Fatalf("%s: %v", writer, err)
		}
		again := putTogether(r, blocks)
		got, want := byStandard(again), byStandard(src)
		if got.err != nil || !bytes.Equal(got.content, want.content) {
			t.Fatalf("%s: %v, put together to %d bytes: %x", writer, got.err, len(again), again)
		}
		list = append(list, example{writer, blocks})
	}
	contents := [][]byte{text(300), text(5000), corpus.ByName("records").Make(2000),
		corpus.ByName("zeros").Make(3000), slices.Concat(corpus.ByName("random").Make(200), text(2000))}
	if !testing.Short() {
		contents = append(contents, slices.Concat(text(6000), make([]byte, 30_000), text(6000)))
	}
	path := filepath.Join(t.TempDir(), "content")
	for i, content := range contents {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		for level := -2; level <= 9; level += 1 + len(contents)%2 {
			add("compress/flate", standard(t, content, level))
		}
		add("flushes", flushed(t, content, 6, 500))
		for k, args := range streamWriters {
			// Starting programs takes most of the time.
			if _, err := exec.LookPath(args[0]); err != nil || !testenv.All() && i != k%len(contents) {
				continue
			}
			args = slices.Clone(args)
			for i := range args {
				if args[i] == "FILE" {
					args[i] = path
				}
			}
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Stdin = bytes.NewReader(content)
			file, err := cmd.Output()
			if err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			add(args[0], firstStream(t, file))
		}
	}
	for n := range 40 {
		add("deflate", random(r, 10*n+1))
	}
	return list
}

// A mutation changes blocks. It may change the list, but neither blocks nor tokens in place.
type mutation struct {
	name   string
	change func(r *rand.Rand, list []block) []block
}

// mutations of the structure. Some leave a stream valid.
var mutations = []mutation{
	{"lengths", changeLengths},
	{"new codes", func(r *rand.Rand, list []block) []block {
		return changeBlock(r, list, func(b *block) { b.recode(r) })
	}},
	{"tokens", changeTokens},
	{"stored block", func(r *rand.Rand, list []block) []block {
		b := block{padding: r.IntN(128), badSize: r.IntN(16) == 0}
		b.stored = corpus.ByName("random").Make([]int{0, 0, 1, r.IntN(40), r.IntN(1000), 40_000}[r.IntN(6)])
		return slices.Insert(list, r.IntN(len(list)+1), b)
	}},
	{"empty block", func(r *rand.Rand, list []block) []block {
		b := block{kind: 1 + r.IntN(2)}
		if b.kind == 2 {
			b.recode(r)
		}
		return slices.Insert(list, r.IntN(len(list)+1), b)
	}},
	{"header", func(r *rand.Rand, list []block) []block {
		return changeBlock(r, list, func(b *block) { b.tamper = tampering(r.IntN(int(tamperings))) })
	}},
	{"counts", func(r *rand.Rand, list []block) []block {
		return changeBlock(r, list, func(b *block) {
			b.literals = resize(b.literals, endOfBlock+1+r.IntN(32))
			b.offsets = resize(b.offsets, 1+r.IntN(32))
		})
	}},
	{"kind", func(r *rand.Rand, list []block) []block {
		return changeBlock(r, list, func(b *block) {
			b.kind, b.endless = r.IntN(4), r.IntN(8) == 0
			if len(b.literals) == 0 || len(b.literals) > maxLiterals {
				b.recode(r)
			}
		})
	}},
	{"order", func(r *rand.Rand, list []block) []block {
		r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		return list[:1+r.IntN(len(list))]
	}},
}

// resize cuts lengths off, or appends zeros.
func resize(l []int, n int) []int {
	keep := min(n, len(l))
	return append(l[:keep:keep], make([]int, n-keep)...)
}

// changeBlock changes a block, preferably one with codes.
func changeBlock(r *rand.Rand, list []block, change func(*block)) []block {
	at := r.IntN(len(list))
	if list[at].kind == 0 {
		at = r.IntN(len(list))
	}
	change(&list[at])
	return list
}

// recode gives a block new codes, with codewords for its symbols and for some others.
func (b *block) recode(r *rand.Rand) {
	used, offsets := make([]bool, maxLiterals), make([]bool, maxOffsets)
	used[endOfBlock] = r.IntN(16) > 0
	for _, t := range b.tokens {
		used[min(t.symbol, maxLiterals-1)] = true
		if t.symbol > endOfBlock {
			offsets[min(t.offset, maxOffsets-1)] = true
		}
	}
	for range r.IntN(2) * r.IntN(300) {
		used[r.IntN(len(used))] = true
		offsets[r.IntN(len(offsets))] = true
	}
	b.kind = 2
	b.literals = randomLengths(r, used, maxBits)
	b.offsets = randomLengths(r, offsets, maxBits)
}

// changeLengths changes the length of a codeword or two, or exchanges two.
func changeLengths(r *rand.Rand, list []block) []block {
	return changeBlock(r, list, func(b *block) {
		l := &b.literals
		if r.IntN(2) == 0 {
			l = &b.offsets
		}
		if len(*l) == 0 {
			return
		}
		*l = slices.Clone(*l)
		i, k := r.IntN(len(*l)), r.IntN(len(*l))
		switch r.IntN(3) {
		case 0:
			(*l)[i], (*l)[k] = (*l)[k], (*l)[i]
		case 1:
			(*l)[i] = r.IntN(maxBits + 1)
		default: // still complete if both codewords are of a length
			(*l)[i], (*l)[k] = min((*l)[i]+1, maxBits), max((*l)[k]-1, 0)
		}
	})
}

// changeTokens makes some tokens matches at the limits of the format: offsets at the edge of the
// content or the window, lengths of 258 in both forms, symbols that are reserved.
func changeTokens(r *rand.Rand, list []block) []block {
	at, content := r.IntN(len(list)), 0
	for _, b := range list[:at] {
		content += len(b.stored)
		for _, t := range b.tokens {
			content += t.size()
		}
	}
	b := &list[at]
	b.tokens = slices.Clone(b.tokens)
	rare := 1 + r.IntN(1+len(b.tokens))
	for i := range b.tokens {
		t := &b.tokens[i]
		if r.IntN(rare) == 0 {
			if t.symbol <= endOfBlock || r.IntN(2) == 0 {
				forms := [][2]int{{285, 0}, {284, 31}, {284, 30}, {257, 0}, {257 + r.IntN(31), 0}}
				form := forms[r.IntN(len(forms))]
				t.symbol, t.extra = form[0], form[1]
			}
			edges := []int{content, content + 1, WindowSize, 1, 1 + r.IntN(WindowSize)}
			t.setOffset(edges[r.IntN(len(edges))])
			if r.IntN(20) == 0 {
				t.offset, t.offsetExtra = 30+r.IntN(2), 0
			}
		}
		content += t.size()
	}
	if b.kind == 2 && r.IntN(8) > 0 {
		b.recode(r)
	}
	return list
}

// size returns the size of the content of a token in bytes.
func (t *blockToken) size() int {
	if t.symbol <= endOfBlock {
		return 1
	}
	return int(entries().literals[t.symbol]>>16) + t.extra
}

// setOffset sets an offset from 1 to WindowSize. Others become the next of these.
func (t *blockToken) setOffset(offset int) {
	offset = min(max(offset, 1), WindowSize)
	for s, e := range entries().offsets[:maxOffsets] {
		if base := int(e >> 16); offset >= base {
			t.offset, t.offsetExtra = s, offset-base
		}
	}
}

// mutant returns a mutant of an example and the kinds of its mutations.
func mutant(r *rand.Rand, e *example) (src []byte, kinds []string) {
	list := slices.Clone(e.list)
	for range r.IntN(4) {
		m := &mutations[r.IntN(len(mutations))]
		list = m.change(r, list)
		kinds = append(kinds, m.name)
	}
	src = putTogether(r, list)
	switch r.IntN(8) {
	case 0:
		src = src[:r.IntN(len(src)+1)]
		kinds = append(kinds, "cut")
	case 1:
		src = append(src, corpus.ByName("random").Make(1+r.IntN(20))...)
		kinds = append(kinds, "tail")
	case 2:
		src = mutate(r, src)
		kinds = append(kinds, "bits")
	}
	if len(kinds) == 0 {
		src = mutate(r, src)
		kinds = append(kinds, "bits")
	}
	return src, kinds
}

// TestMutations compares mutants of streams of all kinds of writers with compress/flate, with each
// tier of kernels. Input and room lie between guard pages.
func TestMutations(t *testing.T) {
	rounds := 5_000
	switch {
	case testenv.All():
		rounds = 1_000_000
	case testenv.Race || testenv.Emulated():
		rounds = 500
	case testing.Short():
		rounds = 2_000
	}
	for _, args := range streamWriters {
		t.Run(args[0], func(t *testing.T) { testenv.Tool(t, args[0]) })
	}
	all := examples(t)
	room, input := testenv.Guarded(t, 128<<10), testenv.Guarded(t, 128<<10)
	zlib := newZlib(t)
	accepted, total := map[string]int{}, map[string]int{}
	count := func(key string, ok bool) {
		if total[key]++; ok {
			accepted[key]++
		}
	}
	for _, seed := range testenv.Seeds(t, 1) {
		for i := range rounds {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			e := &all[r.IntN(len(all))]
			src, kinds := mutant(r, e)
			want := byStandard(src)
			var first string
			for n, tier := range simd.Tiers() {
				got, log := steps(t, tier, src, uint64(i), room, input)
				if s := differs(src, got, want); s != "" {
					t.Fatalf("%s, %s of %s: %s\nstream %x", tier, kinds, e.writer, s, src)
				}
				if n == 0 {
					first = log
				} else if log != first {
					t.Fatalf("%s, %s of %s: steps\n%s\nwant\n%s\nstream %x",
						tier, kinds, e.writer, log, first, src)
				}
			}
			zlib.check(t, src, want)
			count("by "+e.writer, want.err == nil)
			for _, k := range kinds {
				count(k, want.err == nil)
			}
			count("all", want.err == nil)
		}
	}
	zlib.wait(t)
	var keys []string
	for k := range total {
		keys = append(keys, fmt.Sprintf("%s: %d of %d", k, accepted[k], total[k]))
	}
	slices.Sort(keys)
	t.Logf("accepted %q", keys)
	if a := accepted["all"]; a < rounds/10 || a > rounds*9/10 {
		t.Errorf("%d of %d accepted", a, rounds)
	}
}
