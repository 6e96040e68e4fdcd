package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gopz/compress/internal/testenv"
)

// benchRows returns the fields of the rows of a table.
func benchRows(t *testing.T, out string) (rows [][]string) {
	t.Helper()
	for line := range strings.Lines(out) {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}

// TestBench checks levels and sizes: they are those of the files that pz writes with the same
// options.
func TestBench(t *testing.T) {
	content := sample(200_000)
	dir := t.TempDir()
	in := write(t, content, dir, "a")
	for _, args := range []string{
		"-1", "-3 -p lzr", "-2 -B64K --no-check", "-1 -B64K --long=20", "--format gz", "-n --format gz",
		"-9 --format zst", "-T1 -a -5", "--rsyncable -B8K", "-M64M -2",
	} {
		fields := strings.Fields(args)
		out := pz(t, "", append(fields, "-b", "-i0", in)...).want(t, exitOK).out
		for line := range strings.Lines(strings.ReplaceAll(out, dir, "")) {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("%s: more than 80 columns: %s", args, line)
			}
		}
		rows := benchRows(t, out)
		if len(rows) != 2 || len(rows[1]) != 7 || rows[1][6] != in {
			t.Fatalf("%s: rows %q", args, rows)
		}
		packed := len(pz(t, "", append(fields, "-c", in)...).want(t, exitOK).out)
		want := fmt.Sprintf("200000 %d %.3f", packed, 2e5/float64(packed))
		if got := strings.Join(rows[1][1:4], " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	rows := benchRows(t, pz(t, "", "-vb1-3", "-i0", "--format", "zst", in).want(t, exitOK, "rounds").out)
	var got []string
	for _, row := range rows {
		got = append(got, row[0]+" "+row[len(row)-2])
	}
	if s := strings.Join(got, ", "); s != "level pipeline, 1 lzf, 2 lzf, 3 lzf" {
		t.Errorf("levels: %s", s)
	}
	// -q leaves out the head, and -v says how many rounds there were.
	r := pz(t, "", "-qb1", "-i0", in).want(t, exitOK)
	if rows := benchRows(t, r.out); len(rows) != 1 || rows[0][0] != "1" || rows[0][1] != "200000" {
		t.Errorf("-q: %q", rows)
	}
	pz(t, "", "-vb1", "-i0", in).want(t, exitOK, in+": level 1: rounds: 1 compressing, 1 restoring\n")
	wantFiles(t, dir, "a")
}

// TestBenchInput measures standard input, and several files with their sum.
func TestBenchInput(t *testing.T) {
	content := sample(50_000)
	for _, in := range []func(...string) result{
		func(args ...string) result { return pz(t, content, args...) },
		func(args ...string) result { return runProcess(t, strings.NewReader(content), args...) },
	} {
		rows := benchRows(t, in("-b1", "-i0").want(t, exitOK).out)
		if len(rows) != 2 || rows[1][1] != "50000" || strings.Join(rows[1][6:], " ") != "standard input" {
			t.Errorf("standard input: %q", rows)
		}
	}
	dir := t.TempDir()
	write(t, content, dir, "a")
	write(t, noise(10_000), dir, "sub", "b")
	write(t, "compressed", dir, "c.gz")
	write(t, "", dir, "empty")
	out := pz(t, "", "-rb1,4", "-i0", dir).want(t, exitWarning, "empty: is empty -- ignored").out
	rows := benchRows(t, out)
	var got []string
	packed := map[string]int{}
	for _, row := range rows[1:] {
		name := strings.Join(row[6:], " ")
		got = append(got, row[0]+" "+row[1]+" "+strings.TrimPrefix(name, dir))
		var n int
		fmt.Sscan(row[2], &n)
		if strings.HasPrefix(name, "(") {
			n = -n
		}
		packed[row[0]] += n
	}
	want := "1 50000 /a, 4 50000 /a, 1 10000 /sub/b, 4 10000 /sub/b, 1 60000 (2 files), 4 60000 (2 files)"
	if s := filepath.ToSlash(strings.Join(got, ", ")); s != want {
		t.Errorf("rows: %s, want %s", s, want)
	}
	if packed["1"] != 0 || packed["4"] != 0 {
		t.Errorf("compressed sizes and their sums differ by %v", packed)
	}
}

// TestBenchErrors checks files that cannot be measured. The others and other levels still are.
func TestBenchErrors(t *testing.T) {
	dir := t.TempDir()
	good := write(t, sample(300_000), dir, "good")
	empty := write(t, "", dir, "empty")
	none := filepath.Join(dir, "none")
	r := pz(t, "", "-b1", "-i0", empty).want(t, exitWarning,
		"empty: is empty -- ignored; there is nothing to measure")
	if r.out != "" {
		t.Errorf("an empty file: %q", r.out)
	}
	pz(t, "", "-b1", "-i0").want(t, exitWarning, "standard input: is empty -- ignored")
	pz(t, "", "-b1", "-i0", dir).want(t, exitWarning, "is a directory -- ignored; use -r")
	r = pz(t, "", "-b1", "-i0", none, empty, good).want(t, exitError, "none: no such file")
	if rows := benchRows(t, r.out); len(rows) != 2 {
		t.Errorf("beside files that cannot be measured: %q", rows)
	}
	r = pz(t, "", "-b", "1-3", "-i0", good).want(t, exitError, "1-3: no such file", "; did you mean -b1-3?")
	if rows := benchRows(t, r.out); len(rows) != 2 || rows[1][0] != "4" {
		t.Errorf("levels that are a name: %q", rows)
	}
	// The memory suffices for small blocks only.
	write(t, noise(3<<20), good)
	r = pz(t, "", "-b1,9", "-i0", "-T1", "-M16M", good).want(t, exitError, "good: level 9: needs ",
		" of memory, more than the limit of 16 MiB; use -M ")
	if rows := benchRows(t, r.out); len(rows) != 2 || rows[1][0] != "1" {
		t.Errorf("little memory: %q", rows)
	}
	// Content has to fit into the memory of the machine three times, beside blocks and workers.
	for _, c := range []struct {
		memory int64
		code   int
	}{{12 << 20, exitOK}, {12<<20 - 4, exitError}, {0, exitOK}} {
		change := func(a *app) { a.machineMemory = func() int64 { return c.memory } }
		text := ""
		if c.code != exitOK {
			text = "does not fit into memory three times; measure a part: head -c 3145727 FILE | pz -b"
		}
		pzWith(t, "", change, "-b1", "-i0", good).want(t, c.code, text)
		pzWith(t, noise(3<<20), change, "-b1", "-i0").want(t, c.code, text)
	}
	// Backends that fail are explained.
	pz(t, "", "-b1", "-i0", "--backend", "gpu", "--gpu-device", "none", good).want(t, exitError,
		"pz: --gpu-device none: ")
}

// benchClock returns a clock. The time between its first two readings is the first duration, and so
// on; the readings between these intervals take no time. The last two durations repeat.
func benchClock(readings *int, seconds ...int) func() time.Time {
	at := time.Unix(1e9, 0)
	return func() time.Time {
		i := *readings / 2
		if *readings%2 == 1 {
			if i >= len(seconds) {
				i = len(seconds) - 2 + (i-len(seconds))%2
			}
			at = at.Add(time.Duration(seconds[i]) * time.Second)
		}
		*readings++
		return at
	}
}

// TestBenchRounds checks how many rounds there are, and that the best ones count.
func TestBenchRounds(t *testing.T) {
	content := strings.Repeat("x", 6_000_000)
	for _, c := range []struct {
		least    string
		seconds  []int // compressing and restoring by turns
		readings int
		speeds   string
	}{
		{"0", []int{3, 2}, 4, "2.0 3.0"},
		{"6", []int{5, 2, 1, 4}, 8, "6.0 3.0"},
		// Compressing once takes long enough; then only restoring goes on.
		{"3", []int{10, 1, 1, 1}, 8, "0.6 6.0"},
		{"2.5", []int{1, 1, 1, 1}, 12, "6.0 6.0"},
	} {
		readings := 0
		change := func(a *app) { a.now = benchClock(&readings, c.seconds...) }
		rows := benchRows(t, pzWith(t, content, change, "-qb1", "-i", c.least).want(t, exitOK).out)
		if got := strings.Join(rows[0][4:6], " "); got != c.speeds || readings != c.readings {
			t.Errorf("-i %s: speeds %s after %d readings, want %s after %d",
				c.least, got, readings, c.speeds, c.readings)
		}
	}
}

// TestBenchVerifies changes what the second round restores.
func TestBenchVerifies(t *testing.T) {
	in := write(t, sample(5000), t.TempDir(), "a")
	out := stdio.get(t)
	defer stdio.put(out)
	a := newApp()
	a.stdout, a.stderr = out, out
	var err error
	a.cfg, err = parse("-b1", "-i3600", in)
	if err != nil {
		t.Fatal(err)
	}
	b, rounds := newBench(a), 0
	a.step = func(name string) {
		rounds++
		if name == "restored" && rounds == 2 {
			b.restored[100] ^= 1
		}
	}
	a.runFiles(b.file)
	want := "pz: " + in + ": level 1: " + errRestored.Error() + "\n"
	if got := readAll(t, out); got != want || rounds != 2 || a.status != exitError {
		t.Errorf("%d rounds, status %d, %q, want %q", rounds, a.status, got, want)
	}
}

// TestBenchJSON checks every field.
func TestBenchJSON(t *testing.T) {
	in := write(t, sample(50_000), t.TempDir(), "a")
	out := pz(t, "", "-b1-2", "-i0", "-T2", "-p", "lzr", "--json", in, in).want(t, exitOK).out
	var got []map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 4 {
		t.Fatalf("%v, %d objects: %s", err, len(got), out)
	}
	for i, row := range got {
		packed := float64(len(pz(t, "", fmt.Sprintf("-c%d", i%2+1), "-p", "lzr", in).out))
		for key, want := range map[string]any{
			"name": in, "format": "pz", "pipeline": "lzr", "level": float64(i%2 + 1), "threads": 2.,
			"uncompressed": 5e4, "compressed": packed, "ratio": roundRatio(50_000, int64(packed)),
		} {
			if row[key] != want {
				t.Errorf("%s of row %d is %v, want %v", key, i, row[key], want)
			}
		}
		for _, key := range []string{"compress_speed", "decompress_speed"} {
			if speed, ok := row[key].(float64); !ok || speed <= 0 {
				t.Errorf("%s of row %d is %v", key, i, row[key])
			}
		}
		if len(row) != 10 {
			t.Errorf("%d fields: %v", len(row), row)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	if got := pz(t, "", "-b", "--json", none).want(t, exitError).out; got != "[]\n" {
		t.Errorf("without rows: %q", got)
	}
}

// TestBenchPicture checks the lines of the picture, and files in its place.
func TestBenchPicture(t *testing.T) {
	dir := t.TempDir()
	a := write(t, sample(20_000), dir, "a")
	name, label := "b <&>", "b &lt;&amp;&gt;"
	if runtime.GOOS == "windows" {
		name, label = "b &", "b &amp;" // the others are invalid
	}
	b := write(t, noise(20_000), dir, name)
	svg := filepath.Join(dir, "speed.svg")
	for _, c := range []struct {
		args []string
		want map[string]int
	}{
		{[]string{a}, map[string]int{`<path class="line `: 3, ">1</text>": 2, "lzseqr, 2 threads": 2}},
		{[]string{a, b}, map[string]int{`<path class="line `: 9, "(2 files)": 1, label: 1}},
		{[]string{a, a, a, a, a, a, a, a, a}, map[string]int{`<path class="line `: 3, "(9 files)": 1}},
	} {
		pz(t, "", append([]string{"-fb1-2", "-i0", "-T2", "--svg", svg}, c.args...)...).want(t, exitOK)
		text, err := os.ReadFile(svg)
		if err != nil {
			t.Fatal(err)
		}
		for part, want := range c.want {
			if n := strings.Count(string(text), part); n != want {
				t.Errorf("%d files: %d times %q, want %d", len(c.args), n, part, want)
			}
		}
		testenv.SVG(t, text)
	}
	before, _ := os.ReadFile(svg)
	// Nothing is measured if the picture cannot be written.
	for name, text := range map[string]string{
		svg: "already exists -- not overwritten; use -f", dir: "is a directory; name a file with --svg",
		filepath.Join(dir, "none", "x.svg"): "no such file",
	} {
		r := pz(t, "", "-b1", "-i0", "--svg", name, a).want(t, exitError, text)
		if r.out != "" {
			t.Errorf("--svg %s: %s", name, r.out)
		}
	}
	wantFile(t, svg, string(before))
	// Without a row there is no picture.
	none := filepath.Join(dir, "none.svg")
	pz(t, "", "-b1", "--svg", none, filepath.Join(dir, "none")).want(t, exitError)
	wantGone(t, none)
}

// TestBenchOutputFails checks that the run ends if standard output fails.
func TestBenchOutputFails(t *testing.T) {
	in := write(t, sample(5000), t.TempDir(), "a")
	levels := 0
	pzWith(t, "", func(a *app) {
		a.stdout, _ = os.Open(in) // cannot be written to
		t.Cleanup(func() { a.stdout.Close() })
		a.step = func(string) { levels++ }
	}, "-b1-9", "-i0", in, in).want(t, exitError, "pz: standard output: ")
	if levels != 1 {
		t.Errorf("%d levels measured, want 1", levels)
	}
}
