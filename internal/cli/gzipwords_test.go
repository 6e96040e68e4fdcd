package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gopz/compress/internal/testenv"
)

// gzipRun is a run of gzip or of pz in its place, in a directory.
type gzipRun struct {
	result
	files string
}

// runGzip runs gzip, or pz under the name of gzip, in a new directory with files. variable is the
// value of GZIP.
func runGzip(t *testing.T, files map[string]string, variable string, cmd *exec.Cmd) gzipRun {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := write(t, content, dir, name)
		if err := os.Chtimes(path, fakeTime, fakeTime); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(files["stdin"]), &out, &errs
	cmd.Env = append(cmd.Environ(), "GZIP="+variable, "LC_ALL=C", "TZ=UTC0")
	cmd.Run()
	return gzipRun{result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}, names(t, dir)}
}

// TestGzipWords compares pz under the names of gzip with gzip: which files it finds, and what it
// prints with -l and -v.
func TestGzipWords(t *testing.T) {
	testenv.Tool(t, "gzip")
	content := sample(3000)
	dir := t.TempDir()
	a := write(t, content, dir, "a")
	if err := os.Chtimes(a, time.Now(), fakeTime); err != nil {
		t.Fatal(err)
	}
	packed := runTool(t, "", "gzip", "-c", a)
	empty := runTool(t, "", "gzip", "-c")
	small := runTool(t, "x", "gzip", "-c")
	files := map[string]string{
		"stdin": packed, "a.gz": packed, "empty.gz": empty, "small.gz": small, "dir/b.gz": packed,
		"UP.GZ": packed, "c-gz": packed, "d-z": packed, "e_z": packed, "f.z": packed, "g.Z": packed,
		"h.x": packed, "i.tgz": packed, "mz": packed, "j.TGZ": packed, "k.taz": packed,
		"plain": "x", "plain.gz": packed, "both": "text", "both.x": packed, "two/two/d.gz": packed,
	}
	for _, c := range []string{
		"gzip -l a.gz", "gzip -l a", "gzip -lv a.gz", "gzip -lvN dir/b.gz", "gzip -lN dir/b", "gzip -lq a",
		"gzip -l a empty small", "gzip -lv a empty small", "gzip -lq a small", "gzip -lvq a",
		"gzip -l empty empty", "gzip -lr two", "gzip -lvr two a",
		"gzip -l i.tgz j.TGZ k.taz c-gz d-z e_z f.z g.Z dir/b.gz", "gzip -lS .x h", "gzip -lv -", "gzip -l",
		"gzip -d a", "gunzip a", "zcat a", "gzip -dc a", "gzip -cd dir/b", "gunzip -k a", "gzip -t a small",
		"gunzip UP.GZ", "gunzip c-gz", "gunzip d-z", "gunzip e_z", "gunzip f.z", "gunzip g.Z", "gunzip d",
		"gunzip f", "gunzip g", "gzip -dS .x h", "gzip -d -S .x h.x", "gunzip i.tgz j.TGZ k.taz",
		"gzip -dSz m", "gzip -dSz mz", "gzip -dSz f", "gzip -dS z a.gz", "gzip -dSgz a", "gzip -dSx h.x",
		"gzip -tSz m", "gzip -kSz plain",
		"gzip --uncompress a", "gzip --unc a", "gzip --to-stdout -d a", "gzip -dv a", "gzip -dkv a.gz",
		"gzip -dvN dir/b", "gzip -tv a.gz small.gz", "gzip -dcv a", "gzip -tv", "gzip -dv", "gzip -v both.x",
		"gzip -vk both", "gzip -vn both", "gzip -dfv plain",
	} {
		args := strings.Fields(c)
		want := runGzip(t, files, "", exec.Command(args[0], args[1:]...))
		cmd := command(args[1:]...)
		cmd.Args[0] = args[0]
		got := runGzip(t, files, "", cmd)
		got.err = strings.ReplaceAll(got.err, "pz: plain: "+unknownFormat+" and has no suffix of such data",
			"gzip: plain: unknown suffix")
		if strings.Contains(want.err, "replaced with both") || strings.Contains(want.err, "created both") {
			// The files have other sizes.
			want.err, _, _ = strings.Cut(want.err, "%")
			got.err, _, _ = strings.Cut(got.err, "%")
			want.err, got.err = want.err[:7], got.err[:7]
		}
		if got != want {
			t.Errorf("%s:\n%+v\nwant\n%+v", c, got, want)
		}
	}
	for _, c := range []string{"gunzip none", "zcat none.gz", "gzip -l none", "gzip -l plain", "gzip none"} {
		args := strings.Fields(c)
		r := runAs(t, args[0], "", append(args[1:len(args)-1], filepath.Join(dir, args[len(args)-1]))...)
		if r.code != exitError || !strings.Contains(r.err, "no such file") {
			t.Errorf("%s: %+v", c, r)
		}
	}
	// Other names do not find a.gz.
	write(t, packed, dir, "b.gz")
	pz(t, "", "-d", filepath.Join(dir, "b")).want(t, exitError, "; did you mean ")
}

