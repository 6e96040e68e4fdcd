package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestRoundTrip compresses and restores contents with several options. By default each content has
// one option besides the default ones.
func TestRoundTrip(t *testing.T) {
	inputs := map[string]string{
		"empty":   "",
		"one":     "x",
		"block":   sample(4096),
		"block-1": sample(4095),
		"block+1": sample(4097),
		"text":    sample(300_000),
		"noise":   noise(100_000),
		"zeros":   string(make([]byte, 200_000)),
	}
	dir := t.TempDir()
	for i, name := range slices.Sorted(maps.Keys(inputs)) {
		content := inputs[name]
		path := write(t, content, dir, name)
		for j, args := range []string{
			"", "-1", "-9", "-p lzr -3", "-B 4K -T 3", "--no-check -T1", "--long=20 -B64K",
			"--long -1", "-M 64M",
		} {
			if j > 0 && !oneOf(6, i, j) {
				continue
			}
			pz(t, "", append(strings.Fields(args), "-f", path)...).want(t, exitOK)
			wantFile(t, path, content)
			if got := unpz(t, path+".pz"); got != content {
				t.Errorf("%s with %q: got %d bytes back, want %d",
					name, args, len(got), len(content))
			}
			pz(t, "", "-t", path+".pz").want(t, exitOK)
		}
		// Through standard input and output, with and without "-".
		packed := pz(t, content).want(t, exitOK).out
		if got := pz(t, packed, "-d", "-").want(t, exitOK).out; got != content {
			t.Errorf("%s: got %d bytes back, want %d", name, len(got), len(content))
		}
	}
}

// TestSameOutputForAnyThreads checks that the output is the same for any number of threads.
func TestSameOutputForAnyThreads(t *testing.T) {
	in := write(t, sample(700_000), t.TempDir(), "in")
	want := pz(t, "", "-c", "-B64K", "-T1", in).want(t, exitOK).out
	for _, threads := range []string{"2", "8", "0"} {
		if pz(t, "", "-c", "-B64K", "-T", threads, in).want(t, exitOK).out != want {
			t.Errorf("-T%s: output differs from -T1", threads)
		}
	}
}

func TestDecompressNames(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	pz(t, "", in).want(t, exitOK)
	os.Remove(in)
	pz(t, "", "-d", in+".pz").want(t, exitOK)
	wantFile(t, in, "content")
	wantFile(t, in+".pz", pz(t, "", "-c", in).out)

	pz(t, "", "-S", ".x", in).want(t, exitOK)
	pz(t, "", "-d", "-f", "-S.x", in+".x").want(t, exitOK)

	// A missing suffix gives a hint.
	os.Remove(in)
	pz(t, "", "-d", in).want(t, exitError, "no such file", "; did you mean "+in+".pz?")
	pz(t, "", "--", "-9").want(t, exitError, "-9: no such file")
	wantFiles(t, dir, "a.pz", "a.x")
}

func TestUnknownSuffix(t *testing.T) {
	dir := t.TempDir()
	in := write(t, pz(t, "content").out, dir, "a.dat")
	dot := write(t, pz(t, "content").out, dir, ".pz")
	pz(t, "", "-d", in).want(t, exitWarning, "has an unknown suffix -- ignored")
	pz(t, "", "-d", dot).want(t, exitWarning, "has an unknown suffix -- ignored")
	pz(t, "", "-dq", in).want(t, exitWarning)
	wantFiles(t, dir, ".pz", "a.dat")
	wantContent(t, pz(t, "", "-dc", in).want(t, exitOK).out, "content")
	pz(t, "", "-d", "-o", filepath.Join(dir, "out"), in).want(t, exitOK)
	wantFile(t, filepath.Join(dir, "out"), "content")
}

func TestHasSuffixAlready(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a.pz")
	pz(t, "", in).want(t, exitWarning, "already has suffix .pz -- not compressed")
	wantFiles(t, dir, "a.pz")
	pz(t, "", "-f", in).want(t, exitOK)
	wantFiles(t, dir, "a.pz", "a.pz.pz")
	if pz(t, "", "-c", in).want(t, exitOK).out == "" {
		t.Error("-c wrote nothing")
	}
}

