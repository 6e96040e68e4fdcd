package cli

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/internal/testenv"
)

// TestMain makes the test binary act as pz if PZ_TEST_CHILD is set, for tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv("PZ_TEST_CHILD") == "" {
		code := m.Run()
		stdio.remove()
		os.Exit(code)
	}
	a := newApp()
	a.sandbox.enter = enterSandbox
	// At step PZ_TEST_STEP the program reports to the test. Then it waits for a fatal signal if
	// PZ_TEST_SIGNAL is set, or else for the end of standard input. At step PZ_TEST_PANIC it
	// panics, and at step PZ_TEST_MEMORY it asks for more memory than there is. PZ_TEST_MACHINE is
	// the memory in bytes that the machine seems to have.
	if s := os.Getenv("PZ_TEST_MACHINE"); s != "" {
		a.machineMemory = func() int64 {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				panic(err)
			}
			return n
		}
	}
	stop, crash := os.Getenv("PZ_TEST_STEP"), os.Getenv("PZ_TEST_PANIC")
	greedy := os.Getenv("PZ_TEST_MEMORY")
	a.step = func(name string) {
		switch name {
		case "":
		case stop:
			fmt.Fprintln(os.Stderr, "at", name)
			if os.Getenv("PZ_TEST_SIGNAL") == "" {
				io.Copy(io.Discard, os.Stdin)
				return
			}
			for !a.temp.signalled.Load() {
				time.Sleep(time.Millisecond)
			}
		case crash:
			panic("at " + name)
		case greedy:
			for { // no address space has room for more than a few
				tooMuch = append(tooMuch, make([]byte, 1<<(29+15*(strconv.IntSize/64))))
			}
		}
	}
	status, _ := os.Open("/proc/self/status") // a sandbox does not let it open later
	code := a.main(os.Args)
	if os.Getenv("PZ_TEST_PEAK") != "" {
		io.Copy(os.Stderr, status)
	}
	if where := os.Getenv("PZ_TEST_ESCAPE"); where != "" {
		escape(where)
	}
	os.Exit(code)
}

// tooMuch holds memory until there is none left.
var tooMuch [][]byte

// command returns pz as a process.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	// With the race detector a process sleeps a second before it exits.
	cmd.Env = append([]string{"GORACE=atexit_sleep_ms=10"}, os.Environ()...)
	cmd.Env = append(cmd.Env, "PZ_TEST_CHILD=1", "PZ_LEVEL=", "PZ_THREADS=")
	return cmd
}

type result struct {
	out, err string
	code     int
}

// pz runs the command in this process, without a terminal.
func pz(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return pzEnv(t, nil, stdin, args...)
}

// pzEnv runs the command with environment variables.
func pzEnv(t *testing.T, env map[string]string, stdin string, args ...string) result {
	t.Helper()
	change := func(a *app) { a.getenv = func(name string) string { return env[name] } }
	return pzWith(t, stdin, change, args...)
}

// pzWith runs the command in this process after change has modified the app.
func pzWith(t *testing.T, stdin string, change func(*app), args ...string) result {
	t.Helper()
	in, out, err := stdio.get(t), stdio.get(t), stdio.get(t)
	defer stdio.put(in, out, err)
	// -T lowers GOMAXPROCS of the whole process.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	a := newApp()
	a.stdin, a.stdout, a.stderr = in, out, err
	a.getenv = func(string) string { return "" }
	// A sync takes longer than the rest of a run. Processes and TestOrderOfSyncs do it.
	a.syncFile = func(*os.File) error { return nil }
	a.syncDir = func(*os.Root) error { return nil }
	change(a)
	io.WriteString(a.stdin, stdin)
	a.stdin.Seek(0, io.SeekStart)
	code := a.run(args)
	return result{readAll(t, a.stdout), readAll(t, a.stderr), code}
}

// readAll returns the content of a file that may be closed.
func readAll(t *testing.T, f *os.File) string {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		b, err = os.ReadFile(f.Name())
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// stdio holds empty files for the standard files of pzWith. To create them for each run would take
// longer than most runs.
var stdio files

// files is a set of open, empty files that no test uses. The zero value is ready to use.
type files struct {
	mu   sync.Mutex
	free []*os.File
}

// get returns an empty file.
func (s *files) get(t *testing.T) *os.File {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		f := s.free[n-1]
		s.free = s.free[:n-1]
		return f
	}
	f, err := os.CreateTemp("", "pz-test-")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// put empties files from get for the next run. It removes those that the run has closed.
func (s *files) put(list ...*os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range list {
		_, err := f.Seek(0, io.SeekStart)
		if err == nil {
			err = f.Truncate(0)
		}
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			continue
		}
		s.free = append(s.free, f)
	}
}

// remove removes all files.
func (s *files) remove() {
	for _, f := range s.free {
		f.Close()
		os.Remove(f.Name())
	}
}

// want checks the exit code, and that standard error contains the texts. After success without
// texts standard error must be empty.
func (r result) want(t *testing.T, code int, texts ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; standard error: %s", r.code, code, r.err)
	}
	if code == exitOK && len(texts) == 0 && r.err != "" {
		t.Errorf("standard error is not empty: %s", r.err)
	}
	for _, s := range texts {
		if !strings.Contains(r.err, s) {
			t.Errorf("standard error lacks %q: %s", s, r.err)
		}
	}
	if code == exitError && !strings.HasPrefix(r.err, "pz: ") {
		t.Errorf("message does not begin with pz: %s", r.err)
	}
	return r
}

// sample returns n bytes that compress about as well as text.
func sample(n int) string {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 400)
	for i := range words {
		b := make([]byte, 2+rnd.IntN(9))
		for j := range b {
			b[j] = byte('a' + rnd.IntN(26))
		}
		words[i] = string(b)
	}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[rnd.IntN(1+rnd.IntN(len(words)))])
		b.WriteByte(" \n,"[rnd.IntN(3)])
	}
	return b.String()[:n]
}

// noise returns n incompressible bytes.
func noise(n int) string {
	rnd := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return string(b)
}

// oneOf reports whether a test runs case i, j of a table: with PZ_TEST=all each one, by default one
// of n, so that all i and all j have their turn.
func oneOf(n, i, j int) bool { return testenv.All() || (i+j)%n == 0 }

// write creates a file, and its directories, and returns its path.
func write(t *testing.T, content string, path ...string) string {
	t.Helper()
	p := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func wantFile(t *testing.T, path, content string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	} else if string(b) != content {
		t.Errorf("%s: %d bytes differ from the wanted %d", path, len(b), len(content))
	}
}

func wantGone(t *testing.T, path string) {
	t.Helper()
	if exists(path) {
		t.Errorf("%s exists", path)
	}
}

// wantFiles checks that a directory holds these files and no others, such as temporary files.
func wantFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, d.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s: files %q, want %q", dir, got, names)
	}
}

// wantContent checks content that pz wrote.
func wantContent(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %d bytes, %.40q, want %d bytes, %.40q", len(got), got, len(want), want)
	}
}

// unpz restores a file and returns its content.
func unpz(t *testing.T, path string) string {
	t.Helper()
	return pz(t, "", "-dc", path).want(t, exitOK).out
}

// inShell returns cmd as a command that a shell runs after another one, such as ulimit.
func inShell(cmd *exec.Cmd, first string) *exec.Cmd {
	args := []string{"-c", first + `; exec "$@"`, "sh", cmd.Path}
	sh := exec.Command("sh", append(args, cmd.Args[1:]...)...)
	sh.Env = cmd.Env
	return sh
}

// runProcess runs pz as a process and waits for it.
func runProcess(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	cmd := command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}
