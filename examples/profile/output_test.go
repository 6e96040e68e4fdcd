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
	"github.com/gopz/compress/pipeline"
)

func TestOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	o := succeed(t, "--out", dir, "--full", "--top", "3", "--snapshot-interval", "1ms", "--iterations", "4")

	stats, err := os.ReadFile(filepath.Join(dir, statsFile))
	if err != nil || !strings.HasSuffix(string(stats), o.stdout) {
		t.Errorf("%s has %q, printed was %q: %v", statsFile, stats, o.stdout, err)
	}
	_, scheduler, _ := parseLine(strings.SplitAfter(string(stats), "\n")[0])

	compute := int64(0)
	for _, r := range table(t, dir, stagesFile) {
		blocks := "64"
		if r["stage"] == "check" { // before the stages and after them
			blocks = "128"
		}
		if r["op"] != "compress" || r["backend"] != "cpu" || r["blocks"] != blocks {
			t.Errorf("%v", r)
		}
		if n := func(key string) int64 { return num(t, r[key]) }; n("mean_ns") > n("max_ns") || n("p50_ns") > n("p99_ns") || n("p99_ns") > n("max_ns") {
			t.Errorf("%v", r)
		}
		compute += num(t, r["time_ns"])
	}
	// Recorder and library measure the same thing, by way of the same events.
	if want := scheduler.number("stage_compute_ns"); compute != want {
		t.Errorf("stages took %d ns, the scheduler says %d", compute, want)
	}

	all := table(t, dir, blocksFile)
	if len(all) != 64 {
		t.Errorf("%d blocks, want 64", len(all))
	}
	var spans []int64
	for i, r := range all {
		if num(t, r["iteration"]) != int64(i/16) || num(t, r["span_ns"])-num(t, r["compute_ns"]) != num(t, r["between_ns"]) ||
			num(t, r["order_wait_ns"]) < 0 || num(t, r["start_ns"]) < 0 || num(t, r["bytes"]) != 64<<10 {
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
	slow := table(t, dir, slowestFile)
	if len(slow) != 3 {
		t.Errorf("%d slowest blocks", len(slow))
	}
	for i, r := range slow {
		if want := spans[len(spans)-1-i]; num(t, r["span_ns"]) != want {
			t.Errorf("slowest %d: %v, want %d", i, r, want)
		}
	}

	snaps := table(t, dir, snapshotsFile)
	last := snaps[len(snaps)-1]
	if len(snaps) < 2 || snaps[0]["kind"] != "interval" || last["kind"] != "final" || last["blocks"] != "64" || last["in_flight"] != "0" ||
		last["runs"] != "4" || last["bytes"] != "4194304" {
		t.Errorf("%d snapshots, the last one %v", len(snaps), last)
	}
	for i := range snaps[1:] {
		if num(t, snaps[i]["elapsed_ns"]) > num(t, snaps[i+1]["elapsed_ns"]) || num(t, snaps[i]["blocks"]) > num(t, snaps[i+1]["blocks"]) {
			t.Errorf("%v comes before %v", snaps[i], snaps[i+1])
		}
	}
	summary, err := os.ReadFile(filepath.Join(dir, summaryFile))
	for _, want := range []string{"# Profile: compress lzseqr", "| compress | lz77 | cpu | 64 |", "## After the stages", "iteration "} {
		if !strings.Contains(string(summary), want) {
			t.Errorf("no %q in the summary: %v", want, err)
		}
	}

	// Files of different runs do not mix.
	if o := start(t, nil, append(small[:len(small):len(small)], "--out", dir)...); o.status != exitFailed || !strings.Contains(o.stderr, "another run") {
		t.Errorf("second time: %+v", o)
	}
	plain := filepath.Join(t.TempDir(), "out")
	succeed(t, "--out", plain)
	if _, err := os.Stat(filepath.Join(plain, blocksFile)); err == nil {
		t.Error("every block, without --full")
	}
	if snaps := table(t, plain, snapshotsFile); len(snaps) != 1 || snaps[0]["kind"] != "final" {
		t.Errorf("snapshots without --snapshot-interval: %v", snaps)
	}
}

// traceEvent is what is used of Chrome's format.
type traceEvent struct {
	Name, Ph string
	Pid, Tid *int
	Ts, Dur  *float64
	Args     map[string]any
}

func timelineOf(t *testing.T, args ...string) (events []traceEvent) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "timeline")
	succeed(t, append(args, "--timeline", file)...)
	p, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(p, &events); err != nil {
		t.Fatalf("%v in %.200s", err, p)
	}
	return events
}

