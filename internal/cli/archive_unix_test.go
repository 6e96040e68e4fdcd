//go:build unix

package cli

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// hostile makes an archive with Python that tries to write to ../outside and to the directory OUT.
const hostile = `
import sys, tarfile, io
t = tarfile.open(sys.argv[1], 'w')
outside = sys.argv[2]
def add(name, type=tarfile.REGTYPE, link='', mode=0o644):
    h = tarfile.TarInfo(name)
    h.type, h.linkname, h.mode = type, link, mode
    data = b'evil' if type == tarfile.REGTYPE else b''
    h.size = len(data)
    t.addfile(h, io.BytesIO(data))
add('link', tarfile.SYMTYPE, outside)
add('link/through', )
add('up', tarfile.SYMTYPE, '../outside')
add('up/through')
add('chain', tarfile.SYMTYPE, 'to-up')
add('to-up', tarfile.SYMTYPE, '../outside')
add('chain/through')
add('file-link', tarfile.SYMTYPE, outside + '/victim')
add('file-link')
add('hard', tarfile.LNKTYPE, outside + '/victim')
add('hard')
add('hard-up', tarfile.LNKTYPE, '../outside/victim')
add('via-symlink', tarfile.LNKTYPE, 'abs-victim')
add('abs-victim', tarfile.SYMTYPE, outside + '/victim')
add(outside + '/absolute')
add('../outside/relative')
add('a/../../outside/dots')
add('null', tarfile.CHRTYPE)
add('disk', tarfile.BLKTYPE)
add('pipe', tarfile.FIFOTYPE)
add('setuid', mode=0o6755)
add('sticky', tarfile.DIRTYPE, mode=0o3777)
add('before/here')
add('real/here')
`

// TestHostileArchive extracts an archive that tries to leave the directory, over symbolic links
// that lead out of it.
func TestHostileArchive(t *testing.T) {
	python := testenv.Tool(t, "python3")
	withUmask(t)
	for _, force := range []string{"-x", "-xf"} {
		dir := t.TempDir()
		outside, out := filepath.Join(dir, "outside"), filepath.Join(dir, "out")
		write(t, "victim", outside, "victim")
		write(t, "", out, "real", "other")
		if err := os.Symlink(outside, filepath.Join(out, "before")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "a.tar")
		mustRun(t, dir, "", python, "-c", hostile, file, outside)
		pz(t, "", force, file, "--output-dir", out).want(t, exitError,
			"before/here: is no directory, so nothing can be extracted to it",
			"link/through: an earlier entry of the archive makes link a file or link -- not extracted",
			"up/through: an earlier entry", "chain/through: an earlier entry",
			"null: is a device or a named pipe -- ignored", "disk: is a device", "pipe: is a device",
			"hard-up: is a hard link to a file that the archive does not have")
		wantFiles(t, outside, "victim")
		wantFile(t, filepath.Join(outside, "victim"), "victim")
		if fi, err := os.Stat(filepath.Join(outside, "victim")); err != nil || linkCount(fi) != 1 {
			t.Errorf("victim has %d links, %v", linkCount(fi), err)
		}
		wantFiles(t, dir, "a.tar", "out", "outside")
		for name, mode := range map[string]fs.FileMode{"setuid": 0o755, "sticky": fs.ModeDir | 0o755} {
			if fi, err := os.Stat(filepath.Join(out, name)); err != nil || fi.Mode() != mode {
				t.Errorf("%s: %v, %v", name, fi, err)
			}
		}
		wantFile(t, filepath.Join(out, "real", "here"), "evil")
		if target, err := os.Readlink(filepath.Join(out, "link")); target != outside {
			t.Errorf("link leads to %q, %v", target, err)
		}
		if got := names(t, out); strings.Contains(got, tempMark) {
			t.Errorf("temporary files: %s", got)
		}
	}
}

