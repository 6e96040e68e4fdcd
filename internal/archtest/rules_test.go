package archtest

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// finding is a place that breaks a rule.
type finding struct {
	key  string // what a table of exceptions calls it
	pos  string // file or file:line, "" for none
	size int    // what was measured, 0 if the rule measures nothing
	text string
}

var rules = map[string]func(*tree) []finding{
	"imports":    checkImports,
	"headers":    checkHeaders,
	"exported":   checkExported,
	"counts":     checkCounts,
	"file names": checkFileNames,
	"test names": checkTestNames,
	"length":     checkLength,
	"code":       checkCode,
	"text":       checkText,
}

// TestSource holds the source to all rules.
func TestSource(t *testing.T) {
	tr, err := readTree(os.DirFS("../.."))
	if err != nil || len(tr.files) < 300 {
		t.Fatalf("%d files read: %v", len(tr.files), err)
	}
	for name, check := range rules {
		t.Run(name, func(t *testing.T) {
			for _, complaint := range judge(check(tr), exceptions[name], shrinking[name]) {
				t.Error(complaint)
			}
		})
	}
}

// judge returns complaints about all findings that no exception allows, and about exceptions that
// allow nothing. An exception allows a sum of sizes, or a number of findings without size.
func judge(found []finding, exceptions ...map[string]int) (complaints []string) {
	sums := map[string]int{}
	for _, f := range found {
		sums[f.key] += max(f.size, 1)
	}
	allowed := map[string]int{}
	for _, table := range exceptions {
		for key, most := range table {
			allowed[key] = most
			if sums[key] == 0 {
				complaints = append(complaints, "exceptions_test.go need not list "+key)
			}
		}
	}
	for _, f := range found {
		if sum, most := sums[f.key], allowed[f.key]; sum > most {
			complaints = append(complaints,
				fmt.Sprintf("%s: %s: %s (%d, exceptions %d)", f.pos, f.key, f.text, sum, most))
		}
	}
	slices.Sort(complaints)
	return complaints
}

// TestRules shows for each rule that it can fail.
func TestRules(t *testing.T) {
	long := strings.Repeat("x ", 55)
	for _, tt := range []struct {
		rule, file, text string
		want             string // places of findings, or their keys
	}{
		{"imports", "simd/a.go", "package simd\nimport _ \"m/lz77\"", "simd/a.go:2"},
		{"imports", "simd/a.go", "package simd\nimport _ \"x.org/y\"", "simd/a.go:2"},
		{"imports", "lzseq/a.go", "package lzseq\nimport _ \"m/lz77\"\nimport _ \"m/simd\"", ""},
		{"imports", "nosuch/a.go", "package nosuch", "nosuch"},
		{"headers", "a.go", `package a; func f() {
			if x := 1; x > y {}
			if x, y.z = f(); x && y.z {}
			switch x := f(); { case x == 1: }
			if x := 1; y {}
			if x, y = f(); x {}
			if f(); x {}
			switch x := f(); { case z == 1: x() }
			}`, "a.go:5 a.go:6 a.go:7 a.go:8"},
		{"exported", "p/a.go", `package p; import "m/internal/q"
			type T struct{ t }
			type t struct{ X []q.T }
			func F(T)
			func (t) M(q.T)
			var V = q.V`, "p/a.go:2 p/a.go:6"},
		{"counts", "zipmethod/a.go", "package zipmethod\nvar A, B, C, D, E, F int", "zipmethod"},
		{"file names", "p/a.go", "package p // q.go, p/a.go and a.go", "p/a.go"},
		{"file names", "p/a.md", "`p` has `q.go` and `p/q.go`; `go test ./q`", "p/a.md p/a.md p/a.md"},
		{"test names", "p/a.md", "`TestNone`", "p/a.md"},
		{"length", "p/a.go", "package p" + strings.Repeat("\n", 601), "p/a.go"},
		{"length", "p/a.go", "package p; func f() {" + strings.Repeat("\n", 80) + "}", "p/a.go:1"},
		{"code", "p/a.go", "package p\n// " + long + "\nvar x = `" + long + "`", "p/a.go:3"},
		{"text", "p/a.go", "package p\n// " + long + "\nvar x = `" + long + "`", "p/a.go:2"},
		{"text", "p/a.md", long + "\n|" + long + "\n```\n" + long + "\n```\nx", "p/a.md:1"},
	} {
		tr, err := readTree(fstest.MapFS{
			"go.mod":          {Data: []byte("module m\n")},
			"internal/q/q.go": {Data: []byte("package q\ntype T int\nvar V T")},
			tt.file:           {Data: []byte(tt.text)},
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range rules[tt.rule](tr) {
			if f.pos != "floors_test.go" && f.key != "internal/q" {
				got = append(got, cmp.Or(f.pos, f.key))
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.rule, got, tt.want)
		}
	}
	found := []finding{{key: "a"}, {key: "a"}, {key: "b", size: 7}}
	if got := judge(found, map[string]int{"a": 1, "b": 7, "c": 1}); len(got) != 3 {
		t.Errorf("complaints %q, want 2 about a and 1 about c", got)
	}
}
