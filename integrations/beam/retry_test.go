package pzbeam

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
)

// retrier runs bundles as Dataflow and Flink do, and Prism does not: it runs a bundle that failed
// again, and some that did not. Only the output of one attempt counts.
type retrier struct {
	t      *testing.T
	rnd    *rand.Rand
	failed int
}

var errKilled = errors.New("the bundle is killed")

// bundle runs do until an attempt succeeds. do emits through out, which may fail.
func bundle[T any](r *retrier, do func(out func(T)) error) []T {
	r.t.Helper()
	left := 2 // attempts that are killed at an element that they emit, or behind the last one
	for {
		var all []T
		at := r.rnd.IntN(3)
		err := func() (err error) {
			defer func() {
				if e := recover(); e != nil && e != any(errKilled) {
					panic(e)
				} else if e != nil {
					err = errKilled
				}
			}()
			return do(func(x T) {
				if left > 0 && len(all) == at {
					panic(errKilled)
				}
				all = append(all, x)
			})
		}()
		switch {
		case left > 0:
			left--
			r.failed++
		case errors.Is(err, errFault):
			r.failed++
		case err != nil:
			r.t.Fatal(err)
		default:
			return all
		}
	}
}

// compressAll runs the steps of Compress.
func (r *retrier) compressAll(o Options, sources []string) {
	ctx := context.Background()
	var parts, whole []keyed
	for _, source := range sources {
		planned := bundle(r, func(out func(file)) error {
			return (&planFn{o}).ProcessElement(ctx, source, func(_ string, f file) { out(f) })
		})
		fn := &compressFn{Options: o}
		for g := range planned[0].groups() { // runners may split up to single groups
			out := bundle(r, func(out func(keyed)) error {
				rt := fn.CreateTracker(offsetrange.Restriction{Start: g, End: g + 1})
				return fn.ProcessElement(ctx, rt, planned[0], func(_ string, p part) { out(keyed{part: p}) },
					func(_ string, res Result) { out(keyed{result: res}) })
			})
			if out[0].part.Name != "" {
				parts = append(parts, out[0])
			} else {
				whole = append(whole, out[0])
			}
		}
		if err := fn.Teardown(); err != nil {
			r.t.Error(err)
		}
	}
	byOutput := map[string][]part{}
	for _, p := range parts {
		byOutput[p.part.File.Output] = append(byOutput[p.part.File.Output], p.part)
	}
	for output, all := range byOutput {
		whole = append(whole, bundle(r, func(out func(keyed)) error {
			return (&joinFn{Options: o}).ProcessElement(ctx, output, iterator(all),
				func(_ string, res Result) { out(keyed{result: res}) })
		})...)
	}
	for _, w := range whole {
		bundle(r, func(out func(Result)) error {
			return (&cleanFn{}).ProcessElement(ctx, w.result.Output, iterator([]Result{w.result}), out)
		})
	}
}

// keyed is what a DoFn emits.
type keyed struct {
	part   part
	result Result
}

// TestRetries kills each bundle twice at random places, while operations on files fail too. The
// files are those of a run without failures, and there are no others.
func TestRetries(t *testing.T) {
	in, all := t.TempDir(), contents()
	names := writeFiles(t, in, all)
	for seed := range uint64(3) {
		r := &retrier{t: t, rnd: rand.New(rand.NewPCG(seed, 1))}
		faults.Lock()
		faults.chance, faults.left = rand.New(rand.NewPCG(seed, 2)), map[string]int{}
		for _, kind := range []string{"size", "open", "read", "create", "write", "close", "remove"} {
			faults.left[kind] = 2
		}
		faults.Unlock()
		for _, scheme := range []string{"", "faulty://"} {
			out := t.TempDir()
			o := Options{
				Output: scheme + out, Base: scheme + in, Format: "gz", BlockSize: 64 << 10,
				GroupSize: testGroup, NoName: true, Existing: Replace,
			}
			want := map[string][]byte{}
			var sources []string
			for _, name := range names {
				rel, _ := filepath.Rel(in, name)
				want[rel+".gz"] = packed(t, name, o)
				sources = append(sources, scheme+name)
			}
			r.compressAll(o, sources)
			if scheme != "" {
				removeParts(t, out)
			}
			checkTree(t, out, want)
		}
		if r.failed < 2*len(names) {
			t.Errorf("only %d bundles failed", r.failed)
		}
	}
	faults.left = nil
}

// TestSplit splits the groups of a file while a worker does them. Both halves together have each
// group once.
func TestSplit(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	name := writeFiles(t, in, map[string][]byte{"a": text(10 * 64 << 10)})[0]
	o := Options{Output: out, BlockSize: 64 << 10, GroupSize: 64 << 10}
	ctx := context.Background()
	var f file
	err := (&planFn{o}).ProcessElement(ctx, name, func(_ string, got file) {
		if got.Output != "" {
			f = got
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	fn := &compressFn{Options: o}
	done := map[int64]int{}
	work := []offsetrange.Restriction{fn.CreateInitialRestriction(f)}
	for splits := 0; len(work) > 0; work = work[1:] {
		rt := fn.CreateTracker(work[0])
		err := fn.ProcessElement(ctx, rt, f, func(_ string, p part) {
			done[p.Group]++
			splits++
			if splits > 3 {
				return
			}
			before, after := rt.GetProgress()
			if after < 0 || before+after > float64(f.groups()) {
				t.Errorf("progress: %v done, %v left", before, after)
			}
			_, rest, err := rt.TrySplit(0.5)
			if err != nil {
				t.Error(err)
			}
			if rest != nil {
				work = append(work, rest.(offsetrange.Restriction))
			}
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := fn.Teardown(); err != nil {
		t.Fatal(err)
	}
	if len(done) != 10 {
		t.Errorf("%d groups of 10 are done", len(done))
	}
	for g, n := range done {
		if n != 1 {
			t.Errorf("group %d is done %d times", g, n)
		}
	}
}

// TestKilled kills the process that runs a pipeline, again and again. The run after that leaves the
// same files as one that is not killed.
func TestKilled(t *testing.T) {
	const variable = "PZBEAM_TEST_KILLED"
	if dir := os.Getenv(variable); dir != "" {
		mustRun(t, func(s beam.Scope) { Compress(s, Match(s, dir+"/in/*"), killedOptions(dir)) })
		return
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	names := writeFiles(t, in, map[string][]byte{"a": text(40 << 20), "b": text(1000)})
	want := map[string][]byte{}
	for _, name := range names {
		want[filepath.Base(name)+".pz"] = packed(t, name, killedOptions(dir))
	}
	killed := 0
	for try := range 20 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), variable+"="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		if try < 3 { // when there are a few parts more than the last time
			waitForParts(out, done, 1+3*try)
			cmd.Process.Kill()
		}
		if <-done == nil {
			break
		}
		killed++
		checkNoPartial(t, out, want)
	}
	if killed < 2 {
		t.Errorf("only %d processes were killed in time", killed)
	}
	checkTree(t, out, want)
}

func killedOptions(dir string) Options {
	return Options{
		Output: filepath.Join(dir, "out"), Level: 6, GroupSize: 1 << 20, BlockSize: 1 << 20,
		Existing: Replace,
	}
}

// waitForParts returns when there are that many part files, or the process is done.
func waitForParts(out string, done chan error, parts int) {
	for {
		if names, _ := filepath.Glob(filepath.Join(out, ".pzbeam", "*", "part-*")); len(names) >= parts {
			return
		}
		select {
		case err := <-done:
			done <- err
			return
		case <-time.After(time.Millisecond):
		}
	}
}
