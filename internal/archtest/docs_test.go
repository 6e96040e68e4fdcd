package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDocsNameFiles checks that files and directories exist which documents name in backquotes.
func TestDocsNameFiles(t *testing.T) {
	root, _ := findModule(t)
	var docs []string
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".md") {
			docs = append(docs, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"CONTRIBUTING.md", "README.md", "SECURITY.md"} {
		docs = append(docs, filepath.Join(root, name))
	}
	names := 0
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		missing, n := checkNames(root, strings.ReplaceAll(string(text), "\r\n", "\n"))
		for _, name := range missing {
			t.Errorf("%s names `%s`, which does not exist", filepath.Base(doc), name)
		}
		names += n
	}
	if names < 30 {
		t.Errorf("found only %d names of files: the search is broken", names)
	}
}

var (
	quoted = regexp.MustCompile("`[^`\n]+`")
	named  = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*/?$`)
	source = regexp.MustCompile(`\.(go|sh|wgsl)$`)
)

// checkNames returns the names in backquotes that do not exist, and the number of names. A name is
// the path of a source file, a path in an existing directory of the root, or the base name of a
// source file. A base name lies at the root or in a directory that the same paragraph or table row
// names.
func checkNames(root, text string) (missing []string, n int) {
	exists := func(elem ...string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path.Join(elem...))))
		return err == nil
	}
	for _, part := range paragraphs(text) {
		var names []string
		dirs := []string{"."}
		for _, q := range quoted.FindAllString(part, -1) {
			name, _, _ := strings.Cut(strings.Trim(q, "`"), " ") // drop the arguments of a command
			if !named.MatchString(name) {
				continue
			}
			names = append(names, name)
			info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
			if err == nil && info.IsDir() {
				dirs = append(dirs, name)
			}
		}
		for _, name := range names {
			first, _, long := strings.Cut(name, "/")
			switch {
			case long && (source.MatchString(name) || exists(first)):
				n++
				if !exists(name) {
					missing = append(missing, name)
				}
			case !long && source.MatchString(name):
				inDir := func(dir string) bool { return exists(dir, name) }
				n++
				if !slices.ContainsFunc(dirs, inDir) {
					missing = append(missing, name)
				}
			}
		}
	}
	return missing, n
}

// paragraphs splits a document into paragraphs, and tables into rows.
func paragraphs(text string) (parts []string) {
	for _, paragraph := range strings.Split(text, "\n\n") {
		if strings.HasPrefix(strings.TrimSpace(paragraph), "|") {
			parts = append(parts, strings.Split(paragraph, "\n")...)
		} else {
			parts = append(parts, paragraph)
		}
	}
	return parts
}

func TestCheckNames(t *testing.T) {
	root := t.TempDir()
	makeFiles(t, root, "a.go", "p/b.go", "p/q/c.wgsl", "scripts/x.sh")
	for _, tt := range []struct {
		text, missing string
		n             int
	}{
		{"`a.go`, `p/b.go`, `p/q/` and\n`scripts/x.sh --all`", "", 4},
		{"`p` has\n`b.go`", "", 1},
		{"`p` has more.\n\nSee `b.go`.", "b.go", 1},
		{"| `p/q` | `c.wgsl` |\n| `p` | `c.wgsl` |", "c.wgsl", 3},
		{"`z.go` `p/z` `z/z.go` `scripts/z.sh FILE`", "z.go p/z z/z.go scripts/z.sh", 4},
		{"`runtime/trace`, `allocs/op`, `summary.md`, `Writer`, `-p x`, `a = b`, z.go", "", 0},
	} {
		missing, n := checkNames(root, tt.text)
		if strings.Join(missing, " ") != tt.missing || n != tt.n {
			t.Errorf("%q: %q of %d, want %q of %d", tt.text, missing, n, tt.missing, tt.n)
		}
	}
}

// TestDocsBeginWith checks tables with a column "begin with" against the tree.
func TestDocsBeginWith(t *testing.T) {
	root, _ := findModule(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	missing, n := checkBeginWith(root, strings.ReplaceAll(string(text), "\r\n", "\n"))
	for _, name := range missing {
		t.Errorf("ARCHITECTURE.md says to begin with %s, which does not exist", name)
	}
	if n < 20 {
		t.Errorf("found only %d files to begin with: the search is broken", n)
	}
}

// checkBeginWith returns the files that the last column of a table "begin with" names and that do
// not exist, and the number of names. The first column has the packages of a row by their paths,
// and `compress` for the root. A base name must exist in each of them, a path in the root.
func checkBeginWith(root, text string) (missing []string, n int) {
	inTable := false
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		last := cells[len(cells)-1]
		switch {
		case !strings.HasPrefix(line, "|"):
			inTable = false
			continue
		case strings.TrimSpace(last) == "begin with":
			inTable = true
			continue
		case !inTable:
			continue
		}
		for _, q := range quoted.FindAllString(last, -1) {
			name := strings.Trim(q, "`")
			dirs := []string{"."}
			if !strings.Contains(name, "/") {
				dirs = quoted.FindAllString(cells[0], -1)
			}
			n++
			for _, dir := range dirs {
				if dir = strings.Trim(dir, "`"); dir == "compress" {
					dir = "."
				}
				file := path.Join(dir, name)
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
					missing = append(missing, file)
				}
			}
		}
	}
	return missing, n
}

func TestCheckBeginWith(t *testing.T) {
	root := t.TempDir()
	makeFiles(t, root, "a.go", "p/b.go", "q/r/b.go")
	const head = "| package | begin with |\n|---|---|\n"
	for _, tt := range []struct {
		text, missing string
		n             int
	}{
		{head + "| `compress` (root) | `a.go` |\n| `p`, `q/r` | `b.go` |", "", 2},
		{head + "| `p`, `q/r` | `p/b.go`, `q/r/b.go` |", "", 2},
		{head + "| `p`, `r` | `b.go` |", "r/b.go", 1},
		{head + "| `p` | `a.go`, `b.go` |", "p/a.go", 2},
		{head + "| `p` | – |\n\n| `p` | `a.go` |", "", 0},
		{"| package | files |\n|---|---|\n| `p` | `a.go` |", "", 0},
	} {
		missing, n := checkBeginWith(root, tt.text)
		if strings.Join(missing, " ") != tt.missing || n != tt.n {
			t.Errorf("%q: %q of %d, want %q of %d", tt.text, missing, n, tt.missing, tt.n)
		}
	}
}

// makeFiles creates empty files below root.
func makeFiles(t *testing.T, root string, files ...string) {
	t.Helper()
	for _, file := range files {
		file = filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFileNames rejects file names that a file system or a Go module cannot hold.
func TestFileNames(t *testing.T) {
	root, _ := findModule(t)
	odd := regexp.MustCompile("[\x00-\x1f\x7f\"'*:<>?`|\\\\]")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == root:
		case d.IsDir() && slices.Contains(untracked, d.Name()) && filepath.Dir(path) == root:
			return fs.SkipDir
		case odd.MatchString(d.Name()) || !utf8.ValidString(d.Name()):
			t.Errorf("%q is not a portable file name", path)
		default:
			files++
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files: %v", files, err)
	}
}
