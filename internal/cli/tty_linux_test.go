package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a pseudo-terminal: one for the user, one for the program.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		testenv.Missing(t, "a pseudo-terminal: "+err.Error())
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
		testenv.Missing(t, "a pseudo-terminal: "+err.Error())
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// setColumns sets the width of a terminal.
func setColumns(t *testing.T, terminal *os.File, columns uint16) {
	t.Helper()
	size := &unix.Winsize{Row: 24, Col: columns}
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
}

// terminalApp returns a run whose three standard files are a terminal.
func terminalApp(t *testing.T) (a *app, person *os.File) {
	person, program := openTerminal(t)
	a = newApp()
	a.stdin, a.stdout, a.stderr = program, program, program
	a.getenv = func(string) string { return "" }
	return a, person
}

// seen returns everything that was printed on the terminal.
func seen(a *app, person *os.File) string { return watch(person)(a) }

// watch reads a terminal from now on: one that nobody reads takes 4 KiB, and then waits. seen
// returns everything that was printed.
func watch(person *os.File) (seen func(a *app) string) {
	text := make(chan string, 1)
	go func() {
		var all strings.Builder
		b := make([]byte, 4096)
		for !strings.Contains(all.String(), "\x04end") {
			n, err := person.Read(b)
			if err != nil {
				break
			}
			all.Write(b[:n])
		}
		text <- all.String()
	}()
	return func(a *app) string {
		a.stdout.WriteString("\x04end\n")
		return <-text
	}
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
		if got := seen(a, person); code != c.code || !regexp.MustCompile(c.text).MatchString(got) {
			t.Errorf("%s: exit code %d, %q", c.args, code, got)
		}
	}

	// The terminal by its name.
	_, program := openTerminal(t)
	pz(t, "", "-o", program.Name(), in).want(t, exitError,
		"compressed data is not written to a terminal")
	pz(t, "", "-o", program.Name(), "-d", packed).want(t, exitOK)
}

