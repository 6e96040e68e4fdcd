package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/spf13/pflag"
)

// small is work of a moment: 16 blocks, twice.
var small = []string{"--size", "1M", "--block-size", "64K", "--iterations", "2", "--threads", "2"}

type output struct {
	status    int
	stderr    string
	stdout    string
	profile   fields
	scheduler fields
}

func start(t *testing.T, interrupt <-chan os.Signal, args ...string) (o output) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	o.status = run(args, env{&stdout, &stderr, interrupt})
	o.stdout, o.stderr = stdout.String(), stderr.String()
	for l := range strings.Lines(o.stdout) {
		name, f, err := parseLine(l)
		switch {
		case err != nil:
			t.Fatalf("%q: %v", l, err)
		case name == "PROFILE_STATS" && o.profile == nil:
			o.profile = f
		case name == "SCHEDULER_STATS" && o.scheduler == nil:
			o.scheduler = f
		default:
			t.Fatalf("unexpected line %q", l)
		}
	}
	return o
}

// succeed runs the program on little work with more options.
func succeed(t *testing.T, args ...string) output {
	t.Helper()
	o := start(t, nil, append(small[:len(small):len(small)], args...)...)
	if o.status != 0 || o.profile == nil || o.profile.get("status") != "ok" {
		t.Fatalf("%q: status %d, %s%s", args, o.status, o.stdout, o.stderr)
	}
	return o
}

func table(t *testing.T, parts ...string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all[1:] {
		m := map[string]string{}
		for i, name := range all[0] {
			m[name] = row[i]
		}
		rows = append(rows, m)
	}
	return rows
}

func num(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestUsageErrors(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--nosuch"}, {"word"}, {"--pipeline", "nosuch"}, {"--stage", "nosuch"}, {"--stage", ""}, {"--level", "0"}, {"--level", "10"},
		{"--threads", "0"}, {"--iterations", "0"}, {"--size", "0"}, {"--size", "-1"}, {"--size", "1T"}, {"--size", "99999999999G"},
		{"--block-size", "5000"}, {"--block-size", "0"}, {"--backend", "tpu"}, {"--backend", "cpu,"}, {"--backend", "cpu,cpu,cpu"}, {"--backend", "fused,gpu"}, {"--backend", "auto,fused"},
		{"--gpu", "--backend", "cpu"}, {"--gpu-device", "nosuch"}, {"--gpu-device", "nosuch:0"}, {"--backend", "cpu", "--gpu-device", "soft"},
		{"--soft-latency", "1ms"}, {"--gpu", "--soft-batch", "0"}, {"--gpu", "--soft-latency", "-1s"},
		{"--full"}, {"--top", "3"}, {"--snapshot-interval", "1s"}, {"--out", dir, "--top", "-1"}, {"--out", ""},
		{"--out", dir, "--snapshot-interval", "0s"}, {"--slow", "-1"},
		{"--sink-mbps", "0"}, {"--sink-mbps", "NaN"}, {"--stage", "lz77", "--sink-mbps", "1"},
		{"--stage", "lz77", "--gpu"}, {"--stage", "lz77", "--backend", "gpu"}, {"--stage", "lz77", "--print-scheduler-stats"},
		{"--stage", "lz77", "--trace", filepath.Join(dir, "t")},
		{"aggregate"}, {"aggregate", "--nosuch", dir}, {"aggregate", "--top", "-1", dir},
	} {
		o := start(t, nil, args...)
		if o.status != exitUsage || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 || !strings.HasPrefix(o.stderr, "profile: ") {
			t.Errorf("%q: status %d, %q, %q", args, o.status, o.stdout, o.stderr)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("wrong usage has left %v, %v", entries, err)
	}
	if o := start(t, nil, "--file", filepath.Join(dir, "nosuch")); o.status != exitFailed || strings.Count(o.stderr, "\n") != 1 {
		t.Errorf("no such file: %+v", o)
	}
}

func TestHelpHasEveryFlag(t *testing.T) {
	var stdout bytes.Buffer
	if status := run([]string{"--help"}, env{stdout: &stdout}); status != 0 {
		t.Fatal(status)
	}
	new(config).flagSet(new(choices)).VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(stdout.String(), "\n  --"+f.Name+" ") {
			t.Errorf("no --%s", f.Name)
		}
	})
}

func TestList(t *testing.T) {
	var stdout bytes.Buffer
	if status := run([]string{"--list"}, env{stdout: &stdout}); status != 0 {
		t.Fatal(status)
	}
	for _, want := range []string{"PIPELINE\tname=lzseqr\n", "STAGE\tname=rans\n", "DEVICE\tname=soft\thardware=false\tpresent=true\n",
		"MACHINE\tkernels=" + compress.Kernels() + "\n"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in %q", want, stdout.String())
		}
	}
}

