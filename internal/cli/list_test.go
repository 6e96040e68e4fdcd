package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// listFiles creates two .pz files and their concatenation.
func listFiles(t *testing.T) (dir string, a, b, both string) {
	dir = t.TempDir()
	a = write(t, pz(t, sample(100_000), "-B4K").out, dir, "a.pz")
	n := write(t, noise(5000), dir, "n")
	b = write(t, pz(t, "", "-c", "-p", "lzr", "--no-check", n).out, dir, "b.pz")
	one, _ := os.ReadFile(a)
	two, _ := os.ReadFile(b)
	both = write(t, string(one)+string(two), dir, "both.pz")
	return
}

func TestList(t *testing.T) {
	dir, a, b, both := listFiles(t)
	// -v lists blocks in front.
	list := strings.Split(strings.TrimSpace(pz(t, "", "-lv", a, b, both).want(t, exitOK).out), "\n")
	var lines []string
	for _, line := range list {
		f := strings.Fields(line)
		if len(f) >= 10 && (f[0] != "blocks" || len(lines) == 0) {
			lines = append(lines, line)
		}
	}
	if len(lines) != 5 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	fields := func(i int) string {
		f := strings.Fields(lines[i])
		return strings.Join(append(append([]string{f[0]}, f[2]), f[4:]...), " ")
	}
	for i, want := range []string{
		"blocks uncompressed check seek format pipeline window name",
		"25 100000 crc32c yes pz lzseqr - " + a,
		"1 5000 none yes pz lzr - " + b,
		"26 105000 mixed yes pz lzseqr+lzr - " + both,
		"52 210000 - - - - - (3 files)",
	} {
		if got := fields(i); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
	// Without -v the rows fit into 80 columns.
	short := pz(t, "", "-l", a, b, both).want(t, exitOK).out
	if !strings.HasPrefix(short, " blocks    compressed  uncompressed    ratio  check   name\n     25 ") {
		t.Errorf("-l: %s", short)
	}
	for line := range strings.Lines(strings.ReplaceAll(short, dir, "")) {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("-l: %d columns: %s", utf8.RuneCountInString(line)-1, line)
		}
	}
	// One file has no totals, and -q no head, so scripts get one line.
	if got := pz(t, "", "-l", a).want(t, exitOK).out; strings.Count(got, "\n") != 2 {
		t.Errorf("-l: want 2 lines: %s", got)
	}
	if got := pz(t, "", "-lq", a).want(t, exitOK).out; strings.Count(got, "\n") != 1 {
		t.Errorf("-lq: want 1 line: %s", got)
	}
	// Standard input may be a regular file.
	packed, _ := os.ReadFile(a)
	if got := pz(t, string(packed), "-l").want(t, exitOK).out; !strings.Contains(got, "100000") {
		t.Errorf("redirected: the list lacks the size 100000: %s", got)
	}
	r := runProcess(t, strings.NewReader(string(packed)), "-l")
	r.want(t, exitError, "standard input: is not a regular file")

	// An error does not end the list.
	bad := write(t, "no pz", dir, "bad.pz")
	got := pz(t, "", "-l", bad, a).want(t, exitError, "bad.pz: ").out
	if !strings.Contains(got, "100000") {
		t.Errorf("after an error: the list lacks the size 100000: %s", got)
	}
}

