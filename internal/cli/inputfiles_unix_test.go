//go:build unix

package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inDir returns pz as a process in a directory.
func inDir(dir string, args ...string) *exec.Cmd {
	cmd := command(args...)
	cmd.Dir = dir
	return cmd
}

// runIn runs pz in a directory.
func runIn(t *testing.T, dir, stdin string, args ...string) result {
	t.Helper()
	cmd := inDir(dir, args...)
	var out, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	cmd.Run()
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// TestFilesFrom checks lists of files from files and from standard input.
func TestFilesFrom(t *testing.T) {
	names := []string{"a", " b ", "-9", "--rm", "c d"}
	dir := t.TempDir()
	want := ""
	for i, name := range names {
		write(t, fmt.Sprint(i), dir, name)
		want += fmt.Sprint(i)
	}
	lines := strings.Join(names, "\n")
	zeros := strings.Join(names, "\x00")
	write(t, "\n"+lines+"\n\n", dir, "lines")
	write(t, zeros+"\x00", dir, "zeros")
	for _, c := range []struct{ args, stdin, want string }{
		{"-c --files-from lines", "", want},
		{"-c --files-from=-", lines, want},
		{"-c --files-from -", lines + "\n", want},
		{"-c --files0-from zeros", "", want},
		{"-c --files0-from -", zeros, want},
		{"-c --files0-from zeros a", "", "0" + want}, // operands come first
		{"-c --files-from lines --files0-from zeros", "", want + want},
		{"-c --files-from -", "", ""}, // an empty list is not standard input
		{"-c --files-from lines --exclude -*", "", "014"},
	} {
		packed := runIn(t, dir, c.stdin, strings.Fields(c.args)...).want(t, exitOK).out
		got := ""
		if packed != "" {
			if got = pz(t, packed, "-d").want(t, exitOK).out; got != c.want {
				t.Errorf("%s: got %q, want %q", c.args, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%s: no output", c.args)
		}
	}
	// A list from Windows. One of the names ends in a carriage return.
	write(t, "return", dir, "r\r")
	for list, want := range map[string]string{
		"a\r\nc d\r\n\r\n":  "04",
		"r\r\na\r\nr\r\r\n": "return0return",
		"r\r\na\n":          "return0",
	} {
		packed := runIn(t, dir, list, "-c", "--files-from", "-").want(t, exitOK).out
		wantContent(t, pz(t, packed, "-d").want(t, exitOK).out, want)
	}
	runIn(t, dir, "a\r\x00", "-c", "--files0-from", "-").want(t, exitError, `"a\r": no such file`)
	// Standard input is a file of a list too, unless it is the list.
	write(t, "a\n-\n", dir, "dash")
	packed := runIn(t, dir, "input", "-c", "--files-from", "dash").want(t, exitOK).out
	wantContent(t, pz(t, packed, "-d").want(t, exitOK).out, "0input")
	runIn(t, dir, "a\n-\n", "-c", "--files-from", "-").want(t, exitError, "-: standard input is the list")
	// An error of one file leaves the others.
	runIn(t, dir, "none\na\n", "--rm", "--files-from", "-").want(t, exitError, "none: no such file")
	if !exists(filepath.Join(dir, "a.pz")) || exists(filepath.Join(dir, "a")) {
		t.Error("the file behind the missing one was not compressed")
	}
	runIn(t, dir, "c d\x00\x00", "-c", "--files0-from", "-").want(t, exitError, "the file name is empty")
	runIn(t, dir, "", "--files-from", "none").want(t, exitError, "none: no such file")
	runIn(t, dir, "", "--files-from", ".").want(t, exitError, ".: is a directory")
	runIn(t, dir, strings.Repeat("x", 20_000), "--files-from", "-").want(t, exitError,
		"standard input: has a name of more than 16 KiB; is it a list of file names?")
	runIn(t, dir, "", "-o", "x", "--files-from", "-").want(t, exitError, "-o does not go with --files-from")
	runIn(t, dir, "", "--files-from=").want(t, exitError, "the file name is empty")
	// Other modes take lists as well.
	runIn(t, dir, "a.pz\n", "-t", "--files-from", "-").want(t, exitOK)
}

// TestZerosInLines checks the hint for a list that another option is for.
func TestZerosInLines(t *testing.T) {
	pz(t, "a\x00b\x00", "-t", "--files-from", "-").want(t, exitError,
		"; if zero bytes separate names, use --files0-from")
}

// TestFilesFromProgram checks that pz processes names before the list is complete.
func TestFilesFromProgram(t *testing.T) {
	dir := t.TempDir()
	write(t, "content", dir, "a")
	cmd := inDir(dir, "-v", "--files-from", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "a\n")
	if n, err := errs.Read(make([]byte, 1)); n != 1 { // the line of -v
		t.Error(err)
	}
	in.Close()
	io.Copy(io.Discard, errs)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, "a", "a.pz")
}

// TestExclude checks which files and directories a pattern leaves out.
func TestExclude(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-r .", "a.txt b.jpg sub/a.txt sub/c.jpg sub/deep/d"},
		{"-r . --exclude *.jpg", "a.txt sub/a.txt sub/deep/d"},
		{"-r . --exclude=*.jpg --excl=a*", "sub/deep/d"},
		{"-r . --exclude sub", "a.txt b.jpg"},
		{"-r . --exclude sub/", "a.txt b.jpg"},
		{"-r . --exclude deep", "a.txt b.jpg sub/a.txt sub/c.jpg"},
		{"-r . --exclude sub/*.jpg", "a.txt b.jpg sub/a.txt sub/deep/d"},
		{"-r . --exclude ub", "a.txt b.jpg sub/a.txt sub/c.jpg sub/deep/d"},
		{"-r . --exclude s*/deep/?", "a.txt b.jpg sub/a.txt sub/c.jpg"},
		{"-r sub --exclude [ab].*", "sub/c.jpg sub/deep/d"},
		{"-r sub --exclude sub", ""},
		{"a.txt b.jpg --exclude *.jpg", "a.txt"},
		{"./b.jpg a.txt --exclude b.jpg", "a.txt"},
	} {
		dir := t.TempDir()
		for _, name := range []string{"a.txt", "b.jpg", "sub/a.txt", "sub/c.jpg", "sub/deep/d"} {
			write(t, name, dir, name)
		}
		runIn(t, dir, "", strings.Fields(c.args)...).want(t, exitOK)
		if got := filesBelow(t, dir, ".pz"); got != c.want {
			t.Errorf("%s: compressed %s, want %s", c.args, got, c.want)
		}
	}
	in := write(t, "content", t.TempDir(), "a")
	pz(t, "", "-v", "--exclude", "a", in).want(t, exitOK, in+": matches --exclude a -- ignored\n")
	for _, bad := range []string{"", "/", "[", "a[", ".", "./b", "../b", `a\`} {
		pz(t, "", "--exclude", bad, in).want(t, exitError, "--exclude", "the pattern is ")
	}
}

// filesBelow returns the paths below a directory, without the suffix that all have which count.
func filesBelow(t *testing.T, dir, suffix string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(path, suffix); ok && !d.IsDir() {
			rel, _ := filepath.Rel(dir, name)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// TestOutputDir checks that results go into directories of the same paths, in both directions.
func TestOutputDir(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "sub/b", "sub/deep/c"} {
		write(t, name, dir, "in", name)
	}
	in := filepath.Join(dir, "in")
	os.Chmod(filepath.Join(in, "sub"), 0o750)
	runIn(t, in, "", "-r", "--output-dir", "../out", ".").want(t, exitOK)
	if got := filesBelow(t, filepath.Join(dir, "out"), ".pz"); got != "a sub/b sub/deep/c" {
		t.Errorf("results: %s", got)
	}
	if got := filesBelow(t, in, ""); got != "a sub/b sub/deep/c" {
		t.Errorf("sources: %s", got)
	}
	if fi, err := os.Stat(filepath.Join(dir, "out", "sub")); err != nil || fi.Mode().Perm()&^0o22 != 0o750 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	// -r does not take results for sources.
	out := filepath.Join(dir, "out")
	runIn(t, out, "", "-rd", "--rm", "--output-dir=back", "sub/deep/../..").want(t, exitOK)
	if got := filesBelow(t, out, ""); got != "back/a back/sub/b back/sub/deep/c" {
		t.Errorf("restored: %s", got)
	}
	write(t, pz(t, pz(t, "content").out).out, out, "x.pz.pz")
	runIn(t, out, "", "-rd", "--output-dir=back", ".").want(t, exitOK)
	runIn(t, out, "", "-rdf", "--output-dir=back", ".").want(t, exitOK)
	if got := filesBelow(t, out, ""); got != "back/a back/sub/b back/sub/deep/c back/x.pz x.pz.pz" {
		t.Errorf("restored again: %s", got)
	}
	// Whole paths, and paths that leave the directory.
	runIn(t, dir, "", "--output-dir", "all", filepath.Join(in, "a")).want(t, exitOK)
	if !exists(filepath.Join(dir, "all", in, "a.pz")) {
		t.Errorf("results: %s", filesBelow(t, filepath.Join(dir, "all"), ""))
	}
	runIn(t, in, "", "--output-dir", "d", "../in/a").want(t, exitError, "../in/a: has .. in its path")
	wantGone(t, filepath.Join(in, "d"))
	const noDir = ": cannot open or create this directory"
	runIn(t, in, "", "--output-dir", "d/e", "a").want(t, exitError, "d/e"+noDir)
	runIn(t, in, "", "--output-dir", "a", "a").want(t, exitError, "a"+noDir)
	// A result exists.
	runIn(t, in, "", "--output-dir", "d", "a").want(t, exitOK)
	runIn(t, in, "", "--output-dir", "d", "a").want(t, exitWarning, "d/a.pz: already exists")
	runIn(t, in, "", "--rm", "-f", "--output-dir", "d", "a").want(t, exitOK)
	wantGone(t, filepath.Join(in, "a"))
	wantContent(t, unpz(t, filepath.Join(in, "d", "a.pz")), "a")
	for _, args := range []string{"-o x", "-c", "-t", "-l"} {
		pz(t, "", append(strings.Fields(args), "--output-dir", "d", "a")...).want(t, exitError,
			"--output-dir does not go with")
	}
	pz(t, "", "--output-dir=", "a").want(t, exitError, "the name of the directory is empty")
}

// TestOutputDirLinks checks that results do not leave the directory through symbolic links.
func TestOutputDirLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, "content", dir, "sub", "a")
	other := t.TempDir()
	os.Mkdir(filepath.Join(dir, "out"), 0o755)
	if err := os.Symlink(other, filepath.Join(dir, "out", "sub")); err != nil {
		t.Skip(err)
	}
	runIn(t, dir, "", "--output-dir", "out", "sub/a").want(t, exitError,
		"out/sub: cannot open or create this directory: path escapes from parent")
	wantFiles(t, other)
}
