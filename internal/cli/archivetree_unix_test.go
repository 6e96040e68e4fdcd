//go:build unix

package cli

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopz/compress/internal/testenv"
)

// oldDay is a time with a fraction, as files have.
var oldDay = time.Date(2021, 3, 4, 5, 6, 7, 123_456_789, time.UTC)

// makeTree makes a tree of files of all kinds that a user may create, in dir.
func makeTree(t *testing.T, dir string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write(t, sample(300_000), dir, "large")
	write(t, "", dir, "empty file")
	write(t, "#!/bin/sh\n", dir, "bin", "run")
	write(t, "quoted", dir, "bin", "a\nb\x1b[31m")
	write(t, "not UTF-8", dir, "bin", "\xff\xfe")
	write(t, "pattern", dir, "bin", "[a]*")
	long := strings.Repeat("long-", 40)
	write(t, noise(70_000), dir, long, long, "ä-"+long)
	write(t, strings.Repeat("\x00", 100_000)+"end", dir, "holes")
	must(os.MkdirAll(filepath.Join(dir, "none", "below"), 0o755))
	must(os.Symlink("../large", filepath.Join(dir, "bin", "up")))
	must(os.Symlink("/etc/passwd", filepath.Join(dir, "absolute")))
	must(os.Symlink("none", filepath.Join(dir, "to-dir")))
	must(os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	must(os.Link(filepath.Join(dir, "large"), filepath.Join(dir, "bin", "hard")))
	must(os.Link(filepath.Join(dir, "large"), filepath.Join(dir, "zz-hard")))
	must(os.Chmod(filepath.Join(dir, "bin", "run"), 0o755))
	must(os.Chmod(filepath.Join(dir, "empty file"), 0o400))
	must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(path, oldDay, oldDay.Add(time.Duration(len(path))*time.Millisecond))
	}))
	closed := filepath.Join(dir, "none")
	must(os.Chmod(closed, 0o555))
	t.Cleanup(func() { os.Chmod(closed, 0o755) })
}

// treeOf describes all below dir: types, modes, times, links and contents. With seconds it leaves
// out fractions of times.
func treeOf(t *testing.T, dir string, seconds bool) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		when := fi.ModTime()
		if seconds {
			when = when.Truncate(time.Second)
		}
		fmt.Fprintf(&b, "%q %v", name, fi.Mode())
		switch {
		case fi.Mode().IsRegular():
			p, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			links := fi.Sys().(*syscall.Stat_t).Nlink
			fmt.Fprintf(&b, " %d %x %d links", len(p), sha256.Sum256(p), links)
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " -> %q", target)
		}
		fmt.Fprintf(&b, " %d\n", when.UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wantTree compares what is below two directories.
func wantTree(t *testing.T, what, got, want string, seconds bool) {
	t.Helper()
	a := strings.Split(treeOf(t, got, seconds), "\n")
	b := strings.Split(treeOf(t, want, seconds), "\n")
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			t.Errorf("%s: lacks %s", what, b[i])
		case i >= len(b):
			t.Errorf("%s: has %s", what, a[i])
		case a[i] != b[i]:
			t.Errorf("%s: got\n%s, want\n%s", what, a[i], b[i])
		default:
			continue
		}
		return
	}
}

// mustRun runs a program in a directory. It must succeed and print nothing on standard error.
func mustRun(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%q: %v: %s", args, err, errs.String())
	}
	return string(out)
}

// gnuTar returns the path of GNU tar, or skips.
func gnuTar(t *testing.T) string {
	t.Helper()
	tar := testenv.Tool(t, "tar")
	if out, _ := exec.Command(tar, "--version").Output(); !strings.HasPrefix(string(out), "tar (GNU") {
		testenv.Missing(t, "GNU tar")
	}
	return tar
}

// withUmask sets the umask that tar and pz subtract.
func withUmask(t *testing.T) {
	old := syscall.Umask(0o022)
	t.Cleanup(func() { syscall.Umask(old) })
}

// TestArchiveAndTar makes an archive of each format, which tar extracts to the same tree, as does
// pz.
func TestArchiveAndTar(t *testing.T) {
	testenv.Slow(t)
	tar := gnuTar(t)
	withUmask(t)
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	makeTree(t, tree)
	t.Chdir(dir)
	var first string
	for i, suffix := range []string{".tar.pz", ".tar.gz", ".tar.zst", ".tzst"} {
		name := "a" + suffix
		pz(t, "", "--tar", "-B64K", "tree", "-o", name).want(t, exitOK)
		plain := unpz(t, name)
		if i == 0 {
			first = plain
		} else if plain != first {
			t.Errorf("%s has other content than .tar.pz", suffix)
		}
		ours, theirs := filepath.Join(dir, "ours"+suffix), filepath.Join(dir, "theirs"+suffix)
		pz(t, "", "-x", name, "--output-dir", ours).want(t, exitOK)
		if err := os.Mkdir(theirs, 0o755); err != nil {
			t.Fatal(err)
		}
		mustRun(t, theirs, plain, tar, "-xf", "-")
		for what, got := range map[string]string{"pz": ours, "tar": theirs} {
			wantTree(t, what+" "+suffix, filepath.Join(got, "tree"), tree, false)
			os.Chmod(filepath.Join(got, "tree", "none"), 0o755)
		}
	}
	// Reading the files has changed their times of access.
	if again := pz(t, "", "--tar", "-c", "tree").want(t, exitOK).out; unpzString(t, again) != first {
		t.Error("another archive of the same tree differs")
	}
	mustRun(t, dir, first, tar, "--compare", "-f", "-")
}

