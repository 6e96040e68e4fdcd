package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Wherever stages run the file is the same, and -v says what ran where.
func TestBackends(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000)
	src := write(t, content, dir, "src")
	pz(t, "", "-k", "-B64K", "-o", filepath.Join(dir, "want"), src).want(t, exitOK)
	want, err := os.ReadFile(filepath.Join(dir, "want"))
	if err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{"auto", "cpu", "gpu", "fused", "auto,gpu", "gpu,cpu", "cpu,gpu"} {
		out := filepath.Join(dir, "out")
		r := pz(t, "", "-kfv", "-B64K", "--backend", backend, "--gpu-device", "soft", "-o", out, src)
		r.want(t, exitOK, "src")
		if got, _ := os.ReadFile(out); !bytes.Equal(got, want) {
			t.Errorf("%s: another file", backend)
		}
		if on := strings.Contains(r.err, " on soft: "); on != (strings.Contains(backend, "gpu") || backend == "fused") && backend != "auto" {
			t.Errorf("%s: %s", backend, r.err)
		}
		if whole := strings.Contains(r.err, "fused on soft: "); whole != (backend == "fused") && backend != "auto" {
			t.Errorf("%s: %s", backend, r.err)
		}
		if r := pz(t, "", "-dc", "--backend", backend, "--gpu-device", "soft", out); r.out != content {
			t.Errorf("%s: restoring: %d %s", backend, r.code, r.err)
		}
	}
}

func TestNoBackend(t *testing.T) {
	src := write(t, "text", t.TempDir(), "src")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--backend", "fpga"}, "auto, cpu or gpu"},
		{[]string{"--backend", "cpu,"}, "auto, cpu or gpu"},
		{[]string{"--backend", "fused,gpu"}, "together"},
		{[]string{"--backend", "auto,fused"}, "together"},
		{[]string{"--gpu-device", "nvidia"}, "--gpu-device nvidia: no device is called"},
	} {
		pz(t, "", append(c.args, src)...).want(t, exitError, c.want)
		if _, err := os.Stat(src + ".pz"); err == nil {
			t.Errorf("%q: a file was written", c.args)
		}
	}
	r := pz(t, "", "-kfv", "--backend", "auto", src)
	r.want(t, exitOK, "-tags webgpu github.com/gopz/compress/gpu/pz@latest")
	pz(t, "", "--list-gpus").want(t, exitError, "-tags webgpu")
	pz(t, "", "--gpu-device", "webgpu", src).want(t, exitError, "-tags webgpu")
	pz(t, "", "--gpu-device", "opengl", src).want(t, exitError, "-tags opengl,egl")
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

// TestNoDenseDevice: from level 7 on lzseqr writes a layout that no device makes, and the CPU reads it.
func TestNoDenseDevice(t *testing.T) {
	content := sample(300_000)
	src := write(t, content, t.TempDir(), "src")
	want := pz(t, "", "-c9", "-B128K", src).out
	if r := pz(t, "", "-c9v", "-B128K", "--backend", "auto", "--gpu-device", "soft", src); r.out != want || strings.Contains(r.err, " on soft") {
		t.Errorf("auto: %s", r.err)
	}
	for backend, stage := range map[string]string{"gpu": "lz77", "fused": "lz77", "gpu,cpu": "lz77", "cpu,gpu": "rans"} {
		pz(t, "", "-c9", "--backend", backend, "--gpu-device", "soft", src).want(t, exitError, stage+" at level 9", "all but levels 7 to 9 of lzseqr")
		pz(t, "", "-c7", "--backend", backend, "--gpu-device", "soft", src).want(t, exitError, stage+" at level 7")
		pz(t, "", "-c9v", "-p", "lzr", "--backend", backend, "--gpu-device", "soft", src).want(t, exitOK, " on soft: ")
		pz(t, "", "-c6v", "--backend", backend, "--gpu-device", "soft", src).want(t, exitOK, " on soft: ")
		if r := pz(t, want, "-dc", "--backend", backend, "--gpu-device", "soft"); r.out != content {
			t.Errorf("%s: restoring: %d %s", backend, r.code, r.err)
		}
	}
}
