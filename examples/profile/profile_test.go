package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// small is work of a moment: 16 blocks, twice.
var small = []string{"--size", "1M", "--block-size", "64K", "--iterations", "2", "--threads", "2"}

// profile runs the program on little work and returns the fields of its lines, by name and stage.
func profile(t *testing.T, args ...string) map[string]map[string]string {
	t.Helper()
	var out, errOut bytes.Buffer
	if err := run(append(small[:len(small):len(small)], args...), &out, &errOut); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	lines := map[string]map[string]string{}
	for l := range strings.Lines(out.String()) {
		parts := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
		fields := map[string]string{}
		for _, p := range parts[1:] {
			key, value, ok := strings.Cut(p, "=")
			if !ok {
				t.Fatalf("%q is not key=value", p)
			}
			fields[key] = value
		}
		name := parts[0]
		if stage := fields["stage"]; stage != "" {
			name = stage + "@" + fields["backend"]
		}
		lines[name] = fields
	}
	return lines
}

func number(t *testing.T, fields map[string]string, key string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(fields[key], 10, 64)
	if err != nil {
		t.Errorf("%s: %v", key, err)
	}
	return n
}

func TestUsage(t *testing.T) {
	for _, args := range []string{"--nosuch", "word", "--threads 0", "--iterations 0", "--size 0",
		"--size -1", "--size 1T", "--size 99999999999G", "--backend tpu", "--backend cpu,",
		"--block-size x"} {
		if err := run(strings.Fields(args), nil, nil); !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, args := range []string{"--pipeline nosuch", "--level 10", "--block-size 5000",
		"--gpu-device nosuch", "--backend gpu", "--file nosuch", "--cpuprofile nosuch/file"} {
		err := run(append(strings.Fields(args), "--size", "1K"), nil, nil)
		if err == nil || errors.Is(err, errUsage) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if err := run([]string{"--help"}, nil, nil); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
}

func TestSchedulerStats(t *testing.T) {
	for _, way := range [][]string{{}, {"--decompress"}} {
		lines := profile(t, append(way, "--print-scheduler-stats")...)
		s, p := lines["SCHEDULER_STATS"], lines["PROFILE_STATS"]
		n := func(key string) int64 { return number(t, s, key) }
		if n("runs") != 2 || n("stage_compute_ns") <= 0 || n("total_ns") <= 0 ||
			n("scheduler_overhead_ns") != n("queue_wait_ns")+n("queue_admin_ns")+n("gpu_handoff_ns") ||
			n("tracked_thread_time_ns") != n("stage_compute_ns")+n("scheduler_overhead_ns") {
			t.Errorf("%v", s)
		}
		if p["size"] != "1048576" || p["iterations"] != "2" || p["content_bytes"] != "2097152" ||
			p["blocks"] != "32" || p["threads"] != "2" || number(t, p, "elapsed_ns") <= 0 {
			t.Errorf("%v", p)
		}
		if stage := lines["rans@cpu"]; stage["blocks"] != "32" || stage["bytes"] != "2097152" {
			t.Errorf("%v", stage)
		}
	}
	if lines := profile(t); len(lines) != 1 {
		t.Errorf("without --print-scheduler-stats: %v", lines)
	}
}

func TestWork(t *testing.T) {
	packed := func(args ...string) int64 {
		t.Helper()
		return number(t, profile(t, args...)["PROFILE_STATS"], "compressed_bytes")
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
	if p := profile(t, "--file", file)["PROFILE_STATS"]; p["size"] != "8000" {
		t.Errorf("--file: %v", p)
	}
	if p := profile(t, "--file", file, "--size", "100")["PROFILE_STATS"]; p["size"] != "100" {
		t.Errorf("--file with --size: %v", p)
	}
}

func TestBackends(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--backend cpu", "lz77@cpu lzseq@cpu rans@cpu"},
		{"--backend auto", "lz77@cpu lzseq@cpu rans@cpu"},
		{"--gpu-device soft --backend gpu", "lz77@gpu lzseq@cpu rans@gpu"},
		{"--gpu-device soft --backend fused", "fused@gpu"},
		{"--gpu-device soft --backend gpu,cpu", "lz77@gpu lzseq@cpu rans@cpu"},
		{"--gpu-device soft --backend gpu --decompress", "rans@gpu lzseq@cpu"},
	} {
		lines := profile(t, append(strings.Fields(tt.args), "--print-scheduler-stats")...)
		for stage := range strings.FieldsSeq(tt.want) {
			if lines[stage]["blocks"] != "32" {
				t.Errorf("%s: %s is not of all blocks: %v", tt.args, stage, lines)
			}
		}
	}
}

func TestProfiles(t *testing.T) {
	cpu, trace := filepath.Join(t.TempDir(), "cpu"), filepath.Join(t.TempDir(), "trace")
	profile(t, "--cpuprofile", cpu, "--trace", trace)
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
