//go:build unix

package cli

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The reader of the output goes away.
func TestBrokenPipe(t *testing.T) {
	path := write(t, noise(4<<20), t.TempDir(), "in")
	packed := write(t, pz(t, "", "-c", path).out, t.TempDir(), "in.pz")
	for _, args := range [][]string{{"-c", path}, {"-dc", packed}, {"-dc", packed, packed, packed}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		cmd := command(args...)
		cmd.Stdout, cmd.Stderr = w, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		io.ReadFull(r, make([]byte, 1))
		r.Close()
		cmd.Wait()
		res := result{err: errs.String(), code: cmd.ProcessState.ExitCode()}
		res.want(t, exitError, "standard output: broken pipe")
		if strings.Count(res.err, "\n") != 1 {
			t.Errorf("more than one message: %s", res.err)
		}
	}
}

// --help tells of that, because people run into it.
func TestHelpTellsOfBrokenPipes(t *testing.T) {
	if help := pz(t, "", "-h").want(t, exitOK).out; !strings.Contains(help, "\"broken pipe\", exit code 1") {
		t.Error("it does not")
	}
}

// Standard error gone must not kill the program in the middle of a file.
func TestBrokenStandardError(t *testing.T) {
	j := newJobs(t, sample(100_000))[0]
	j.prepare(t)
	r, w, _ := os.Pipe()
	r.Close()
	cmd := j.command("-v", "--rm")
	cmd.Stderr = w
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	w.Close()
	wantFiles(t, j.dir, "in.pz")
}

func TestFullDevice(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	path := write(t, noise(100_000), t.TempDir(), "in")
	packed := write(t, pz(t, "", "-c", path).out, t.TempDir(), "in.pz")
	for _, args := range [][]string{{"-c", path}, {"-dc", packed}, {"-l", packed}, {"-l", "--json", packed}, {"-h"}, {"-V"}} {
		f, err := os.OpenFile(full, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		cmd := command(args...)
		cmd.Stdout, cmd.Stderr = f, &errs
		cmd.Run()
		f.Close()
		result{err: errs.String(), code: cmd.ProcessState.ExitCode()}.want(t, exitError, "standard output: no space left on device")
	}
	pz(t, "", "--rm", "-o", full, path).want(t, exitError, "/dev/full: no space left on device")
	pz(t, "", "-d", "-o", full, packed).want(t, exitError, "/dev/full: no space left on device")
	wantFile(t, path, noise(100_000))
}

// A limit on the size of files fails a write in the middle, like a disk that is full.
func TestFileSizeLimit(t *testing.T) {
	for _, j := range newJobs(t, noise(300_000)) {
		j.prepare(t)
		c := j.command("--rm")
		cmd := exec.Command("sh", append([]string{"-c", `ulimit -f 64; exec "$@"`, "sh", c.Path}, c.Args[1:]...)...)
		cmd.Env = c.Env
		out, err := cmd.CombinedOutput()
		result{err: string(out), code: cmd.ProcessState.ExitCode()}.want(t, exitError, j.result+": file too large")
		if err == nil {
			t.Error("no error")
		}
		wantFiles(t, j.dir, j.source)
		j.check(t, "after it", false)
	}
}
