//go:build unix

package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	target := write(t, "content", dir, "target")
	link := filepath.Join(dir, "link")
	os.Symlink("target", link)
	pz(t, "", link).want(t, exitWarning, "is a symbolic link -- ignored", "-f")
	pz(t, "", "--rm", link).want(t, exitWarning)
	wantFiles(t, dir, "link", "target")

	// With -c a link counts as a file.
	packed := pz(t, "", "-c", link).want(t, exitOK).out
	wantContent(t, pz(t, packed, "-d").out, "content")
	// With -f the result has the name of the link, and --rm removes the link, not its target.
	pz(t, "", "-f", "--rm", link).want(t, exitOK)
	wantFiles(t, dir, "link.pz", "target")
	wantFile(t, target, "content")
	os.Remove(link + ".pz")

	// -f replaces a link that has the name of the result. Its target stays.
	victim := write(t, "precious", dir, "victim")
	for _, out := range []string{target + ".pz", filepath.Join(dir, "out")} {
		os.Symlink("victim", out)
		pz(t, "", "-o", out, target).want(t, exitWarning, "already exists")
		pz(t, "", "-f", "-o", out, target).want(t, exitOK)
		if fi, _ := os.Lstat(out); !fi.Mode().IsRegular() {
			t.Errorf("%s is %v", out, fi.Mode())
		}
		os.Remove(out)
		os.Symlink("nowhere", out)
		pz(t, "", "-o", out, target).want(t, exitWarning, "already exists")
		wantGone(t, filepath.Join(dir, "nowhere"))
		os.Remove(out)
	}
	wantFile(t, victim, "precious")

	// A broken link and a circular one.
	os.Symlink("none", link)
	pz(t, "", "-f", link).want(t, exitError, "link: no such file")
	os.Remove(link)
	os.Symlink("link", link)
	pz(t, "", "-c", link).want(t, exitError, "too many levels")
	os.Remove(link)

	// -r follows no links, also with -f.
	other := t.TempDir()
	write(t, "content", other, "a")
	os.Symlink(other, filepath.Join(dir, "directory"))
	os.Symlink("target", link)
	res := pz(t, "", "-rf", dir).want(t, exitWarning, filepath.Join(dir, "directory")+
		": is a symbolic link -- ignored\n", link+": is a symbolic link -- ignored\n")
	if strings.Count(res.err, "\n") != 2 {
		t.Errorf("other messages: %s", res.err)
	}
	if res := pz(t, "", "-rfq", dir).want(t, exitWarning); res.err != "" {
		t.Errorf("-q: %s", res.err)
	}
	wantFiles(t, other, "a")
	wantFiles(t, dir, "directory", "link", "target", "target.pz", "victim", "victim.pz")
	pz(t, "", "-r", filepath.Join(dir, "directory")).want(t, exitWarning, "is a symbolic link")
	wantFiles(t, other, "a")
}

func TestHardLinks(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	os.Link(in, filepath.Join(dir, "b"))
	pz(t, "", "--rm", in).want(t, exitWarning, "has 1 other hard link -- ignored", "-f")
	wantFiles(t, dir, "a", "b")
	pz(t, "", in).want(t, exitOK) // without --rm links do not matter
	wantFiles(t, dir, "a", "a.pz", "b")
	pz(t, "", "-f", "-o", filepath.Join(dir, "b"), in).want(t, exitError, "is the input itself")
	pz(t, "", "--rm", "-f", in).want(t, exitOK)
	wantFiles(t, dir, "a.pz", "b")
}

// TestSpecialFiles checks named pipes.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	pz(t, "", fifo).want(t, exitWarning, "is not a regular file -- ignored")
	pz(t, "", "-f", fifo).want(t, exitWarning, "is not a regular file -- ignored")
	pz(t, "", "-l", fifo).want(t, exitError, "is not a regular file")
	pz(t, "", "-r", dir).want(t, exitWarning, fifo+": is not a regular file -- ignored\n")
	wantFiles(t, dir, "fifo")

	// -c reads a named pipe, and -o writes it.
	in := write(t, sample(100_000), t.TempDir(), "in")
	send := func(path, content string) {
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			io.WriteString(f, content)
			f.Close()
		}
	}
	go send(fifo, sample(100_000))
	if got := pz(t, pz(t, "", "-c", fifo).want(t, exitOK).out, "-d").out; got != sample(100_000) {
		t.Error("reading a fifo failed")
	}
	got := make(chan string)
	go func() {
		b, _ := os.ReadFile(fifo)
		got <- string(b)
	}()
	pz(t, "", "--rm", "-o", fifo, in).want(t, exitOK)
	if pz(t, <-got, "-d").out != sample(100_000) {
		t.Error("writing a fifo failed")
	}
	if fi, _ := os.Lstat(fifo); fi.Mode()&os.ModeNamedPipe == 0 {
		t.Error("the fifo was replaced")
	}
	wantFile(t, in, sample(100_000)) // --rm keeps it, because a pipe stores nothing
}

// TestDevStdout checks that -o never replaces /dev/stdout by a file.
func TestDevStdout(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "stdout")
	if err := os.Symlink("/proc/self/fd/1", name); err != nil || !exists("/proc/self/fd/1") {
		t.Skip("no /proc/self/fd")
	}
	in := write(t, "content", t.TempDir(), "in")
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := command("-f", "--rm", "-o", name, in)
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, "stdout")
	wantFile(t, in, "content")
	wantContent(t, unpz(t, out.Name()), "content")
}

func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "secret", dir, "a")
	os.Chmod(in, 0o600)
	// Other users cannot read the temporary file.
	cmd := command(in)
	_, resume := startToStep(t, cmd, "created")
	temps, _ := filepath.Glob(filepath.Join(dir, ".a.pz.pz-*"))
	if len(temps) != 1 {
		t.Errorf("temporary files: %q", temps)
	} else if fi, err := os.Lstat(temps[0]); err == nil && fi.Mode() != 0o600 {
		t.Errorf("the temporary file has mode %v", fi.Mode())
	}
	resume()
	cmd.Wait()

	// The result does not inherit set-user-ID.
	os.Chmod(in, 0o755|os.ModeSetuid|os.ModeSetgid|os.ModeSticky)
	pz(t, "", "-f", in).want(t, exitOK)
	if fi, _ := os.Stat(in + ".pz"); fi.Mode() != 0o755 {
		t.Errorf("mode %v", fi.Mode())
	}

	// The umask applies if the source is a pipe.
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	out := filepath.Join(dir, "out")
	runProcess(t, strings.NewReader("content"), "-o", out).want(t, exitOK)
	if fi, err := os.Stat(out); err != nil || fi.Mode() != 0o640 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}

	if os.Geteuid() == 0 {
		os.Chown(in, 12345, 23456)
		pz(t, "", "-f", in).want(t, exitOK)
		fi, _ := os.Stat(in + ".pz")
		if st := fi.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 23456 {
			t.Errorf("owner %d, group %d", st.Uid, st.Gid)
		}
	}
}
