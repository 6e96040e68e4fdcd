package main

import (
	"bytes"
	"encoding/csv"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// actEnv makes the test binary act as the program, for tests that need a process.
const actEnv = "PROFILE_TEST_ACT"

func TestMain(m *testing.M) {
	if os.Getenv(actEnv) != "" {
		main()
	}
	os.Exit(m.Run())
}

// small is work of a moment: 16 blocks, twice.
var small = []string{"--size", "1M", "--block-size", "64K", "--iterations", "2", "--threads", "2"}

// quietEnv returns an env that no signal reaches.
func quietEnv(stdout, stderr io.Writer) *env { return newEnv(stdout, stderr, nil, nil) }

// tryRun runs the program in this process.
func tryRun(args ...string) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = run(args, quietEnv(&out, &errOut))
	return status, out.String(), errOut.String()
}

// measured runs the program on little work and returns the fields of its lines, by name, or by
// stage and backend.
func measured(t *testing.T, args ...string) map[string]fields {
	t.Helper()
	status, out, errOut := tryRun(append(small[:len(small):len(small)], args...)...)
	if status != 0 {
		t.Fatalf("%q: status %d: %s", args, status, errOut)
	}
	lines := map[string]fields{}
	for l := range strings.Lines(out) {
		name, f, err := parseLine(l)
		if err != nil {
			t.Fatal(err)
		}
		if name == "STAGE_STATS" {
			name = f.get("stage") + "@" + f.get("backend")
		}
		lines[name] = f
	}
	return lines
}

// readTable returns the rows of a CSV file by column.
func readTable(t *testing.T, parts ...string) (rows []map[string]string) {
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

func TestUsage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for _, args := range []string{"--nosuch", "word", "--pipeline nosuch", "--level 0", "--level 10",
		"--threads 0", "--iterations 0", "--size 0", "--size -1", "--size 1T", "--size 99999999999G",
		"--block-size x", "--backend tpu", "--backend cpu,", "--gpu --backend cpu",
		"--soft-latency 1ms", "--gpu-device soft --soft-batch 0", "--full", "--top 3",
		"--snapshot-interval 1s", "--out " + dir + " --top -1", "--out " + dir + " --snapshot-interval 0s",
		"--sink-mbps 0", "--sink-mbps NaN", "aggregate", "aggregate --nosuch x", "aggregate --top -1 x",
		"aggregate --top 3"} {
		status, out, errOut := tryRun(strings.Fields(args)...)
		if status != exitUsage || out != "" || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: status %d: %s%s", args, status, out, errOut)
		}
	}
	for _, args := range []string{"--block-size 5000", "--gpu-device nosuch", "--file nosuch",
		"--cpuprofile nosuch/file", "aggregate nosuch"} {
		if !strings.HasPrefix(args, "aggregate") {
			args += " --size 1K"
		}
		if status, _, errOut := tryRun(strings.Fields(args)...); status != exitFailed {
			t.Errorf("%s: status %d: %s", args, status, errOut)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("wrong usage leaves a directory")
	}
}

