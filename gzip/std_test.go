package gzip_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// stdStub stands in for the standard library's internal/testenv.
const stdStub = `package testenv

import (
	"os"
	"testing"
)

func Builder() string            { return os.Getenv("GO_BUILDER_NAME") }
func MustHaveSource(testing.TB) {}
`

// stdNames has the constants of compress/gzip that its tests use.
const stdNames = `package gzip

const (
	gzipID1     = 0x1f
	gzipID2     = 0x8b
	gzipDeflate = methodDeflate
)
`

// TestStandardLibrary runs all tests, examples and seeds of fuzz targets that Go has for
// compress/gzip. It takes them from GOROOT and compiles them as part of this package, in place of
// its own tests. Then it runs them in the directory of compress/gzip, where their data is.
func TestStandardLibrary(t *testing.T) {
	testenv.Slow(t)
	tool := testenv.Tool(t, "go")
	root, err := exec.Command(tool, "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	std := filepath.Join(strings.TrimSpace(string(root)), "src", "compress", "gzip")
	theirs, _ := filepath.Glob(filepath.Join(std, "*_test.go"))
	if len(theirs) == 0 {
		testenv.Missing(t, "the source of the standard library")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	place := func(name, source string) {
		path := filepath.Join(tmp, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(here, filepath.FromSlash(name))] = path
	}
	ours, _ := filepath.Glob(filepath.Join(here, "*_test.go"))
	for _, file := range ours {
		overlay.Replace[file] = "" // deleted
	}
	const self = "github.com/gopz/compress/gzip"
	imports := strings.NewReplacer(`"compress/gzip"`, `"`+self+`"`,
		`"internal/testenv"`, `"`+self+`/internal/testenv"`)
	for _, file := range theirs {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		place("std_"+filepath.Base(file), imports.Replace(string(source)))
	}
	place("internal/testenv/testenv.go", stdStub)
	place("std_names_test.go", stdNames)
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	config, binary := filepath.Join(tmp, "overlay.json"), filepath.Join(tmp, "std.test")
	if err := os.WriteFile(config, list, 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command(tool, "test", "-c", "-vet=off", "-overlay", config, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(binary, "-test.v")
	run.Dir = std
	out, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{
		"TestDecompressor", "TestLatin1", "TestWriterFlush", "FuzzReader", "Example_writerReader",
	} {
		if !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%s has not run and passed:\n%s", name, out)
		}
	}
	t.Logf("%d tests passed", strings.Count(string(out), "\n--- PASS"))
}
