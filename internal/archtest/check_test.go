package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// arrow is an import of one package of the module by another. Paths are below the module's.
type arrow struct{ from, to string }

// importUse is one import in a file. Paths are complete.
type importUse struct {
	from, to string
	test     bool   // in a _test.go file
	pos      string // file:line
	tag      string // build constraint of the file
}

const tables = "internal/archtest/floors_test.go"

// check returns an error message for an import in a module, or "" if the import is allowed.
func check(module string, u importUse) string {
	from, _ := inModule(module, u.from)
	level, known := packages[from]
	if !known {
		return fmt.Sprintf("package %q has no floor: add it to the table in %s", from, tables)
	}
	to, ok := inModule(module, u.to)
	if !ok {
		return checkForeign(from, u)
	}
	if users := linked[to]; users != nil && !slices.Contains(users, from) {
		return fmt.Sprintf("%q imports %q: only %q may link a GPU driver", from, to, users)
	}
	toLevel, known := packages[to]
	if !known {
		return fmt.Sprintf("package %q, imported by %q, has no floor: add it to the table in %s",
			to, from, tables)
	}
	if suites[to] && !u.test && level != tools {
		return fmt.Sprintf("%q imports %q, which is for tests only", from, to)
	}
	if u.test || suites[from] && toLevel == workshop {
		// A test may import anything beside it, below it, and in the workshop.
		if toLevel > level && toLevel != workshop {
			return fmt.Sprintf("a test of %q imports %q, which lies above it", from, to)
		}
		return ""
	}
	listed := sideways[arrow{from, to}] != ""
	switch {
	case level == workshop && !listed:
		return fmt.Sprintf("%q imports %q: packages of the workshop stand alone", from, to)
	case toLevel == workshop && level == tools:
		return "" // measuring programs use generated data
	case toLevel == workshop && level != workshop:
		return fmt.Sprintf("%q imports %q, which is for tests only", from, to)
	case toLevel > level:
		return fmt.Sprintf("%q imports %q: the arrow points up", from, to)
	case toLevel == level && !listed:
		return fmt.Sprintf("%q imports %q: they are on one floor and not listed", from, to)
	case level == commands && toLevel != programs && linked[to] == nil:
		return fmt.Sprintf("%q imports %q: a main package calls a program only", from, to)
	case level == programs && toLevel != library && !listed:
		return fmt.Sprintf("%q imports %q: a program uses the public package only", from, to)
	}
	return ""
}

// checkForeign checks the import of a package from outside the module. Tests may import what their
// package may, and small modules: "go mod tidy" in a program loads the tests of all packages below
// those it imports, and downloads the modules that these tests need.
func checkForeign(from string, u importUse) string {
	if u.to == "C" {
		if tag := cgo[from]; tag == "" || u.tag != tag {
			return fmt.Sprintf("%q uses cgo: the default build is pure Go", from)
		}
		return ""
	}
	if first, _, _ := strings.Cut(u.to, "/"); !strings.Contains(first, ".") {
		return "" // the standard library
	}
	for module, users := range foreign {
		if u.to != module && !strings.HasPrefix(u.to, module+"/") {
			continue
		}
		if !slices.Contains(users, from) && !(u.test && small[module]) {
			return fmt.Sprintf("%q imports %s, which is only for %q and their tests",
				from, u.to, users)
		}
		if tag := optional[module]; tag != "" && u.tag != tag {
			return fmt.Sprintf("%q imports %s without the build constraint %s", from, u.to, tag)
		}
		return ""
	}
	return fmt.Sprintf("%q imports %s: a new dependency needs a reason and a line in %s",
		from, u.to, tables)
}

// inModule returns the path of a package below that of the module, and whether it is in the module.
func inModule(module, path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}
