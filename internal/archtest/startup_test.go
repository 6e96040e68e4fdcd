package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// startUp lists what packages may compute when a program starts, with the reason.
var startUp = map[string]string{
	"pipeline: init": "completes the few rows of the table, which refer to each other",
}

// TestStartUp finds variables that a loop computes when a program starts. A command with a small file
// spends more time on such tables than on the file: they belong into a literal, or into
// sync.OnceValue.
func TestStartUp(t *testing.T) {
	root, _ := findModule(t)
	found := map[string]bool{}
	for dir, level := range packages {
		if level > programs || suites[dir] {
			continue
		}
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		fset := token.NewFileSet()
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		for _, name := range computed(files) {
			found[dir+": "+name] = true
		}
	}
	for name := range found {
		if startUp[name] == "" {
			t.Errorf("%s runs a loop whenever a program starts", name)
		}
	}
	for name := range startUp {
		if !found[name] {
			t.Errorf("startUp lists %s, which runs no loop", name)
		}
	}
}

// computed returns the package-level variables of a package whose initial values a loop computes, in a
// function literal or in a function of the package, and "init" for a function of that name with a
// loop.
func computed(files []*ast.File) (names []string) {
	loops := map[string]bool{} // functions
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Body != nil && hasLoop(fn.Body) {
				if loops[fn.Name.Name] = true; fn.Name.Name == "init" {
					names = append(names, "init")
				}
			}
		}
	}
	runs := func(value ast.Expr) (loop bool) {
		ast.Inspect(value, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false // runs later
			case *ast.CallExpr:
				switch fn := n.Fun.(type) {
				case *ast.FuncLit:
					loop = loop || hasLoop(fn.Body)
				case *ast.Ident:
					loop = loop || loops[fn.Name]
				}
			}
			return true
		})
		return loop
	}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				s := s.(*ast.ValueSpec)
				for _, v := range s.Values {
					if runs(v) {
						names = append(names, s.Names[0].Name)
					}
				}
			}
		}
	}
	return names
}

// hasLoop reports whether a function has a loop, in itself or in a literal.
func hasLoop(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = true
		}
		return !found
	})
	return found
}

// TestComputed checks TestStartUp on a made-up package.
func TestComputed(t *testing.T) {
	const text = `package p
var a = func() (t [9]int) { for i := range t { t[i] = i }; return t }()
var b = makeTable()
var c = sync.OnceValue(makeTable)
var d = sync.OnceValue(func() *[9]int { for { } })
var e = [...]int{1, 2}
var f = func() int { return 1 }()
var g = []row{{table: makeTable()}}
func makeTable() *[9]int { for { } }
func init() { for { } }
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(computed([]*ast.File{f}), " "); got != "init a b g" {
		t.Errorf("found %q", got)
	}
}
