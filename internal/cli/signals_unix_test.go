//go:build unix

package cli

import (
	"bufio"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// job is a file that is replaced by its other form, with the checks of what must hold whenever that is cut short.
type job struct {
	dir, source, result string
	args                []string
	content, packed     string
}

func newJobs(t *testing.T, content string) []*job {
	packed := pz(t, content, "-B16K").want(t, exitOK).out
	return []*job{
		{source: "in", result: "in.pz", args: []string{"-B16K"}, content: content, packed: packed},
		{source: "in.pz", result: "in", args: []string{"-d"}, content: content, packed: packed},
	}
}

// prepare makes the directory anew.
func (j *job) prepare(t *testing.T) {
	j.dir = t.TempDir()
	if j.source == "in" {
		write(t, j.content, j.dir, "in")
	} else {
		write(t, j.packed, j.dir, "in.pz")
	}
}

func (j *job) command(args ...string) *exec.Cmd {
	return command(append(append(args, j.args...), filepath.Join(j.dir, j.source))...)
}

// check makes sure that what has its final name is complete, and that source or result is there.
func (j *job) check(t *testing.T, when string, tempAllowed bool) {
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

// A signal at each named step of writing a file.
func TestSignalsAtEveryStep(t *testing.T) {
	jobs := newJobs(t, sample(100_000))
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL} {
		if signal.Ignored(sig) {
			continue // as under nohup: pz leaves it so
		}
		for _, step := range []string{"created", "written", "synced", "renamed", "directory synced", "removed"} {
			if sig != syscall.SIGTERM && sig != syscall.SIGKILL && step != "written" {
				continue // one step is enough to see that the signal is caught
			}
			j := jobs[(int(sig)+len(step))%2]
			j.prepare(t)
			when := sig.String() + " when " + step
			cmd := j.command("--rm")
			cmd.Env = append(cmd.Env, "PZ_TEST_STEP="+step, "PZ_TEST_SIGNAL=1")
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, _ := bufio.NewReader(stderr).ReadString('\n'); line != "at "+step+"\n" {
				t.Fatalf("%s: the program says %q", when, line)
			}
			cmd.Process.Signal(sig)
			cmd.Wait()
			j.check(t, when, sig == syscall.SIGKILL)
			if sig == syscall.SIGKILL {
				continue
			}
			if code := cmd.ProcessState.ExitCode(); code != 128+int(sig) {
				t.Errorf("%s: exit code %d", when, code)
			}
			// Before the rename nothing has happened; once it began the job is done.
			committed := step == "renamed" || step == "directory synced" || step == "removed"
			if committed {
				wantFiles(t, j.dir, j.result)
			} else {
				wantFiles(t, j.dir, j.source)
			}
		}
	}
}

// A bug at each named step leaves no temporary file either, though directories are closed on the way out of it.
func TestPanicAtEveryStep(t *testing.T) {
	for _, j := range newJobs(t, sample(100_000)) {
		for _, step := range []string{"created", "written", "synced", "renamed", "directory synced", "removed"} {
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

// Signals at arbitrary moments.
func TestSignalsAnytime(t *testing.T) {
	moments := 12
	if raceDetector {
		moments = 3 // processes start slowly with it
	}
	for _, j := range newJobs(t, sample(1<<20)) {
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

// A signal that the caller has ignored, as nohup does, stays ignored.
func TestIgnoredSignal(t *testing.T) {
	j := newJobs(t, sample(100_000))[0]
	j.prepare(t)
	c := j.command("--rm")
	cmd := exec.Command("sh", append([]string{"-c", `trap '' HUP; exec "$@"`, "sh", c.Path}, c.Args[1:]...)...)
	cmd.Env = append(c.Env, "PZ_TEST_STEP=written")
	stderr, _ := cmd.StderrPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(stderr).ReadString('\n')
	cmd.Process.Signal(syscall.SIGHUP)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	wantFiles(t, j.dir, "in.pz")
}