// TestOutHelped: what a helper does is a row of its own, and a block's time is not counted twice for it.
func TestOutHelped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o := succeed(t, "--out", dir, "--full", "--print-scheduler-stats", "--iterations", "1", "--level", "7", "--threads", "2", "--size", "200K", "--block-size", "256K")
	_, scheduler, _ := parseLine(strings.SplitAfter(o.stdout, "\n")[0])
	compute, ahead := int64(0), int64(0)
	for _, r := range table(t, dir, stagesFile) {
		if r["stage"] == "ahead" {
			ahead = num(t, r["blocks"])
		}
		compute += num(t, r["time_ns"])
	}
	if want := scheduler.number("stage_compute_ns"); compute != want || ahead == 0 {
		t.Errorf("stages took %d ns, the scheduler says %d; %d pieces ahead", compute, want, ahead)
	}
	all := table(t, dir, blocksFile)
	if len(all) != 1 || num(t, all[0]["between_ns"]) < 0 || strings.Count(all[0]["stages"], "ahead@cpu") != 1 {
		t.Errorf("blocks: %v", all)
	}
}

func TestTimeline(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		stages string // with their number
		tracks string
	}{
		{[]string{"--threads", "1"}, "check 64, lz77 32, lzseq 32, rans 32", "ordered writing, worker 0"},
		{[]string{"--threads", "1", "--backend", "gpu,cpu", "--soft-batch", "1"}, "check 64, lz77 32, lzseq 32, rans 32, verify 32", "device, ordered writing, worker 0"},
		{[]string{"--threads", "1", "--stage", "rans"}, "rans 32", "ordered writing, worker 0"},
	} {
		names, count, waits := map[int]string{}, map[string]int{}, 0
		end := map[int]float64{} // of the last event on each track
		var whole []traceEvent
		for _, e := range timelineOf(t, tt.args...) {
			if e.Pid == nil || e.Tid == nil || e.Name == "" {
				t.Fatalf("%q: incomplete: %+v", tt.args, e)
			}
			switch e.Ph {
			case "M":
				if e.Name == "thread_name" {
					names[*e.Tid] = e.Args["name"].(string)
				}
				continue
			case "X":
				if e.Ts == nil || e.Dur == nil || *e.Ts < 0 || *e.Dur < 0 || e.Args["block"] == nil {
					t.Errorf("%q: incomplete: %+v", tt.args, e)
				}
				whole = append(whole, e)
				count[e.Name]++
			case "b":
				waits++
			case "e":
				waits--
			default:
				t.Errorf("%q: %+v", tt.args, e)
			}
			if names[*e.Tid] == "" {
				t.Errorf("%q: no name for the track of %+v", tt.args, e)
			}
		}
		slices.SortFunc(whole, func(a, b traceEvent) int { return int(1e3 * (*a.Ts - *b.Ts)) })
		for _, e := range whole {
			if *e.Ts < end[*e.Tid]-0.002 { // of rounding
				t.Errorf("%q: %s on track %s begins at %v, the one before ends at %v", tt.args, e.Name, names[*e.Tid], *e.Ts, end[*e.Tid])
			}
			end[*e.Tid] = *e.Ts + *e.Dur
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
			t.Errorf("%q: %s, want %s", tt.args, s, tt.stages)
		}
		if s := strings.Join(tracks, ", "); s != tt.tracks || waits != 0 {
			t.Errorf("%q: tracks %s, want %s; %d waits without an end", tt.args, s, tt.tracks, waits)
		}
	}
}

// Batches that overlap get tracks of their own, and a batch of several blocks is one event.
func TestTimelineLanes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "timeline")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	l, base := newTimeline(f), time.Now()
	l.start = base
	at := func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }
	for _, e := range []struct{ begin, end int }{{0, 10}, {0, 10}, {5, 12}, {5, 12}, {10, 15}, {13, 20}} {
		x := compress.StageEvent{Stage: "fused", Backend: compress.GPU, Worker: -1, Batch: 2, Start: at(e.begin), Took: at(e.end).Sub(at(e.begin))}
		if err := l.stage(&x); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.finish(); err != nil {
		t.Fatal(err)
	}
	p, err := os.ReadFile(file)
	if n := strings.Count(string(p), `"ph":"X"`); n != 4 || len(l.device) != 2 {
		t.Errorf("%d events on %d tracks, want 4 on 2: %v\n%s", n, len(l.device), err, p)
	}
}