func TestListJSON(t *testing.T) {
	dir, a, b, both := listFiles(t)
	sizeOf := func(path string) float64 {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return float64(fi.Size())
	}
	var got []map[string]any
	out := pz(t, "", "-l", "--json", a, b, both).want(t, exitOK).out
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err, out)
	}
	for i := range got {
		if r, ok := got[i]["ratio"].(float64); !ok || r <= 0 {
			t.Errorf("ratio %v", got[i]["ratio"])
		}
		delete(got[i], "ratio")
	}
	// Programs rely on every field and its type.
	want := []map[string]any{
		{"name": a, "format": "pz", "seekable": true, "streams": 1., "blocks": 25.,
			"block_size": 4096., "compressed": sizeOf(a), "uncompressed": 100000.,
			"check": "crc32c", "pipeline": "lzseqr"},
		{"name": b, "format": "pz", "seekable": true, "streams": 1., "blocks": 1.,
			"block_size": got[1]["block_size"], "compressed": sizeOf(b), "uncompressed": 5000.,
			"check": "none", "pipeline": "lzr"},
		{"name": both, "format": "pz", "seekable": true, "streams": 2., "blocks": 26.,
			"block_size": got[1]["block_size"], "compressed": sizeOf(both), "uncompressed": 105000.,
			"check": "mixed", "pipeline": "lzseqr+lzr"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// After an error the output is still an array.
	none := pz(t, "", "-l", "--json", filepath.Join(dir, "none")).want(t, exitError, "no such file")
	if none.out != "[]\n" {
		t.Errorf("missing file: %q", none.out)
	}
}

// TestListNamesInJSON checks that JSON output states every name exactly, although JSON text is
// UTF-8.
func TestListNamesInJSON(t *testing.T) {
	dir := t.TempDir()
	packed := pz(t, "content").out
	type entry struct {
		Name       string  `json:"name"`
		NameBase64 *[]byte `json:"name_base64"`
	}
	for _, name := range []string{
		"plain.pz", "gr\u00fcn \U0001F600.pz", "quote\" \\ \t\n.pz", "\ufffd.pz",
		"\xff.pz", "\xfe\xc3.pz",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(packed), 0o600); err != nil {
			t.Logf("%q: %v", name, err) // not every file system allows such names
			continue
		}
		out := pz(t, "", "-l", "--json", path).want(t, exitOK).out
		var got []entry
		err := json.Unmarshal([]byte(out), &got)
		if err != nil || !utf8.ValidString(out) || len(got) != 1 {
			t.Fatalf("%q: %v, %q", name, err, out)
		}
		whole, valid := got[0].Name, utf8.ValidString(name)
		if got[0].NameBase64 != nil {
			whole = string(*got[0].NameBase64)
		}
		if whole != path || valid != (got[0].NameBase64 == nil) {
			t.Errorf("%q is listed as %q", path, out)
		}
	}
}

// TestListOfCutFile checks files that are cut anywhere: no message names a position behind the end,
// and -l and -t agree.
func TestListOfCutFile(t *testing.T) {
	position := regexp.MustCompile(`byte (\d+)`)
	dir := t.TempDir()
	good := pz(t, sample(50_000), "-B4K").out
	for size := 1; size < len(good); size += 1 + len(good)/50 {
		path := write(t, good[:size], dir, "a.pz")
		r := pz(t, "", "-lv", path).want(t, exitError, "a.pz: is cut short; the end is missing")
		for _, m := range position.FindAllStringSubmatch(r.err, -1) {
			if n, err := strconv.Atoi(m[1]); err != nil || n > size {
				t.Errorf("%d bytes: %s", size, r.err)
			}
		}
		if test := pz(t, "", "-tv", path); test.err != r.err {
			t.Errorf("%d bytes: -t says %s, -l %s", size, test.err, r.err)
		}
	}
}

