package archtest

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Limits on the shape of the source. Of generated files only the lines are measured.
const (
	maxRootFiles   = 19  // Go files of the root package, tests not counted
	maxFileLines   = 400 // lines of a Go file
	maxFuncLines   = 80  // lines of a function, from "func" to the closing brace
	maxFields      = 25  // fields of a struct
	maxColumns     = 110 // columns of a line of Go, Markdown or shell
	columnsPerTab  = 4
	leastFilesSeen = 300 // fewer mean that the walk is broken
)

// rule is one limit.
type rule string

const (
	manyFiles rule = "files in the root package"
	longFile  rule = "lines in a file"
	longFunc  rule = "lines in a function"
	bigStruct rule = "fields in a struct"
	longLine  rule = "columns"
)

// violation is one place over a limit.
type violation struct {
	rule rule
	file string // slash-separated path from the root of the repository; "" for manyFiles
	name string // function or struct, if the rule is about one
	line int
	size int // measured value
}

func (v violation) String() string {
	place := v.file
	if v.line > 0 {
		place = fmt.Sprintf("%s:%d", v.file, v.line)
	}
	if v.name != "" {
		place += ": " + v.name
	}
	return fmt.Sprintf("%s: %d %s, limit %d", place, v.size, v.rule, limits[v.rule])
}

var limits = map[rule]int{
	manyFiles: maxRootFiles,
	longFile:  maxFileLines,
	longFunc:  maxFuncLines,
	bigStruct: maxFields,
	longLine:  maxColumns,
}

// TestShape holds the source to the limits. Only places in the table exceptions may break them.
func TestShape(t *testing.T) {
	root, _ := findModule(t)
	found, files, err := measureTree(root)
	if err != nil {
		t.Fatal(err)
	}
	if files < leastFilesSeen {
		t.Fatalf("measured only %d files under %s: the walk is broken", files, root)
	}
	rest, unused := applyExceptions(found, exceptions)
	for _, e := range unused {
		t.Errorf("stale exception in shape_exceptions_test.go: nothing at %+v breaks this limit", e)
	}
	for _, v := range rest {
		t.Error(v)
	}
}

// applyExceptions returns the violations that no exception covers, and the exceptions that cover
// none.
func applyExceptions(
	found []violation, allowed map[exception]string,
) (rest []violation, unused []exception) {
	used := map[exception]bool{}
	for _, v := range found {
		e := exception{v.rule, v.file, v.name}
		if _, ok := allowed[e]; ok {
			used[e] = true
		} else {
			rest = append(rest, v)
		}
	}
	for e := range allowed {
		if !used[e] {
			unused = append(unused, e)
		}
	}
	return rest, unused
}

// untracked lists directories of the root that are not part of the source.
var untracked = []string{".git", "bin", "corpus", "bench-out"}

// measureTree returns all violations of the files under root, nested modules included, and the
// number of files it has measured.
func measureTree(root string) (found []violation, files int, err error) {
	rootFiles := 0
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		short, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		short = filepath.ToSlash(short)
		if d.IsDir() {
			if slices.Contains(untracked, short) || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		more, measured, err := measureFile(name, short)
		found = append(found, more...)
		if measured {
			files++
		}
		isGo := path.Ext(short) == ".go" && !strings.HasSuffix(short, "_test.go")
		if isGo && path.Dir(short) == "." {
			rootFiles++
		}
		return err
	})
	if rootFiles > maxRootFiles {
		found = append(found, violation{rule: manyFiles, size: rootFiles})
	}
	slices.SortStableFunc(found, func(a, b violation) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return found, files, err
}

// measureFile measures the file with the path name, which violations call short. It reports false
// for a file that is neither Go nor Markdown nor shell.
func measureFile(name, short string) ([]violation, bool, error) {
	var measure func(string, []byte) ([]violation, error)
	switch ext := path.Ext(short); {
	case ext == ".go":
		measure = measureGo
	case ext == ".md", ext == ".sh", short == ".ci/run":
		measure = func(short string, text []byte) ([]violation, error) {
			return measureLines(short, text), nil
		}
	default:
		return nil, false, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, false, err
	}
	found, err := measure(short, text)
	return found, true, err
}

// measureGo measures the lines, functions and structs of a Go file.
func measureGo(short string, text []byte) ([]violation, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, short, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	found := measureLines(short, text)
	if ast.IsGenerated(f) {
		return found, nil
	}
	if n := bytes.Count(text, []byte("\n")); n > maxFileLines {
		found = append(found, violation{rule: longFile, file: short, size: n})
	}
	line := func(p token.Pos) int { return fset.Position(p).Line }
	var name string // declaration around a node
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			name = n.Name.Name
			if size := line(n.End()) - line(n.Pos()) + 1; size > maxFuncLines {
				found = append(found, violation{longFunc, short, funcName(n), line(n.Pos()), size})
			}
		case *ast.TypeSpec:
			name = n.Name.Name
		case *ast.StructType:
			if size := n.Fields.NumFields(); size > maxFields {
				found = append(found, violation{bigStruct, short, name, line(n.Pos()), size})
			}
		}
		return true
	})
	return found, nil
}

// funcName returns the name of a function, with the receiver's type before that of a method.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch x := receiver.(type) {
		case *ast.StarExpr:
			receiver = x.X
		case *ast.IndexExpr:
			receiver = x.X
		case *ast.IndexListExpr:
			receiver = x.X
		case *ast.Ident:
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// measureLines returns the lines that are too long.
func measureLines(short string, text []byte) (found []violation) {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if w := columns(line); w > maxColumns {
			v := violation{rule: longLine, file: short, line: n, size: w}
			found = append(found, v)
		}
	}
	return found
}

// columns returns the width of a line with tab stops every columnsPerTab columns.
func columns(line []byte) (width int) {
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		line = line[size:]
		if r == '\t' {
			width += columnsPerTab - width%columnsPerTab
		} else {
			width++
		}
	}
	return width
}
