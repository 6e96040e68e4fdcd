package testenv_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// recorder records how a test would end. It stops the calling goroutine's work by a panic, as Skip
// and Fatal would by runtime.Goexit.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper() {}

func (r *recorder) end(how string) {
	r.ended = how
	panic(r)
}

func (r *recorder) Skip(...any)           { r.end("skip") }
func (r *recorder) Skipf(string, ...any)  { r.end("skip") }
func (r *recorder) Fatalf(string, ...any) { r.end("fail") }

// outcome runs f and returns "skip", "fail" or "run".
func outcome(t *testing.T, f func(testing.TB)) (how string) {
	r := &recorder{TB: t, ended: "run"}
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
		how = r.ended
	}()
	f(r)
	return
}

func expect(t *testing.T, what, want string, f func(testing.TB)) {
	t.Helper()
	if got := outcome(t, f); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestLong(t *testing.T) {
	for _, c := range []struct {
		value       string
		all, matrix bool
	}{
		{"", false, false}, {"all", true, false}, {"matrix", true, true},
	} {
		t.Setenv(testenv.EnvTest, c.value)
		c.all, c.matrix = c.all && !testing.Short(), c.matrix && !testing.Short()
		want := "skip"
		if c.all {
			want = "run"
		}
		expect(t, "PZ_TEST="+c.value, want, testenv.Long)
		if all, matrix := testenv.All(), testenv.Matrix(); all != c.all || matrix != c.matrix {
			t.Errorf("PZ_TEST=%s: All %t, Matrix %t, want %t and %t",
				c.value, all, matrix, c.all, c.matrix)
		}
	}
}

func TestTool(t *testing.T) {
	missing := func(tb testing.TB) { testenv.Tool(tb, "no-such-program") }
	t.Setenv(testenv.EnvCI, "")
	expect(t, "missing program", "skip", missing)
	t.Setenv(testenv.EnvCI, "1")
	expect(t, "missing program with CI set", "fail", missing)
	testenv.Wine(t, "the program go")
	if path := testenv.Tool(t, "go"); !strings.Contains(filepath.Base(path), "go") {
		t.Errorf("Tool(go) = %q", path)
	}
}

func TestCorpus(t *testing.T) {
	directory := func(tb testing.TB) { testenv.Corpus(tb) }
	t.Setenv(testenv.EnvCorpus, "")
	if dir := testenv.Corpus(t); dir != "" {
		t.Errorf("PZ_CORPUS not set: %q, want none", dir)
	}
	dir := t.TempDir()
	t.Setenv(testenv.EnvCorpus, dir)
	if got := testenv.Corpus(t); got != dir {
		t.Errorf("PZ_CORPUS=%s: %q", dir, got)
	}
	t.Setenv(testenv.EnvCorpus, filepath.Join(dir, "missing"))
	expect(t, "PZ_CORPUS names no directory", "fail", directory)
}

func TestSeeds(t *testing.T) {
	t.Setenv(testenv.EnvSeed, "")
	t.Setenv(testenv.EnvTest, "")
	if got := testenv.Seeds(t, 1, 2); !slices.Equal(got, []uint64{1, 2}) {
		t.Errorf("by default: %d", got)
	}
	t.Setenv(testenv.EnvTest, "all")
	if got := testenv.Seeds(t, 1, 2); testenv.All() && (len(got) != 3 || got[1] != 2) {
		t.Errorf("all: %d, want 1, 2 and a new one", got)
	}
	t.Setenv(testenv.EnvSeed, "77")
	if got := testenv.Seeds(t, 1, 2); !slices.Equal(got, []uint64{77}) {
		t.Errorf("with %s: %d, want 77", testenv.EnvSeed, got)
	}
	t.Setenv(testenv.EnvSeed, "-1")
	expect(t, "PZ_SEED is not a number", "fail", func(tb testing.TB) { testenv.Seeds(tb) })
}

func TestMeasuring(t *testing.T) {
	want := "run"
	if testenv.Race || testenv.Emulated() {
		want = "skip"
	}
	expect(t, "Measures", want, testenv.Measures)
	expect(t, "Slow", want, testenv.Slow)
}
