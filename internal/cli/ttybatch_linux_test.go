package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestProgressBarOfBatch checks the bar of a run with small files. It counts them, makes way for
// messages and for a large file, and goes in the end.
func TestProgressBarOfBatch(t *testing.T) {
	dir := tree(t, 10)
	write(t, "old", dir, "p", "f03.pz")
	write(t, noise(largestInBatch+1), dir, "q", "f03x")
	a, person := terminalApp(t)
	setColumns(t, person, 80)
	var err error
	a.stdin, err = os.Open(os.DevNull)
	if err != nil { // so that pz does not ask
		t.Fatal(err)
	}
	defer a.stdin.Close()
	a.barDelay = 0
	a.step = func(step string) {
		if step == "created" {
			time.Sleep(barPeriod / 4)
		}
	}
	seen := watch(person)
	if code := a.run([]string{"-T1", "-r", dir}); code != exitWarning {
		t.Errorf("exit code %d, want %d", code, exitWarning)
	}
	got := seen(a)
	first, rest, ok := strings.Cut(got, "\rpz: "+dir+"/p/f03.pz: already exists")
	bar := regexp.MustCompile(`\r([0-9]+) files?: [0-9.]+ (B|KiB), [0-9.]+ MB/s, [0-9]s *`)
	if !ok || !bar.MatchString(first) || !bar.MatchString(rest) {
		t.Errorf("on the screen: %q", got)
	}
	if all := bar.FindAllStringSubmatch(rest, -1); len(all) > 0 && len(all[len(all)-1][1]) < 2 {
		t.Errorf("the last bar counts %s files", all[len(all)-1][1])
	}
	if !strings.HasSuffix(got, " \r\x04end\r\n") {
		t.Errorf("the bar stays on the screen: %q", got)
	}
}
