package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocsNameTests checks that the tests exist which docs/notes/format-tests.md names.
func TestDocsNameTests(t *testing.T) {
	root, _ := findModule(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "notes", "format-tests.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := testsOf(root)
	if err != nil {
		t.Fatal(err)
	}
	missing, n := missingTests(tests, string(text), "refdec")
	for _, name := range missing {
		t.Errorf("format-tests.md names %s, which does not exist", name)
	}
	if n < 50 {
		t.Errorf("found only %d names of tests: the search is broken", n)
	}
}

var (
	testName = regexp.MustCompile("`(?:(\\w+)\\.)?(Test\\w+|Fuzz\\w+)`")
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// missingTests returns the names of tests in backquotes that do not exist, and the number of names. A name
// may have the last element of its package's path in front, else it is in the package usual.
func missingTests(tests []string, text, usual string) (missing []string, n int) {
	for _, m := range testName.FindAllStringSubmatch(text, -1) {
		name := m[1] + "." + m[2]
		if m[1] == "" {
			name = usual + name
		}
		n++
		if !slices.Contains(tests, name) {
			missing = append(missing, name)
		}
	}
	return missing, n
}

// testsOf returns the names of all tests below root, each behind the last element of its package's path.
// The package in root is compress.
func testsOf(root string) (names []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		dir := filepath.Base(filepath.Dir(path))
		if filepath.Dir(path) == root {
			dir = "compress"
		}
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			names = append(names, dir+"."+m[1])
		}
		return err
	})
	return names, err
}

func TestCheckTests(t *testing.T) {
	root := t.TempDir()
	makeFiles(t, root, "a_test.go", "p/q/b_test.go", "p/c.go")
	for file, text := range map[string]string{
		"a_test.go":     "package compress\n\nfunc TestA(t *testing.T) {}\n",
		"p/q/b_test.go": "package q\n\nfunc TestB(t *testing.T) {}\nfunc FuzzB(f *testing.F) {}\n",
		"p/c.go":        "package p\n\nfunc TestC() {}\n",
	} {
		file = filepath.Join(root, filepath.FromSlash(file))
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tests, err := testsOf(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text, missing string
		n             int
	}{
		{"`compress.TestA`, `TestB` and `q.FuzzB`", "", 3},
		{"`q.TestA`, `p.TestC`, `compress.TestB`, `TestA`", "q.TestA p.TestC compress.TestB q.TestA", 4},
		{"TestZ, `Tests`, `testing.T`, `q.TestB/name`", "q.Tests", 1},
	} {
		missing, n := missingTests(tests, tt.text, "q")
		if strings.Join(missing, " ") != tt.missing || n != tt.n {
			t.Errorf("%q: %q of %d, want %q of %d", tt.text, missing, n, tt.missing, tt.n)
		}
	}
}