func TestAggregate(t *testing.T) {
	base := t.TempDir()
	a, b, sum := filepath.Join(base, "a"), filepath.Join(base, "b"), filepath.Join(base, "sum")
	first := succeed(t, "--out", a, "--top", "4")
	second := succeed(t, "--out", b, "--iterations", "3", "--threads", "1")

	o := output{}
	var stdout, stderr strings.Builder
	if o.status = run([]string{"aggregate", "--out", sum, "--top", "6", a, b}, env{stdout: &stdout, stderr: &stderr}); o.status != 0 {
		t.Fatal(stderr.String())
	}
	total, err := readResult(sum)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"content_bytes", "elapsed_ns", "compressed_bytes", "iterations", "blocks"} {
		if got, want := total.profile.number(key), first.profile.number(key)+second.profile.number(key); got != want || want == 0 {
			t.Errorf("%s: %d, want %d", key, got, want)
		}
	}
	if total.profile.get("threads") != "different" || total.profile.get("pipeline") != "lzseqr" || total.stats.Runs != 5 {
		t.Errorf("%+v, %d runs", total.profile, total.stats.Runs)
	}
	sums := map[string]int64{}
	longest := map[string]int64{}
	for _, dir := range []string{a, b} {
		for _, r := range table(t, dir, stagesFile) {
			for _, column := range []string{"blocks", "bytes", "time_ns"} {
				sums[r["stage"]+column] += num(t, r[column])
			}
			longest[r["stage"]] = max(longest[r["stage"]], num(t, r["max_ns"]))
		}
	}
	rows := table(t, sum, stagesFile)
	for _, r := range rows {
		for _, column := range []string{"blocks", "bytes", "time_ns"} {
			if num(t, r[column]) != sums[r["stage"]+column] {
				t.Errorf("%s of %s: %s, want %d", column, r["stage"], r[column], sums[r["stage"]+column])
			}
		}
		if num(t, r["max_ns"]) != longest[r["stage"]] || num(t, r["p99_ns"]) > num(t, r["max_ns"]) || num(t, r["p50_ns"]) == 0 {
			t.Errorf("%v", r)
		}
	}
	if len(rows) != 4 {
		t.Errorf("%d stages", len(rows))
	}
	slow := table(t, sum, slowestFile)
	if len(slow) != 6 || (slow[0]["run"] != a && slow[0]["run"] != b) {
		t.Errorf("%d slowest blocks, the first one %v", len(slow), slow[0])
	}
	if !slices.IsSortedFunc(slow, func(x, y map[string]string) int { return int(num(t, y["span_ns"]) - num(t, x["span_ns"])) }) {
		t.Error("the slowest blocks are not sorted")
	}
	for _, want := range []string{"# Profile: 2 runs", "| " + a + " |", "| " + b + " |"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
	// Sums can be summed up again.
	if again := aggregate([]*result{total}, 6); again.profile.get("elapsed_ns") != total.profile.get("elapsed_ns") || again.order.count != total.order.count {
		t.Errorf("%+v", again.profile)
	}

	for _, args := range [][]string{{a, a}, {a, filepath.Join(base, "nosuch")}, {"--out", b, a}, {base}} {
		var stderr strings.Builder
		if status := run(append([]string{"aggregate"}, args...), env{stdout: &stdout, stderr: &stderr}); status == 0 || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q: status %d, %q", args, status, stderr.String())
		}
	}
	for _, name := range []string{statsFile, stagesFile, histogramFile, slowestFile} {
		if err := os.WriteFile(filepath.Join(b, name), []byte("op,stage,time_ns\nx,y\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readResult(b); err == nil {
			t.Errorf("a broken %s is accepted", name)
		}
	}
}

// What is kept does not grow with the run.
func TestRecorderIsBounded(t *testing.T) {
	r := newRecorder(10)
	base := time.Now()
	r.begin(base)
	for i := range int64(50_000) {
		for _, stage := range []string{"check", "lz77", "check"} {
			r.event(compress.StageEvent{Block: i, Bytes: 100, Stage: stage, Backend: compress.CPU, Batch: 1, Op: pipeline.Compress,
				Start: base.Add(time.Duration(i)), Took: time.Duration(i%1000) * time.Microsecond})
		}
		if i >= 4 {
			r.pass(i-4, base.Add(time.Second))
		}
	}
	p := r.take(base.Add(time.Second), true)
	if len(r.flight) != 4 || len(r.top.blocks) != 10 || len(r.spare) > 16 || len(r.stages) != 2 {
		t.Errorf("%d blocks in flight, %d slowest, %d spare, %d stages", len(r.flight), len(r.top.blocks), len(r.spare), len(r.stages))
	}
	if p.passed != 49_996 || p.bytes != 100*49_996 || p.slowest[0].span() != 999*time.Microsecond || p.slowest[9].span() != 999*time.Microsecond {
		t.Errorf("%d passed, slowest %v … %v", p.passed, p.slowest[0].span(), p.slowest[9].span())
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
	h.add(1<<63 - 1) // fits
	h = hist{}
	for i := range 1000 {
		h.add(time.Duration(i) * time.Microsecond)
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

func TestGenerate(t *testing.T) {
	long := generate(1 << 20)
	if short := generate(100_001); len(short) != 100_001 || string(short) != string(long[:len(short)]) {
		t.Error("short data is not the beginning of long data")
	}
	packed, err := compress.AppendEncode(nil, long)
	if ratio := float64(len(long)) / float64(len(packed)); err != nil || ratio < 2.5 || ratio > 6 {
		t.Errorf("ratio %.2f, unlike people's files: %v", ratio, err)
	}
}