// TestGzipOptions compares options that only gzip has, the variable GZIP, and totals behind errors.
func TestGzipOptions(t *testing.T) {
	testenv.Tool(t, "gzip")
	packed := pz(t, "content", "--format=gz").out
	files := map[string]string{"a": "content", "b.gz": packed, "c.gz": packed, "dir/d.gz": packed,
		"dir/e.gz": packed}
	// compared returns what is the same for both programs.
	compared := func(variable string, cmd *exec.Cmd, args []string) gzipRun {
		cmd.Args = args
		r := runGzip(t, files, variable, cmd)
		lines := strings.Split(r.err, "\n")
		r.err = ""
		for _, line := range lines {
			if strings.Contains(line, "GZIP") || strings.Contains(line, "ignored") {
				_, line, _ = strings.Cut(line, ": ")
				r.err += strings.TrimSuffix(line, " (try pz --help)") + "\n"
			}
		}
		switch {
		case strings.HasPrefix(r.out, gzMagic):
			r.out = r.out[8:9] // says whether the level is 1 or 9
		case strings.HasPrefix(r.out, "gzip 1."), strings.HasPrefix(r.out, "pz "):
			r.out = "version"
		case strings.Contains(r.out, "uncompressed"):
			lines := strings.Split(r.out, "\n")
			slices.Sort(lines) // gzip takes directories in no order
			r.out = strings.Join(lines, "\n")
		}
		return r
	}
	for _, c := range []struct{ variable, command string }{
		{"", "gzip -c19 a"}, {"", "gzip -c91 a"}, {"", "gzip -c0 a"}, {"", "gzip -c10 a"},
		{"", "gzip -19 a"}, {"", "gzip -b 1 a"}, {"", "gzip -kb1 a"}, {"", "gzip --bits=1 a"},
		{"", "gzip --bits 1 a"}, {"", "gzip --bits= a"}, {"", "gzip -b99 a"}, {"", "gzip -b x a"},
		{"", "gzip -b -5 a"}, {"", "gzip -b"}, {"", "gunzip -b 9 b"}, {"", "gzip -L"},
		{"", "gzip --license none"}, {"", "gzip -9kL a"}, {"", "gzip -a a"}, {"", "gzip -aq a"},
		{"", "gzip --ascii a"}, {"", "zcat -a b.gz"}, {"", "gzip -l b none"}, {"", "gzip -lv b a"},
		{"", "gzip -lr dir"}, {"", "gzip -lvr dir b"}, {"-1", "gzip -c a"}, {"-19", "gzip -c a"},
		{" \t-9q ", "gzip -c a"}, {"-9", "gzip -qc a"}, {"-9", "gzip -c1 a"}, {"--best", "gzip -c a"},
		{"--fas", "gzip a"}, {"--best", "gunzip b"}, {"--rsyncable -n -N", "zcat b"},
		{"--quiet", "gzip -a a"}, {"--no-name --name", "gzip a"}, {" ", "gzip a"}, {"-d", "gzip a"},
		{"-c", "gzip a"}, {"--", "gzip a"}, {"--stdout", "gzip a"}, {"a", "gzip a"}, {"-9 a", "gzip a"},
		{"-", "gzip a"}, {"-9", "gzip -L"},
	} {
		args := strings.Fields(c.command)
		want := compared(c.variable, exec.Command(args[0]), args)
		got := compared(c.variable, command(), args)
		if got != want {
			t.Errorf("GZIP=%q %s:\n%+v\nwant\n%+v", c.variable, c.command, got, want)
		}
	}
	// Other names have other options with these letters, and do not know the variable.
	pz(t, "", "-L").want(t, exitError, "unknown option -L")
	pzEnv(t, map[string]string{"GZIP": "-x"}, "content", "-a").want(t, exitOK)
}

