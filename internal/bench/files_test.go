package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// actEnv makes the test binary a compressor. Its value says what it does with the file that its
// last argument names: copy it, copy it with another first byte, or fail.
const actEnv = "BENCH_TEST_ACT"

func TestMain(m *testing.M) {
	if act := os.Getenv(actEnv); act != "" {
		data, err := os.ReadFile(os.Args[len(os.Args)-1])
		if err != nil || act == "fail" {
			os.Stderr.WriteString("out of luck\n")
			os.Exit(1)
		}
		if act == "spoil" && len(data) > 0 {
			data[0]++
		}
		os.Stdout.Write(data)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeTree writes files below a new directory and returns it.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// copyCommand is the test binary as a compressor.
func copyCommand(t *testing.T, level int) command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector sleeps a second at exit
	return command{setting{"copy", level, 1}, ".x", []string{self}, []string{self, "-d"}}
}

func TestMeasureCommands(t *testing.T) {
	ctx := context.Background()
	inputs, err := copyInputs(ctx, t.TempDir(),
		[]string{writeTree(t, map[string]string{"one file": "some content", "sub/two": "more"})}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(actEnv, "copy")
	var entries []*entry
	for level := 1; level <= 2; level++ {
		c := copyCommand(t, level)
		for _, in := range inputs {
			e, err := c.newEntry(ctx, t.TempDir(), in, 0)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
		}
	}
	if err := measure(ctx, entries, 3); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.size != e.packed || len(e.compress) != 3 || len(e.decompress) != 3 ||
			median(e.compress).wall <= 0 {
			t.Errorf("%+v", e.result)
		}
	}
	checkTables(t, withTotals(entries))
}

func checkTables(t *testing.T, results []*entry) {
	t.Helper()
	var b bytes.Buffer
	if err := samplesTable(results).tsv(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 1+2*3 {
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
	for _, l := range lines {
		if strings.Count(l, "\t") != strings.Count(lines[0], "\t") {
			t.Errorf("row %q has other columns than the heading", l)
		}
	}
	b.Reset()
	if err := summaryTable(results, true).text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one file", total, "1.000"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := writeBenchmarks(&b, "Files", results); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\nBenchmarkFiles/"); n != len(results)*2*3 {
		t.Errorf("%d benchmark lines in\n%s", n, b.String())
	}
	want := "BenchmarkFiles/compress/copy/level=1/threads=1/file=one_file 1 "
	if !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}

func TestBadCommandsFail(t *testing.T) {
	ctx := context.Background()
	dir := writeTree(t, map[string]string{"file": "content"})
	in := &input{name: "file", path: filepath.Join(dir, "file"), size: 7}
	c := copyCommand(t, 1)
	t.Setenv(actEnv, "spoil") // both ways: the first byte grows by two
	if _, err := c.newEntry(ctx, dir, in, 0); !errors.Is(err, errRoundTrip) {
		t.Errorf("spoiled content: %v", err)
	}
	t.Setenv(actEnv, "fail")
	_, err := c.newEntry(ctx, dir, in, 0)
	if err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("failing program: %v", err)
	}
}

func TestCopyInputsJoins(t *testing.T) {
	dir := writeTree(t, map[string]string{"ab": "ab", "cd": "cd"})
	paths := []string{filepath.Join(dir, "ab"), filepath.Join(dir, "cd")}
	inputs, err := copyInputs(context.Background(), t.TempDir(), paths, true)
	if err != nil || len(inputs) != 1 || inputs[0].name != "ab+cd" || inputs[0].size != 4 {
		t.Fatalf("%+v, %v", inputs, err)
	}
	if data, _ := os.ReadFile(inputs[0].path); string(data) != "abcd" {
		t.Errorf("joined: %q", data)
	}
}

func TestParseLevels(t *testing.T) {
	spec, err := parseLevels("1,3-5 zstd=19 xz=0")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		lo, hi int
		want   []int
	}{
		{"pz", 1, 9, []int{1, 3, 4, 5}},
		{"pz", 2, 4, []int{3, 4}},
		{"zstd", 1, 19, []int{19}},
		{"xz", 0, 9, []int{0}},
	} {
		if got := spec.of(tt.name, []int{7}, tt.lo, tt.hi); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := (levelSpec{"zstd": {1}}).of("pz", []int{7}, 1, 9); !reflect.DeepEqual(got, []int{7}) {
		t.Errorf("pz is not named: %v, want the default", got)
	}
	for _, bad := range []string{"x", "1-", "3-1", "1,,2", "pz=", "1-1000000"} {
		if _, err := parseLevels(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestParseFiles(t *testing.T) {
	t.Setenv("PZ_CORPUS", "")
	for _, args := range [][]string{
		{}, {"--nosuch"}, {"--repeats", "0", "f"}, {"--threads", "0", "f"}, {"--levels", "x", "f"},
		{"--pz", "a", "--pz", "b", "f"},
	} {
		if _, err := parseFiles(args); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
	cfg, err := parseFiles([]string{"--threads", "1,1,2", "--pz", "old=a b", "x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(cfg.threads, []int{1, 2}) || !reflect.DeepEqual(cfg.paths, []string{"x", "y"}) ||
		cfg.builds[0].name != "old" || !filepath.IsAbs(cfg.builds[0].path) {
		t.Errorf("%+v", cfg)
	}
	err = runFiles(context.Background(), []string{"--peers", "none", os.Args[0]}, nil)
	if !errors.Is(err, errNoCompressor) {
		t.Errorf("without compressors: %v", err)
	}
}
