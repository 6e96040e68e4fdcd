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
	"github.com/gopz/compress/internal/deflatetest"
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
	list   []deflatetest.Block
}

// examples returns streams of all programs that are installed, of compress/flate and of this
// module.
func examples(t testing.TB) (list []example) {
	r := rand.New(rand.NewPCG(9, 10))
	add := func(writer string, src []byte) {
		t.Helper()
		blocks, _, err := deflatetest.TakeApart(src)
		if err != nil {
			t.Fatalf("%s: %v", writer, err)
		}
		again := deflatetest.PutTogether(r, blocks)
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

// mutant returns a mutant of an example and the kinds of its mutations.
func mutant(r *rand.Rand, e *example) (src []byte, kinds []string) {
	list := slices.Clone(e.list)
	for range r.IntN(4) {
		var kind string
		list, kind = deflatetest.Mutate(r, list)
		kinds = append(kinds, kind)
	}
	src = deflatetest.PutTogether(r, list)
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
		total[key]++
		if ok {
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
