package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/pipeline"
)

func TestJudge(t *testing.T) {
	l := limits{throughputPct: 4, medianPct: 2, overheadAbs: 0.02}
	// In two of nine rounds something disturbs one of both.
	row := func(old, new float64) *change {
		c := &change{name: "x"}
		for range 9 {
			c.old, c.new = append(c.old, samplesOf(old)...), append(c.new, samplesOf(new)...)
		}
		c.old[2], c.new[5] = samplesOf(10 * old)[0], samplesOf(10 * new)[0]
		return c
	}
	for _, tt := range []struct {
		name   string
		rows   []*change
		failed bool
		slower int
	}{
		{"same speed", []*change{row(100, 100)}, false, 0},
		{"a row within its limit", []*change{row(100, 104), row(100, 100), row(100, 100)}, false, 0},
		{"a row past its limit", []*change{row(100, 105), row(100, 100), row(100, 100)}, true, 1},
		{"all rows a little slower", []*change{row(100, 103), row(100, 103), row(100, 103)}, true, 0},
		{"faster", []*change{row(100, 50)}, false, 0},
		{"noise in most samples", []*change{{old: samplesOf(100, 100, 100), new: samplesOf(120, 100, 120)},
			row(100, 100), row(100, 100)}, false, 0},
	} {
		v := judge(tt.rows, l)
		if v.failed != tt.failed || len(v.slower) != tt.slower {
			t.Errorf("%s: %v", tt.name, v)
		}
	}
	// Processor time counts, wall time does not.
	busy := &change{name: "x", old: samplesOf(100), new: []sample{{time.Second, 100 * time.Millisecond}}}
	if v := judge([]*change{busy}, l); v.failed || v.wall > 0.2 {
		t.Errorf("busy machine: %v", v)
	}
}

// newTestJob returns a job with made samples: speed in MB/s, overhead in percent, and the part of
// the wall time that the machine gave it.
func newTestJob(speed, overhead, share float64) *job {
	cpu := time.Duration((20 << 20) / 1e6 / speed * float64(time.Second))
	wall := time.Duration(float64(cpu) / share)
	s := statsSample{fastest: sample{wall, cpu}, total: sample{5 * wall, 5 * cpu}}
	s.stats.Compute = time.Duration(5 * float64(wall) * (1 - overhead/100))
	s.stats.QueueWait = 5*wall - s.stats.Compute
	return &job{gateRow: gateRow{cpuMode, "lzseqr", 4}, bytes: 20 << 20, iterations: 5,
		samples: []statsSample{s, s, s}}
}

func testConfig() *gateConfig {
	return &gateConfig{limits: limits{4, 2, 0.02}, threads: 2, pipelines: []string{"lzseqr"},
		levels: levelSpec{"": {4}}, size: 20 << 20, iterations: 5, repeats: 3, revision: "abc",
		in: &input{size: 20 << 20}}
}

// check checks the rows that compress on the CPU.
func (b *baseline) check(cfg *gateConfig) error {
	rows := slices.DeleteFunc(cfg.cpuRows(), gateRow.decompress)
	return errors.Join(b.checkMachine(cfg.threads), b.checkRows(cfg, rows))
}

func TestBaseline(t *testing.T) {
	cfg := testConfig()
	path := filepath.Join(t.TempDir(), "baseline.tsv")
	if err := writeFile(path, newBaseline(cfg, []*job{newTestJob(100, 1, 1)}).write); err != nil {
		t.Fatal(err)
	}
	base, err := readBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := base.check(cfg); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		speed, overhead, share float64
		verdict                string
	}{
		{100, 1, 1, "ok"},
		{97, 1, 1, "ok"},
		{95, 1, 1, "FAIL: speed"},
		{120, 1, 1, "ok"},
		{100, 2.8, 1, "ok"},
		{100, 3.2, 1, "FAIL: overhead"},
		{100, 9, 0.5, "ok; overhead not judged, machine busy"},
		{90, 9, 0.5, "FAIL: speed"},
	} {
		failed, row := base.judge(newTestJob(tt.speed, tt.overhead, tt.share), cfg.limits)
		if got := row[len(row)-1]; got != tt.verdict || failed != strings.HasPrefix(got, "FAIL") {
			t.Errorf("%+v: %s", tt, got)
		}
	}
	checkBaselineFile(t, path)
	// The time on the clock counts for a GPU, which takes no processor.
	slow := newTestJob(100, 1, 0.95)
	for _, mode := range []string{cpuMode, softDevice, "webgpu:0"} {
		slow.mode = mode
		base.rows[0]["mode"] = mode
		if failed, row := base.judge(slow, cfg.limits); failed != (mode == "webgpu:0") {
			t.Errorf("slower on the clock: %v", row)
		}
	}
	base.rows[0][blocksColumn] = "7"
	slow.mode, base.rows[0]["mode"] = softDevice, softDevice
	if _, row := base.judge(slow, cfg.limits); row[len(row)-1] != "FAIL: the device does nothing" {
		t.Errorf("an idle device: %v", row)
	}
}