// unpzString restores content.
func unpzString(t *testing.T, packed string) string {
	t.Helper()
	return pz(t, packed, "-dc").want(t, exitOK).out
}

// TestExtractOthers extracts archives of other programs in all of their formats.
func TestExtractOthers(t *testing.T) {
	testenv.Slow(t)
	tar := gnuTar(t)
	withUmask(t)
	dir := t.TempDir()
	makeTree(t, filepath.Join(dir, "tree"))
	makeTree(t, filepath.Join(dir, "plain", "tree"))
	// Names that some formats or programs do not take.
	for _, name := range []string{strings.Repeat("long-", 40), "bin/\xff\xfe"} {
		os.RemoveAll(filepath.Join(dir, "plain", "tree", name))
	}
	const python = "import sys, tarfile\n" +
		"t = tarfile.open(sys.argv[1], 'w', format=getattr(tarfile, sys.argv[2]))\n" +
		"t.add('tree')\nt.close()"
	for _, c := range []struct {
		name, from string
		args       []string // OUT stands for the archive
	}{
		{"gnu", "", []string{tar, "-cf", "OUT", "tree"}},
		{"pax", "", []string{tar, "--format=pax", "-cf", "OUT", "./tree"}},
		{"sparse", "", []string{tar, "-S", "-cf", "OUT", "tree"}},
		{"sparse-pax", "", []string{tar, "-S", "--format=pax", "-cf", "OUT", "tree"}},
		{"ustar", "plain", []string{tar, "--format=ustar", "-cf", "OUT", "tree"}},
		{"v7", "plain", []string{tar, "--format=v7", "-cf", "OUT", "tree"}},
		{"bsdtar", "plain", []string{"bsdtar", "-cf", "OUT", "tree"}},
		{"bsdtar-gnu", "plain", []string{"bsdtar", "--format=gnutar", "-cf", "OUT", "tree"}},
		{"python-pax", "plain", []string{"python3", "-c", python, "OUT", "PAX_FORMAT"}},
		{"python-gnu", "", []string{"python3", "-c", python, "OUT", "GNU_FORMAT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.args[0] != tar {
				testenv.Tool(t, c.args[0])
			}
			from, file := filepath.Join(dir, c.from), filepath.Join(t.TempDir(), "a.tar")
			args := strings.Split(strings.ReplaceAll(strings.Join(c.args, "\x00"), "OUT", file), "\x00")
			mustRun(t, from, "", args...)
			checkExtracted(t, file, filepath.Join(from, "tree"))
		})
	}
}

// checkExtracted extracts a tar file: as it is, and compressed in all ways that pz reads. The tree
// must be that in the directory want.
func checkExtracted(t *testing.T, file, want string) {
	t.Helper()
	check := func(what, stdin, name string) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		pz(t, stdin, "-x", "--output-dir", out, name).want(t, exitOK)
		wantTree(t, what, filepath.Join(out, "tree"), want, true)
		os.Chmod(filepath.Join(out, "tree", "none"), 0o755)
	}
	check("plain", "", file)
	plain, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	check("plain from a pipe", string(plain), "-")
	for _, tool := range []string{"zstd", "gzip", "xz", "bzip2"} {
		if path, err := exec.LookPath(tool); err == nil {
			packed := mustRun(t, "", string(plain), path, "-c")
			check(tool, "", write(t, packed, t.TempDir(), "a.tar."+tool))
		}
	}
	packed := pz(t, string(plain), "-c").want(t, exitOK).out
	check("standard input", packed, "-")
}

// TestExtractGit extracts an archive of git, which has a comment and modes of its own.
func TestExtractGit(t *testing.T) {
	git := testenv.Tool(t, "git")
	dir := t.TempDir()
	write(t, "content", dir, "a")
	write(t, "deep", dir, "b", "c")
	script := "git init -q && git add . && git -c user.name=a -c user.email=a@example.org commit -qm a && " +
		"git archive --prefix=x/ -o a.tar HEAD"
	mustRun(t, dir, "", "sh", "-c", strings.ReplaceAll(script, "git ", git+" "))
	t.Chdir(dir)
	pz(t, "", "-x", "a.tar").want(t, exitOK)
	wantFile(t, filepath.Join(dir, "x", "a"), "content")
	wantFile(t, filepath.Join(dir, "x", "b", "c"), "deep")
}