func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "new", dir, "a")
	old := write(t, "old", dir, "a.pz")
	pz(t, "y\n", in).want(t, exitWarning, "already exists -- not overwritten")
	wantFile(t, old, "old")
	pz(t, "", "-o", old, in).want(t, exitWarning, "already exists")
	pz(t, "content", "-o", old).want(t, exitWarning, "already exists")
	pz(t, "", "-q", "--rm", in).want(t, exitWarning)
	wantFile(t, old, "old")
	wantFile(t, in, "new")
	pz(t, "", "-f", in).want(t, exitOK)
	wantContent(t, unpz(t, old), "new")
	write(t, "old", dir, "a")
	pz(t, "", "-d", old).want(t, exitWarning, "already exists")
	wantFile(t, in, "old")
	pz(t, "", "-df", old).want(t, exitOK)
	wantFile(t, in, "new")
	wantFiles(t, dir, "a", "a.pz")
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	pz(t, "", "-k", in).want(t, exitOK)
	wantFiles(t, dir, "a", "a.pz")
	pz(t, "", "--rm", "-f", in).want(t, exitOK)
	wantFiles(t, dir, "a.pz")
	pz(t, "", "--rm", "-d", in+".pz").want(t, exitOK)
	wantFiles(t, dir, "a")
	wantFile(t, in, "content")

	// The source stays after -t and -l, and if its result went to standard output or a device.
	pz(t, "", "--rm", "-c", in).want(t, exitOK)
	pz(t, "", "--rm", "-o", "-", in).want(t, exitOK)
	pz(t, "", "--rm", "-o", os.DevNull, in).want(t, exitOK)
	wantFiles(t, dir, "a")
	pz(t, "", in).want(t, exitOK)
	pz(t, "", "--rm", "-t", in+".pz").want(t, exitOK)
	pz(t, "", "--rm", "-l", in+".pz").want(t, exitOK)
	wantFiles(t, dir, "a", "a.pz")

	pz(t, "", "--rm", "-o", filepath.Join(dir, "b"), in).want(t, exitOK)
	wantFiles(t, dir, "a.pz", "b")
	wantContent(t, unpz(t, filepath.Join(dir, "b")), "content")
}

// TestRemoveOnlyIfVerified checks that --rm keeps the source of a result that was not verified.
func TestRemoveOnlyIfVerified(t *testing.T) {
	dir := t.TempDir()
	packed := write(t, pz(t, "content").out, dir, "a.pz")
	pz(t, "", "-d", "--no-check", "--rm", packed).want(t, exitError,
		"--rm does not go with -d --no-check")
	wantFiles(t, dir, "a.pz")
	// --keep overrides the --rm of an alias. When compressing, --no-check verifies nothing.
	pz(t, "", "--rm", "-d", "--no-check", "--keep", packed).want(t, exitOK)
	wantFiles(t, dir, "a", "a.pz")
	pz(t, "", "--no-check", "--rm", "-f", filepath.Join(dir, "a")).want(t, exitOK)
	wantFiles(t, dir, "a.pz")
}

// TestTempName checks that a long name is cut between letters.
func TestTempName(t *testing.T) {
	for _, letter := range []string{"x", "\u00e4", "\u20ac", "\U0001F600", "\xff", "\x80"} {
		for pad := range 5 {
			base := strings.Repeat("x", pad) + strings.Repeat(letter, 250/len(letter))
			name := tempName(base)
			kept := strings.TrimPrefix(name[:strings.LastIndex(name, ".pz-")], ".")
			if utf8.ValidString(base) && !utf8.ValidString(name) ||
				!strings.HasPrefix(base, kept) || len(kept) > 200 || len(kept) < 197 {
				t.Errorf("%q: %d bytes: %q", base, len(kept), name)
			}
		}
	}
	if name := tempName("a.pz"); !strings.HasPrefix(name, ".a.pz.pz-") {
		t.Errorf("temporary name of a.pz: %s", name)
	}
}

