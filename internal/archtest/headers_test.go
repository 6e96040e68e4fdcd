package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"
)

// checkHeaders finds statements in the headers of if and switch that do more than assign what the
// condition tests.
func checkHeaders(tr *tree) (found []finding) {
	for _, f := range tr.files {
		if f.ast == nil {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			init, conditions := header(n)
			if init == nil {
				return true
			}
			if text := checkHeader(init, conditions); text != "" {
				found = append(found, finding{key: path.Dir(f.path), pos: tr.pos(init.Pos()), text: text})
			}
			return true
		})
	}
	return found
}

// header returns the statement in the header of an if or a switch, nil if there is none, and what
// is tested: the condition, the tag, or the cases of a switch without a tag.
func header(n ast.Node) (init ast.Stmt, conditions []ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Init, []ast.Node{n.Cond}
	case *ast.TypeSwitchStmt:
		return n.Init, []ast.Node{n.Assign}
	case *ast.SwitchStmt:
		if n.Tag != nil {
			return n.Init, []ast.Node{n.Tag}
		}
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				conditions = append(conditions, e)
			}
		}
		return n.Init, conditions
	}
	return nil, nil
}

// checkHeader says what is wrong with a statement in a header, "" if nothing is. Of defined
// variables the conditions must test one, of assigned variables all.
func checkHeader(init ast.Stmt, conditions []ast.Node) string {
	assign, ok := init.(*ast.AssignStmt)
	if !ok {
		return "a header holds a statement that is no assignment"
	}
	var tested, untested []string
	for _, left := range assign.Lhs {
		switch name := types.ExprString(left); {
		case name == "_":
		case occurs(name, conditions):
			tested = append(tested, name)
		default:
			untested = append(untested, name)
		}
	}
	switch {
	case assign.Tok == token.DEFINE && len(tested) == 0:
		return "a header defines what its condition does not test"
	case assign.Tok != token.DEFINE && len(untested) > 0:
		return "a header assigns " + strings.Join(untested, ", ") + ", which its condition does not test"
	}
	return ""
}

// occurs reports whether one of the nodes contains the expression name.
func occurs(name string, nodes []ast.Node) (found bool) {
	for _, n := range nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			found = found || ok && types.ExprString(e) == name
			return !found
		})
	}
	return found
}
