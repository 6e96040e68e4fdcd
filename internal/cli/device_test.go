package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress"
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
	if !gpuBuild() {
		r := pz(t, "", "-kfv", "--backend", "auto", src)
		r.want(t, exitOK, "-tags webgpu")
		pz(t, "", "--list-gpus").want(t, exitError, "-tags webgpu", `-tags "opengl egl" for OpenGL`)
		pz(t, "", "--gpu-device", "webgpu", src).want(t, exitError, "-tags webgpu")
		pz(t, "", "--gpu-device", "opengl", src).want(t, exitError, `-tags "opengl egl"`)
		pz(t, "", "--backend", "gpu", src).want(t, exitError, "no GPU")
		pz(t, "", "--backend", "cpu,gpu", src).want(t, exitError, "no GPU")
		pz(t, "", "--backend", "fused", src).want(t, exitError, "no GPU")
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

// TestGPULevels: what a GPU does not do is said with what it does. There must be an adapter of each kind where CI is set, if only in software.
func TestGPULevels(t *testing.T) {
	if !gpuBuild() {
		t.Skip("not built in")
	}
	content := sample(400_000)
	for _, device := range compress.Devices() {
		if device == "soft" {
			continue
		}
		t.Run(device, func(t *testing.T) {
			if r := pz(t, "", "--list-gpus"); r.code != exitOK || !strings.Contains("\n"+r.out, "\n"+device+":0\t") {
				if os.Getenv("CI") != "" {
					t.Fatal(r.out, r.err)
				}
				t.Skip(r.err)
			}
			src := write(t, content, t.TempDir(), "src")
			for _, level := range []string{"-4", "-7", "-8", "-9"} {
				refused := pz(t, "", "-k", level, "--backend", "gpu", "--gpu-device", device, src).want(t, exitError, "levels 5 and 6", "--backend auto leaves")
				if advised := strings.Contains(refused.err, "cpu,gpu"); advised != (level < "-7") { // where it works
					t.Error(refused.err)
				}
				coding := pz(t, "", "-cv", level, "-B128K", "--backend", "cpu,gpu", "--gpu-device", device, src)
				if level >= "-7" {
					coding.want(t, exitError, "levels 7 to 9 of lzseqr")
				} else if coding.want(t, exitOK, "lz77 on cpu: 4", "rans on "); strings.Contains(coding.err, "rans on cpu") {
					t.Error(coding.err)
				}
			}
			cpu := pz(t, "", "-c", "-5", "-B128K", src)
			for backend, stages := range map[string][]string{"fused": {"fused"}, "gpu": {"lz77", "rans"}, "gpu,cpu": {"lz77"}, "cpu,gpu": {"rans"}} {
				gpu := pz(t, "", "-cv", "-5", "-B128K", "--backend", backend, "--gpu-device", device+":0", src)
				gpu.want(t, exitOK, stages[0]+" on ")
				if cpu.out != gpu.out || strings.Contains(gpu.err, "fused on ") != (backend == "fused") {
					t.Errorf("%s: %d and %d bytes; %s", backend, len(cpu.out), len(gpu.out), gpu.err)
				}
				for _, stage := range stages {
					if !strings.Contains(gpu.err, stage+" on ") || strings.Contains(gpu.err, stage+" on cpu") {
						t.Errorf("%s: %s", backend, gpu.err)
					}
				}
			}
			if r := pz(t, cpu.out, "-d", "--backend", "gpu", "--gpu-device", device); r.out != content {
				t.Error(r.code, r.err)
			}
		})
	}
}

// gpuBuild reports whether this build knows GPUs.
func gpuBuild() bool { return len(compress.Devices()) > 1 }
