package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// shares returns the percentages that a progress bar has shown.
func shares(screen string) (all []int) {
	for _, p := range regexp.MustCompile(` left +([0-9]+)% \[`).FindAllStringSubmatch(screen, -1) {
		n, _ := strconv.Atoi(p[1])
		all = append(all, n)
	}
	return all
}

// TestProgressBarWithinBlock checks that the bar moves while pz compresses a file of one block at
// the slow levels, in each format.
func TestProgressBarWithinBlock(t *testing.T) {
	cases := [][]string{{"-9"}, {"-8", "-T1"}}
	if testenv.All() {
		cases = append(cases, []string{"-9", "-T1"}, []string{"-9", "-T1", "--format=zst"})
	}
	for _, args := range cases {
		dir := t.TempDir()
		in := write(t, string(corpus.ByName("mixed").Make(6<<20)), dir, "a")
		a, person := terminalApp(t)
		setColumns(t, person, 100)
		a.barDelay = barPeriod / 10
		seen := watch(person)
		out := filepath.Join(dir, "out")
		if code := a.run(append(args, "-B8M", "-k", "-o", out, in)); code != exitOK {
			t.Fatalf("%v: exit code %d", args, code)
		}
		screen := seen(a)
		got := slices.Compact(shares(screen))
		if len(got) < 2 || !slices.IsSorted(got) || got[len(got)-1] > 100 {
			t.Errorf("%v: the bar shows %v%%: %q", args, got, screen)
		}
		file, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		info, err := compress.ReadInfo(bytes.NewReader(file), int64(len(file)), nil)
		if err != nil || info.Blocks != 1 {
			t.Errorf("%v: %+v, %v; want one block", args, info, err)
		}
	}
}

// TestProgressBarPosition checks that the bar shows the position, with the rate and the time left
// that follow from it, and whole blocks when restoring.
func TestProgressBarPosition(t *testing.T) {
	f, err := os.Open(write(t, "", t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(f.Name(), 200<<20); err != nil {
		t.Fatal(err)
	}
	info, _ := f.Stat()
	for _, c := range []struct {
		position int64
		want     string
	}{
		{150 << 20, `a: 150 MiB, 15\.. MB/s, 10s, 3s left  75% \[`},
		{0, `a: 100 MiB, 10\.. MB/s, 10s, 10s left  50% \[`},
	} {
		a, person := terminalApp(t)
		setColumns(t, person, 80)
		clock := newTestClock(a)
		m := a.newMeter(&source{app: a, f: f, name: "a", info: info}, &output{})
		m.bar.position.Store(c.position)
		m.progress(compress.Progress{Content: 100 << 20, Compressed: 1 << 20})
		clock.wait(t, 2)
		m.closeBar()
		if screen := seen(a, person); !regexp.MustCompile(c.want).MatchString(screen) {
			t.Errorf("position %d: on the screen: %q", c.position, screen)
		}
	}
}
