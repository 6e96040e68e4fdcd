package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

// TestBackends checks that every backend gives the same file, and that -v reports where stages ran.
func TestBackends(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000)
	src := write(t, content, dir, "src")
	pz(t, "", "-k", "-B64K", "-o", filepath.Join(dir, "want"), src).want(t, exitOK)
	want, err := os.ReadFile(filepath.Join(dir, "want"))
	if err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{
		"auto", "cpu", "gpu", "fused", "auto,gpu", "gpu,cpu", "cpu,gpu",
	} {
		out := filepath.Join(dir, "out")
		args := []string{"-kfv", "-B64K", "--backend", backend, "--gpu-device", "soft"}
		r := pz(t, "", append(args, "-o", out, src)...)
		r.want(t, exitOK, "src")
		if got, _ := os.ReadFile(out); !bytes.Equal(got, want) {
			t.Errorf("%s: output differs from the CPU's", backend)
		}
		used := strings.Contains(backend, "gpu") || backend == "fused"
		if got := strings.Contains(r.err, " on soft: "); got != used && backend != "auto" {
			t.Errorf("%s: device used: %v, want %v: %s", backend, got, used, r.err)
		}
		fused := strings.Contains(r.err, "fused on soft: ")
		if fused != (backend == "fused") && backend != "auto" {
			t.Errorf("%s: fused stage ran: %v: %s", backend, fused, r.err)
		}
		r = pz(t, "", "-dc", "--backend", backend, "--gpu-device", "soft", out)
		if r.out != content {
			t.Errorf("%s: restoring: %d %s", backend, r.code, r.err)
		}
	}
}

// TestNoBackend checks the errors about backends that do not exist in this build.
func TestNoBackend(t *testing.T) {
	src := write(t, "text", t.TempDir(), "src")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--backend", "fpga"}, "auto, cpu, gpu or fused"},
		{[]string{"--backend", "cpu,"}, "auto, cpu, gpu or fused"},
		{[]string{"--backend", "fused,gpu"}, "together"},
		{[]string{"--backend", "auto,fused"}, "together"},
		{[]string{"--gpu-device", "nvidia"}, "--gpu-device nvidia: "},
	} {
		pz(t, "", append(c.args, src)...).want(t, exitError, c.want)
		wantGone(t, src+".pz")
	}
	r := pz(t, "", "-kfv", "--backend", "auto", src)
	r.want(t, exitOK, "no GPU is used: this pz has no GPU driver; from a clone: "+
		"CGO_ENABLED=1 go install -tags webgpu ./gpu/pz; it replaces the pz of ./cmd/pz\n")
	pz(t, "", "--list-gpus").want(t, exitError, "-tags webgpu")
	pz(t, "", "--gpu-device", "webgpu", src).want(t, exitError, "-tags webgpu")
	pz(t, "", "--gpu-device", "opengl:1", src).want(t, exitError, "-tags opengl,egl ./gpu/pz")
	r = pz(t, "", "--gpu-device", "soft:1", src).want(t, exitError, "no such device")
	if strings.Contains(r.err, "install") {
		t.Errorf("useless advice: %s", r.err)
	}
	for _, backend := range []string{"gpu", "cpu,gpu", "fused"} {
		r := pz(t, "", "--backend", backend, src).want(t, exitError, "no GPU")
		if n := strings.Count(r.err, "\n"); n != 1 {
			t.Errorf("%s: an error of %d lines: %s", backend, n, r.err)
		}
	}
	for _, args := range [][]string{{"-kf", "--backend", "auto"}, {"-kfv"}} {
		if r := pz(t, "", append(args, src)...); r.code != exitOK || strings.Contains(r.err, "GPU") {
			t.Errorf("%q: %d, %s", args, r.code, r.err)
		}
	}
}

// TestNoDenseDevice checks that no device codes lzseqr from level 6 on, and that the CPU reads it.
func TestNoDenseDevice(t *testing.T) {
	testenv.Slow(t)
	content := sample(140_000) // two blocks
	src := write(t, content, t.TempDir(), "src")
	want := pz(t, "", "-c9", "-B128K", src).out
	soft := func(args ...string) result {
		return pz(t, "", append(args, "--gpu-device", "soft", src)...)
	}
	auto := soft("-c9v", "-B128K", "--backend", "auto")
	if auto.out != want || strings.Contains(auto.err, " on soft") {
		t.Errorf("auto: %s", auto.err)
	}
	for backend, stage := range map[string]string{
		"gpu": "lz77", "fused": "lz77", "gpu,cpu": "lz77", "cpu,gpu": "rans",
	} {
		soft("-c9", "--backend", backend).want(t, exitError, stage+" at level 9",
			"; it does levels 1 to 5; --backend auto leaves the rest to the CPU\n")
		soft("-c6", "--backend", backend).want(t, exitError, stage+" at level 6")
		soft("-c7v", "-p", "lzr", "--backend", backend).want(t, exitOK, " on soft: ")
		soft("-c5v", "--backend", backend).want(t, exitOK, " on soft: ")
		r := pz(t, want, "-dc", "--backend", backend, "--gpu-device", "soft")
		if r.out != content {
			t.Errorf("%s: restoring: %d %s", backend, r.code, r.err)
		}
	}
}

func TestLevelList(t *testing.T) {
	for want, levels := range map[string][]int{
		"level 5": {5}, "levels 5 and 6": {5, 6}, "levels 1 and 9": {1, 9},
		"levels 1 to 6": {1, 2, 3, 4, 5, 6}, "levels 1, 2, 9": {1, 2, 9},
	} {
		if got := levelList(levels); got != want {
			t.Errorf("%v: %q, want %q", levels, got, want)
		}
	}
}

// TestReportDevice checks what standard error says about a device that is lost: why, and with -v
// how many blocks came back. Without -v it says nothing about a device that works.
func TestReportDevice(t *testing.T) {
	for _, tt := range []struct {
		lost, quiet, verbose bool
		want, not            []string
	}{
		{
			lost: true, want: []string{"device soft failed and the CPU took over: ", "device lost"},
			not: []string{"unprocessed"},
		},
		{lost: true, quiet: true, not: []string{"soft"}},
		{
			lost: true, verbose: true,
			want: []string{"took over", "returned unprocessed from soft", "lz77 on cpu"},
		},
		{not: []string{"soft"}},
		{verbose: true, want: []string{"lz77 on soft: "}, not: []string{"took over"}},
	} {
		cfg := gpu.SoftConfig{Fault: func() error { return nil }}
		if tt.lost {
			cfg.Fault = func() error { return gpu.ErrLost }
		}
		stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
		if err != nil {
			t.Fatal(err)
		}
		a := newApp()
		a.stderr, a.cfg.quiet, a.cfg.verbose = stderr, tt.quiet, tt.verbose
		a.sched = compress.NewScheduler(1)
		a.sched.EnableStats(true)
		a.device = gpu.NewSoft(pipeline.Host, cfg)
		_, err = compress.AppendEncode(nil, []byte(sample(200_000)), compress.WithScheduler(a.sched),
			compress.WithDevice(a.device, gpu.BackendGPU, gpu.BackendCPU))
		if err != nil {
			t.Fatal(err)
		}
		a.reportDevice()
		got, err := os.ReadFile(stderr.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tt.want {
			if !strings.Contains(string(got), s) {
				t.Errorf("%+v: standard error lacks %q: %s", tt, s, got)
			}
		}
		for _, s := range tt.not {
			if strings.Contains(string(got), s) {
				t.Errorf("%+v: %q in standard error: %s", tt, s, got)
			}
		}
		stderr.Close()
	}
}