// TestExtractRaces replaces a directory by a symbolic link while pz extracts to it.
func TestExtractRaces(t *testing.T) {
	var headers []tar.Header
	for i := range 3 * batchFiles {
		headers = append(headers, tar.Header{Name: "d/e/" + strconv.Itoa(i)})
	}
	headers = append(headers, tar.Header{Name: "d/link", Typeflag: tar.TypeLink, Linkname: "d/e/0"})
	plain := tarOf(t, headers...)
	dir := t.TempDir()
	file := write(t, plain, dir, "a.tar")
	outside := filepath.Join(dir, "outside")
	os.Mkdir(outside, 0o755)
	for _, at := range []string{"created", "written", "synced", "renamed", ""} {
		out := filepath.Join(dir, "out"+at)
		swap := func() {
			os.Rename(filepath.Join(out, "d"), filepath.Join(out, "moved"))
			os.Symlink(outside, filepath.Join(out, "d"))
		}
		done := make(chan struct{})
		var swapping sync.WaitGroup
		once := sync.OnceFunc(swap)
		r := pzWith(t, "", func(a *app) {
			a.step = func(name string) {
				if name == at {
					once()
				}
			}
			if at == "" { // at any time
				swapping.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
							swap()
							os.Remove(filepath.Join(out, "d"))
							os.Rename(filepath.Join(out, "moved"), filepath.Join(out, "d"))
						}
					}
				})
			}
		}, "-xf", file, "--output-dir", out)
		close(done)
		swapping.Wait()
		if at != "" && (r.code != exitError || !strings.Contains(r.err, "is no directory")) {
			t.Errorf("at %s: exit code %d, %.200s", at, r.code, r.err)
		}
		wantFiles(t, outside)
	}
}

// TestArchiveSpecial archives files that are no regular ones.
func TestArchiveSpecial(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "a", dir, "d", "a")
	if err := syscall.Mkfifo("d/pipe", 0o600); err != nil {
		t.Skip(err)
	}
	socket, err := net.Listen("unix", "d/socket")
	if err != nil {
		t.Skip(err)
	}
	defer socket.Close()
	os.Symlink("a", "d/link")
	os.Symlink("d", "to-d")
	os.Link("d/a", "d/z")
	pz(t, "", "--tar", "-o", "x.tar.pz", "d", "to-d").want(t, exitWarning, "d/socket: is a socket -- ignored")
	wantContent(t, pz(t, "", "-lq", "--tar", "x.tar.pz").want(t, exitOK).out,
		"d/\nd/a\nd/z\nd/link\nd/pipe\nto-d\n")
	if os.Geteuid() != 0 {
		write(t, "", dir, "d", "secret")
		os.Chmod("d/secret", 0)
		pz(t, "", "--tar", "-f", "-o", "x.tar.pz", "d").want(t, exitError, "d/secret: permission denied")
		pz(t, "", "-x", "x.tar.pz", "--output-dir", "out").want(t, exitWarning, "out/d/pipe: is a device")
	}
}

// TestArchiveChanges changes a file while it is archived. The archive stays valid.
func TestArchiveChanges(t *testing.T) {
	tarProgram := gnuTar(t)
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct {
		name   string
		change func(path string) error
		code   int
		text   string
		want   string
	}{
		{"shrinks", func(path string) error { return os.Truncate(path, 3) }, exitError,
			"d/a: shrank by 97 bytes while it was read; the archive has zeros in place of its last 97 bytes",
			"aaa" + strings.Repeat("\x00", 97)},
		{"grows", func(path string) error { return os.Truncate(path, 200) }, exitWarning,
			"d/a: grew while it was read; the archive has the first 100 bytes", strings.Repeat("a", 100)},
		{"changes", func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("b", 100)), 0o644)
		}, exitWarning, "d/a: changed while it was read", strings.Repeat("b", 100)},
	} {
		write(t, strings.Repeat("a", 100), dir, "d", "a")
		os.Chtimes("d/a", oldDay, oldDay)
		write(t, "next", dir, "d", "b")
		var err error
		once := sync.OnceFunc(func() { err = c.change("d/a") })
		pzWith(t, "", func(a *app) {
			a.step = func(name string) {
				if name == "archiving" {
					once()
				}
			}
		}, "--tar", "-f", "d").want(t, c.code, c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := pz(t, "", "-x", "-c", "d.tar.pz", "d/a").want(t, exitOK).out; got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
		got := mustRun(t, dir, unpz(t, "d.tar.pz"), tarProgram, "-xOf", "-", "d/b")
		wantContent(t, got, "next")
	}
}

