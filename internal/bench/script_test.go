package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestScriptLooksBeforeItBuilds runs scripts/perf-gate.sh with a baseline of another machine, and a
// go command that builds nothing. The script must say so and exit with status 3.
func TestScriptLooksBeforeItBuilds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the script knows machines by /proc/cpuinfo")
	}
	bash := testenv.Tool(t, "bash")
	dir := t.TempDir()
	fake := "#!/bin/sh\n" +
		"case \"$*\" in *env*) echo " + runtime.Version() + ";; *) echo BUILDS; exit 9;; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(fake), 0o777); err != nil {
		t.Fatal(err)
	}
	b := newBaseline(testConfig(), nil)
	for key, message := range map[string]string{"cores": "another machine: cores other", "go": "go other",
		"": "BUILDS"} {
		keys := b.keys
		b.keys = append([][2]string{}, keys...)
		for i := range b.keys {
			if b.keys[i][0] == key {
				b.keys[i][1] = "other"
			}
		}
		path := filepath.Join(dir, "baseline"+key)
		if err := writeFile(path, b.write); err != nil {
			t.Fatal(err)
		}
		b.keys = keys
		cmd := exec.Command(bash, "../../scripts/perf-gate.sh", "--baseline", path)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitNoData || !strings.Contains(string(out), message) {
			t.Errorf("another %q: %v, %s", key, cmd.ProcessState, out)
		}
	}
}
