package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// arrow is an import of one of our packages by another.
type arrow struct{ from, to string }

// use is one import as it stands in a file. Paths are as in the source; from is the importing package's.
type use struct {
	from, to string
	test     bool   // in a _test.go file
	pos      string // file:line, for people
	tag      string // the file's build constraint
}

// check returns what is wrong with one import in a module of the given path, "" if nothing is.
func check(module string, u use) string {
	from, _ := ours(module, u.from)
	level, known := packages[from]
	if !known {
		return fmt.Sprintf("package %q is in no floor: add it to the table in internal/archtest/floors_test.go", from)
	}
	to, own := ours(module, u.to)
	if !own {
		return checkForeign(from, u)
	}
	if users := linked[to]; users != nil && !slices.Contains(users, from) {
		return fmt.Sprintf("%q imports %q: only %q may link a GPU driver", from, to, users)
	}
	toLevel, known := packages[to]
	if !known {
		return fmt.Sprintf("package %q, which %q imports, is in no floor: add it to the table in internal/archtest/floors_test.go", to, from)
	}
	if suites[to] && !u.test {
		return fmt.Sprintf("%q imports %q: that is for tests only", from, to)
	}
	if u.test || suites[from] && toLevel == workshop {
		// A test may look at anything beside or below it, and use the workshop.
		if toLevel > level && toLevel != workshop {
			return fmt.Sprintf("a test of %q imports %q, which lies above it", from, to)
		}
		return ""
	}
	switch {
	case level == workshop && sideways[arrow{from, to}] == "":
		return fmt.Sprintf("%q imports %q: tools for tests stand alone", from, to)
	case toLevel == workshop && level == tools:
		return "" // they measure on made data
	case toLevel == workshop && level != workshop:
		return fmt.Sprintf("%q imports %q: that is for tests only", from, to)
	case toLevel > level:
		return fmt.Sprintf("%q imports %q: the arrow points up", from, to)
	case toLevel == level && sideways[arrow{from, to}] == "":
		return fmt.Sprintf("%q imports %q: they are on one floor and do not know each other", from, to)
	case level == commands && toLevel != programs && linked[to] == nil:
		return fmt.Sprintf("%q imports %q: a main package links devices and calls a program", from, to)
	case level == programs && toLevel != library:
		return fmt.Sprintf("%q imports %q: a program uses the public package only", from, to)
	}
	return ""
}

// checkForeign checks the import of a package that is not ours. Only what ships is held to the table, but a test, too, needs modules that are in it.
func checkForeign(from string, u use) string {
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
		if optional[module] != "" && !slices.Contains(users, from) {
			// "go mod tidy" of an importer downloads what the tests of its imports need, too.
			return fmt.Sprintf("%q imports %s, which is only for %q and their tests", from, u.to, users)
		}
		if tag := optional[module]; tag != u.tag && tag != "" {
			return fmt.Sprintf("%q imports %s without the build constraint %s: the default build must do without", from, u.to, tag)
		}
		if u.test {
			return ""
		}
		for _, user := range users {
			if user == from {
				return ""
			}
		}
		return fmt.Sprintf("%q imports %s, which is only for %q and tests", from, u.to, users)
	}
	return fmt.Sprintf("%q imports %s: a new dependency needs a reason and a line in internal/archtest/floors_test.go", from, u.to)
}

// ours returns the path under the module's of a package, and whether it is of the module.
func ours(module, path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}
