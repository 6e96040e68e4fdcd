package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a pseudo-terminal: what a person sees and types, and what the program has.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// terminalApp is a run with all three standard files on a terminal.
func terminalApp(t *testing.T) (a *app, person *os.File) {
	person, program := openTerminal(t)
	a = newApp()
	a.stdin, a.stdout, a.stderr = program, program, program
	a.getenv = func(string) string { return "" }
	return a, person
}

// seen returns what is on the screen after the program has ended.
func seen(a *app, person *os.File) string {
	a.stdout.WriteString("\x04end\n")
	var all strings.Builder
	b := make([]byte, 4096)
	for !strings.Contains(all.String(), "\x04end") {
		n, err := person.Read(b)
		if err != nil {
			break
		}
		all.Write(b[:n])
	}
	return all.String()
}

func TestTerminalRefusals(t *testing.T) {
	in := write(t, "content", t.TempDir(), "a")
	packed := write(t, pz(t, "content").out, t.TempDir(), "a.pz")
	for _, c := range []struct {
		args, text string
		code       int
	}{
		{"", "compressed data is not written to a terminal", exitError},
		{"-c " + in, "compressed data is not written to a terminal", exitError},
		{"-d", "compressed data is not read from a terminal", exitError},
		{"-t", "compressed data is not read from a terminal", exitError},
		{"-cf " + in, "PZ", exitOK},
		{"-dc " + packed, "content", exitOK},
	} {
		a, person := terminalApp(t)
		code := a.run(strings.Fields(c.args))
		if got := seen(a, person); code != c.code || !strings.Contains(got, c.text) {
			t.Errorf("%s: exit code %d, %q", c.args, code, got)
		}
	}

	// The terminal by its name in the file system.
	_, program := openTerminal(t)
	pz(t, "", "-o", program.Name(), in).want(t, exitError, "compressed data is not written to a terminal")
	pz(t, "", "-o", program.Name(), "-d", packed).want(t, exitOK)
}

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		answer string
		code   int
	}{{"y\n", exitOK}, {"YES\n", exitOK}, {"n\n", exitWarning}, {"\n", exitWarning}, {"yep\n", exitWarning}, {"\x04", exitWarning}} {
		dir := t.TempDir()
		in := write(t, "content", dir, "a")
		out := write(t, "old", dir, "a.pz")
		a, person := terminalApp(t)
		io.WriteString(person, c.answer)
		code := a.run([]string{in})
		got := seen(a, person)
		if code != c.code || !strings.Contains(got, "a.pz already exists; overwrite (y or n)?") {
			t.Errorf("%q: exit code %d, %q", c.answer, code, got)
		}
		if code == exitOK {
			if unpz(t, out) != "content" {
				t.Errorf("%q: not overwritten", c.answer)
			}
		} else {
			wantFile(t, out, "old")
		}
	}
}

// slowFile gives its data over a while: a pipe that is filled at leisure.
func slowFile(t *testing.T, d time.Duration) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range 10 {
			io.WriteString(w, sample(1000))
			time.Sleep(d / 10)
		}
		w.Close()
	}()
	return r
}

func TestProgressBar(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		time time.Duration
		bar  bool
	}{
		{"long", nil, 1300 * time.Millisecond, true},
		{"quiet", []string{"-q"}, 1300 * time.Millisecond, false},
		{"short", nil, 200 * time.Millisecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, person := terminalApp(t)
			a.stdin = slowFile(t, c.time)
			a.stdout, _ = os.Create(filepath.Join(t.TempDir(), "out"))
			if code := a.run(c.args); code != exitOK {
				t.Error(code)
			}
			a.stdout = a.stderr
			got := seen(a, person)
			if strings.Contains(got, "standard input") != c.bar {
				t.Errorf("on the screen: %q", got)
			}
		})
	}
	// Away from a terminal there is silence, as long as it may take.
	t.Run("no terminal", func(t *testing.T) {
		t.Parallel()
		runProcess(t, slowFile(t, 1300*time.Millisecond)).want(t, exitOK)
	})
}
