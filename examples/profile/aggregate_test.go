package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

func TestAggregate(t *testing.T) {
	base := t.TempDir()
	a, b, sum := filepath.Join(base, "a"), filepath.Join(base, "b"), filepath.Join(base, "sum")
	first := measured(t, "--out", a, "--top", "4")["PROFILE_STATS"]
	second := measured(t, "--out", b, "--iterations", "3", "--threads", "1")["PROFILE_STATS"]
	status, out, errOut := tryRun("aggregate", "--out", sum, "--top", "6", a, b)
	if status != 0 {
		t.Fatal(errOut)
	}
	total, err := readResult(sum)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"content_bytes", "elapsed_ns", "compressed_bytes", "iterations", "blocks"} {
		if got, want := total.profile.number(key), first.number(key)+second.number(key); got != want ||
			want == 0 {
			t.Errorf("%s: %d, want %d", key, got, want)
		}
	}
	if total.profile.get("threads") != "1..2" || total.profile.get("pipeline") != "lzseqr" ||
		total.profile.get("kernels") != first.get("kernels") || total.stats.Runs != 5 {
		t.Errorf("%+v, %d runs", total.profile, total.stats.Runs)
	}
	checkSums(t, sum, a, b)
	slow := readTable(t, sum, slowestFile)
	if len(slow) != 6 || (slow[0]["run"] != a && slow[0]["run"] != b) {
		t.Errorf("%d slowest blocks, the first is %v", len(slow), slow[0])
	}
	for _, want := range []string{"# Profile: 2 runs", "| " + a + " |", "| " + b + " |",
		"idle: fewer blocks than workers | unknown: thread counts differ", "## Ranges over the runs",
		first.get("host"), first.get("kernels"), first.get("go"), "compress lz77 on cpu, MB/s"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	// Sums add up again.
	if again := aggregate([]*result{total}, 6); again.profile.get("elapsed_ns") !=
		total.profile.get("elapsed_ns") || again.order.count != total.order.count {
		t.Errorf("%+v", again.profile)
	}
	for _, args := range [][]string{{a, filepath.Join(base, "nosuch")}, {"--out", b, a}, {base}, {a, a}} {
		status, _, errOut := tryRun(append([]string{"aggregate"}, args...)...)
		if status == 0 || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%q: status %d, %q", args, status, errOut)
		}
	}
	for _, name := range []string{statsFile, stagesFile, histogramFile, slowestFile} {
		text := []byte("op,stage,time_ns\nx,y\n")
		if err := os.WriteFile(filepath.Join(b, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readResult(b); err == nil {
			t.Errorf("a damaged %s is accepted", name)
		}
	}
}

// checkSums compares the stages of directory sum with those of other directories.
func checkSums(t *testing.T, sum string, dirs ...string) {
	t.Helper()
	sums, longest := map[string]int64{}, map[string]int64{}
	columns := []string{"blocks", "bytes", "time_ns"}
	for _, dir := range dirs {
		for _, r := range readTable(t, dir, stagesFile) {
			for _, column := range columns {
				sums[r["stage"]+column] += num(t, r[column])
			}
			longest[r["stage"]] = max(longest[r["stage"]], num(t, r["max_ns"]))
		}
	}
	rows := readTable(t, sum, stagesFile)
	for _, r := range rows {
		for _, column := range columns {
			if num(t, r[column]) != sums[r["stage"]+column] {
				t.Errorf("%s of %s: %s, want %d", column, r["stage"], r[column], sums[r["stage"]+column])
			}
		}
		if num(t, r["max_ns"]) != longest[r["stage"]] || num(t, r["p99_ns"]) > num(t, r["max_ns"]) ||
			num(t, r["p50_ns"]) == 0 && !testenv.CoarseClock {
			t.Errorf("%v", r)
		}
	}
	if len(rows) != 4 {
		t.Errorf("%d stages", len(rows))
	}
}

// TestTogether checks what a field of several runs is.
func TestTogether(t *testing.T) {
	for _, tt := range []struct {
		values []string
		want   string
	}{
		{[]string{"4", "4"}, "4"},
		{[]string{"4", "16", "8"}, "4..16"},
		{[]string{"avx2", "neon", "avx2"}, "avx2, neon"},
		{[]string{"avx2", ""}, "avx2, unknown"},
	} {
		var runs []*result
		for _, v := range tt.values {
			r := &result{}
			if v != "" {
				r.profile.addField("key", "%s", v)
			}
			runs = append(runs, r)
		}
		if got := together(runs, "key"); got != tt.want {
			t.Errorf("%q together are %q, want %q", tt.values, got, tt.want)
		}
	}
	known := aggregate([]*result{{profile: fields{{"threads", "2"}}}, {profile: fields{{"threads", "2"}}}}, 0)
	if !slices.Contains(known.profile, field{"threads", "2"}) {
		t.Errorf("%v", known.profile)
	}
}
