package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/cli"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestMain lets the test binary act as pz.
func TestMain(m *testing.M) {
	switch os.Getenv("PZ_TEST_CHILD") {
	case "":
	case "ends":
		endChild(os.Args[1:])
	default:
		cli.Main(nil)
	}
	os.Exit(m.Run())
}

// result holds what a run of pz wrote, and its exit code.
type result struct {
	out, err string
	code     int
}

// pz runs the command in a process of its own.
func pz(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "PZ_TEST_CHILD=1", "PZ_LEVEL=", "PZ_THREADS=", "GORACE=atexit_sleep_ms=10")
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// want checks the exit code, and that standard error contains the texts.
func (r result) want(t *testing.T, code int, texts ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; standard error: %s", r.code, code, r.err)
	}
	for _, s := range texts {
		if !strings.Contains(r.err, s) {
			t.Errorf("standard error lacks %q: %s", s, r.err)
		}
	}
	return r
}

// Exit codes of pz.
const (
	exitOK    = 0
	exitError = 1
)

// drivers returns the names of the GPU drivers in this build. It skips the test if there is none.
func drivers(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range gpu.Devices() {
		if name != "soft" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Skip("built without GPU drivers; use -tags webgpu,opengl,egl")
	}
	return names
}

// missing fails the test if CI is set, and skips it otherwise.
func missing(t *testing.T, why any) {
	t.Helper()
	testenv.Missing(t, fmt.Sprintf("a GPU: %v; on Debian and Ubuntu: "+
		"apt-get install mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri", why))
}

// TestCommandGPU checks backends on every driver: same bytes, stages on the GPU, refused levels.
func TestCommandGPU(t *testing.T) {
	content := string(corpus.ByName("text").Make(400_000))
	for _, device := range drivers(t) {
		t.Run(device, func(t *testing.T) {
			list := pz(t, "", "--list-gpus")
			if list.code != exitOK || !strings.Contains("\n"+list.out, "\n"+device+":0\t") {
				missing(t, list.out+list.err)
			}
			src := t.TempDir() + "/src"
			if err := os.WriteFile(src, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			t.Run("levels", func(t *testing.T) { testCommandLevels(t, device, src) })
			t.Run("backends", func(t *testing.T) { testCommandBackends(t, device, src, content) })
		})
	}
}

// testCommandLevels checks that --backend gpu fails at levels that a GPU does not do.
func testCommandLevels(t *testing.T, device, src string) {
	for _, level := range []string{"-4", "-6", "-7", "-9"} {
		gpu := pz(t, "", "-k", level, "--backend", "gpu", "--gpu-device", device, src)
		gpu.want(t, exitError, "level 5", "--backend auto leaves")
		if advised := strings.Contains(gpu.err, "cpu,gpu"); advised != (level < "-6") {
			t.Errorf("level %s: advice to use cpu,gpu: %v; standard error: %s", level, advised, gpu.err)
		}
		coding := pz(t, "", "-cv", level, "-B128K", "--backend", "cpu,gpu", "--gpu-device", device, src)
		if level >= "-6" {
			coding.want(t, exitError, "levels 1 to 5")
			continue
		}
		coding.want(t, exitOK, "lz77 on cpu: 4", "rans on ")
		if strings.Contains(coding.err, "rans on cpu") {
			t.Errorf("level %s: coding ran on the CPU: %s", level, coding.err)
		}
	}
}

// testCommandBackends checks that each backend writes the same file and runs its stages on the GPU.
func testCommandBackends(t *testing.T, device, src, content string) {
	cpu := pz(t, "", "-c", "-5", "-B128K", src)
	for backend, stages := range map[string][]string{
		"fused":   {"fused"},
		"gpu":     {"lz77", "rans"},
		"gpu,cpu": {"lz77"},
		"cpu,gpu": {"rans"},
	} {
		gpu := pz(t, "", "-cv", "-5", "-B128K", "--backend", backend, "--gpu-device", device+":0", src)
		gpu.want(t, exitOK, stages[0]+" on ", ": started in ")
		if cpu.out != gpu.out {
			t.Errorf("%s: %d bytes differ from the CPU's %d", backend, len(gpu.out), len(cpu.out))
		}
		if fused := strings.Contains(gpu.err, "fused on "); fused != (backend == "fused") {
			t.Errorf("%s: fused requests: %v; standard error: %s", backend, fused, gpu.err)
		}
		for _, stage := range stages {
			if !strings.Contains(gpu.err, stage+" on ") || strings.Contains(gpu.err, stage+" on cpu") {
				t.Errorf("%s: stage %s ran on the CPU: %s", backend, stage, gpu.err)
			}
		}
	}
	if r := pz(t, cpu.out, "-d", "--backend", "gpu", "--gpu-device", device); r.out != content {
		t.Errorf("decompressed content differs; exit code %d, standard error: %s", r.code, r.err)
	}
}