// TestHelpHasEveryFlag also checks that --list knows the stages of each pipeline.
func TestHelpHasEveryFlag(t *testing.T) {
	status, out, _ := tryRun("--help")
	if status != 0 {
		t.Fatal(status)
	}
	f, _ := new(config).flagSet()
	f.VisitAll(func(x *flag.Flag) {
		if !strings.Contains(out, "\n  --"+x.Name+" ") && !strings.Contains(out, "\n  --"+x.Name+"\n") {
			t.Errorf("no --%s", x.Name)
		}
	})
	_, out, _ = tryRun("--list")
	for _, want := range []string{"PIPELINE\tname=lzseqr\tcompress=lz77,lzseq,rans\tdecompress=rans,lzseq\n",
		"PIPELINE\tname=deflate\tcompress=lz77,deflate\tdecompress=speculate,inflate,resolve\n",
		"DEVICE\tname=soft\tpresent=true\n",
		"MACHINE\tkernels=" + simd.Tier() + "\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}

func TestSchedulerStats(t *testing.T) {
	for _, way := range [][]string{{}, {"--decompress"}} {
		lines := measured(t, append(way, "--print-scheduler-stats")...)
		s, p := lines["SCHEDULER_STATS"], lines["PROFILE_STATS"]
		timed := s.number("stage_compute_ns") > 0 && s.number("total_ns") > 0
		if s.number("runs") != 2 || !timed && !testenv.CoarseClock ||
			s.number("scheduler_overhead_ns") !=
				s.number("queue_wait_ns")+s.number("queue_admin_ns")+s.number("gpu_handoff_ns") ||
			s.number("tracked_thread_time_ns") !=
				s.number("stage_compute_ns")+s.number("scheduler_overhead_ns") {
			t.Errorf("%v", s)
		}
		for _, want := range (fields{{"size", "1048576"}, {"iterations", "2"}, {"content_bytes", "2097152"},
			{"blocks", "32"}, {"block_bytes_max", "65536"}, {"threads", "2"}, {"status", "ok"},
			{"kernels", simd.Tier()}}) {
			if got := p.get(want.key); got != want.value {
				t.Errorf("%s is %q, want %q", want.key, got, want.value)
			}
		}
		if p.number("elapsed_ns") <= 0 || p.get("host") == "" {
			t.Errorf("%v", p)
		}
		if stage := lines["rans@cpu"]; stage.get("blocks") != "32" || stage.get("bytes") != "2097152" {
			t.Errorf("%v", stage)
		}
	}
	if lines := measured(t); len(lines) != 1 {
		t.Errorf("without --print-scheduler-stats: %v", lines)
	}
}

// TestEveryCounter checks that no number of compress.Stats is missing from the tables, and that
// each survives a file.
func TestEveryCounter(t *testing.T) {
	var s compress.Stats
	var f fields
	for i, c := range schedulerColumns {
		f.addField(c.name, "%d", i+1)
	}
	s = f.schedulerStats()
	if s.Runs != 1 || s.Reclaimed == 0 || s.Returned == 0 || s.Failed == 0 {
		t.Errorf("%+v", s)
	}
	line := schedulerFields(&s).line("SCHEDULER_STATS")
	for i, c := range schedulerColumns {
		if !strings.Contains(line, "\t"+c.name+"="+strconv.Itoa(i+1)) {
			t.Errorf("no %s in %s", c.name, line)
		}
	}
	if got := columnName("StrictWait", true) + " " + columnName("Strict", false); got !=
		"strict_wait_ns strict_count" {
		t.Error(got)
	}
}

func TestWork(t *testing.T) {
	packed := func(args ...string) int64 {
		t.Helper()
		return measured(t, args...)["PROFILE_STATS"].number("compressed_bytes")
	}
	base := packed()
	if n := packed("--decompress"); n != base {
		t.Errorf("--decompress: %d bytes, want %d", n, base)
	}
	if fast, dense := packed("--level", "1"), packed("--level", "6"); dense >= base || fast <= base {
		t.Errorf("levels 1, 4 and 6 make %d, %d and %d bytes", fast, base, dense)
	}
	if n := packed("--pipeline", "lzr"); n == base {
		t.Error("--pipeline changes nothing")
	}
	if n := packed("--threads", "1"); n != base {
		t.Error("--threads changes the output")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, bytes.Repeat([]byte("content "), 1000), 0o666); err != nil {
		t.Fatal(err)
	}
	if p := measured(t, "--file", file, "--size", "1G")["PROFILE_STATS"]; p.get("size") != "8000" {
		t.Errorf("--file: %v", p)
	}
	if p := measured(t, "--file", file, "--size", "100")["PROFILE_STATS"]; p.get("size") != "100" {
		t.Errorf("--file with --size: %v", p)
	}
}

func TestBackends(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--backend cpu", "lz77@cpu lzseq@cpu rans@cpu"},
		{"--backend auto", "lz77@cpu lzseq@cpu rans@cpu"},
		{"--gpu-device soft --gpu", "lz77@gpu lzseq@cpu rans@gpu"},
		{"--gpu-device soft --backend fused", "fused@gpu"},
		{"--gpu-device soft --backend gpu,cpu", "lz77@gpu lzseq@cpu rans@cpu"},
		{"--gpu-device soft --backend gpu --decompress", "rans@gpu lzseq@cpu"},
	} {
		lines := measured(t, append(strings.Fields(tt.args), "--print-scheduler-stats")...)
		for stage := range strings.FieldsSeq(tt.want) {
			if lines[stage].get("blocks") != "32" {
				t.Errorf("%s: %s is not of all blocks: %v", tt.args, stage, lines)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	measured(t, "--gpu-device", "soft", "--out", dir)
	summary, err := os.ReadFile(filepath.Join(dir, summaryFile))
	for _, want := range []string{"blocks that an idle worker took back", "their wait, from offer to batch",
		"device opened in", "device error"} {
		if !strings.Contains(string(summary), want) {
			t.Errorf("no %q in the summary: %v\n%s", want, err, summary)
		}
	}
	lost := measured(t, strings.Fields("--gpu-device soft --gpu --soft-lost-after 3")...)["PROFILE_STATS"]
	if e := lost.get("device_error"); e == "" || e == "none" || lost.get("content_bytes") != "2097152" {
		t.Errorf("a lost device: %v", lost)
	}
}

func TestProfiles(t *testing.T) {
	cpu, trace := filepath.Join(t.TempDir(), "cpu"), filepath.Join(t.TempDir(), "trace")
	measured(t, "--cpuprofile", cpu, "--trace", trace)
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
