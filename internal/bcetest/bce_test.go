// Package bcetest checks that the compiler leaves no bounds checks in hot code. Put
//
//	//pz:nobce
//
// on the line above a function, or above a loop where the function needs a check or two before it (a slice cut to the length
// that lets the loop go without). A check in a function that is inlined into the marked code counts; one in a function that is
// called does not, so mark that as well.
package bcetest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// targets are the processors that there is or may be assembly for, one of them also with the portable twins in its place.
// All the others compile the same portable files.
var targets = []target{{"amd64", ""}, {"amd64", "noasm"}, {"arm64", ""}}

func TestHotLoopsHaveNoBoundsChecks(t *testing.T) {
	needGo(t)
	gomod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(strings.TrimSpace(string(gomod)))
	marks, err := findMarks(root)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := verify(root, marks, targets)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
	t.Logf("%d marks", len(marks))
}

// needGo skips where there is no go command, as on a machine that only runs test binaries built elsewhere.
func needGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
}
