package gzip_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// A program is a public module with packages that use compress/gzip.
type program struct {
	module, version string

	packages []string // relative to the module
	run      string   // which tests of the packages to run, as for go test
	reads    string   // one of them, which has to pass

	// pinned are tests that expect the bytes of one version of compress/gzip: they compare a size
	// or a digest of what a Writer wrote. They may fail.
	pinned []string
}

var programs = []program{
	{module: "github.com/NYTimes/gziphandler", version: "v1.1.1",
		packages: []string{"."}, run: ".", reads: "TestGzipHandler"},
	{module: "github.com/gorilla/handlers", version: "v1.5.2",
		packages: []string{"."}, run: ".", reads: "TestCompressFile",
		pinned: []string{"TestCompressHandlerGzip"}},
	// Other tests of these two packages sleep.
	{module: "github.com/go-chi/chi/v5", version: "v5.5.0",
		packages: []string{"./middleware"}, run: "Compress", reads: "TestCompressor"},
	{module: "github.com/labstack/echo/v4", version: "v4.16.0",
		packages: []string{"./middleware"}, run: "(?i)gzip|compress", reads: "TestDecompress"},
	{module: "github.com/google/go-containerregistry", version: "v0.22.1",
		packages: []string{"./internal/gzip", "./pkg/v1/tarball", "./pkg/v1/stream", "./pkg/v1/mutate",
			"./pkg/v1/validate"},
		run: ".", reads: "TestLayerFromFile",
		pinned: []string{"TestAppendStreamableLayer", "TestBundleMultiple", "TestBundleMultiple/test_image_2",
			"TestBundleMultiple/test_image_2:latest", "TestLargeStream", "TestStreamVsBuffer",
			"TestStreamableLayerFromTarball"}},
}

// TestPrograms changes the import of compress/gzip in public programs, and nothing else. Each of
// their tests must then have the result that it had before. The programs come through Go's module
// proxy or from the module cache.
func TestPrograms(t *testing.T) {
	testenv.Long(t)
	testenv.Slow(t)
	tool := testenv.Tool(t, "go")
	for _, p := range programs {
		t.Run(p.module, func(t *testing.T) { switchOver(t, tool, p) })
	}
}

// switchOver runs the tests of a program with both packages and compares the results.
func switchOver(t *testing.T, tool string, p program) {
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	goIn := func(args ...string) ([]byte, error) {
		c := exec.Command(tool, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=local")
		return c.Output()
	}
	out, err := goIn("mod", "download", "-json", p.module+"@"+p.version)
	var source struct{ Dir string }
	if err != nil || json.Unmarshal(out, &source) != nil {
		testenv.Missing(t, p.module+" "+p.version)
	}
	if err := os.CopyFS(dir, os.DirFS(source.Dir)); err != nil {
		t.Fatal(err)
	}
	test := append([]string{"test", "-count=1", "-vet=off", "-json", "-run", p.run}, p.packages...)
	want := results(goIn(test...))
	if !want.passed(p.reads) {
		t.Fatalf("%s of the unchanged program has not passed\n%s", p.reads, want.log)
	}
	if n := changeImport(t, dir); n == 0 {
		t.Fatal("no file imports compress/gzip")
	}
	const self = "github.com/gopz/compress"
	if _, err := goIn("mod", "edit", "-require", self+"@v0.0.0", "-replace", self+"="+here); err != nil {
		t.Fatal(err)
	}
	got := results(goIn(test...))
	for test, action := range want.actions {
		if got.actions[test] != action && !slices.Contains(p.pinned, test.name) {
			t.Errorf("%s %s: %q, not %q", test.pkg, test.name, got.actions[test], action)
		}
	}
	if t.Failed() {
		t.Log(got.log)
	}
	t.Logf("%s: %d tests", p.version, len(want.actions))
}

// testResults has for each test how it ended ("pass", "fail" or "skip"), and the output of all.
type testResults struct {
	actions map[testName]string
	log     string
}

type testName struct{ pkg, name string }

func (r testResults) passed(name string) bool {
	for test, action := range r.actions {
		if test.name == name && action == "pass" {
			return true
		}
	}
	return false
}

// results reads the output of go test -json.
func results(out []byte, err error) testResults {
	r := testResults{actions: map[testName]string{}}
	var log strings.Builder
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var event struct{ Action, Package, Test, Output string }
		if d.Decode(&event) != nil {
			break
		}
		switch event.Action {
		case "pass", "fail", "skip":
			if event.Test != "" { // else it is the package
				r.actions[testName{event.Package, event.Test}] = event.Action
			}
		case "output", "build-output":
			log.WriteString(event.Output)
		}
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		log.Write(exit.Stderr)
	}
	r.log = log.String()
	return r
}

// changeImport replaces the import of compress/gzip in all Go files below dir, and returns the
// number of files changed.
func changeImport(t *testing.T, dir string) (n int) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		changed := bytes.ReplaceAll(source,
			[]byte(`"compress/gzip"`), []byte(`"github.com/gopz/compress/gzip"`))
		if bytes.Equal(changed, source) {
			return nil
		}
		n++
		return os.WriteFile(path, changed, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