// checkBaselineFile checks the columns that other tools may read.
func checkBaselineFile(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const columns = "mode pipeline level size iterations repeats mbps_median scheduler_overhead_pct_median " +
		"runs_median total_ns_median tracked_thread_time_ns_median stage_compute_ns_median " +
		"queue_wait_ns_median queue_admin_ns_median gpu_handoff_ns_median gpu_try_send_full_count_median " +
		"gpu_try_send_disconnected_count_median cpu_mbps_median wall_mbps_median " +
		"gpu_strict_waiting_count_median gpu_strict_wait_ns_median gpu_reclaimed_count_median " +
		"gpu_returned_count_median gpu_blocks_median"
	if !strings.Contains(string(text), "\n"+strings.ReplaceAll(columns, " ", "\t")+"\n") {
		t.Errorf("other columns:\n%s", text)
	}
	for _, key := range []string{"cpu", "cpuid", "kernels", "cores", "go", "threads", "revision"} {
		if !strings.Contains(string(text), "\n# "+key+"\t") {
			t.Errorf("no %s:\n%s", key, text)
		}
	}
}

func TestBaselineOfOtherWork(t *testing.T) {
	cfg := testConfig()
	b := newBaseline(cfg, []*job{newTestJob(100, 1, 1)})
	for name, change := range map[string]func(){
		"threads":    func() { cfg.threads = 77 },
		"pipeline":   func() { cfg.pipelines = []string{"lzr"} },
		"level":      func() { cfg.levels = levelSpec{"": {5}} },
		"iterations": func() { cfg.iterations = 6 },
		"size":       func() { cfg.size = 1 },
	} {
		change()
		if b.check(cfg) == nil {
			t.Errorf("another %s is accepted", name)
		}
		cfg = testConfig()
	}
	for i := range b.keys[:len(b.keys)-1] {
		was := b.keys[i][1]
		b.keys[i][1] = "other"
		if b.check(cfg) == nil {
			t.Errorf("another %s is accepted", b.keys[i][0])
		}
		b.keys[i][1] = was
	}
}

// TestGateRuns writes a baseline and compares with it, on little work and with limits that noise
// does not pass.
func TestGateRuns(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path, output := filepath.Join(dir, "dir", "baseline.tsv"), filepath.Join(dir, "output.tsv")
	args := []string{"--size", "64K", "--repeats", "1", "--iterations", "1", "--baseline", path,
		"--threads", "2", "--throughput-regression-pct", "99", "--overhead-regression-abs", "1",
		"--pipelines", "lzseqr,deflate", "--device", "soft"}
	var out bytes.Buffer
	if err := runGate(ctx, args, &out); !errors.Is(err, errNoJudgement) {
		t.Errorf("without a baseline: %v", err)
	}
	if err := runGate(ctx, append(args, "--update-baseline", "--revision", "abc"), &out); err != nil {
		t.Fatal(err)
	}
	if err := runGate(ctx, append(args, "--output", output), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cpu lzseqr -1", "cpu-decompress deflate -7", "soft lzseqr -1",
		"soft deflate -4", "soft-decompress lzseqr -5"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	text, err := os.ReadFile(output)
	for _, want := range []string{"# kernels\t", "# revision\tunknown\n", "# device\tsoft: ",
		"\nsoft\tlzseqr\t1\t"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in %v\n%s", want, err, text)
		}
	}
	for _, args := range [][]string{append(args, "--size", "32K"), append(args, "--device", "nosuch")} {
		if err := runGate(ctx, args, &out); !errors.Is(err, errNoJudgement) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestTelemetryPage checks that docs/TELEMETRY.md has every column of the baseline.
func TestTelemetryPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/TELEMETRY.md")
	if err != nil {
		t.Fatal(err)
	}
	columns := newBaseline(testConfig(), nil).table().columns
	for _, k := range machineKeys(1) {
		columns = append(columns, k[0])
	}
	for _, c := range columns {
		field := strings.TrimSuffix(c, "_median") // a field of SCHEDULER_STATS
		if !strings.Contains(string(text), "`"+c+"`") && !strings.Contains(string(text), "`"+field+"`") {
			t.Errorf("docs/TELEMETRY.md lacks column %s", c)
		}
	}
}

// TestDeviceLevels checks which levels of a device the gate measures.
func TestDeviceLevels(t *testing.T) {
	for _, tt := range []struct {
		matches, codes []int
		want           string
	}{
		{[]int{1, 2, 3, 4, 5, 6, 7}, nil, "[1 4 7]"},
		{[]int{5, 6, 7}, nil, "[5 6 7]"},
		{[]int{5, 6}, []int{1, 2, 3, 4, 5, 6}, "[4 5 6]"},
		{[]int{5, 6}, nil, "[4 5 6]"},
		{nil, nil, "[1 4 6]"},
	} {
		w := deviceWork{matches: tt.matches, codes: tt.codes}
		if got := fmt.Sprint(w.levels()); got != tt.want {
			t.Errorf("%+v: levels %s, want %s", w, got, tt.want)
		}
	}
}

// TestProbe checks what the software device does of each pipeline.
func TestProbe(t *testing.T) {
	cfg := &gateConfig{threads: 1, dev: gpu.NewSoft(pipeline.Host, gpu.SoftConfig{RowHashOnly: true}),
		in: &input{content: corpus.ByName("mixed").Make(100_000)}}
	for _, tt := range []struct{ pipeline, want string }{
		{"lzseqr", "[5] [1 2 3 4 5] true"}, {"deflate", "[] [] false"}, {"lzf", "[5 6 7] [] false"},
	} {
		w, err := cfg.probe(tt.pipeline)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(w.matches, w.codes, w.decodes); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.pipeline, got, tt.want)
		}
	}
}