func TestLines(t *testing.T) {
	for _, way := range [][]string{nil, {"--decompress"}} {
		o := succeed(t, append(way, "--print-scheduler-stats")...)
		var keys []string
		for _, f := range o.scheduler {
			keys = append(keys, f.key)
		}
		const want = "runs total_ns stage_compute_ns queue_wait_ns queue_admin_ns gpu_handoff_ns gpu_try_send_full_count " +
			"gpu_try_send_disconnected_count scheduler_overhead_ns tracked_thread_time_ns scheduler_overhead_pct gpu_failed_count gpu_wrong_count gpu_returned_count"
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("keys %s, want %s", got, want)
		}
		n := o.scheduler.number
		if n("runs") != 2 || n("stage_compute_ns") <= 0 || n("total_ns") <= 0 ||
			n("scheduler_overhead_ns") != n("queue_wait_ns")+n("queue_admin_ns")+n("gpu_handoff_ns") ||
			n("tracked_thread_time_ns") != n("stage_compute_ns")+n("scheduler_overhead_ns") {
			t.Errorf("%+v", o.scheduler)
		}
		p := o.profile
		if o.profile[0].key != "mbps" || o.profile[1].key != "elapsed_ns" || p.number("size") != 1<<20 || p.number("iterations") != 2 ||
			p.number("content_bytes") != 2<<20 || p.get("threads") != "2" || p.get("device") != "none" {
			t.Errorf("%+v", p)
		}
		speed, err := strconv.ParseFloat(p.get("mbps"), 64)
		if real := float64(2<<20) / float64(p.number("elapsed_ns")) * 1e3; err != nil || speed < 0.99*real || speed > 1.01*real {
			t.Errorf("%v MB/s, want %v: %v", speed, real, err)
		}
	}
	if o := succeed(t); o.scheduler != nil {
		t.Error("SCHEDULER_STATS unasked")
	}
}

func TestWork(t *testing.T) {
	base := succeed(t).profile
	packed := func(args ...string) int64 {
		t.Helper()
		return succeed(t, args...).profile.number("compressed_bytes")
	}
	if n := packed("--decompress"); n != base.number("compressed_bytes") {
		t.Errorf("decompress: %d bytes compressed, want %d", n, base.number("compressed_bytes"))
	}
	if fast, dense := packed("--level", "1"), packed("--level", "7"); dense >= base.number("compressed_bytes") || fast <= dense {
		t.Errorf("levels 1, 4 and 7 make %d, %d and %d bytes", fast, base.number("compressed_bytes"), dense)
	}
	if n := packed("--pipeline", "lzr"); n == base.number("compressed_bytes") {
		t.Error("--pipeline changes nothing")
	}
	if n := packed("--threads", "1"); n != base.number("compressed_bytes") {
		t.Error("--threads changes the output")
	}
	// More work, not more content.
	slow := succeed(t, "--slow", "50").profile
	if got, want := slow.number("compressed_bytes"), base.number("compressed_bytes"); got < want*14/10 || got > want*16/10 ||
		slow.number("content_bytes") != base.number("content_bytes") {
		t.Errorf("--slow 50: %d bytes, without %d", got, want)
	}
	if p := succeed(t, "--sink-mbps", "10", "--iterations", "1").profile; p.number("elapsed_ns") < p.number("compressed_bytes")*100 {
		t.Errorf("%d bytes at 10 MB/s in %d ns", p.number("compressed_bytes"), p.number("elapsed_ns"))
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, bytes.Repeat([]byte("content "), 1000), 0o666); err != nil {
		t.Fatal(err)
	}
	if o := start(t, nil, "--file", file, "--iterations", "3"); o.profile.number("size") != 8000 || o.profile.number("iterations") != 3 {
		t.Errorf("--file: %+v", o)
	}
	if o := start(t, nil, "--file", file, "--size", "100"); o.profile.number("size") != 100 {
		t.Errorf("--file with --size: %+v", o)
	}
}

func TestStages(t *testing.T) {
	for _, s := range stages {
		for _, way := range []string{"compress", "decompress"} {
			args := []string{"--stage", s.name, "--out", filepath.Join(t.TempDir(), "out")}
			if way == "decompress" {
				args = append(args, "--decompress")
			}
			for _, pipe := range []string{"lzseqr", "lzr"} {
				args[3] = filepath.Join(t.TempDir(), "out")
				o := succeed(t, append(args, "--pipeline", pipe)...)
				if o.profile.get("stage") != s.name || o.profile.get("op") != way || o.profile.number("compressed_bytes") == 0 {
					t.Errorf("%+v", o.profile)
				}
				rows := table(t, args[3], stagesFile)
				if len(rows) != 1 || rows[0]["stage"] != s.name || rows[0]["op"] != way || rows[0]["blocks"] != "32" || rows[0]["bytes"] != "2097152" {
					t.Errorf("%v", rows)
				}
			}
		}
	}
}

