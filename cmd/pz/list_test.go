package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func listFiles(t *testing.T) (dir string, a, b, both string) {
	dir = t.TempDir()
	a = write(t, pz(t, sample(100_000), "-B4K").out, dir, "a.pz")
	b = write(t, pz(t, "", "-c", "-p", "lzr", "--no-check", write(t, noise(5000), dir, "n")).out, dir, "b.pz")
	one, _ := os.ReadFile(a)
	two, _ := os.ReadFile(b)
	both = write(t, string(one)+string(two), dir, "both.pz")
	return
}

func TestList(t *testing.T) {
	dir, a, b, both := listFiles(t)
	lines := strings.Split(strings.TrimSpace(pz(t, "", "-l", a, b, both).want(t, exitOK).out), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	fields := func(i int) string {
		f := strings.Fields(lines[i])
		return strings.Join(append(append([]string{f[0]}, f[2]), f[4:]...), " ")
	}
	for i, want := range []string{
		"blocks uncompressed check pipeline name",
		"25 100000 crc32c lzseqr " + a,
		"1 5000 none lzr " + b,
		"26 105000 mixed lzseqr+lzr " + both,
		"52 210000 - - (3 files)",
	} {
		if got := fields(i); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
	// One file has no line of totals, and -q no head, which leaves one line for scripts.
	if got := pz(t, "", "-l", a).want(t, exitOK).out; strings.Count(got, "\n") != 2 {
		t.Error(got)
	}
	if got := pz(t, "", "-lq", a).want(t, exitOK).out; strings.Count(got, "\n") != 1 {
		t.Error(got)
	}
	// Standard input will do if it is a file.
	packed, _ := os.ReadFile(a)
	if got := pz(t, string(packed), "-l").want(t, exitOK).out; !strings.Contains(got, "100000") {
		t.Error(got)
	}
	r := runProcess(t, strings.NewReader(string(packed)), "-l") // a pipe
	r.want(t, exitError, "standard input: is not a regular file")

	// What cannot be listed does not hide the rest.
	bad := write(t, "no pz", dir, "bad.pz")
	if got := pz(t, "", "-l", bad, a).want(t, exitError, "bad.pz: ").out; !strings.Contains(got, "100000") {
		t.Error(got)
	}
}

func TestListJSON(t *testing.T) {
	dir, a, b, both := listFiles(t)
	sizeOf := func(path string) float64 {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return float64(fi.Size())
	}
	var got []map[string]any
	out := pz(t, "", "-l", "--json", a, b, both).want(t, exitOK).out
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err, out)
	}
	for i := range got {
		if r, ok := got[i]["ratio"].(float64); !ok || r <= 0 {
			t.Errorf("ratio %v", got[i]["ratio"])
		}
		delete(got[i], "ratio")
	}
	// The whole schema: a field that goes missing or changes its type is a broken promise.
	want := []map[string]any{
		{"name": a, "streams": 1., "blocks": 25., "block_size": 4096., "compressed": sizeOf(a), "uncompressed": 100000.,
			"check": "crc32c", "pipeline": "lzseqr"},
		{"name": b, "streams": 1., "blocks": 1., "block_size": got[1]["block_size"], "compressed": sizeOf(b), "uncompressed": 5000.,
			"check": "none", "pipeline": "lzr"},
		{"name": both, "streams": 2., "blocks": 26., "block_size": got[1]["block_size"], "compressed": sizeOf(both), "uncompressed": 105000.,
			"check": "mixed", "pipeline": "lzseqr+lzr"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// It is an array whatever happens.
	if out := pz(t, "", "-l", "--json", filepath.Join(dir, "none")).want(t, exitError, "no such file").out; out != "[]\n" {
		t.Errorf("%q", out)
	}
}
