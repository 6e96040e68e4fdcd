package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

// Limits on sizes. Generated files have none.
const (
	maxFileLines = 600 // lines of a Go file
	maxFuncLines = 80  // lines of a function, from "func" to the closing brace
	maxColumns   = 110 // columns of a line of Go or shell
	maxText      = 100 // columns of a comment line, and of Markdown but for tables and code

	columnsPerTab = 4
)

// checkLength finds Go files and functions with too many lines.
func checkLength(tr *tree) (found []finding) {
	for _, f := range tr.files {
		if f.ast == nil || ast.IsGenerated(f.ast) {
			continue
		}
		if n := strings.Count(f.text, "\n"); n > maxFileLines {
			found = append(found, finding{key: f.path, pos: f.path, size: n, text: "lines of a file"})
		}
		for _, d := range f.ast.Decls {
			n := tr.fset.Position(d.End()).Line - tr.fset.Position(d.Pos()).Line + 1
			fn, ok := d.(*ast.FuncDecl)
			if ok && n > maxFuncLines {
				key := path.Dir(f.path) + "." + fn.Name.Name
				pos := tr.pos(d.Pos())
				found = append(found, finding{key: key, pos: pos, size: n, text: "lines of a function"})
			}
		}
	}
	return found
}

// checkCode finds lines of Go and shell, other than comments, that are too long.
func checkCode(tr *tree) []finding { return tr.longLines(maxColumns, false) }

// checkText finds lines of comments and Markdown that are too long.
func checkText(tr *tree) []finding { return tr.longLines(maxText, true) }

// longLines returns the lines of text, or else of code, with more than most columns. Their key is
// the directory.
func (tr *tree) longLines(most int, text bool) (found []finding) {
	for _, f := range tr.files {
		if f.ast != nil && ast.IsGenerated(f.ast) {
			continue
		}
		n, fenced := 0, false
		for line := range strings.Lines(f.text) {
			n++
			line = strings.TrimSuffix(line, "\n")
			bare := strings.TrimSpace(line)
			isText := strings.HasPrefix(bare, "//") && !strings.HasPrefix(bare, "//go:")
			switch path.Ext(f.path) {
			case ".md":
				if strings.HasPrefix(bare, "```") {
					fenced = !fenced
				}
				isText = !fenced && !strings.HasPrefix(bare, "|") && !strings.HasPrefix(line, "    ")
			case ".sh", "":
				isText = strings.HasPrefix(bare, "#")
			}
			if w := columns(line); w > most && isText == text {
				pos, text := fmt.Sprintf("%s:%d", f.path, n), fmt.Sprintf("%d columns, limit %d", w, most)
				found = append(found, finding{key: path.Dir(f.path), pos: pos, text: text})
			}
		}
	}
	return found
}

// columns returns the width of a line with tab stops every columnsPerTab columns.
func columns(line string) (width int) {
	for _, r := range line {
		if r == '\t' {
			width += columnsPerTab - width%columnsPerTab
		} else {
			width++
		}
	}
	return width
}
