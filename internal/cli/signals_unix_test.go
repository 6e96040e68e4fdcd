//go:build unix

package cli

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopz/compress/internal/testenv"
)

// removal compresses or restores a file and removes the source. check holds whenever that is
// interrupted.
type removal struct {
	dir, source, result string
	args                []string
	content, packed     string
}

func newRemovals(t *testing.T, content string) []*removal {
	packed := pz(t, content, "-B16K").want(t, exitOK).out
	return []*removal{
		{source: "in", result: "in.pz", args: []string{"-B16K"}, content: content, packed: packed},
		{source: "in.pz", result: "in", args: []string{"-d"}, content: content, packed: packed},
	}
}

// prepare creates a new directory with the source.
func (j *removal) prepare(t *testing.T) {
	j.dir = t.TempDir()
	if j.source == "in" {
		write(t, j.content, j.dir, "in")
	} else {
		write(t, j.packed, j.dir, "in.pz")
	}
}

func (j *removal) command(args ...string) *exec.Cmd {
	return command(append(append(args, j.args...), filepath.Join(j.dir, j.source))...)
}

// check checks that source or result exists, and that each is complete.
func (j *removal) check(t *testing.T, when string, tempAllowed bool) {
	t.Helper()
	source, result := filepath.Join(j.dir, j.source), filepath.Join(j.dir, j.result)
	if !exists(source) && !exists(result) {
		t.Fatalf("%s: neither source nor result is there", when)
	}
	if exists(filepath.Join(j.dir, "in")) {
		wantFile(t, filepath.Join(j.dir, "in"), j.content)
	}
	if p := filepath.Join(j.dir, "in.pz"); exists(p) && unpz(t, p) != j.content {
		t.Errorf("%s: in.pz is not complete", when)
	}
	list, _ := os.ReadDir(j.dir)
	for _, d := range list {
		if strings.HasPrefix(d.Name(), ".") && !tempAllowed {
			t.Errorf("%s: %s was left behind", when, d.Name())
		}
	}
}

// endOf returns the signal that ended a process, or 0 if none did.
func endOf(cmd *exec.Cmd) syscall.Signal {
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		return ws.Signal()
	}
	return 0
}

// steps are the moments of writing a file at which app.step is called.
var steps = []string{"created", "written", "synced", "renamed", "directory synced", "removed"}

// TestSignalsAtEveryStep sends a signal at each step.
func TestSignalsAtEveryStep(t *testing.T) {
	jobs := newRemovals(t, sample(100_000))
	for _, sig := range []syscall.Signal{
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL,
	} {
		if signal.Ignored(sig) {
			continue // under nohup
		}
		for _, step := range steps {
			if sig != syscall.SIGTERM && sig != syscall.SIGKILL && step != "written" {
				continue // one step shows that pz catches the signal
			}
			j := jobs[(int(sig)+len(step))%2]
			j.prepare(t)
			when := sig.String() + " when " + step
			cmd := j.command("--rm")
			cmd.Env = append(cmd.Env, "PZ_TEST_SIGNAL=1")
			startToStep(t, cmd, step)
			cmd.Process.Signal(sig)
			cmd.Wait()
			j.check(t, when, sig == syscall.SIGKILL)
			if sig == syscall.SIGKILL {
				continue
			}
			if got := endOf(cmd); got != sig {
				t.Errorf("%s: %v", when, cmd.ProcessState)
			}
			// Before the rename nothing has changed. After it the job completes.
			committed := step == "renamed" || step == "directory synced" || step == "removed"
			if committed {
				wantFiles(t, j.dir, j.result)
			} else {
				wantFiles(t, j.dir, j.source)
			}
		}
	}
}

// TestSignalsInBatch sends a signal at each step of a batch. After it each source or its result is
// there, and no temporary file.
func TestSignalsInBatch(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, step := range steps {
			b := &batchSteps{dir: tree(t, 6)}
			cmd := command("--rm", "-r", b.dir)
			if sig == syscall.SIGTERM {
				cmd.Env = append(cmd.Env, "PZ_TEST_SIGNAL=1")
			}
			startToStep(t, cmd, step)
			cmd.Process.Signal(sig)
			cmd.Wait()
			if got := endOf(cmd); got != sig {
				t.Errorf("%s when %s: %v", sig, step, cmd.ProcessState)
			}
			want := "12 sources, 0 results, 0 temporary"
			switch step {
			case "renamed", "directory synced":
				want = "12 sources, 12 results, 0 temporary"
				if sig == syscall.SIGTERM { // the commit ends first
					want = "0 sources, 12 results, 0 temporary"
				}
			case "removed":
				want = "0 sources, 12 results, 0 temporary"
			}
			got := b.state()
			if sig == syscall.SIGKILL && strings.HasPrefix(want, "12 sources, 0 results") {
				want = want[:len("12 sources, 0 results")] // temporary files may stay
				got = got[:min(len(got), len(want))]
			}
			if got != want {
				t.Errorf("%s when %s: %s, want %s", sig, step, got, want)
			}
			pz(t, "", "-t", "-r", b.dir).want(t, exitOK)
		}
	}
}

