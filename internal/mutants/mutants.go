// Package mutants tries changed files whose checks are right, so that they reach the decoders.
// Tests of a format say how to change a file and what its content is. This package tries many
// files, and decodes each in every way that the library offers. Only tests import it.
package mutants

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress/internal/testenv"
)

// runFor makes Trial.Run try new mutants for so long. scripts/fuzz.sh sets it.
var runFor = flag.Duration("mutants", 0, "how long TestMutants tries new mutants")

// A script is a source of random numbers that begins with given bytes, so that a fuzzer decides
// what happens first. Behind the script, numbers follow from it.
type script struct {
	rest []byte
	then *rand.PCG
}

// Script returns the random numbers of a script.
func Script(p []byte) *rand.Rand {
	h := fnv.New64a()
	h.Write(p)
	return rand.New(&script{p, rand.NewPCG(h.Sum64(), uint64(len(p)))})
}

// Uint64 takes two bytes, for numbers of rand.Rand depend on the upper or the lower bits.
func (s *script) Uint64() uint64 {
	if len(s.rest) < 2 {
		return s.then.Uint64()
	}
	x := uint64(binary.LittleEndian.Uint16(s.rest))
	s.rest = s.rest[2:]
	return x * 0x0001_0001_0001_0001
}

// A Watchdog ends the program if a mutant takes too long.
type Watchdog struct{ tried atomic.Int64 }

// Start watches until the test ends. The time is a guard against a hang, long for a busy machine.
func (w *Watchdog) Start(t testing.TB) {
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

// Do runs f under watch.
func (w *Watchdog) Do(f func()) {
	w.tried.Add(1)
	f()
	w.tried.Add(1)
}

// A Verdict is what becomes of a mutant.
type Verdict int

const (
	Outside Verdict = iota // rejected, but not inside a block
	Inside                 // rejected inside a block
	Valid
	Large // with content that is too large to compare
	verdicts
)

// A tally counts mutants by verdict.
type tally [verdicts]int

func (n *tally) files() (sum int) {
	for _, k := range n {
		sum += k
	}
	return sum
}

func (n *tally) String() string {
	percent := func(v Verdict) float64 { return 100 * float64(n[v]) / float64(max(n.files(), 1)) }
	return fmt.Sprintf("%d mutants: %.1f%% valid, %.1f%% rejected inside a block, "+
		"%.1f%% outside, %.1f%% with content too large to compare", n.files(), percent(Valid),
		percent(Inside), percent(Outside), percent(Large))
}

// A Trial is a way to make mutants and to check them.
type Trial struct {
	// Make returns a mutant. large says that its content may be too large to compare.
	Make func(r *rand.Rand) (file []byte, large bool)
	// Check decodes a file. fault says what is wrong with the library, "" if nothing is. Random
	// choices follow from the seed.
	Check func(file []byte, large bool, seed uint64) (fault string, v Verdict)
	// Rounds is how many mutants Run tries by default.
	Rounds int
	// Trials is how many trials share the time of the flag -mutants, 0 for one.
	Trials int
}

// Run tries mutants. With the flag -mutants it tries new ones for a time. The test fails at a
// fault, and if few mutants reach blocks. A failing file is written as an input of FuzzMutants in
// the same package, whose arguments are a file, a script and a seed. A fault may need the memory
// that earlier files leave in buffers. Then the input does not show it, and PZ_SEED repeats all of
// them.
func (x *Trial) Run(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most memory is short-lived
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(2 << 30))
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // so that a guard page is an error
	seeds, rounds := testenv.Seeds(t, 1), x.Rounds
	switch {
	case *runFor > 0:
		rounds = math.MaxInt
		if os.Getenv(testenv.EnvSeed) == "" {
			seeds = []uint64{rand.Uint64()}
		}
	case testenv.All():
		rounds *= 25
	case testing.Short() || testenv.Race || testenv.Emulated():
		rounds /= 6
	}
	var w Watchdog
	w.Start(t)
	for _, seed := range seeds {
		t.Logf("PZ_SEED=%d", seed)
		x.try(t, &w, seed, rounds)
	}
}

// try tries mutants until so many have been tried, or the time of the flag -mutants is over.
func (x *Trial) try(t *testing.T, w *Watchdog, seed uint64, rounds int) {
	r := rand.New(rand.NewPCG(seed, 2))
	var n tally
	begin, most := time.Now(), *runFor/time.Duration(max(x.Trials, 1))
	for i := 0; i < rounds && (*runFor == 0 || time.Since(begin) < most); i++ {
		var script [8]byte
		binary.LittleEndian.PutUint64(script[:], r.Uint64())
		file, large := x.Make(Script(script[:]))
		w.Do(func() {
			defer func() {
				if v := recover(); v != nil {
					t.Fatalf("round %d: %v\n%s\n%s", i, v, debug.Stack(), saveInput(t, file, seed))
				}
			}()
			fault, v := x.Check(file, large, seed)
			if fault != "" {
				t.Errorf("round %d: %s\n%s", i, fault, saveInput(t, file, seed))
			}
			n[v]++
		})
	}
	t.Logf("%s, %.0f mutants/s", &n, float64(n.files())/time.Since(begin).Seconds())
	if n[Valid] < n.files()/20 || n[Inside] < n.files()/20 {
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