// TestListFormats checks every field for .gz and .zst files of pz and of other programs, also
// concatenated.
func TestListFormats(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000)
	ours := func(args ...string) string { return pz(t, content, args...).want(t, exitOK).out }
	gz, zst := ours("--format", "gz"), ours("--format", "zst", "--seekable=64K")
	unchecked := ours("--format", "zst", "--no-check")
	theirs := func(name string, args ...string) string { return runTool(t, content, name, args...) }
	path := write(t, content, dir, "content")
	files := []struct {
		name, packed string
		want         map[string]any
	}{
		{"gz", gz, map[string]any{"format": "gz", "streams": 1., "blocks": 1., "uncompressed": 3e5,
			"block_size": 3e5, "check": "crc32", "seekable": false}},
		{"gz twice", gz + gz, map[string]any{"format": "gz", "streams": 2., "blocks": 2.,
			"uncompressed": 6e5, "block_size": 3e5}},
		{"gz, empty, zeros", gz + pz(t, "", "--format", "gz").out + "\x00\x00",
			map[string]any{"streams": 2., "blocks": 2., "uncompressed": 3e5}},
		{"gzip", theirs("gzip", "-9"),
			map[string]any{"format": "gz", "blocks": 1., "uncompressed": 3e5, "pipeline": ""}},
		{"zst", zst, map[string]any{"format": "zst", "streams": 1., "blocks": 5.,
			"uncompressed": 3e5, "block_size": 65536., "check": "xxh64", "seekable": true,
			"pipeline": ""}},
		{"zst twice", zst + zst,
			map[string]any{"streams": 1., "blocks": 10., "uncompressed": 6e5, "seekable": true}},
		{"zst without checks", unchecked,
			map[string]any{"blocks": 1., "check": "none", "seekable": true}},
		{"zst with and without", zst + unchecked, map[string]any{"blocks": 6., "check": "mixed"}},
		{"zstd", runTool(t, "", "zstd", "-c", path), map[string]any{"format": "zst", "blocks": 1.,
			"uncompressed": 3e5, "check": "xxh64", "seekable": true}},
		{"zstd of unknown size", theirs("zstd", "-c"), map[string]any{"blocks": 1.,
			"uncompressed": 3e5, "block_size": 3e5, "seekable": false}},
		{"zstd, zst", theirs("zstd", "-c") + zst,
			map[string]any{"blocks": 6., "uncompressed": 6e5, "seekable": false}},
		{"empty gz", pz(t, "", "--format", "gz").out,
			map[string]any{"blocks": 1., "uncompressed": 0., "ratio": 0.}},
		{"empty zst", pz(t, "", "--format", "zst").out,
			map[string]any{"blocks": 1., "uncompressed": 0., "ratio": 0.}},
		{"skippable frame", "\x50\x2a\x4d\x18\x02\x00\x00\x00xy",
			map[string]any{"format": "zst", "blocks": 0., "uncompressed": 0.}},
	}
	for _, f := range files {
		path := write(t, f.packed, dir, f.name)
		f.want["name"], f.want["compressed"] = path, float64(len(f.packed))
		checkListing(t, path, f.want)
	}
	listFormatsAsTable(t, dir)
	// zstd lists the same.
	list := runTool(t, "", "zstd", "-lv", write(t, zst, dir, "a.zst"))
	for _, want := range []string{"Frames: 5", "Skippable Frames: 1", "300000 B", "Check: XXH64"} {
		if !strings.Contains(list, want) {
			t.Errorf("zstd -lv lacks %q: %s", want, list)
		}
	}
	// A wrong size in a .gz file is damage.
	bad := gz[:len(gz)-1] + "\x01"
	pz(t, "", "-l", write(t, bad, dir, "bad")).want(t, exitError, "bad: the file is damaged")
	pz(t, "", "-l", write(t, gz[:len(gz)/2], dir, "bad")).want(t, exitError, "bad: is cut short")
}

// checkListing checks fields of the JSON listing of a file, and restores the file to check its
// size.
func checkListing(t *testing.T, path string, want map[string]any) {
	t.Helper()
	var got []map[string]any
	out := pz(t, "", "-l", "--json", path).want(t, exitOK).out
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 1 {
		t.Fatal(err, got)
	}
	for key, value := range want {
		if got[0][key] != value {
			t.Errorf("%s: %s is %v, want %v", path, key, got[0][key], value)
		}
	}
	if len(got[0]) != 11 {
		t.Errorf("%s: %d fields, want 11: %v", path, len(got[0]), got[0])
	}
	if n := len(pz(t, "", "-dc", path).want(t, exitOK).out); float64(n) != got[0]["uncompressed"] {
		t.Errorf("%s: %v bytes listed, %d restored", path, got[0]["uncompressed"], n)
	}
}

// listFormatsAsTable checks columns of the table for the files gz and zst in dir.
func listFormatsAsTable(t *testing.T, dir string) {
	t.Helper()
	out := pz(t, "", "-lv", filepath.Join(dir, "gz"), filepath.Join(dir, "zst")).want(t, exitOK).out
	row := regexp.MustCompile("(?m)^ *(blocks|[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+  [a-z0-9-]+ ).*$")
	lines := row.FindAllString(out, -1)
	lines = slices.Delete(lines, 2, 3) // a second head
	lines = slices.Delete(lines, 3, 4)
	for i, want := range []string{
		"blocks seek format pipeline", "1 no gz -", "5 yes zst -", "6 - - -",
	} {
		f := strings.Fields(lines[i])
		if got := strings.Join([]string{f[0], f[5], f[6], f[7]}, " "); got != want {
			t.Errorf("line %d: %s, want %s", i, got, want)
		}
	}
}
