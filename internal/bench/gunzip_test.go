package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGunzipInMemory makes a set without other programs and decodes it in memory.
func TestGunzipInMemory(t *testing.T) {
	dir := writeTree(t, map[string]string{"a": strings.Repeat("some text ", 1000), "b": "more"})
	set := t.TempDir()
	var out bytes.Buffer
	err := run(context.Background(), []string{"gunzip", "--memory", "--repeats", "1", "--writers", "go-6",
		"--set", set, "--tsv", filepath.Join(set, "tsv"), dir}, &out, os.Stderr)
	if err != 0 {
		t.Fatal(err)
	}
	figures, _ := os.ReadFile(filepath.Join(set, "tsv"))
	for _, r := range memoryRestorers {
		if !strings.Contains(out.String(), r.name) || bytes.Count(figures, []byte("\t"+r.name+"\t")) != 2 {
			t.Errorf("no %q in\n%s\nor in\n%s", r.name, out.String(), figures)
		}
	}
	if _, err := os.Stat(filepath.Join(set, "a.go-6.gz")); err != nil {
		t.Error(err)
	}
}

// TestGunzipChecks decodes several members with all header fields, and other content.
func TestGunzipChecks(t *testing.T) {
	var b bytes.Buffer
	ends := map[int]bool{0: true}
	for _, content := range []string{"one", "", "two"} {
		w := gzip.NewWriter(&b)
		w.Name, w.Comment, w.Extra = "name", "comment", []byte("extra")
		w.Write([]byte(content))
		w.Close()
		ends[b.Len()] = true
	}
	dir := writeTree(t, map[string]string{"f.gz": b.String(), "good": "onetwo", "bad": "onetwO"})
	f := &gzFile{name: "f", path: filepath.Join(dir, "f.gz"), size: 6}
	for _, r := range memoryRestorers {
		good := r.check(context.Background(), f, &input{path: filepath.Join(dir, "good")})
		bad := r.check(context.Background(), f, &input{path: filepath.Join(dir, "bad")})
		if good != nil || !errors.Is(bad, errRoundTrip) {
			t.Errorf("%s: %v; other content: %v", r.name, good, bad)
		}
	}
	for n := range b.Len() {
		_, err := decodeMembers(inflateStream, make([]byte, 7), b.Bytes()[:n])
		if (err == nil) != ends[n] {
			t.Errorf("first %d bytes: %v", n, err)
		}
	}
}

func TestGunzipCommand(t *testing.T) {
	t.Setenv(actEnv, "copy")
	dir := writeTree(t, map[string]string{"f.gz": "content"})
	path := filepath.Join(dir, "f.gz")
	f := &gzFile{name: "f", path: path, size: 7}
	for _, to := range []string{os.DevNull, filepath.Join(dir, "out")} {
		r := commandRestorer("copy", copyCommand(t, 1).decompress, to)
		rows, err := measureFile(context.Background(), f, &input{path: path}, []restorer{r, r}, 3)
		if err != nil || len(rows) != 2 || len(rows[1].samples) != 3 {
			t.Fatalf("%+v, %v", rows, err)
		}
	}
	if p, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(p) != "content" {
		t.Errorf("%q, %v", p, err)
	}
}

func TestSpeedTable(t *testing.T) {
	var rows []*restored
	for i, ms := range []int{10, 20, 10, 5} {
		s := sample{time.Duration(ms) * time.Millisecond, time.Millisecond}
		f := &gzFile{name: "file", size: 1e6}
		rows = append(rows, &restored{file: f, by: []string{"we", "they"}[i%2], samples: []sample{s}})
	}
	var b bytes.Buffer
	speedTable(rows, 2, wallClock).text(&b)
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"file 100 50", "file 100 200", "÷ this 1.00 1.25", "lowest 1.00 0.50"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestParseGunzip(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--repeats", "0", "f"}, {"--writers", "x", "f"}, {"--peers", "x", "f"}, {"--clock", "x", "f"},
	} {
		if _, err := parseGunzip(args); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
