// Package archtest tests the source tree itself: which package imports which, the shape of files
// and functions, and names in documents. It parses the source instead of asking the go command, so
// that files for every platform and build tag count.
package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestImportsPointDown checks every import of the module against the tables of floors_test.go.
func TestImportsPointDown(t *testing.T) {
	imports, dirs := readTree(t)
	module := modulePath(t)
	unplaced := map[string]bool{}
	for _, dir := range dirs {
		// A package needs a floor even if it imports nothing.
		if message := check(module, importUse{from: dir, to: "fmt"}); message != "" {
			t.Error(message)
			unplaced[dir] = true
		}
	}
	for _, u := range imports {
		if unplaced[u.from] {
			continue
		}
		if message := check(module, u); message != "" {
			t.Errorf("%s: %s", u.pos, message)
		}
	}
}

// TestTablesAreCurrent fails for rows of the tables that no package and no import needs.
func TestTablesAreCurrent(t *testing.T) {
	imports, dirs := readTree(t)
	for _, row := range staleRows(modulePath(t), imports, dirs) {
		t.Errorf("internal/archtest/floors_test.go lists %s, which does not exist", row)
	}
}

// staleRows returns the rows of packages, sideways and foreign that nothing needs.
func staleRows(module string, imports []importUse, dirs []string) (rows []string) {
	exists := map[string]bool{}
	for _, dir := range dirs {
		name, _ := inModule(module, dir)
		exists[name] = true
	}
	for name := range packages {
		if !exists[name] {
			rows = append(rows, fmt.Sprintf("package %q", name))
		}
	}
	arrows, uses := map[arrow]bool{}, map[arrow]bool{}
	for _, u := range imports {
		from, _ := inModule(module, u.from)
		if to, ok := inModule(module, u.to); ok && !u.test {
			arrows[arrow{from, to}] = true
		}
		for m := range foreign {
			if u.to == m || strings.HasPrefix(u.to, m+"/") {
				uses[arrow{from, m}] = true
			}
		}
	}
	for a := range sideways {
		if !arrows[a] {
			rows = append(rows, fmt.Sprintf("an import of %q by %q", a.to, a.from))
		}
	}
	for m, users := range foreign {
		for _, user := range users {
			if !uses[arrow{user, m}] {
				rows = append(rows, fmt.Sprintf("an import of %s by %q", m, user))
			}
		}
	}
	slices.Sort(rows)
	return rows
}

// readTree returns all imports and packages of the module around the working directory.
func readTree(t *testing.T) (imports []importUse, dirs []string) {
	t.Helper()
	root, module := findModule(t)
	imports, dirs, err := readModule(root, module)
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 2 {
		t.Fatalf("found only %d packages under %s: the walk is broken", len(dirs), root)
	}
	return imports, dirs
}

func modulePath(t *testing.T) string {
	_, module := findModule(t)
	return module
}

// findModule returns the directory and the path of the module around the working directory.
func findModule(t *testing.T) (root, module string) {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			for line := range strings.Lines(string(mod)) {
				if module, ok := strings.CutPrefix(line, "module "); ok {
					return root, strings.TrimSpace(module)
				}
			}
			t.Fatalf("no module line in %s/go.mod", root)
		}
		up := filepath.Dir(root)
		if up == root {
			t.Fatal("no go.mod in this directory or above")
		}
		root = up
	}
}

// readModule returns all imports of the module and the paths of its packages.
func readModule(root, module string) (imports []importUse, dirs []string, err error) {
	err = filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != root {
			// The go command ignores these directories, too.
			if name := d.Name(); name[0] == '.' || name[0] == '_' || name == "testdata" {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				return filepath.SkipDir
			}
		}
		files, err := filepath.Glob(filepath.Join(escape(dir), "*.go"))
		if err != nil || len(files) == 0 {
			return err
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		pkg := path.Join(module, filepath.ToSlash(rel))
		dirs = append(dirs, pkg)
		for _, file := range files {
			more, err := readImports(root, file, pkg)
			if err != nil {
				return err
			}
			imports = append(imports, more...)
		}
		return nil
	})
	return imports, dirs, err
}

// escape returns a pattern that matches dir only.
func escape(dir string) string {
	if filepath.Separator == '\\' {
		return dir // patterns have no escape character on Windows
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// readImports returns the imports of a file. A file with the constraint "ignore" is a program of
// its own and has none.
func readImports(root, file, pkg string) ([]importUse, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	tag := constraint(f)
	if tag == "ignore" {
		return nil, nil
	}
	short, err := filepath.Rel(root, file)
	if err != nil {
		return nil, err
	}
	var imports []importUse
	for _, spec := range f.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imports = append(imports, importUse{
			from: pkg,
			to:   to,
			test: strings.HasSuffix(file, "_test.go"),
			tag:  tag,
			pos:  fmt.Sprintf("%s:%d", short, fset.Position(spec.Pos()).Line),
		})
	}
	return imports, nil
}

// constraint returns the build constraint of a file, "" if it has none.
func constraint(f *ast.File) string {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if text, ok := strings.CutPrefix(c.Text, "//go:build "); ok && c.Pos() < f.Package {
				return text
			}
		}
	}
	return ""
}
