package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

func TestOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	// The slow output gives the snapshots time.
	lines := measured(t, "--out", dir, "--full", "--top", "3", "--snapshot-interval", "1ms",
		"--iterations", "4", "--print-scheduler-stats", "--sink-mbps", "10")
	compute := int64(0)
	for _, r := range readTable(t, dir, stagesFile) {
		blocks := "64"
		if r["stage"] == "check" { // before the first stage and after the last
			blocks = "128"
		}
		if r["op"] != "compress" || r["backend"] != "cpu" || r["blocks"] != blocks ||
			num(t, r["mean_ns"]) > num(t, r["max_ns"]) || num(t, r["p50_ns"]) > num(t, r["p99_ns"]) ||
			num(t, r["p99_ns"]) > num(t, r["max_ns"]) {
			t.Errorf("%v", r)
		}
		compute += num(t, r["time_ns"])
	}
	// The recorder and the scheduler count the same events.
	if want := lines["SCHEDULER_STATS"].number("stage_compute_ns"); compute != want {
		t.Errorf("stages take %d ns, the scheduler says %d", compute, want)
	}
	checkBlocks(t, dir)
	checkSnapshots(t, dir)
	summary, err := os.ReadFile(filepath.Join(dir, summaryFile))
	for _, want := range []string{"# Profile: compress lzseqr", "| compress | lz77  | cpu | 64 ", "idle: ",
		"iteration ", "| kernels "} {
		if !strings.Contains(string(summary), want) {
			t.Errorf("no %q in the summary: %v\n%s", want, err, summary)
		}
	}
	if status, _, errOut := tryRun("--out", dir, "--size", "1K"); status != exitFailed ||
		!strings.Contains(errOut, "another run") {
		t.Errorf("a directory of another run: status %d, %s", status, errOut)
	}
	plain := filepath.Join(t.TempDir(), "out")
	measured(t, "--out", plain)
	if _, err := os.Stat(filepath.Join(plain, blocksFile)); err == nil {
		t.Errorf("%s without --full", blocksFile)
	}
	if s := readTable(t, plain, snapshotsFile); len(s) != 1 || s[0]["kind"] != "final" {
		t.Errorf("snapshots without --snapshot-interval: %v", s)
	}
}

// checkBlocks checks blocks.csv and slowest.csv of four iterations of 16 blocks, with --top 3.
func checkBlocks(t *testing.T, dir string) {
	t.Helper()
	all := readTable(t, dir, blocksFile)
	if len(all) != 64 {
		t.Errorf("%d blocks, want 64", len(all))
	}
	var spans []int64
	for i, r := range all {
		if num(t, r["iteration"]) != int64(i/16) || num(t, r["bytes"]) != 64<<10 ||
			num(t, r["span_ns"])-num(t, r["compute_ns"]) != num(t, r["between_ns"]) ||
			num(t, r["order_wait_ns"]) < 0 || num(t, r["start_ns"]) < 0 {
			t.Errorf("block %d: %v", i, r)
		}
		for _, s := range []string{"check@cpu", "lz77@cpu", "lzseq@cpu", "rans@cpu"} {
			if !strings.Contains(r["stages"], s) {
				t.Errorf("block %d: no %s: %v", i, s, r)
			}
		}
		spans = append(spans, num(t, r["span_ns"]))
	}
	slices.Sort(spans)
	slow := readTable(t, dir, slowestFile)
	if len(slow) != 3 {
		t.Errorf("%d slowest blocks", len(slow))
	}
	for i, r := range slow {
		if want := spans[len(spans)-1-i]; num(t, r["span_ns"]) != want {
			t.Errorf("slowest %d: %v, want %d", i, r, want)
		}
	}
}

// checkSnapshots checks the snapshots of four iterations of 16 blocks, and that each has rows of
// its stages.
func checkSnapshots(t *testing.T, dir string) {
	t.Helper()
	snaps := readTable(t, dir, snapshotsFile)
	last := snaps[len(snaps)-1]
	if len(snaps) < 2 || snaps[0]["kind"] != "interval" || last["kind"] != "final" ||
		last["blocks"] != "64" || last["in_flight"] != "0" || last["runs"] != "4" ||
		last["content_bytes"] != "4194304" || num(t, last["stage_compute_ns"]) == 0 {
		t.Errorf("%d snapshots, the last is %v", len(snaps), last)
	}
	for i := range snaps[1:] {
		if num(t, snaps[i]["elapsed_ns"]) > num(t, snaps[i+1]["elapsed_ns"]) ||
			num(t, snaps[i]["blocks"]) > num(t, snaps[i+1]["blocks"]) {
			t.Errorf("%v comes before %v", snaps[i], snaps[i+1])
		}
	}
	stages := map[string][]string{}
	for _, r := range readTable(t, dir, snapshotStagesFile) {
		stages[r["snapshot"]] = append(stages[r["snapshot"]], r["stage"])
	}
	for _, s := range snaps {
		got := stages[s["snapshot"]]
		if num(t, s["blocks"]) > 0 && strings.Join(got, " ") != "lz77 lzseq rans check" {
			t.Errorf("snapshot %v has the stages %v", s, got)
		}
	}
}