func TestRemoveOnlyAfterSuccess(t *testing.T) {
	dir := t.TempDir()
	good := pz(t, sample(100_000), "-B4K").out
	bad := write(t, good[:len(good)/2]+"!"+good[len(good)/2+1:], dir, "a.pz")
	pz(t, "", "-d", "--rm", bad).want(t, exitError, "a.pz: ", "--recover")
	cut := write(t, good[:len(good)-1], dir, "b.pz")
	pz(t, "", "-d", "--rm", cut).want(t, exitError, "b.pz: ", "the end is missing")
	text := write(t, "plain text", dir, "c.pz")
	pz(t, "", "-d", "--rm", text).want(t, exitError, "c.pz: ", ".pz")
	pz(t, "", "-t", bad, cut).want(t, exitError, "a.pz: ", "b.pz: ")
	wantFiles(t, dir, "a.pz", "b.pz", "c.pz")
}

func TestModeAndTime(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	when := time.Date(2001, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	for _, mode := range []os.FileMode{0o600, 0o640, 0o444, 0o755} {
		os.Chtimes(in, when, when)
		os.Chmod(in, mode)
		if runtime.GOOS == "windows" { // has one bit of it
			mode = 0o444 | mode&0o200 | mode&0o200>>3 | mode&0o200>>6
		}
		check := func(path string) {
			t.Helper()
			fi, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if fi.Mode() != mode || !fi.ModTime().Equal(when) {
				t.Errorf("%s: mode %v, time %v, want %v, %v",
					path, fi.Mode(), fi.ModTime(), mode, when)
			}
		}
		pz(t, "", "-f", in).want(t, exitOK)
		check(in + ".pz")
		out := filepath.Join(dir, "out")
		pz(t, "", "-df", "-o", out, in+".pz").want(t, exitOK)
		check(out)
	}
}

func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := write(t, "first ", dir, "a"), write(t, "second", dir, "b")
	none := filepath.Join(dir, "none")
	pz(t, "", a, none, b).want(t, exitError, "none: no such file")
	wantFiles(t, dir, "a", "a.pz", "b", "b.pz")
	wantContent(t, pz(t, "", "-dc", a+".pz", b+".pz").want(t, exitOK).out, "first second")
	both := pz(t, "", "-c", a, b).want(t, exitOK).out
	wantContent(t, pz(t, both, "-d").want(t, exitOK).out, "first second")
	// "-" among names is standard input.
	wantContent(t, pz(t, both, "-dc", a+".pz", "-").want(t, exitOK).out, "first first second")
	// An error outranks a warning in any order.
	pz(t, "", "-d", a, none).want(t, exitError)
	pz(t, "", "-d", none, a).want(t, exitError)
}

func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	want := map[string]string{}
	for i, name := range []string{"a", "b.txt", "sub/c", "sub/deep/d", "z"} {
		want[name] = fmt.Sprint("content ", i)
		write(t, want[name], tree, name)
	}
	pz(t, "", tree).want(t, exitWarning, "is a directory -- ignored", "-r")
	pz(t, "", "-o", filepath.Join(dir, "out"), tree).want(t, exitWarning, "is a directory")
	pz(t, "", "-r", tree).want(t, exitOK)
	for name, content := range want {
		wantFile(t, filepath.Join(tree, name), content)
		wantContent(t, unpz(t, filepath.Join(tree, name+".pz")), content)
	}
	pz(t, "", "-rt", tree).want(t, exitOK)
	got := pz(t, "", "-rl", tree).want(t, exitOK).out
	if n := strings.Count(got, "\n"); n != 1+len(want)+1 {
		t.Errorf("-rl prints %d lines, want %d: %s", n, 1+len(want)+1, got)
	}
	// Replace the sources, and restore them.
	pz(t, "", "-rf", "--rm", tree).want(t, exitOK)
	for name := range want {
		wantGone(t, filepath.Join(tree, name))
	}
	pz(t, "", "-rd", "--rm", tree+"/").want(t, exitOK)
	for name, content := range want {
		wantFile(t, filepath.Join(tree, name), content)
		wantGone(t, filepath.Join(tree, name+".pz"))
	}
	// Compress the whole tree, in order, to one stream.
	packed := pz(t, "", "-rc", tree).want(t, exitOK).out
	const all = "content 0content 1content 2content 3content 4"
	if got := pz(t, packed, "-d").want(t, exitOK).out; got != all {
		t.Errorf("got %q, want %q", got, all)
	}
}

