package pzbeam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
)

// faulty is a file system of local files whose operations fail, each kind a given number of times.
// Its names begin with "faulty://".
type faulty struct{ filesystem.Interface }

func init() {
	filesystem.Register("faulty", func(ctx context.Context) filesystem.Interface {
		return faulty{local.New(ctx)}
	})
}

var errFault = errors.New("injected fault")

// faults says how often operations still fail, by their kind.
var faults struct {
	sync.Mutex
	left   map[string]int
	chance *rand.Rand
	hit    int
}

// fault returns an error if an operation is to fail now.
func fault(kind string) error {
	faults.Lock()
	defer faults.Unlock()
	if faults.left[kind] == 0 || faults.chance.IntN(3) > 0 {
		return nil
	}
	faults.left[kind]--
	faults.hit++
	return fmt.Errorf("%s: %w", kind, errFault)
}

func localName(name string) string { return strings.TrimPrefix(name, "faulty://") }

func (f faulty) List(ctx context.Context, glob string) ([]string, error) {
	if err := fault("list"); err != nil {
		return nil, err
	}
	names, err := f.Interface.List(ctx, localName(glob))
	for i := range names {
		names[i] = "faulty://" + names[i]
	}
	return names, err
}

func (f faulty) Size(ctx context.Context, name string) (int64, error) {
	if err := fault("size"); err != nil {
		return 0, err
	}
	return f.Interface.Size(ctx, localName(name))
}

func (f faulty) OpenRead(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := fault("open"); err != nil {
		return nil, err
	}
	return f.Interface.OpenRead(ctx, localName(name))
}

// OpenRange implements RangeOpener.
func (f faulty) OpenRange(ctx context.Context, name string) (RangeReader, error) {
	r, err := f.OpenRead(ctx, name)
	if err != nil {
		return nil, err
	}
	return faultyRange{r.(*os.File)}, nil
}

type faultyRange struct{ *os.File }

func (r faultyRange) ReadAt(p []byte, off int64) (int, error) {
	if err := fault("read"); err != nil {
		return 0, err
	}
	return r.File.ReadAt(p, off)
}

// OpenWrite makes a writer as that of an object store: the file appears when it is closed.
func (f faulty) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	if err := fault("create"); err != nil {
		return nil, err
	}
	return &object{ctx: ctx, name: localName(name)}, nil
}

type object struct {
	ctx  context.Context
	name string
	data []byte
}

func (o *object) Write(p []byte) (int, error) {
	if err := fault("write"); err != nil {
		o.data = append(o.data, p[:len(p)/2]...)
		return len(p) / 2, err
	}
	o.data = append(o.data, p...)
	return len(p), nil
}

func (o *object) Close() error {
	if err := errors.Join(o.ctx.Err(), fault("close")); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(o.name, o.data, 0o644)
}

// Remove implements filesystem.Remover.
func (f faulty) Remove(_ context.Context, name string) error {
	if err := fault("remove"); err != nil {
		return err
	}
	return os.Remove(localName(name))
}

// TestFaults lets each kind of operation fail twice, at random places. Each failure ends the run of
// the pipeline. The runs after it go on, and leave the same files as a run without failures.
func TestFaults(t *testing.T) {
	in, all := t.TempDir(), contents()
	names := writeFiles(t, in, all)
	out := t.TempDir()
	o := Options{
		Output: "faulty://" + out, Base: "faulty://" + in, Format: "gz", BlockSize: 64 << 10,
		GroupSize: testGroup, NoName: true, Existing: Replace,
	}
	want := map[string][]byte{}
	var sources []string
	for _, name := range names {
		rel, _ := filepath.Rel(in, name)
		want[rel+".gz"] = packed(t, name, o)
		sources = append(sources, "faulty://"+name)
	}
	faults.chance = rand.New(rand.NewPCG(1, 2))
	faults.left = map[string]int{}
	kinds := []string{"size", "open", "read", "create", "write", "close", "list", "remove"}
	for _, kind := range kinds {
		faults.left[kind] = 2
	}
	runs := 1
	for ; ; runs++ {
		err := run(func(s beam.Scope) { Compress(s, beam.CreateList(s, sources), o) })
		checkNoPartial(t, out, want)
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), errFault.Error()) {
			t.Fatal(err)
		}
		if runs > 100 {
			t.Fatal("too many failures")
		}
	}
	for _, kind := range kinds {
		if n := faults.left[kind]; n > 0 && kind != "list" && kind != "remove" {
			t.Errorf("%s failed only %d times", kind, 2-n)
		}
	}
	t.Logf("%d runs, %d failures", runs, faults.hit)
	faults.left = nil
	removeParts(t, out)
	checkTree(t, out, want)
}

// checkNoPartial fails if a file with a final name has other bytes than wanted.
func checkNoPartial(t *testing.T, dir string, want map[string][]byte) {
	t.Helper()
	for name, w := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && string(got) != string(w) {
			t.Fatalf("%s is there with %d bytes of %d", name, len(got), len(w))
		}
	}
}

// removeParts removes the directories of parts: object stores have none.
func removeParts(t *testing.T, dir string) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, ".pzbeam", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(parts, filepath.Join(dir, ".pzbeam")) {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// TestAgain runs DoFns on the same elements again, as runners do after a failure: some bundles stop
// in the middle.
func TestAgain(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	p := text(1 << 20)
	name := writeFiles(t, in, map[string][]byte{"a": p})[0]
	o := Options{Output: out, BlockSize: 64 << 10, GroupSize: testGroup}
	var f file
	plan := planFn{o}
	ctx := context.Background()
	err := plan.ProcessElement(ctx, name, func(_ string, got file) {
		if got.Output != "" {
			f = got
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var parts []part
	fn := &compressFn{Options: o}
	for range 2 {
		tracker := fn.CreateTracker(fn.CreateInitialRestriction(f))
		err := fn.ProcessElement(ctx, tracker, f, func(_ string, p part) { parts = append(parts, p) },
			func(string, Result) { t.Error("a whole file") })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := fn.Teardown(); err != nil {
		t.Fatal(err)
	}
	join := &joinFn{Options: o}
	var results []Result
	for range 2 {
		err := join.ProcessElement(ctx, f.Output, iterator(parts),
			func(_ string, r Result) { results = append(results, r) })
		if err != nil {
			t.Fatal(err)
		}
	}
	done := 0
	for range 2 {
		err := (&cleanFn{}).ProcessElement(ctx, f.Output, iterator(results), func(Result) { done++ })
		if err != nil {
			t.Fatal(err)
		}
	}
	if done != 2 {
		t.Errorf("%d results in place of 2", done)
	}
	checkTree(t, out, map[string][]byte{"a.pz": packed(t, name, o)})
	if err := join.ProcessElement(ctx, f.Output, iterator(parts[1:4]), nil); err == nil {
		t.Error("joined without the first part")
	}
}

// iterator returns what Beam gives a DoFn for a group.
func iterator[T any](all []T) func(*T) bool {
	return func(p *T) bool {
		if len(all) == 0 {
			return false
		}
		*p, all = all[0], all[1:]
		return true
	}
}