// TestOutWithHelper checks that a helper has a row of its own, and that its time counts once.
func TestOutWithHelper(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	lines := measured(t, strings.Fields("--out "+dir+" --full --print-scheduler-stats --iterations 1 "+
		"--level 8 --threads 2 --size 200K --block-size 256K")...)
	compute, ahead := int64(0), int64(0)
	for _, r := range readTable(t, dir, stagesFile) {
		if r["stage"] == aheadStage {
			ahead = num(t, r["blocks"])
		}
		compute += num(t, r["time_ns"])
	}
	if want := lines["SCHEDULER_STATS"].number("stage_compute_ns"); compute != want || ahead == 0 {
		t.Errorf("stages take %d ns, the scheduler says %d; %d pieces ahead", compute, want, ahead)
	}
	all := readTable(t, dir, blocksFile)
	if len(all) != 1 || num(t, all[0]["between_ns"]) < 0 {
		t.Errorf("blocks: %v", all)
	}
}

// TestTelemetryPage checks that docs/TELEMETRY.md has every column of every file and line.
func TestTelemetryPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/TELEMETRY.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run, sum := filepath.Join(dir, "run"), filepath.Join(dir, "sum")
	lines := measured(t, "--out", run, "--full", "--gpu-device", "soft", "--print-scheduler-stats")
	if status, _, errOut := tryRun("aggregate", "--out", sum, run); status != 0 {
		t.Fatal(errOut)
	}
	columns := append(slices.Clone(stageHead), blockHead...)
	columns = append(append(columns, snapshotHead...), "up_to_ns", "count", "run")
	for _, f := range []fields{lines["PROFILE_STATS"], lines["SCHEDULER_STATS"]} {
		for _, x := range f {
			columns = append(columns, x.key)
		}
	}
	for _, c := range columns {
		if !strings.Contains(string(text), "`"+c+"`") {
			t.Errorf("docs/TELEMETRY.md lacks column %s", c)
		}
	}
	entries, err := os.ReadDir(run)
	for _, e := range entries {
		if !strings.Contains(string(text), "`"+e.Name()+"`") {
			t.Errorf("docs/TELEMETRY.md lacks file %s", e.Name())
		}
	}
	if err != nil || len(entries) != 8 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}

// TestRecorderIsBounded checks that the recorder's memory does not grow with the run.
func TestRecorderIsBounded(t *testing.T) {
	r := newRecorder(10)
	base := time.Now()
	r.beginCounting(base)
	for i := range int64(50_000) {
		for _, stage := range []string{"check", "lz77", "check"} {
			r.event(compress.Stage{Block: i, Bytes: 100, Name: stage, Batch: 1,
				Backend: gpu.BackendCPU, Op: pipeline.Compress.String(), Start: base.Add(time.Duration(i)),
				Time: time.Duration(i%1000) * time.Microsecond})
		}
		if i >= 4 {
			r.pass(i-4, compress.Progress{Content: 100 * (i - 3)}, compress.Stats{})
		}
	}
	s := r.state(base.Add(time.Second))
	if len(r.inFlight) != 4 || len(r.slowest.blocks) != 10 || len(r.spare) > 16 || len(r.stages) != 2 {
		t.Errorf("%d blocks in flight, %d slowest, %d spare, %d stages", len(r.inFlight),
			len(r.slowest.blocks), len(r.spare), len(r.stages))
	}
	if s.passed != 49_996 || s.content != 100*49_996 || s.slowest[0].span() != 999*time.Microsecond ||
		s.slowest[9].span() != 999*time.Microsecond {
		t.Errorf("%d passed, slowest %v to %v", s.passed, s.slowest[0].span(), s.slowest[9].span())
	}
}

