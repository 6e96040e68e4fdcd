//go:build unix

package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBrokenPipe checks that a reader that closes the pipe ends pz by SIGPIPE, without a message.
func TestBrokenPipe(t *testing.T) {
	path := write(t, noise(4<<20), t.TempDir(), "in")
	packed := write(t, pz(t, "", "-c", path).out, t.TempDir(), "in.pz")
	many := []string{"-l"}
	for range 2000 { // more than a pipe holds
		many = append(many, packed)
	}
	for _, args := range [][]string{
		{"-c", path}, {"-dc", packed}, {"-dcv", packed}, {"-dc", packed, packed, packed},
		{"-dcf", path}, {"--recover", "-c", packed}, many,
	} {
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
		if text := withoutSandbox(errs.String()); endOf(cmd) != syscall.SIGPIPE || text != "" {
			t.Errorf("%.40q: %v, message %q", args, cmd.ProcessState, text)
		}
	}
	// Another output is a file like any other, with a name to report.
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	go func() {
		if f, err := os.Open(fifo); err == nil {
			io.ReadFull(f, make([]byte, 1))
			f.Close()
		}
	}()
	runProcess(t, nil, "-o", fifo, path).want(t, exitError, fifo+": broken pipe")
}

// TestBrokenStandardError checks that a closed standard error does not end the program in mid-file.
func TestBrokenStandardError(t *testing.T) {
	j := newRemovals(t, sample(100_000))[0]
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

// TestFullDevice checks failing writes to every kind of output.
func TestFullDevice(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	path := write(t, noise(100_000), t.TempDir(), "in")
	packed := write(t, pz(t, "", "-c", path).out, t.TempDir(), "in.pz")
	for _, args := range [][]string{
		{"-c", path}, {"-dc", packed}, {"-l", packed}, {"-l", "--json", packed}, {"-h"}, {"-V"},
	} {
		f, err := os.OpenFile(full, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		cmd := command(args...)
		cmd.Stdout, cmd.Stderr = f, &errs
		cmd.Run()
		f.Close()
		res := result{err: errs.String(), code: cmd.ProcessState.ExitCode()}
		res.want(t, exitError, "standard output: no space left on device")
	}
	pz(t, "", "--rm", "-o", full, path).want(t, exitError, "/dev/full: no space left on device")
	pz(t, "", "-d", "-o", full, packed).want(t, exitError, "/dev/full: no space left on device")
	wantFile(t, path, noise(100_000))
}

// TestFileSizeLimit checks that a write which fails in mid-file leaves only the source.
func TestFileSizeLimit(t *testing.T) {
	for _, j := range newRemovals(t, noise(300_000)) {
		j.prepare(t)
		c := j.command("--rm")
		cmd := inShell(c, "ulimit -f 64")
		out, err := cmd.CombinedOutput()
		res := result{err: string(out), code: cmd.ProcessState.ExitCode()}
		res.want(t, exitError, j.result+": file too large")
		if err == nil {
			t.Error("exit code 0, want an error")
		}
		wantFiles(t, j.dir, j.source)
		j.check(t, "after the failed write", false)
	}
}
