package refdec

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// mutantsFor makes TestMutants try new mutants for so long. scripts/fuzz.sh sets it.
var mutantsFor = flag.Duration("mutants", 0, "how long TestMutants tries new mutants")

const (
	maxBase  = 1 << 13 // bytes of a file to mutate
	roomSize = 1 << 17 // bytes of guarded memory
)

// bases returns small files that have all layouts, all kinds of blocks and all kinds of streams.
func bases(t testing.TB) (list [][]byte) {
	files := goldenFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if len(files[name]) <= maxBase {
			list = append(list, files[name])
		}
	}
	dict := jsonDictionary().option()
	for _, kind := range []string{"text", "log", "json", "records", "exe", "mixed"} {
		content := corpus.ByName(kind).Make(3000)
		for _, level := range []int{1, 5, 9} {
			list = append(list,
				encode(t, content, compress.WithLevel(level)),
				encode(t, content[:600], compress.WithLevel(level), compress.WithPipeline("lzr")))
		}
		list = append(list,
			encode(t, slices.Concat(content, content, make([]byte, 5000)), compress.WithBlockSize(1<<12)),
			encode(t, content, dict, compress.WithLevel(1+len(list)%9)),
			encode(t, slices.Concat(content, make([]byte, 5000), content), compress.WithBlockSize(1<<12),
				compress.WithLongDistance(compress.MinWindow), compress.WithLevel(1+len(list)%9)))
	}
	for _, kind := range []string{"skewed", "text", "records"} { // lane groups of 32 lanes
		content := corpus.ByName(kind).Make(20_000)
		list = append(list, encode(t, content[:9000]), encode(t, content, compress.WithLevel(9)))
	}
	return append(list,
		encodeFlushed(t, []byte(house), make([]byte, 99), []byte(house)),
		encode(t, entries(), compress.WithChecksum(false)),
		encode(t, entries(), compress.WithContentSize(1<<10), compress.WithLevel(9)),
		slices.Concat(files["flushed.pz"], files["tiny.pz"], files["unchecked.pz"]),
	)
}

// A script is a source of random numbers that begins with given bytes, so that a fuzzer decides
// what happens first. Behind the script, numbers follow from it.
type script struct {
	rest []byte
	then *rand.PCG
}

func newScript(p []byte) *rand.Rand {
	h := fnv.New64a()
	h.Write(p)
	return rand.New(&script{p, rand.NewPCG(h.Sum64(), uint64(len(p)))})
}

// Uint64 takes two bytes, for numbers of rand.Rand depend on the upper or the lower bits.
func (s *script) Uint64() uint64 {
	if len(s.rest) < 2 {
		return s.then.Uint64()
	}
	x := uint64(le.Uint16(s.rest))
	s.rest = s.rest[2:]
	return x * 0x0001_0001_0001_0001
}

// A watchdog ends the program if a mutant takes too long.
type watchdog struct{ tried atomic.Int64 }

// start watches until the test ends. The time is a guard against a hang, long for a busy machine.
func (w *watchdog) start(t testing.TB) {
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for last := int64(-1); ; {
			select {
			case <-done:
				return
			case <-time.After(time.Minute):
			}
			n := w.tried.Load()
			if n == last && n%2 == 1 {
				buf := make([]byte, 1<<20)
				panic(fmt.Sprintf("a mutant takes over a minute:\n%s", buf[:runtime.Stack(buf, true)]))
			}
			last = n
		}
	}()
}

// do runs f under watch.
func (w *watchdog) do(f func()) {
	w.tried.Add(1)
	f()
	w.tried.Add(1)
}

// A tally counts mutants.
type tally struct{ files, accepted, inside, large int }

func (n *tally) add(err error, large bool) {
	n.files++
	switch {
	case large:
		n.large++
	case err == nil:
		n.accepted++
	case strings.HasPrefix(err.Error(), "block "):
		n.inside++
	}
}

func (n *tally) String() string {
	percent := func(k int) float64 { return 100 * float64(k) / float64(max(n.files, 1)) }
	return fmt.Sprintf("%d mutants: %.1f%% valid, %.1f%% rejected inside a block, "+
		"%.1f%% outside, %.1f%% with content too large to compare", n.files, percent(n.accepted),
		percent(n.inside), percent(n.files-n.accepted-n.inside-n.large), percent(n.large))
}

