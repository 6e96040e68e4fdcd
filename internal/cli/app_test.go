package cli

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be pz itself, for tests that need a process of their own.
func TestMain(m *testing.M) {
	if os.Getenv("PZ_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	a := newApp()
	// At the step that the test names the program says so and dwells, so that the test can strike there. At the other
	// kind of step it has a bug.
	stop, fall := os.Getenv("PZ_TEST_STEP"), os.Getenv("PZ_TEST_PANIC")
	a.step = func(name string) {
		switch name {
		case "":
		case stop:
			struck := make(chan os.Signal, 1)
			if os.Getenv("PZ_TEST_SIGNAL") != "" {
				signal.Notify(struck, fatalSignals...)
			}
			fmt.Fprintln(os.Stderr, "at", name)
			if os.Getenv("PZ_TEST_SIGNAL") != "" {
				<-struck
			}
			time.Sleep(100 * time.Millisecond)
		case fall:
			panic("at " + name)
		}
	}
	code := a.main(os.Args[1:])
	if os.Getenv("PZ_TEST_PEAK") != "" {
		status, _ := os.ReadFile("/proc/self/status")
		os.Stderr.Write(status)
	}
	os.Exit(code)
}

// command is pz as a process.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	// With the race detector every process would wait for a second at its end.
	cmd.Env = append([]string{"GORACE=atexit_sleep_ms=10"}, os.Environ()...)
	cmd.Env = append(cmd.Env, "PZ_TEST_CHILD=1", "PZ_LEVEL=", "PZ_THREADS=")
	return cmd
}

type result struct {
	out, err string
	code     int
}

// pz runs the command in this process, away from any terminal.
func pz(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return pzEnv(t, nil, stdin, args...)
}

func pzEnv(t *testing.T, env map[string]string, stdin string, args ...string) result {
	t.Helper()
	return pzWith(t, stdin, func(a *app) { a.getenv = func(name string) string { return env[name] } }, args...)
}

// pzWith runs the command with changes to the app.
func pzWith(t *testing.T, stdin string, change func(*app), args ...string) result {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) *os.File {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	read := func(f *os.File) string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	// -T lowers it for the whole process, which as a rule is pz's own.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	a := newApp()
	a.stdin, a.stdout, a.stderr = file("in"), file("out"), file("err")
	a.getenv = func(string) string { return "" }
	change(a)
	io.WriteString(a.stdin, stdin)
	a.stdin.Seek(0, io.SeekStart)
	code := a.run(args)
	return result{read(a.stdout), read(a.stderr), code}
}

// want checks the exit code, and that standard error contains each of the texts, or after success without any that it
// is empty.
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
		t.Errorf("message is not in the style of pz: %s", r.err)
	}
	return r
}

// sample is text that compresses about as text does.
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

func noise(n int) string {
	rnd := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return string(b)
}

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
		t.Errorf("%s holds %d bytes that are not the %d wanted", path, len(b), len(content))
	}
}

func wantGone(t *testing.T, path string) {
	t.Helper()
	if exists(path) {
		t.Errorf("%s exists", path)
	}
}

// wantFiles checks that a directory holds these names and nothing else, a temporary file for instance.
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
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

// unpz returns the content of a .pz file.
func unpz(t *testing.T, path string) string {
	t.Helper()
	return pz(t, "", "-dc", path).want(t, exitOK).out
}

// runProcess runs pz as a process to its end.
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
