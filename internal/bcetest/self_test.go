package bcetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// lab is a module with marked functions, good and bad. verify must report exactly the lines that
// end in "want".
var lab = map[string]string{
	"go.mod": "module lab\n\ngo 1.26\n",
	"hot/hot.go": `package hot

import "encoding/binary"

// Clean needs no check.
//
//pz:nobce
func Clean(p []byte) (s int) {
	for _, c := range p {
		s += int(c)
	}
	return s
}

//pz:nobce
func Dirty(p []byte, i int) byte {
	return p[i] // want
}

// Unmarked may do as it likes.
func Unmarked(p []byte, i int) byte { return p[i] }

//pz:nobce
func Inlined(p []byte, i int) byte {
	return Unmarked(p, i+1) // want
}

//pz:nobce
func FromElsewhere(p []byte) uint64 {
	return binary.LittleEndian.Uint64(p) // want
}

//pz:nobce
func Sliced(p []byte, i int) []byte {
	return p[i:] // want
}

//pz:nobce
func Closure(p []byte, call func(func())) {
	call(func() {
		p[3]++ // want
	})
}

type T [8]byte

//pz:nobce
func (t *T) Method(i int) byte {
	return t[i&7] + t[i] // want
}

func Loop(dst, src []byte) {
	dst = dst[:len(src)] // outside of the loop
	//pz:nobce
	for i := range src {
		dst[i] = src[i]
	}
}

func DirtyLoop(dst, src []byte) {
	//pz:nobce
outer:
	for i := range src {
		if src[i] == 0 {
			break outer
		}
		dst[i] = src[i] // want
	}
}
`,
	"hot/hot_arm64.go": `package hot

//pz:nobce
func Arm(p []byte, i int) byte {
	return p[i] // want
}
`,
	"hot/hot_noasm.go": `//go:build noasm

package hot

//pz:nobce
func NoAsm(p []byte, i int) byte {
	return p[i] // want
}
`,
	"hot/hot_mips.go": `package hot // want

//pz:nobce
func Mips(p []byte) {}
`,
	"prog/main.go": `package main

func main() { println(get([]byte{1}, 0)) }

//pz:nobce
func get(p []byte, i int) byte {
	return p[i] // want
}
`,
}

func TestCatches(t *testing.T) {
	testenv.Tool(t, "go")
	root := write(t, lab)
	marks, err := findMarks(root)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := verify(root, marks, targets)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for name, text := range lab {
		for i, line := range strings.Split(text, "\n") {
			if strings.HasSuffix(line, "// want") {
				want[fmt.Sprintf("%s:%d:", name, i+1)] = true
			}
		}
	}
	got := map[string]bool{}
	for _, w := range wrong {
		rel, err := filepath.Rel(root, w)
		if err != nil {
			t.Fatal(err)
		}
		rel = strings.Replace(filepath.ToSlash(rel), ": has marks", ":1: has marks", 1)
		at := rel[:strings.Index(rel, ": ")+1]
		got[at] = true
		if !want[at] {
			t.Errorf("unexpected: %s", rel)
		}
	}
	for at := range want {
		if !got[at] {
			t.Errorf("not caught: %s", at)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "prog", "prog")); err == nil {
		t.Error("a program was left behind")
	}
}

func TestBadMarks(t *testing.T) {
	for text, want := range map[string]string{
		"package p\n\n//pz:nobce\nvar x = 1\n":                                  "neither",
		"package p\n\n//pz:nobce\n\nfunc f() {}\n":                              "neither",
		"package p\n\nfunc f() {\n\t//pz:nobce\n\tprintln()\n}\n":               "neither",
		"package p\n\n//pz:nobce\nfunc f[T any]() {}\n":                         "generic",
		"package p\n\ntype t[T any] int\n\n//pz:nobce\nfunc (*t[T]) f() {}\n":   "generic",
		"package p\n\nfunc f[T any]() {\n\t//pz:nobce\n\tfor range 3 {\n\t}\n}": "generic",
		"package p\n\n//pz:nobce\nfunc f() {}\n":                                "",
	} {
		_, err := findMarks(write(t, map[string]string{"p.go": text}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// write puts the files in a new directory and returns its path without links.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