func TestHist(t *testing.T) {
	last := -1
	for d := time.Duration(0); d < 1<<62; d += 1 + d/37 {
		b := bucket(d)
		if b < last || b > last+1 || upper(b) < d || upper(b)-d > d/8 {
			t.Fatalf("%d is in bucket %d, up to %d, after bucket %d", d, b, upper(b), last)
		}
		if bucket(upper(b)) != b || bucket(upper(b)+1) != b+1 {
			t.Fatalf("bucket %d does not end at %d", b, upper(b))
		}
		last = b
	}
	var h hist
	h.addDuration(1<<63 - 1) // fits
	h = hist{}
	for i := range 1000 {
		h.addDuration(time.Duration(i) * time.Microsecond)
	}
	for _, q := range []float64{0, 0.5, 0.9, 0.99} {
		want := time.Duration(1000*q) * time.Microsecond
		if got := h.quantile(q); got < want || got > want+want/8+1 {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if h.quantile(1) != 999*time.Microsecond || h.mean() != 499500*time.Nanosecond {
		t.Errorf("%v, %v", h.quantile(1), h.mean())
	}
}

// traceEvent is the part of Chrome's format that the tests read.
type traceEvent struct {
	Name, Ph string
	Pid, Tid *int
	Ts, Dur  *float64
	Args     map[string]any
}

func TestTimeline(t *testing.T) {
	for _, tt := range []struct{ args, stages, tracks string }{
		{"--threads 1", "check 64, lz77 32, lzseq 32, rans 32", "ordered output, worker 0"},
		{"--threads 1 --gpu-device soft --backend gpu,cpu",
			"check 64, lz77 32, lzseq 32, rans 32, verify 32", "device, ordered output, worker 0"},
	} {
		if testenv.CoarseClock && strings.Contains(tt.args, "--gpu-device") {
			continue // batches that begin at the same time are one event
		}
		file := filepath.Join(t.TempDir(), "timeline")
		measured(t, append(strings.Fields(tt.args), "--timeline", file)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var events []traceEvent
		if err := json.Unmarshal(text, &events); err != nil {
			t.Fatalf("%v in %.200s", err, text)
		}
		names, count, waits := map[int]string{}, map[string]int{}, 0
		for _, e := range events {
			switch {
			case e.Pid == nil || e.Tid == nil || e.Name == "":
				t.Fatalf("%s: incomplete: %+v", tt.args, e)
			case e.Name == "thread_name":
				names[*e.Tid] = e.Args["name"].(string)
			case e.Ph == "M":
			case names[*e.Tid] == "":
				t.Errorf("%s: no name for the track of %+v", tt.args, e)
			case e.Ph == "X":
				if e.Ts == nil || e.Dur == nil || *e.Ts < 0 || *e.Dur < 0 || e.Args["block"] == nil {
					t.Errorf("%s: incomplete: %+v", tt.args, e)
				}
				count[e.Name]++
			case e.Ph == "b":
				waits++
			case e.Ph == "e":
				waits--
			default:
				t.Errorf("%s: %+v", tt.args, e)
			}
		}
		var stages, tracks []string
		for name, n := range count {
			stages = append(stages, name+" "+itoa(int64(n)))
		}
		for _, name := range names {
			tracks = append(tracks, name)
		}
		slices.Sort(stages)
		slices.Sort(tracks)
		if s := strings.Join(stages, ", "); s != tt.stages {
			t.Errorf("%s: %s, want %s", tt.args, s, tt.stages)
		}
		if s := strings.Join(tracks, ", "); s != tt.tracks || waits != 0 {
			t.Errorf("%s: tracks %s, want %s; %d waits without an end", tt.args, s, tt.tracks, waits)
		}
	}
}

// TestTimelineBatches checks that batches that overlap get tracks of their own, and that a batch of
// several blocks is one event.
func TestTimelineBatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "timeline")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	l, base := newTimeline(f), time.Now()
	l.start = base
	at := func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }
	for _, e := range []struct{ begin, end int }{{0, 10}, {0, 10}, {5, 12}, {5, 12}, {10, 15}, {13, 20}} {
		x := compress.Stage{Name: "fused", Backend: gpu.BackendGPU, Worker: -1, Batch: 2,
			Start: at(e.begin), Time: at(e.end).Sub(at(e.begin))}
		if err := l.stage(&x); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	p, err := os.ReadFile(path)
	if n := strings.Count(string(p), `"ph":"X"`); n != 4 || len(l.device) != 2 {
		t.Errorf("%d events on %d tracks, want 4 on 2: %v\n%s", n, len(l.device), err, p)
	}
}
