// Package archtest tests the source tree itself: imports, headers of statements, what is public,
// names of files in text, and sizes. It parses the source instead of asking the go command, so that
// files for every platform and build tag count.
package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// tree is the source: the module around this package and the modules nested in it.
type tree struct {
	module string // path of the module
	fset   *token.FileSet
	files  []*file         // Go, Markdown and shell
	exists map[string]bool // every file and directory
	nested []string        // directories of nested modules
}

// file is one file of the source. Its lines end in "\n".
type file struct {
	path string // from the root of the tree, slash-separated
	text string
	ast  *ast.File // nil if it is not Go
	tag  string    // build constraint of a Go file, "" for none
}

// test reports whether f is a Go file of tests.
func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// readTree reads a module. What .gitignore names is no part of it.
func readTree(fsys fs.FS) (*tree, error) {
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, err
	}
	_, module, _ := strings.Cut(string(mod), "module ")
	module, _, _ = strings.Cut(module, "\n")
	tr := &tree{module: strings.TrimSpace(module), fset: token.NewFileSet(), exists: map[string]bool{}}
	ignored := []string{".git"}
	if list, err := fs.ReadFile(fsys, ".gitignore"); err == nil {
		for line := range strings.Lines(string(list)) {
			ignored = append(ignored, strings.Trim(line, "/\r\n"))
		}
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(ignored, name) && d.IsDir():
			return fs.SkipDir
		}
		tr.exists[name] = true
		inTestdata := slices.Contains(strings.Split(name, "/"), "testdata")
		switch {
		case d.Name() == "go.mod" && name != "go.mod" && !inTestdata:
			tr.nested = append(tr.nested, path.Dir(name))
		case !d.Type().IsRegular() || inTestdata:
		case slices.Contains([]string{".go", ".md", ".sh"}, path.Ext(name)) || name == ".ci/run":
			return tr.readFile(fsys, name)
		}
		return nil
	})
	return tr, err
}

var buildTag = regexp.MustCompile(`(?m)^//go:build (.*)$`)

func (tr *tree) readFile(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	f := &file{path: name, text: string(text)}
	tr.files = append(tr.files, f)
	if path.Ext(name) != ".go" {
		return nil
	}
	f.ast, err = parser.ParseFile(tr.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if m := buildTag.FindStringSubmatch(f.text); m != nil {
		f.tag = m[1]
	}
	return nil
}

// packages returns the Go files of the module by the directories of their packages, "" for the
// root. It leaves out what the go command does, and programs with the constraint "ignore".
func (tr *tree) packages() map[string][]*file {
	dirs := map[string][]*file{}
	for _, f := range tr.files {
		dir := "/" + path.Dir(f.path)
		hidden := strings.Contains(dir, "/_") || strings.Contains(dir[1:], "/.")
		if f.ast == nil || f.tag == "ignore" || hidden || tr.inNested(f.path) {
			continue
		}
		dir = strings.TrimPrefix(dir[1:], ".")
		dirs[dir] = append(dirs[dir], f)
	}
	return dirs
}

func (tr *tree) inNested(name string) bool {
	return slices.ContainsFunc(tr.nested, func(dir string) bool { return strings.HasPrefix(name, dir+"/") })
}

// pos returns the place of a node as file:line.
func (tr *tree) pos(p token.Pos) string {
	at := tr.fset.Position(p)
	at.Column = 0
	return at.String()
}
