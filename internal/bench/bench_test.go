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
	"time"
)

// The test binary is the contestant: with this variable set it copies the file that is named last, or spoils its first byte.
const actEnv = "BENCH_TEST_ACT"

func TestMain(m *testing.M) {
	if act := os.Getenv(actEnv); act != "" {
		data, err := os.ReadFile(os.Args[len(os.Args)-1])
		if err != nil || act == "fail" {
			os.Stderr.WriteString("no such luck\n")
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

func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"one file": "some content", "sub/two": "more"} {
		path := filepath.Join(dir, "in", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	contestants := []contestant{
		{tool: "copy", level: 1, threads: 1, suffix: ".x", compress: []string{self}, decompress: []string{self, "-d"}},
		{tool: "copy", level: 2, threads: 1, suffix: ".x", compress: []string{self}, decompress: []string{self, "-d"}},
	}
	ctx := context.Background()
	inputs, err := gather(ctx, dir, []string{filepath.Join(dir, "in")}, false)
	if err != nil {
		t.Fatal(err)
	}

	t.Setenv("GORACE", "atexit_sleep_ms=0") // a program with the race detector waits a second before it ends
	t.Setenv(actEnv, "copy")
	results, err := measure(ctx, dir, contestants, inputs, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 4 {
		t.Fatalf("%d results", len(results))
	}
	for _, r := range results {
		if r.size != r.packed || len(r.compress) != 3 || len(r.decompress) != 3 || median(r.compress).wall <= 0 {
			t.Errorf("%+v", r)
		}
	}
	tsv := filepath.Join(dir, "out.tsv")
	if err := writeTSV(tsv, results); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(tsv)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 1+2*3 {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	for _, l := range lines {
		if strings.Count(l, "\t") != strings.Count(lines[0], "\t") {
			t.Errorf("not as many columns as in the heading: %s", l)
		}
	}
	var table bytes.Buffer
	if err := writeTable(&table, results, &config{repeats: 3, each: true}, inputs, []string{"a note"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a note", "one file", "(all)", "1.000"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in the table:\n%s", want, table.String())
		}
	}

	t.Setenv(actEnv, "spoil")
	// Spoiled twice: the content differs by two in its first byte.
	if _, err := measure(ctx, dir, contestants, inputs, 1); err == nil || !strings.Contains(err.Error(), "does not come back") {
		t.Errorf("spoiled content: %v", err)
	}
	t.Setenv(actEnv, "fail")
	if _, err := measure(ctx, dir, contestants, inputs, 1); err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("failing program: %v", err)
	}
}

func TestGatherJoins(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, s := range []string{"ab", "cd"} {
		paths = append(paths, filepath.Join(dir, s))
		if err := os.WriteFile(paths[len(paths)-1], []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	inputs, err := gather(context.Background(), dir, paths, true)
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
		t.Errorf("not named: %v, want the default", got)
	}
	for _, bad := range []string{"x", "1-", "3-1", "1,,2", "pz=", "1-1000000"} {
		if _, err := parseLevels(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Setenv("PZ_CORPUS", "")
	for _, args := range [][]string{{}, {"--nosuch"}, {"--repeats", "0", "f"}, {"--threads", "0", "f"}, {"--levels", "x", "f"}} {
		if _, err := parse(args); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
	cfg, err := parse([]string{"--threads", "1,1,2", "--pz", "old=a b", "--files", "x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(cfg.threads, []int{1, 2}) || !reflect.DeepEqual(cfg.paths, []string{"x", "y"}) ||
		cfg.pz[0].name != "old" || !filepath.IsAbs(cfg.pz[0].path) {
		t.Errorf("%+v", cfg)
	}
	if err := run(context.Background(), []string{"--peers", "none", os.Args[0]}); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("without anyone: %v", err)
	}
}

func TestTotalsAndMedian(t *testing.T) {
	ms := func(ns ...int) (s []sample) {
		for _, n := range ns {
			s = append(s, sample{wall: time.Duration(n) * time.Millisecond, cpu: time.Millisecond})
		}
		return s
	}
	a := contestant{tool: "a", level: 1, threads: 1}
	b := contestant{tool: "b", level: 1, threads: 1}
	rows := withTotals([]result{
		{a, "x", 1000, 100, ms(1, 9, 5), ms(1, 1, 1)},
		{a, "y", 3000, 300, ms(2, 1, 1), ms(1, 1, 1)},
		{b, "x", 1000, 500, ms(4, 4, 4), ms(2, 2, 2)},
	})
	if len(rows) != 5 || rows[2].file != total || rows[4].file != total {
		t.Fatalf("%+v", rows)
	}
	sum := rows[2]
	if sum.size != 4000 || sum.ratio() != 10 || !reflect.DeepEqual(sum.compress[1].wall, 10*time.Millisecond) {
		t.Errorf("%+v", sum)
	}
	if m := median(sum.compress); m.wall != 6*time.Millisecond || sum.speed(m) != 4000/1e6/0.006 {
		t.Errorf("median %v, %v MB/s", m, sum.speed(m))
	}
	if rows[0].compress[0].wall != time.Millisecond {
		t.Error("a file's samples were changed")
	}
}