// TestConfirm checks the question before a file is overwritten.
func TestConfirm(t *testing.T) {
	for _, c := range []struct {
		answer string
		code   int
	}{
		{"y\n", exitOK},
		{"YES\n", exitOK},
		{"n\n", exitWarning},
		{"\n", exitWarning},
		{"yep\n", exitWarning},
		{"\x04", exitWarning},
	} {
		dir := t.TempDir()
		in := write(t, "content", dir, "a")
		out := write(t, "old", dir, "a.pz")
		a, person := terminalApp(t)
		io.WriteString(person, c.answer)
		code := a.run([]string{in})
		got := seen(a, person)
		if code != c.code ||
			!strings.Contains(got, "a.pz already exists; overwrite it (yes, no, all or none)?") {
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

// TestConfirmAll checks the answers for all files, as unzip offers them.
func TestConfirmAll(t *testing.T) {
	for _, c := range []struct {
		answers string
		code    int
		asked   int
		written string // files that are overwritten
	}{
		{"all\n", exitOK, 1, "abcd"},
		{"y\nA\n", exitOK, 2, "abcd"},
		{"none\n", exitWarning, 1, ""},
		{"n\na\n", exitWarning, 2, "bcd"},
	} {
		dir := t.TempDir()
		var in []string
		for _, name := range []string{"a", "b", "c", "d"} {
			in = append(in, write(t, "content", dir, name))
			write(t, "old", dir, name+".pz")
		}
		a, person := terminalApp(t)
		io.WriteString(person, c.answers)
		code := a.run(in)
		got := seen(a, person)
		if asked := strings.Count(got, "already exists; overwrite it"); code != c.code || asked != c.asked {
			t.Errorf("%q: exit code %d, %d questions, want %d and %d: %q",
				c.answers, code, asked, c.code, c.asked, got)
		}
		for _, path := range in {
			if strings.Contains(c.written, filepath.Base(path)) {
				if unpz(t, path+".pz") != "content" {
					t.Errorf("%q: %s is not overwritten", c.answers, path)
				}
			} else {
				wantFile(t, path+".pz", "old")
			}
		}
	}
}

// TestInterruptClearsBar checks that ^C leaves no part of a bar on the screen.
func TestInterruptClearsBar(t *testing.T) {
	person, program := openTerminal(t)
	cmd := command("-c")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	cmd.Stderr = program
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	io.WriteString(stdin, sample(1000))
	var screen strings.Builder
	b := make([]byte, 4096)
	interrupted := false
	for {
		n, err := person.Read(b)
		screen.Write(b[:n])
		if err != nil {
			break // the program has ended
		}
		if !interrupted && strings.Contains(screen.String(), " read, ") {
			interrupted = true // another signal would end the program at once
			cmd.Process.Signal(os.Interrupt)
		}
	}
	cmd.Wait()
	if !regexp.MustCompile(` read, .*\r {20,}\r$`).MatchString(screen.String()) {
		t.Errorf("on the screen: %q", screen.String())
	}
}

// TestInterruptEndsLoop checks that ^C ends pz and the loop of a shell that runs it.
func TestInterruptEndsLoop(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		write(t, sample(100_000), dir, name)
	}
	person, program := openTerminal(t)
	pz := command()
	const loop = `cd "$1" && for f in a b c; do "$0" --rm $f; done; echo the loop goes on`
	cmd := exec.Command(testenv.Tool(t, "bash"), "-c", loop, pz.Path, dir)
	cmd.Env = append(pz.Env, "PZ_TEST_STEP=written", "PZ_TEST_SIGNAL=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	var screen strings.Builder
	b := make([]byte, 4096)
	for {
		n, err := person.Read(b)
		screen.Write(b[:n])
		if err != nil {
			break // the shell has ended
		}
		if strings.HasSuffix(screen.String(), "at written\r\n") {
			io.WriteString(person, "\x03")
		}
	}
	cmd.Wait()
	if endOf(cmd) != syscall.SIGINT || strings.Count(screen.String(), "at written") != 1 {
		t.Errorf("the shell: %v; on the screen: %q", cmd.ProcessState, screen.String())
	}
	wantFiles(t, dir, "a", "b", "c")
}

// slowFile returns a pipe that gives its data over the duration d.
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

// TestProgressBar checks that the bar appears after its delay, and only on a terminal.
func TestProgressBar(t *testing.T) {
	const (
		soon = barPeriod / 4
		long = 3 * barPeriod
		// Without a complete block the bar shows what has been read.
		reading = "standard input: [0-9.]+ KiB read, [0-9]+s"
	)
	for _, c := range []struct {
		name  string
		args  []string
		delay time.Duration // of the bar
		input time.Duration // time that the input takes
		text  string        // pattern; "" for no bar
	}{
		{"one block", nil, soon, long, reading},
		{"blocks", []string{"-B4K"}, soon, 3 * long,
			"standard input: [48] KiB, [0-9.]+ MB/s, [0-9]+s"},
		{"one thread", []string{"-T1"}, soon, long, reading},
		{"quiet", []string{"-q"}, soon, long, ""},
		{"short", nil, time.Hour, long, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, person := terminalApp(t)
			a.barDelay = c.delay
			seen := watch(person)
			a.stdin = slowFile(t, c.input)
			a.stdout, _ = os.Create(filepath.Join(t.TempDir(), "out"))
			if code := a.run(c.args); code != exitOK {
				t.Errorf("exit code %d, want %d", code, exitOK)
			}
			a.stdout = a.stderr
			got := seen(a)
			shown := strings.Contains(got, "standard input")
			if shown != (c.text != "") || !regexp.MustCompile(c.text).MatchString(got) {
				t.Errorf("on the screen: %q", got)
			}
			last := got[:strings.LastIndex(got, "\x04end")]
			if c.text != "" && !strings.HasSuffix(last, "\r") {
				t.Errorf("the bar stays on the screen: %q", got)
			}
		})
	}
	// Without a terminal there is no bar.
	t.Run("no terminal", func(t *testing.T) {
		t.Parallel()
		runProcess(t, slowFile(t, barDelay+barPeriod)).want(t, exitOK)
	})
}

// testClock replaces the clock of a run. It starts at 10 seconds of work and advances by barPeriod
// with each drawing of the progress bar.
type testClock struct {
	start time.Time
	reads atomic.Int64
}

// newTestClock sets the clock of a, and lets the bar appear at once.
func newTestClock(a *app) *testClock {
	c := &testClock{start: time.Now()}
	a.barDelay = 0
	a.now = func() time.Time {
		n := c.reads.Add(1)
		if n == 1 { // newMeter
			return c.start
		}
		return c.start.Add(10*time.Second + time.Duration(n-2)*barPeriod)
	}
	return c
}

// wait waits for n complete drawings.
func (c *testClock) wait(t *testing.T, n int64) {
	t.Helper()
	// The drawing that is under way may have begun before the call, and so does not count.
	for last := c.reads.Load() + n + 1; c.reads.Load() <= last; time.Sleep(barPeriod / 10) {
		if time.Since(c.start) > time.Minute {
			t.Fatal("the progress bar is not drawn")
		}
	}
}

// TestProgressBarOfLargeBlocks checks the bar while no block completes: amount and rate stay, and
// the time goes on. A message gets its own line, and the bar continues below it.
func TestProgressBarOfLargeBlocks(t *testing.T) {
	f, err := os.Open(write(t, "", t.TempDir(), strings.Repeat("long", 50)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(f.Name(), 256<<20); err != nil {
		t.Fatal(err)
	}
	info, _ := f.Stat()
	for _, c := range []struct {
		name string
		mode mode
		p    compress.Progress
		want string
	}{
		{"compress", modeCompress, compress.Progress{Content: 64 << 20, Compressed: 1 << 20},
			"64 MiB, [56][.]. MB/s"},
		{"restore", modeDecompress, compress.Progress{Content: 1000 << 20, Compressed: 64 << 20},
			"1000 MiB, (1..|9.|8.)[.]. MB/s"},
	} {
		a, person := terminalApp(t)
		if c.mode == modeCompress { // the other terminal has no size
			setColumns(t, person, 80)
		}
		a.cfg.mode = c.mode
		clock := newTestClock(a)
		m := a.newMeter(&source{app: a, f: f, name: f.Name(), info: info}, &output{})
		m.progress(c.p)
		clock.wait(t, 2)
		a.print("", "a message")
		clock.wait(t, 2)
		m.closeBar()
		got := seen(a, person)
		before, after, ok := strings.Cut(got, "\rpz: a message\r\n")
		for _, part := range []string{before, after} {
			// A quarter is done after 10 seconds.
			if !ok || !regexp.MustCompile(c.want+`, 1[0-2]s, 3.s left  25% \[`).MatchString(part) {
				t.Errorf("%s: on the screen: %q", c.name, got)
			}
		}
		for _, line := range regexp.MustCompile(`[\r\n]+`).Split(got, -1) {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("a line has %d columns, want at most 80: %q", n, line)
			}
		}
	}
}

// TestProgressBarBeforeFirstBlock checks that the bar moves until the first block completes.
func TestProgressBarBeforeFirstBlock(t *testing.T) {
	f, err := os.Open(write(t, sample(5000), t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	a, person := terminalApp(t)
	setColumns(t, person, 100)
	clock := newTestClock(a)
	m := a.newMeter(&source{app: a, f: f, name: "a", info: info}, &output{})
	io.Copy(io.Discard, m.reader())
	clock.wait(t, 4)
	m.closeBar()
	places := map[string]bool{}
	pattern := regexp.MustCompile(`a: 4\.9 KiB read, 1[0-9]s      \[( *=== *)\]`)
	for _, line := range pattern.FindAllStringSubmatch(seen(a, person), -1) {
		places[line[1]] = true
		if len(line[1]) != 24 {
			t.Errorf("%d columns", len(line[1]))
		}
	}
	if len(places) < 2 {
		t.Errorf("the bar does not move: %v", places)
	}
}
