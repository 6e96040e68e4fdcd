//go:build unix

package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNameTakenMeanwhile checks that pz does not replace a file that appears while it runs.
func TestNameTakenMeanwhile(t *testing.T) {
	for _, linkOnly := range []bool{false, true} {
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		write(t, "new", dir, "temp")
		write(t, "theirs", dir, "name")
		var r renamer
		defer r.close()
		rename := r.renameNew
		if linkOnly {
			rename = linkNew
		}
		if err := rename(root, "temp", "name"); !errors.Is(err, os.ErrExist) {
			t.Errorf("error %v", err)
		}
		wantFile(t, filepath.Join(dir, "name"), "theirs")
		if err := rename(root, "temp", "free"); err != nil {
			t.Error(err)
		}
		wantFiles(t, dir, "free", "name")
	}

	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	res := atStep(t, "written", func() { write(t, "theirs", dir, "a.pz") }, "--rm", in)
	res.want(t, exitError, "a.pz: another program created it meanwhile", "-f")
	wantFile(t, in+".pz", "theirs")
	wantFiles(t, dir, "a", "a.pz")
}

// TestModeChangesMeanwhile checks that the result has the mode that the source has at the end.
func TestModeChangesMeanwhile(t *testing.T) {
	in := write(t, "content", t.TempDir(), "a")
	atStep(t, "created", func() { os.Chmod(in, 0o600) }, in).want(t, exitOK)
	if fi, err := os.Stat(in + ".pz"); err != nil || fi.Mode() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

// TestSameFileInParallel checks runs of pz -f --rm on the same file: all that have opened it
// succeed.
func TestSameFileInParallel(t *testing.T) {
	for _, j := range newRemovals(t, sample(300_000)) {
		j.prepare(t)
		type process struct {
			cmd    *exec.Cmd
			stderr *bufio.Reader
			resume func()
		}
		var all []process
		for i := range 6 {
			cmd := j.command("-f", "--rm")
			stderr, resume := startToStep(t, cmd, []string{"created", "written", "synced"}[i%3])
			all = append(all, process{cmd, stderr, resume})
		}
		for _, p := range all {
			p.resume()
			text, _ := io.ReadAll(p.stderr)
			if err := p.cmd.Wait(); err != nil || len(text) > 0 {
				t.Errorf("%v: %s", err, text)
			}
			j.check(t, "in parallel", true)
		}
		wantFiles(t, j.dir, j.result)
		// Then it is gone.
		out, _ := j.command("-f", "--rm").CombinedOutput()
		if !strings.Contains(string(out), "no such file") {
			t.Errorf("message: %s", out)
		}
		wantFiles(t, j.dir, j.result)
	}
}

// atStep runs pz as a process and calls do at the step.
func atStep(t *testing.T, step string, do func(), args ...string) result {
	t.Helper()
	cmd := command(args...)
	stderr, resume := startToStep(t, cmd, step)
	do()
	resume()
	rest, _ := io.ReadAll(stderr)
	cmd.Wait()
	return result{err: string(rest), code: cmd.ProcessState.ExitCode()}
}

// startToStep starts cmd, which is pz, and returns once it waits at the step. stderr has what pz
// prints from then on. resume ends the wait.
func startToStep(t *testing.T, cmd *exec.Cmd, step string) (stderr *bufio.Reader, resume func()) {
	t.Helper()
	cmd.Env = append(cmd.Env, "PZ_TEST_STEP="+step)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	stderr = bufio.NewReader(out)
	if line, _ := stderr.ReadString('\n'); line != "at "+step+"\n" {
		t.Fatalf("the program printed %q before step %q", line, step)
	}
	return stderr, func() { in.Close() }
}

// TestSourceChanges checks that --rm keeps a source that changes while pz runs.
func TestSourceChanges(t *testing.T) {
	dir := t.TempDir()
	in := write(t, sample(100_000), dir, "a")
	grow := func() { os.Truncate(in, 200_000) }
	const grew = "a: grew while it was read; the result has the first 100000 bytes"
	atStep(t, "created", grow, "--rm", in).want(t, exitWarning, grew+"; the file is not removed")
	wantFiles(t, dir, "a", "a.pz")
	if got := unpz(t, in+".pz"); got != sample(100_000) {
		t.Errorf("the %d bytes differ from the first 100000", len(got))
	}
	os.Truncate(in, 100_000)
	res := atStep(t, "created", grow, "-fv", in).want(t, exitWarning, grew, "100000 bytes of content")
	if strings.Contains(res.err, "removed") {
		t.Errorf("message about --rm, which was not given: %s", res.err)
	}
	os.Truncate(in, 100_000)
	if res := atStep(t, "created", grow, "-fq", in); res.code != exitWarning || res.err != "" {
		t.Errorf("exit code %d: %s", res.code, res.err)
	}
	// It grows after pz has checked it.
	os.Truncate(in, 100_000)
	atStep(t, "synced", grow, "-f", "--rm", in).want(t, exitWarning,
		"a: not removed: it changed after it was read")
	wantFiles(t, dir, "a", "a.pz")
	os.Remove(in + ".pz")

	res = atStep(t, "created", func() { os.Truncate(in, 50_000) }, "--rm", in)
	res.want(t, exitError, "a: the file shrank while it was read", "cat FILE | pz")
	wantFiles(t, dir, "a")

	// The size is the same and the time is new: the result may mix two versions.
	res = atStep(t, "created", func() { os.Chtimes(in, time.Time{}, time.Unix(1, 0)) }, "--rm", in)
	res.want(t, exitWarning, "a: changed while it was read; the file is not removed")
	wantFiles(t, dir, "a", "a.pz")

	// Content and size are new, and the time is put back.
	os.Remove(in + ".pz")
	write(t, sample(50_000), dir, "a")
	res = atStep(t, "written", func() {
		fi, _ := os.Stat(in)
		write(t, noise(50_000), dir, "a")
		os.Chtimes(in, time.Time{}, fi.ModTime())
	}, "--rm", in)
	res.want(t, exitWarning, "a: not removed: it changed after it was read")
	wantFiles(t, dir, "a", "a.pz")
	wantFile(t, in, noise(50_000))

	// Another file takes its name.
	os.Remove(in + ".pz")
	res = atStep(t, "written", func() {
		write(t, "another", dir, "b")
		os.Rename(filepath.Join(dir, "b"), in)
	}, "--rm", in)
	res.want(t, exitWarning, "a: not removed: another file has its name now")
	wantFile(t, in, "another")
	wantFiles(t, dir, "a", "a.pz")

	// The directory is moved and another one takes its place: the result stays with the source.
	sub := filepath.Join(dir, "sub")
	in = write(t, "content", sub, "a")
	moved := filepath.Join(dir, "moved")
	atStep(t, "created", func() { os.Rename(sub, moved); os.Mkdir(sub, 0o755) }, in).want(t, exitOK)
	wantFiles(t, sub)
	wantFiles(t, moved, "a", "a.pz")
}