// TestGzipTime compares the warning about times that a .gz file cannot hold with that of gzip.
func TestGzipTime(t *testing.T) {
	testenv.Tool(t, "gzip")
	for _, unix := range []int64{-1, 0, 1, 1<<32 - 1, 1 << 32} {
		var codes []int
		for _, cmd := range []*exec.Cmd{exec.Command("gzip"), command()} {
			in := write(t, "x", t.TempDir(), "a")
			at := time.Unix(unix, 0)
			if err := os.Chtimes(in, at, at); err != nil {
				t.Skip(err)
			}
			cmd.Args = []string{"gzip", in}
			cmd.Run()
			codes = append(codes, cmd.ProcessState.ExitCode())
		}
		if codes[0] != codes[1] {
			t.Errorf("time %d: gzip ends with %d, pz with %d", unix, codes[0], codes[1])
		}
	}
}

// TestByteOrderMark reads lists of files with the mark that programs of Windows write.
func TestByteOrderMark(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ files, list, want string }{
		{"a b", "\ufeffa\r\nb\r\n", "ab"},
		{"a", "\ufeffa", "a"},
		{"a \ufeffa", "\ufeffa\n", "\ufeffa"},
		{"a \ufeffb", "a\n\ufeffb\n", "a\ufeffb"},
		{"a", "\ufeff\na\n", "a"},
	} {
		for name := range strings.FieldsSeq(c.files) {
			write(t, pz(t, name).out, name)
		}
		list := write(t, c.list, "list")
		wantContent(t, pz(t, "", "-dc", "--files-from", list).want(t, exitOK).out, c.want)
		zeros := strings.NewReplacer("\r\n", "\x00", "\n", "\x00").Replace(c.list)
		if !strings.Contains(zeros, "\ufeff\x00") {
			list = write(t, zeros, "list")
			wantContent(t, pz(t, "", "-dc", "--files0-from", list).want(t, exitOK).out, c.want)
		}
		for name := range strings.FieldsSeq(c.files) {
			os.Remove(name)
		}
	}
}

// TestGzipHelp checks the brief help under names of other programs: it fits into a terminal, names
// the format that is the default, and under a name of gzip has the options of gzip.
func TestGzipHelp(t *testing.T) {
	for name, want := range map[string]string{
		"gzip": "FILE by FILE.gz", "zcat": "FILE by FILE.gz", "zstd": "FILE to FILE.zst",
	} {
		text := runAs(t, name, "", "--help").want(t, exitOK).out
		if !strings.Contains(text, want) || strings.ContainsAny(text, "{}") {
			t.Errorf("%s --help: %s", name, text)
		}
		lines := strings.Split(text, "\n")
		for _, line := range lines {
			if utf8.RuneCountInString(line) > helpWidth {
				t.Errorf("%s --help: %q", name, line)
			}
		}
		if len(lines) > 24 {
			t.Errorf("%s --help has %d lines", name, len(lines)-1)
		}
	}
	text := runAs(t, "gzip", "", "--help").out
	left := []string{"--help", "--fast", "--best", "--synchronous"} // for want of room
	theirs, err := exec.Command(testenv.Tool(t, "gzip"), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range regexp.MustCompile(`--[a-z-]+`).FindAllString(string(theirs), -1) {
		if !slices.Contains(left, option) && !strings.Contains(text, option) {
			t.Errorf("help of gzip has %s", option)
		}
	}
}
