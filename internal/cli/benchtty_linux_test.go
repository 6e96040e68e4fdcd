package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestBenchOnTerminal checks that a status line shows what is being measured, and gives way to
// rows.
func TestBenchOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, sample(300_000), "letters")
	for _, c := range []struct {
		args    string
		columns uint16
		rows    bool   // on the same terminal
		status  string // pattern; "" for no status line
	}{
		{"-b1 -i0", 200, true, `\rletters: level 1, 300000 *\r.*, compressing 100% *\r` +
			`.* -> [0-9]+ \([0-9.]+\), [0-9.]+ MB/s, restoring [0-9]+%`},
		{"-b1 -i20", 200, false, `-> [0-9]+ \([0-9.]+\), [0-9.]+ MB/s, [0-9.]+ MB/s, compressing 100%`},
		{"-b1 -i0", 20, false, "\rletters: level 1, "},
		{"-b1 -i0 -q", 200, true, ""},
	} {
		a, person := terminalApp(t)
		setColumns(t, person, c.columns)
		clock := time.Now()
		a.now = func() time.Time { clock = clock.Add(time.Second); return clock }
		if !c.rows {
			a.stdout, _ = os.Create(filepath.Join(t.TempDir(), "out"))
		}
		if code := a.run(append(strings.Fields(c.args), "letters")); code != exitOK {
			t.Errorf("%s: exit code %d", c.args, code)
		}
		a.stdout = a.stderr
		got := seen(a, person)
		if !regexp.MustCompile(c.status).MatchString(got) ||
			(c.status == "") == strings.Contains(got, "letters: level 1") {
			t.Errorf("%s, %d columns: on the screen: %q", c.args, c.columns, got)
		}
		head := "\r *\rlevel uncompressed +"
		if c.status == "" {
			head = "^    1 +300000 "
		} else if !c.rows {
			head = "\r *\r\x04end"
		}
		if !regexp.MustCompile(head).MatchString(got) {
			t.Errorf("%s: no %q on the screen: %q", c.args, head, got)
		}
		for _, part := range regexp.MustCompile(`[\r\n]+`).Split(got, -1) {
			if n := len([]rune(part)); n >= int(c.columns) {
				t.Errorf("a line has %d of %d columns: %q", n, c.columns, part)
			}
		}
	}
	// Content is not read from a terminal.
	a, person := terminalApp(t)
	code := a.run([]string{"-b"})
	got := seen(a, person)
	if code != exitError || !strings.Contains(got, "content is not read from a terminal") {
		t.Errorf("exit code %d, on the screen: %q", code, got)
	}
}
