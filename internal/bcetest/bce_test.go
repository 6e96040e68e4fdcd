// Package bcetest checks that the compiler leaves no bounds checks in hot code. Put
//
//	//pz:nobce
//
// on the line above a function, or above a loop if the function needs a check or two before it. A
// check in an inlined function counts. A check in a function that is called does not, so mark that
// function as well.
package bcetest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// targets are the processors with assembly, and one of them with the portable twins. All other
// processors compile the same portable files.
var targets = []target{{"amd64", ""}, {"amd64", "noasm"}, {"arm64", ""}}

func TestHotLoopsHaveNoBoundsChecks(t *testing.T) {
	testenv.Tool(t, "go")
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