// Where blocks go is seen in the statistics per stage and backend.
func TestBackends(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string // of 32 blocks, where all of them go
	}{
		{[]string{"--backend", "cpu"}, "lz77@cpu lzseq@cpu rans@cpu"},
		{[]string{"--backend", "auto"}, "lz77@cpu lzseq@cpu rans@cpu"},
		{[]string{"--gpu"}, "lz77@gpu lzseq@cpu rans@gpu"},
		{[]string{"--backend", "fused"}, "fused@gpu verify@cpu"},
		{[]string{"--backend", "gpu,cpu"}, "lz77@gpu lzseq@cpu rans@cpu verify@cpu"},
		{[]string{"--backend", "cpu,gpu", "--gpu-device", "soft"}, "lz77@cpu lzseq@cpu rans@gpu verify@cpu"},
		{[]string{"--gpu", "--decompress"}, "rans@gpu verify@cpu lzseq@cpu"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		o := succeed(t, append(tt.args, "--out", dir)...)
		var got []string
		for _, r := range table(t, dir, stagesFile) {
			if r["stage"] != "check" && r["blocks"] == "32" {
				got = append(got, r["stage"]+"@"+r["backend"])
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: %s, want %s", tt.args, s, tt.want)
		}
		if want := map[bool]string{true: "soft", false: "none"}[strings.Contains(tt.want, "gpu")]; o.profile.get("device") != want {
			t.Errorf("%q: device %s", tt.args, o.profile.get("device"))
		}
	}
	lost := succeed(t, "--backend", "fused", "--soft-batch", "2", "--soft-lost-after", "20", "--iterations", "4", "--print-scheduler-stats").scheduler
	// The iteration that is not counted takes 8 to 16 batches.
	if lost.number("gpu_returned_count") == 0 || lost.number("gpu_try_send_disconnected_count") == 0 {
		t.Errorf("lost device: %+v", lost)
	}
	begin := time.Now()
	succeed(t, "--gpu", "--soft-latency", "100ms", "--iterations", "1")
	if took := time.Since(begin); took < 200*time.Millisecond { // with the iteration before
		t.Errorf("100ms a batch have taken %v", took)
	}
}

func TestGoProfiles(t *testing.T) {
	cpu, trace := filepath.Join(t.TempDir(), "cpu"), filepath.Join(t.TempDir(), "trace")
	succeed(t, "--cpuprofile", cpu, "--trace", trace)
	if p, err := os.ReadFile(cpu); err != nil || !bytes.HasPrefix(p, []byte{0x1f, 0x8b}) {
		t.Errorf("processor profile: %d bytes, %v", len(p), err)
	}
	p, err := os.ReadFile(trace)
	if err != nil || !bytes.HasPrefix(p, []byte("go 1.")) {
		t.Fatalf("trace: %d bytes, %v", len(p), err)
	}
	for _, region := range []string{"lz77", "lzseq", "rans"} {
		if !bytes.Contains(p, []byte(region)) {
			t.Errorf("no region %s in the trace", region)
		}
	}
}

func TestInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	timeline := filepath.Join(t.TempDir(), "timeline")
	interrupt := make(chan os.Signal, 1)
	go func() {
		// The measurement has begun when there is a snapshot.
		for {
			if p, _ := os.ReadFile(filepath.Join(dir, snapshotsFile)); bytes.Contains(p, []byte("interval")) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		interrupt <- syscall.SIGINT
	}()
	o := start(t, interrupt, append(small[:len(small):len(small)], "--iterations", "1000000000", "--out", dir, "--snapshot-interval", "5ms",
		"--timeline", timeline)...)
	if o.status != exitInterrupted || o.profile.get("status") != "ended early" || !strings.HasSuffix(o.stderr, "profile: interrupted\n") {
		t.Fatalf("%+v", o)
	}
	var kinds []string
	for _, r := range table(t, dir, snapshotsFile) {
		if n := len(kinds); n == 0 || kinds[n-1] != r["kind"] {
			kinds = append(kinds, r["kind"])
		}
	}
	// The ticker may go off once more.
	if s := strings.Join(kinds, " "); s != "interval interrupt final" && s != "interval interrupt interval final" {
		t.Errorf("snapshots: %s", s)
	}
	for _, name := range []string{summaryFile, statsFile, stagesFile, histogramFile, slowestFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, err := os.ReadFile(timeline)
	if err != nil || !json.Valid(p) {
		t.Errorf("timeline of %d bytes: %v", len(p), err)
	}
}