// TestPanicInBatch checks that a panic in a job of a batch leaves no temporary file.
func TestPanicInBatch(t *testing.T) {
	for _, step := range steps {
		b := &batchSteps{dir: tree(t, 6)}
		cmd := command("--rm", "-r", b.dir)
		cmd.Env = append(cmd.Env, "PZ_TEST_PANIC="+step)
		out, _ := cmd.CombinedOutput()
		result{err: string(out), code: cmd.ProcessState.ExitCode()}.want(t, exitError,
			"pz: internal error: at "+step)
		if got := b.state(); !strings.HasSuffix(got, " 0 temporary") {
			t.Errorf("panic when %s: %s", step, got)
		}
	}
}

// TestPanicAtEveryStep checks that a panic leaves no temporary file, although deferred calls close
// the directories.
func TestPanicAtEveryStep(t *testing.T) {
	for _, j := range newRemovals(t, sample(100_000)) {
		for _, step := range steps {
			for _, args := range [][]string{{"--rm"}, {"-k"}, {"--rm", "-r"}} {
				j.prepare(t)
				cmd := j.command(args...)
				if args[len(args)-1] == "-r" {
					cmd.Args[len(cmd.Args)-1] = j.dir
				}
				if step == "removed" && args[0] != "--rm" {
					continue
				}
				cmd.Env = append(cmd.Env, "PZ_TEST_PANIC="+step)
				out, _ := cmd.CombinedOutput()
				res := result{err: string(out), code: cmd.ProcessState.ExitCode()}
				res.want(t, exitError, "pz: internal error: at "+step)
				switch step {
				case "created", "written", "synced":
					wantFiles(t, j.dir, j.source)
				case "removed":
					wantFiles(t, j.dir, j.result)
				default:
					wantFiles(t, j.dir, "in", "in.pz")
				}
				j.check(t, "panic when "+step, false)
			}
		}
	}
}

// TestSignalsAnytime sends signals at many moments.
func TestSignalsAnytime(t *testing.T) {
	moments := 6
	switch {
	case testenv.Race:
		moments = 3 // processes start slowly then
	case testenv.All():
		moments = 12
	}
	for _, j := range newRemovals(t, sample(1<<20)) {
		j.prepare(t)
		begin := time.Now()
		if err := j.command("--rm").Run(); err != nil {
			t.Fatal(err)
		}
		whole := time.Since(begin)
		for i := range moments {
			for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
				j.prepare(t)
				cmd := j.command("--rm")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(whole * time.Duration(i) / time.Duration(moments))
				cmd.Process.Signal(sig)
				cmd.Wait()
				j.check(t, sig.String(), sig == syscall.SIGKILL)
			}
		}
	}
}

// TestQuitSignals checks the signals for which the exit code stands.
func TestQuitSignals(t *testing.T) {
	j := newRemovals(t, sample(100_000))[0]
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGXCPU} {
		j.prepare(t)
		cmd := j.command("--rm")
		cmd.Env = append(cmd.Env, "PZ_TEST_SIGNAL=1")
		stderr, _ := startToStep(t, cmd, "written")
		cmd.Process.Signal(sig)
		text, _ := io.ReadAll(stderr)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(sig) || len(text) > 0 {
			t.Errorf("%v: %v, %q", sig, cmd.ProcessState, text)
		}
		wantFiles(t, j.dir, j.source)
	}
}

// TestClosedStderr checks that a message to a pipe without a reader does not end the program.
func TestClosedStderr(t *testing.T) {
	cmd := command("-t", filepath.Join(t.TempDir(), "none"))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd.Stderr = w
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitError {
		t.Errorf("%v, want exit code %d", cmd.ProcessState, exitError)
	}
}

// TestOutOfMemory checks that a program that gets no memory ends by a signal: exit code 2 means a
// warning.
func TestOutOfMemory(t *testing.T) {
	j := newRemovals(t, sample(100_000))[0]
	j.prepare(t)
	cmd := j.command("--rm")
	cmd.Env = append(cmd.Env, "PZ_TEST_MEMORY=written")
	text, _ := cmd.CombinedOutput()
	if !strings.Contains(string(text), "out of memory") {
		t.Fatalf("%v: %.300s", cmd.ProcessState, text)
	}
	if endOf(cmd) != syscall.SIGABRT {
		t.Errorf("%v, want an end by SIGABRT", cmd.ProcessState)
	}
	j.check(t, "out of memory", true)
}

// TestIgnoredSignal checks that a signal the caller ignores, as nohup does, stays ignored.
func TestIgnoredSignal(t *testing.T) {
	j := newRemovals(t, sample(100_000))[0]
	j.prepare(t)
	cmd := inShell(j.command("--rm"), "trap '' HUP")
	_, resume := startToStep(t, cmd, "written")
	cmd.Process.Signal(syscall.SIGHUP)
	resume()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	wantFiles(t, j.dir, "in.pz")
}