// TestArchiveFails makes and extracts archives where there is no room. Nothing is left behind.
func TestArchiveFails(t *testing.T) {
	testenv.Slow(t)
	dir := t.TempDir()
	in := write(t, noise(200_000), dir, "d", "a")
	cmd := inShell(command("--tar", "-o", "d.tar.pz", "d"), "ulimit -f 100; trap '' XFSZ")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "file too large") {
		t.Errorf("%v: %s", err, out)
	}
	wantFiles(t, dir, "d")
	t.Chdir(dir)
	pz(t, "", "--tar", "d").want(t, exitOK)
	os.Rename(in, in+"-moved")
	cmd = inShell(command("-x", "d.tar.pz"), "ulimit -f 100; trap '' XFSZ")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "d/a: file too large") {
		t.Errorf("%v: %s", err, out)
	}
	wantFiles(t, filepath.Join(dir, "d"), "a-moved")
}

// TestArchiveSignals ends pz by a signal while it makes or extracts an archive.
func TestArchiveSignals(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "content", dir, "d", "a")
	pz(t, "", "--tar", "-o", "kept.tar.pz", "d").want(t, exitOK)
	for _, args := range [][]string{{"--tar", "d"}, {"-x", "kept.tar.pz", "--output-dir", "out"}} {
		for _, step := range []string{"created", "written", "synced"} {
			cmd := command(args...)
			cmd.Env = append(cmd.Env, "PZ_TEST_SIGNAL=1")
			stderr, _ := startToStep(t, cmd, step)
			cmd.Process.Signal(syscall.SIGTERM)
			io.Copy(io.Discard, stderr)
			cmd.Wait()
			if end := endOf(cmd); end != syscall.SIGTERM {
				t.Errorf("%v at %s: ended by %v", args, step, end)
			}
			if got := names(t, dir); strings.Contains(got, tempMark) || strings.Contains(got, "d.tar.pz d") {
				t.Errorf("%v at %s: files %s", args, step, got)
			}
		}
	}
}

// TestExtractFewFiles extracts more directories than a process may have open.
func TestExtractFewFiles(t *testing.T) {
	testenv.Slow(t)
	var headers []tar.Header
	for i := range 300 {
		d := "d/" + strconv.Itoa(i)
		headers = append(headers, tar.Header{Name: d + "/"},
			tar.Header{Name: d + "/link", Typeflag: tar.TypeSymlink, Linkname: "x"},
			tar.Header{Name: d + "/hard", Typeflag: tar.TypeLink, Linkname: "file"})
	}
	dir := t.TempDir()
	file := write(t, tarOf(t, append(headers, tar.Header{Name: "file"})...), dir, "a.tar")
	cmd := inShell(command("-x", file, "--no-sync"), "ulimit -n 100")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	if n := strings.Count(names(t, dir), " "); n != 1+1+3*300 {
		t.Errorf("%d files", n)
	}
}

// TestExtractDurable checks that -x syncs each file before its name, and then the directories.
func TestExtractDurable(t *testing.T) {
	dir := t.TempDir()
	file := write(t, tarOf(t, tar.Header{Name: "d/a"}, tar.Header{Name: "d/e/b"}), dir, "a.tar")
	var mu sync.Mutex // several goroutines sync
	files, dirs := 0, map[string]bool{}
	pzWith(t, "", func(a *app) {
		a.syncFile = func(f *os.File) error {
			mu.Lock()
			defer mu.Unlock()
			files++
			if !isTempName(filepath.Base(f.Name())) {
				t.Errorf("%s is synced after it has its name", f.Name())
			}
			return nil
		}
		a.syncDir = func(root *os.Root) error {
			mu.Lock()
			defer mu.Unlock()
			dirs[filepath.Base(root.Name())] = true
			return nil
		}
	}, "-x", file, "--output-dir", filepath.Join(dir, "out")).want(t, exitOK)
	if files != 2 || !dirs["d"] || !dirs["e"] || !dirs["out"] {
		t.Errorf("%d files and the directories %v are synced", files, dirs)
	}
	failed := errors.New("no sync")
	pzWith(t, "", func(a *app) { a.syncFile = func(*os.File) error { return failed } },
		"-xf", file, "--output-dir", filepath.Join(dir, "new")).want(t, exitError, "d/a: no sync")
	if got := names(t, filepath.Join(dir, "new")); got != "d/ d/e/" {
		t.Errorf("files %s", got)
	}
}
