package bcetest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const directive = "//pz:nobce"

// mark is a range of lines in which the compiler must leave no bounds check.
type mark struct {
	file       string // absolute
	name       string // of the function, for messages
	start, end int    // lines, both inclusive
}

// findMarks returns the marks in the Go files under root, except other modules and test data. A
// directive above neither a function nor a loop is an error.
func findMarks(root string) ([]mark, error) {
	var marks []mark
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if err == nil || name[0] == '.' || name[0] == '_' || name == "testdata" {
				return filepath.SkipDir
			}
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		more, err := fileMarks(path)
		marks = append(marks, more...)
		return err
	})
	return marks, err
}

func fileMarks(file string) ([]mark, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	line := func(p token.Pos) int { return fset.Position(p).Line }

	// open maps the line below each directive's comment to the directive, until a function or loop
	// is found there.
	open := map[int]token.Pos{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Text == directive {
				open[line(group.End())+1] = c.Pos()
			}
		}
	}
	if len(open) == 0 {
		return nil, nil
	}

	var marks []mark
	var generic error
	function := ""
	take := func(n ast.Node) {
		first := line(n.Pos())
		if fn, ok := n.(*ast.FuncDecl); ok {
			first = line(fn.Type.Func) // the declaration begins with its comment
		}
		if _, ok := open[first]; ok {
			delete(open, first)
			marks = append(marks, mark{file, function, first, line(n.End())})
		}
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		function = fn.Name.Name
		before := len(marks)
		take(fn)
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ForStmt, *ast.RangeStmt, *ast.LabeledStmt:
				take(n)
			}
			return true
		})
		if len(marks) > before && isGeneric(fn) {
			generic = fmt.Errorf(
				"%s: %s is generic: its users compile it, so the mark has no effect",
				fset.Position(fn.Pos()), function)
		}
	}
	for _, pos := range open {
		return nil, fmt.Errorf("%s: %s stands above neither a function nor a loop",
			fset.Position(pos), directive)
	}
	return marks, generic
}

func isGeneric(fn *ast.FuncDecl) bool {
	if fn.Type.TypeParams != nil {
		return true
	}
	if fn.Recv == nil {
		return false
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	switch t.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}
