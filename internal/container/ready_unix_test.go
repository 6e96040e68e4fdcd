//go:build unix

package container

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadiness asks pipes and files whether a read would wait.
func TestReadiness(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ready := Readiness(r)
	if ready() {
		t.Error("an empty pipe is ready")
	}
	w.WriteString("x")
	if !ready() {
		t.Error("a pipe with input is not ready")
	}
	r.Read(make([]byte, 10))
	if ready() {
		t.Error("a pipe that has been read is ready")
	}
	w.Close()
	if !ready() {
		t.Error("a pipe that has ended is not ready")
	}
	r.Close()
	if ready() {
		t.Error("a closed file is ready")
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !Readiness(f)() {
		t.Error("a regular file is not ready")
	}
	if Readiness(strings.NewReader("x")) != nil || Readiness((*os.File)(nil)) != nil {
		t.Error("something that is no file can be asked")
	}
}
