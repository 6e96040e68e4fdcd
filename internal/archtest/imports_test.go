package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// arrow is an import of one package of the module by another. Paths are below the module's.
type arrow struct{ from, to string }

// importUse is one import in a file. A path to is below the module's if inside is set.
type importUse struct {
	from, to string
	inside   bool
	test     bool   // in a file of tests
	tag      string // build constraint of the file
}

// checkImports holds every import to the tables of floors_test.go.
func checkImports(tr *tree) (found []finding) {
	arrows := map[arrow]bool{}
	dirs := tr.packages()
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if _, ok := packages[dir]; !ok {
			found = append(found, finding{key: dir, text: fmt.Sprintf("package %q has no floor", dir)})
			continue
		}
		for _, f := range dirs[dir] {
			for _, spec := range f.ast.Imports {
				to, _ := strconv.Unquote(spec.Path.Value)
				u := importUse{from: dir, to: to, test: f.test(), tag: f.tag}
				if to == tr.module {
					u.to, u.inside = "", true
				} else if below, ok := strings.CutPrefix(to, tr.module+"/"); ok {
					u.to, u.inside = below, true
				}
				arrows[arrow{u.from, foreignModule(u.to)}] = true
				if u.inside && !u.test {
					arrows[arrow{u.from, u.to}] = true
				}
				if message := check(u); message != "" {
					found = append(found, finding{key: dir, pos: tr.pos(spec.Pos()), text: message})
				}
			}
		}
	}
	for _, row := range staleRows(dirs, arrows) {
		found = append(found, finding{key: row, pos: "floors_test.go", text: "does not exist"})
	}
	return found
}

// staleRows returns the rows of packages, sideways and foreign that nothing needs.
func staleRows(dirs map[string][]*file, arrows map[arrow]bool) (rows []string) {
	for name := range packages {
		if dirs[name] == nil {
			rows = append(rows, fmt.Sprintf("package %q", name))
		}
	}
	for a := range sideways {
		if !arrows[a] {
			rows = append(rows, fmt.Sprintf("an import of %q by %q", a.to, a.from))
		}
	}
	for module, users := range foreign {
		for _, user := range users {
			if !arrows[arrow{user, module}] {
				rows = append(rows, fmt.Sprintf("an import of %s by %q", module, user))
			}
		}
	}
	return rows
}

// foreignModule returns the module of the table foreign that a package is in, "" if there is none.
func foreignModule(pkg string) string {
	for module := range foreign {
		if pkg == module || strings.HasPrefix(pkg, module+"/") {
			return module
		}
	}
	return ""
}

// check says what is wrong with an import of a package that has a floor, "" if it is allowed.
func check(u importUse) string {
	if !u.inside {
		return checkForeign(u)
	}
	level, listed := packages[u.from], sideways[arrow{u.from, u.to}]
	toLevel, known := packages[u.to]
	users := linked[u.to]
	switch {
	case users != nil && !slices.Contains(users, u.from):
		return fmt.Sprintf("only %q may link a GPU driver or net/http: imports %q", users, u.to)
	case !known:
		return fmt.Sprintf("package %q has no floor", u.to)
	case u.test:
		// A test may import anything beside it, below it, and in the workshop.
		if toLevel > level && toLevel != workshop {
			return fmt.Sprintf("a test imports %q, which lies above it", u.to)
		}
		return ""
	case level == workshop && !listed:
		return fmt.Sprintf("packages of the workshop stand alone: imports %q", u.to)
	case toLevel == workshop && level == tools:
		return "" // measuring programs use generated data
	case toLevel == workshop && level != workshop:
		return fmt.Sprintf("%q is for tests only", u.to)
	case toLevel > level:
		return fmt.Sprintf("the arrow to %q points up", u.to)
	case toLevel == level && !listed:
		return fmt.Sprintf("%q is on the same floor, and the import is not listed", u.to)
	case level == commands && toLevel != programs && users == nil:
		return fmt.Sprintf("a main package calls a program only: imports %q", u.to)
	case level == programs && toLevel != library && !slices.Contains(blocks, u.to) && !listed:
		return fmt.Sprintf("a program uses public packages only: imports %q", u.to)
	}
	return ""
}

// checkForeign checks the import of a package from outside the module. Tests may import what their
// package may, and small modules: "go mod tidy" in a program loads the tests of all packages below
// those it imports, and downloads the modules that these tests need.
func checkForeign(u importUse) string {
	module := foreignModule(u.to)
	switch {
	case u.to == "C":
		if tag := cgo[u.from]; tag == "" || u.tag != tag {
			return "the default build is pure Go: imports C"
		}
	case !strings.Contains(strings.Split(u.to, "/")[0], "."): // the standard library
	case module == "":
		return fmt.Sprintf("%s: a new dependency needs a reason and a line in floors_test.go", u.to)
	case !slices.Contains(foreign[module], u.from) && !(u.test && small[module]):
		return fmt.Sprintf("%s is only for %q and their tests", u.to, foreign[module])
	case optional[module] != "" && u.tag != optional[module]:
		return fmt.Sprintf("%s needs the build constraint %s", u.to, optional[module])
	}
	return ""
}