// TestCertain checks when rounds suffice for a verdict.
func TestCertain(t *testing.T) {
	l := limits{throughputPct: 4}
	repeat := func(n int, ms ...float64) (v []float64) {
		for len(v) < n {
			v = append(v, ms...)
		}
		return v[:n]
	}
	for _, tt := range []struct {
		name string
		new  []float64
		want bool
	}{
		{"the same", repeat(7, 100), true},
		{"too few", repeat(5, 100), false},
		{"clearly slower", repeat(7, 110, 111), true},
		{"near the limit with noise", repeat(7, 100, 110), false},
		{"slower with some noise", repeat(21, 110, 110, 110, 90), true},
	} {
		c := &change{old: samplesOf(repeat(len(tt.new), 100)...), new: samplesOf(tt.new...)}
		if c.certain(l) != tt.want {
			t.Errorf("%s: certain is %v", tt.name, !tt.want)
		}
	}
}

// TestAgainst compares the test binary with itself.
func TestAgainst(t *testing.T) {
	c := copyCommand(t, 1)
	t.Setenv(actEnv, "copy")
	var out bytes.Buffer
	err := runGate(context.Background(), []string{"--old", c.compress[0], "--new", c.compress[0],
		"--size", "4K", "--repeats", "1", "--levels", "1", "--pipelines", "lzf",
		"--throughput-regression-pct", "99", "--median-regression-pct", "99",
		"--output", filepath.Join(t.TempDir(), "table")}, &out)
	if err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"cpu-decompress lzf -1", "ok: median"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestParseGate(t *testing.T) {
	for _, args := range []string{"--repeats 4", "--repeats 0", "--repeats x", "--nosuch 1", "--baseline",
		"--iterations 0", "--threads -1", "--throughput-regression-pct -4", "--overhead-regression-abs x",
		"--size 0", "--size 2X", "--size M", "--size 99999999999G", "--pipelines nosuch", "--levels 10",
		"word", "--update-baseline --revision abc-dirty", "--update-baseline",
		"--update-baseline --revision abc --old x", "--cpu-only --device soft"} {
		if _, err := parseGate(strings.Fields(args)); !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", args, err)
		}
	}
	cfg, err := parseGate([]string{"--old", "x"})
	if err != nil || len(cfg.cpuRows()) != 4*3*2 {
		t.Errorf("%+v, %v", cfg, err)
	}
}

func TestParseSize(t *testing.T) {
	sizes := map[string]int64{"4096": 4096, "512K": 512 << 10, "20M": 20 << 20, "64MiB": 64 << 20,
		"1g": 1 << 30}
	for s, want := range sizes {
		if got, err := parseSize(s); err != nil || got != want {
			t.Errorf("%s: %d, %v", s, got, err)
		}
	}
}

// TestRun checks exit statuses and that every subcommand has its usage.
func TestRun(t *testing.T) {
	for _, c := range subcommands {
		var out, errOut bytes.Buffer
		status := run(context.Background(), []string{c.name, "--help"}, &out, &errOut)
		if status != 0 || !strings.HasPrefix(out.String(), "usage: scripts/") {
			t.Errorf("%s --help: %d, %s%s", c.name, status, out.String(), errOut.String())
		}
		status = run(context.Background(), []string{c.name, "--nosuch"}, &out, &errOut)
		if status != exitUsage {
			t.Errorf("%s --nosuch: %d", c.name, status)
		}
	}
	status := run(context.Background(), nil, &bytes.Buffer{}, &bytes.Buffer{})
	if status != exitUsage {
		t.Errorf("no subcommand: %d", status)
	}
}
