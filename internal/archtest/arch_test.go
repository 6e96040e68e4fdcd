// Package archtest holds the house up: imports point down only. It reads the source itself rather than asking the go command,
// so that files for every platform and build tag count.
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

func TestImportsPointDown(t *testing.T) {
	root, module := findModule(t)
	uses, dirs, err := readModule(root, module)
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 2 {
		t.Fatalf("found only %d packages under %s: something is wrong with the walk", len(dirs), root)
	}
	homeless := map[string]bool{}
	for _, dir := range dirs {
		// A package has its place whatever it imports.
		if msg := check(module, use{from: dir, to: "fmt"}); msg != "" {
			t.Error(msg)
			homeless[dir] = true
		}
	}
	for _, u := range uses {
		if homeless[u.from] {
			continue // said once
		}
		if msg := check(module, u); msg != "" {
			t.Errorf("%s: %s", u.pos, msg)
		}
	}
}

// TestTablesAreTrue: a row for what is not there says something that nobody checks.
func TestTablesAreTrue(t *testing.T) {
	root, module := findModule(t)
	uses, dirs, err := readModule(root, module)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range stale(module, uses, dirs) {
		t.Errorf("the tables in internal/archtest/floors_test.go have %s, which is not there", row)
	}
}

// stale returns the rows of packages, sideways and foreign for which there is nothing.
func stale(module string, uses []use, dirs []string) (rows []string) {
	there := map[string]bool{}
	for _, dir := range dirs {
		name, _ := ours(module, dir)
		there[name] = true
	}
	for name := range packages {
		if !there[name] {
			rows = append(rows, fmt.Sprintf("package %q", name))
		}
	}
	arrows, needs := map[arrow]bool{}, map[arrow]bool{}
	for _, u := range uses {
		if u.test {
			continue
		}
		from, _ := ours(module, u.from)
		if to, own := ours(module, u.to); own {
			arrows[arrow{from, to}] = true
		}
		for m := range foreign {
			if u.to == m || strings.HasPrefix(u.to, m+"/") {
				needs[arrow{from, m}] = true
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
			if !needs[arrow{user, m}] {
				rows = append(rows, fmt.Sprintf("an import of %s by %q", m, user))
			}
		}
	}
	slices.Sort(rows)
	return rows
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
func readModule(root, module string) (uses []use, packages []string, err error) {
	err = filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != root {
			// What the go command does not see either: hidden directories, test data, other modules.
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
		packages = append(packages, pkg)
		for _, file := range files {
			more, err := readFile(root, file, pkg)
			if err != nil {
				return err
			}
			uses = append(uses, more...)
		}
		return nil
	})
	return uses, packages, err
}

// escape makes dir a pattern that matches dir alone.
func escape(dir string) string {
	if filepath.Separator == '\\' {
		return dir // there is no escaping on Windows, and brackets are rare
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func readFile(root, file, pkg string) ([]use, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if neverBuilt(f) {
		return nil, nil
	}
	short, err := filepath.Rel(root, file)
	if err != nil {
		return nil, err
	}
	var uses []use
	for _, spec := range f.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		uses = append(uses, use{
			from: pkg,
			to:   to,
			test: strings.HasSuffix(file, "_test.go"),
			tag:  constraint(f),
			pos:  fmt.Sprintf("%s:%d", short, fset.Position(spec.Pos()).Line),
		})
	}
	return uses, nil
}

// neverBuilt is true for a program that is run by hand with "go run file.go" and belongs to no package.
func neverBuilt(f *ast.File) bool { return constraint(f) == "ignore" }

// constraint is what the file's build constraint says, "" if it has none.
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