func TestOutputRefusals(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	pz(t, "", "-f", "-o", in, in).want(t, exitError, "is the input itself")
	pz(t, "", "-f", "-o", dir, in).want(t, exitError, "is a directory")
	pz(t, "", "-o", dir+"/", in).want(t, exitError, "is a directory")
	wantFiles(t, dir, "a")
	pz(t, "", "-o", filepath.Join(dir, "no", "out"), in).want(t, exitError, "no such file")
	pz(t, "", "-o", filepath.Join(in, "out"), in).want(t, exitError, "not a directory")
	os.Mkdir(in+".pz", 0o755)
	pz(t, "", "-f", in).want(t, exitError, "a.pz: is a directory")
	os.Remove(in + ".pz")
	wantFiles(t, dir, "a")

	// A run that writes to its own input would never end.
	f, err := os.OpenFile(in, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := command("-c", in)
	cmd.Stdout = f
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != exitError {
		t.Errorf("input as output: %v, want exit code %d", err, exitError)
	}
	wantFile(t, in, "content")
}

// TestUnknownDataIsCopied checks that -dcf copies data of unknown formats.
func TestUnknownDataIsCopied(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"", "x", "plain text", "PZzz text", noise(100_000)} {
		in := write(t, content, dir, "a")
		if got := pz(t, "", "-dcf", in).want(t, exitOK).out; got != content {
			t.Errorf("got %d bytes, want %d", len(got), len(content))
		}
		pz(t, "", "-dc", in).want(t, exitError)
		pz(t, "", "-tf", in).want(t, exitError)
	}
	pz(t, "PZ\x01 and text", "-df").want(t, exitError)
	wantContent(t, pz(t, pz(t, "content").out, "-df").want(t, exitOK).out, "content")
}

func TestMemoryLimit(t *testing.T) {
	in := write(t, sample(1<<20), t.TempDir(), "a")
	pz(t, "", "-M", "100K", in).want(t, exitError, "memory", "use -M ", "-B")
	wantGone(t, in+".pz")
	pz(t, "", "-B1M", in).want(t, exitOK)
	pz(t, "", "-t", "-M", "100K", in+".pz").want(t, exitError, "memory", "use -M ")
}

func TestVerboseAndQuiet(t *testing.T) {
	dir := t.TempDir()
	in := write(t, sample(100_000), dir, "a")
	pz(t, "", "-v", "-T2", "-B4K", in).want(t, exitOK,
		in+": ", "100000 bytes of content", ":1)", "25 blocks", "2 threads", "MB/s", "-> "+in+".pz")
	pz(t, "", "-vt", "-T1", in+".pz").want(t, exitOK,
		"100000 bytes of content", "25 blocks", "1 thread,", " OK")
	pz(t, "", "-vdc", in+".pz").want(t, exitOK, "-> standard output")
	pz(t, "", "-q", dir).want(t, exitWarning)
	pz(t, "", "-q", filepath.Join(dir, "none")).want(t, exitError, "no such file")
}

func TestNamesAreSafeToPrint(t *testing.T) {
	missing := "no such file"
	if runtime.GOOS == "windows" {
		missing = "" // such names are invalid
	}
	pz(t, "", "no\x1b[31m\nfile").want(t, exitError, `"no\x1b[31m\nfile": `+missing)
	pz(t, "", "no\x9b31m").want(t, exitError, `"no\x9b31m": no such file`) // ESC [ on 8-bit terminals
}

func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, strings.Repeat("n", 252))
	pz(t, "", in).want(t, exitOK)
	wantContent(t, unpz(t, in+".pz"), "content")
	in = write(t, "content", dir, strings.Repeat("m", 254))
	tooLong := "name too long"
	if runtime.GOOS == "windows" {
		tooLong = "" // the text is that of the system
	}
	pz(t, "", in).want(t, exitError, tooLong)
}