// check compares what decoders make of a file.
func (c *comparer) check(file []byte, large bool, seed uint64) (fault string, err error) {
	if large {
		return c.bounded(file, contentLimit, true), nil
	}
	return c.compare(rand.New(rand.NewPCG(seed, 1)), file)
}

// isLarge reports whether the content of a file may be too large for the reference decoder.
func isLarge(file []byte) bool {
	_, large := parseTree(file).bytes()
	return large
}

// FuzzMutants changes the parts of a file as a script says, computes all checks anew, and compares
// all decoders. Without a script it takes the file as it is.
func FuzzMutants(f *testing.F) {
	var donors []tree
	for i, file := range bases(f) {
		donors = append(donors, parseTree(file))
		f.Add(file, []byte{byte(i), 1, 2, 3, byte(5 * i)}, uint64(i))
	}
	c := newComparer(testenv.Guarded(f, roomSize), testenv.Guarded(f, roomSize))
	var w watchdog
	w.start(f)
	f.Fuzz(func(t *testing.T, file, script []byte, seed uint64) {
		if len(file) > 4*maxBase || len(script) > 1<<10 {
			return
		}
		w.do(func() {
			large := false
			if len(script) > 0 {
				file, large = mutate(newScript(script), parseTree(bytes.Clone(file)), donors)
			} else {
				large = isLarge(file)
			}
			if fault, _ := c.check(file, large, seed); fault != "" {
				t.Fatalf("%s\n%s", fault, dump(file))
			}
		})
	})
}

// TestMutants tries mutants of all files. With the flag -mutants it tries new ones for a time. A fault
// may need the memory that earlier files leave in buffers. Then the input that is written does not
// show it, and PZ_SEED repeats all of them.
func TestMutants(t *testing.T) {
	var donors []tree
	for _, file := range bases(t) {
		donors = append(donors, parseTree(file))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most memory is short-lived
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(2 << 30))
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // so that a guard page is an error
	c := newComparer(testenv.Guarded(t, roomSize), testenv.Guarded(t, roomSize))
	var w watchdog
	w.start(t)
	seeds, rounds := testenv.Seeds(t, 1), 2000
	switch {
	case *mutantsFor > 0:
		if rounds = math.MaxInt; os.Getenv(testenv.EnvSeed) == "" {
			seeds = []uint64{rand.Uint64()}
		}
	case testenv.All():
		rounds = 50_000
	case testing.Short() || testenv.Race || testenv.Emulated():
		rounds = 300
	}
	for _, seed := range seeds {
		t.Logf("PZ_SEED=%d", seed)
		c.tryMutants(t, donors, &w, seed, rounds)
	}
}

// tryMutants tries mutants until so many have been tried, or the time of the flag -mutants is over.
func (c *comparer) tryMutants(t *testing.T, donors []tree, w *watchdog, seed uint64, rounds int) {
	r := rand.New(rand.NewPCG(seed, 2))
	var n tally
	begin := time.Now()
	for n.files < rounds && (*mutantsFor == 0 || time.Since(begin) < *mutantsFor) {
		script := make([]byte, 8)
		le.PutUint64(script, r.Uint64())
		file, large := mutate(newScript(script), donors[r.IntN(len(donors))], donors)
		w.do(func() {
			defer func() {
				if v := recover(); v != nil {
					t.Fatalf("round %d: %v\n%s\n%s", n.files, v, debug.Stack(), saveInput(t, file, seed))
				}
			}()
			fault, err := c.check(file, large, seed)
			if fault != "" {
				t.Errorf("round %d: %s\n%s", n.files, fault, saveInput(t, file, seed))
			}
			n.add(err, large)
		})
	}
	t.Logf("%s, %.0f mutants/s", &n, float64(n.files)/time.Since(begin).Seconds())
	if n.accepted < n.files/20 || n.inside < n.files/20 {
		t.Error("too few mutants reach blocks")
	}
}

// saveInput writes a file as an input of FuzzMutants, to where the go command looks for it.
func saveInput(t *testing.T, file []byte, seed uint64) string {
	text := fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n[]byte(\"\")\nuint64(%d)\n", file, seed)
	dir := filepath.Join("testdata", "fuzz", "FuzzMutants")
	path := filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16])
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return "failing input written to " + path
}
