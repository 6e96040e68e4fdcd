package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestWriteback checks the content of a file, and that the system brings all but its end to disk
// while it is written.
func TestWriteback(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := &fileWriter{f: f}
	content := bytes.Repeat([]byte(sample(100_000)), 2*writebackStep/100_000+1)
	for at := 0; at < len(content); {
		n, err := w.Write(content[at:min(len(content), at+300_000)])
		if err != nil {
			t.Fatal(err)
		}
		if at += n; w.size != int64(at) || w.size-w.started >= writebackStep {
			t.Fatalf("%d bytes written: size %d, started %d", at, w.size, w.started)
		}
	}
	if w.started < writebackStep {
		t.Errorf("started %d of %d bytes", w.started, len(content))
	}
	if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, want %d: %v", len(got), len(content), err)
	}
	f.Close()
	if n, err := w.Write(content); n > 0 || err == nil {
		t.Errorf("closed file: %d, %v", n, err)
	}
}
