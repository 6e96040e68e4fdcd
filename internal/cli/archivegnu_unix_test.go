//go:build unix

package cli

import (
	"archive/tar"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopz/compress/internal/testenv"
)

// TestExtractAsTar extracts archives with entries that only GNU tar writes, and odd ones. GNU tar
// extracts the same.
func TestExtractAsTar(t *testing.T) {
	tool := gnuTar(t)
	withUmask(t)
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "secret", dir, "d", "private", "a")
	write(t, "old", dir, "d", "sub", "b")
	write(t, noise(30_000), dir, "large")
	os.Chmod("d/private", 0o700)
	os.Chtimes("d/private", time.Time{}, time.Unix(0, 0))
	os.Chtimes("d/private/a", time.Time{}, time.Unix(0, 0))
	late := time.Date(2400, 1, 2, 3, 4, 5, 600_000_000, time.UTC)
	if root, err := os.OpenRoot("d/sub"); err != nil || setDirTime(root, late) != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		"-g snapshot -cf a.tar d",
		"-V label -cf a.tar d",
		"--format=pax -V label -cf a.tar d",
		"--format=pax -cf a.tar d",
		"--format=pax --pax-option=mtime=1234 -cf a.tar d",
		"-cf a.tar d; printf 'file 1' > f; tar --transform s,^,d/, -rf a.tar f; ln f g; " +
			"tar -rf a.tar f g; printf 'another file' > f2; mv f2 f; tar -rf a.tar f; rm f g",
	} {
		os.Remove("snapshot")
		mustRun(t, dir, "", "sh", "-c", strings.ReplaceAll("tar "+script, "tar -", tool+" -"))
		ours, theirs := filepath.Join(t.TempDir(), "out"), t.TempDir()
		pz(t, "", "-x", "a.tar", "--output-dir", ours).want(t, exitOK)
		mustRun(t, theirs, "", tool, "--warning=no-timestamp", "-xf", filepath.Join(dir, "a.tar"))
		wantTree(t, script, ours, theirs, false)
	}
	volumes := tool + " -cM -L 10 -f 1.tar -f 2.tar -f 3.tar -f 4.tar large d"
	mustRun(t, dir, "", strings.Fields(volumes)...)
	out := filepath.Join(dir, "out")
	pz(t, "", "-x", "4.tar", "--output-dir", out).want(t, exitError,
		"4.tar: large: is the rest of a file that another volume begins")
	wantTree(t, "last volume", filepath.Join(out, "d"), filepath.Join(dir, "d"), true)
	pz(t, "", "-x", "2.tar").want(t, exitError, "2.tar: is cut short")
}

// TestExtractConflicts extracts archives in which a name is a directory and something else. As with
// GNU tar the first one stays, and the others are errors. -l lists all entries.
func TestExtractConflicts(t *testing.T) {
	tool := gnuTar(t)
	withUmask(t)
	dir := t.TempDir()
	t.Chdir(dir)
	link := tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: dir, Mode: 0o777}
	file := func(name string) tar.Header { return tar.Header{Name: name} }
	for _, c := range []struct {
		headers []tar.Header
		errors  []string
	}{
		// The last entries give the directories a time.
		{[]tar.Header{file("l/f"), link, file("g/f"), file("g"), file("l/"), file("g/")}, []string{"l", "g"}},
		{[]tar.Header{file("g"), file("g/f"), file("a")}, []string{"g/f"}},
		{[]tar.Header{file("p/"), file("p/q"), file("p")}, []string{"p"}},
		{[]tar.Header{file("p"), file("p/q"), file("p/")}, []string{"p/q"}},
		{[]tar.Header{file("p"), file("p/q"), file("p/"), file("p/r"), file("p")}, []string{"p/q", "p"}},
		{[]tar.Header{link, file("l/evil"), file("l/d/evil")}, []string{"l/evil", "l/d/evil"}},
	} {
		write(t, tarOf(t, c.headers...), dir, "a.tar")
		ours, theirs := filepath.Join(t.TempDir(), "out"), t.TempDir()
		r := pz(t, "", "-x", "a.tar", "--output-dir", ours).want(t, exitError)
		for _, name := range c.errors {
			path := filepath.Join(ours, name)
			if !strings.Contains(r.err, path+": an earlier entry of the archive makes ") {
				t.Errorf("no error for %s: %s", path, r.err)
			}
		}
		if n := strings.Count(r.err, "\n"); n != len(c.errors) {
			t.Errorf("%d lines: %s", n, r.err)
		}
		if exec.Command(tool, "-C", theirs, "-xf", "a.tar").Run() == nil {
			t.Errorf("GNU tar extracts all: %v", c.errors)
		}
		wantTree(t, c.errors[0], ours, theirs, false)
		list := mustRun(t, dir, "", tool, "-tf", "a.tar")
		wantContent(t, pz(t, "", "-lq", "--tar", "a.tar").want(t, exitOK).out, list)
	}
}

// TestListAll lists entries that others replace, as GNU tar does.
func TestListAll(t *testing.T) {
	tool := gnuTar(t)
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "1", dir, "A", "a1")
	write(t, "2", dir, "A", "a2")
	mustRun(t, dir, "", tool, "--sort=name", "-cf", "a.tar", "A")
	write(t, "new", dir, "A", "a2")
	os.Chtimes("A/a2", time.Time{}, time.Now().Add(time.Hour))
	mustRun(t, dir, "", tool, "-uf", "a.tar", "A/a2")
	mustRun(t, dir, "", "cp", "a.tar", "b.tar")
	mustRun(t, dir, "", tool, "-Af", "a.tar", "b.tar")
	list := pz(t, "", "-lq", "--tar", "a.tar").want(t, exitOK).out
	wantContent(t, list, mustRun(t, dir, "", tool, "-tf", "a.tar"))
	if n := strings.Count(list, "A/a2\n"); n != 4 {
		t.Errorf("A/a2 %d times: %s", n, list)
	}
	pz(t, "", "-x", "a.tar", "--output-dir", "out").want(t, exitOK)
	wantFile(t, "out/A/a2", "new")
}

// TestExtractDamagedHeader flips a bit of each byte of a header in turn. pz extracts what GNU tar
// does, and names the damage.
func TestExtractDamagedHeader(t *testing.T) {
	tool := gnuTar(t)
	withUmask(t)
	dir := t.TempDir()
	t.Chdir(dir)
	plain := tarOf(t, tar.Header{Name: "a"}, tar.Header{Name: "b"}, tar.Header{Name: "c"},
		tar.Header{Name: "d"})
	const header = 2048 // of c
	for i := 0; i < 512; i += 37 {
		bad := plain[:header+i] + string(plain[header+i]^1) + plain[header+i+1:]
		write(t, bad, dir, "a.tar")
		write(t, pz(t, bad, "-c").out, dir, "a.tar.pz")
		theirs := t.TempDir()
		if exec.Command(tool, "-C", theirs, "-xf", "a.tar").Run() == nil {
			t.Errorf("byte %d: GNU tar finds no damage", i)
		}
		for _, name := range []string{"a.tar", "a.tar.pz"} {
			ours := filepath.Join(t.TempDir(), "out")
			pz(t, "", "-x", name, "--output-dir", ours).want(t, exitError,
				name+": is no tar archive, or is damaged at byte 2048 of the tar file",
				"; entries with intact headers in front of that and behind it were read")
			wantTree(t, fmt.Sprintf("%s, byte %d", name, i), ours, theirs, false)
			wantFiles(t, ours, "a", "b", "d")
		}
	}
}

// TestExtractLoneBlock extracts an archive in which data follows a single block of zeros. GNU tar
// warns of that. Nothing is wrong if no data follows.
func TestExtractLoneBlock(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	plain := tarOf(t, tar.Header{Name: "a"})
	write(t, plain[:1024+512]+strings.Repeat("x", 512), dir, "a.tar")
	pz(t, "", "-x", "a.tar").want(t, exitWarning,
		"a.tar: at byte 1024 of the tar file: data behind a single block of zeros")
	wantFile(t, "a", "a")
	pz(t, "", "-l", "--tar", "a.tar").want(t, exitWarning, "data behind a single block of zeros")
	write(t, plain[:1024+512], dir, "b.tar")
	pz(t, "", "-l", "--tar", "b.tar").want(t, 0)
	pz(t, "", "-x", "--force", "b.tar").want(t, 0)
}

// TestExtractClosedDirs extracts directories that their owner may not search, as a user who is not
// root.
func TestExtractClosedDirs(t *testing.T) {
	var headers []tar.Header
	modes := map[string]os.FileMode{"r": 0o600, "none": 0, "x": 0o500, "w": 0o200}
	for name, mode := range modes {
		d := tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: int64(mode) | 0o1000}
		sub := d
		sub.Name += "sub/"
		headers = append(headers, d, sub, tar.Header{Name: sub.Name + "file"})
	}
	dir := t.TempDir()
	file := write(t, tarOf(t, headers...), dir, "a.tar")
	out := filepath.Join(dir, "out")
	os.Mkdir(out, 0o755)
	cmd := command("-x", file)
	cmd.Dir = out
	if os.Geteuid() == 0 {
		program, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Skip(err)
		}
		cmd.Path = write(t, string(program), dir, "pz")
		for _, path := range []string{filepath.Dir(dir), dir, cmd.Path} {
			os.Chmod(path, 0o755)
		}
		os.Chown(out, 65534, 65534)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if text, err := cmd.CombinedOutput(); err != nil || len(text) > 0 {
		t.Fatalf("%v: %s", err, text)
	}
	for name, mode := range modes {
		fi, err := os.Stat(filepath.Join(out, name))
		if err != nil || fi.Mode().Perm() != mode || !fi.ModTime().Equal(fakeTime) {
			t.Errorf("%s: %v, %v", name, fi, err)
		}
		os.Chmod(filepath.Join(out, name), 0o755)
		sub := filepath.Join(out, name, "sub")
		if fi, err := os.Stat(sub); err != nil || fi.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", sub, fi, err)
		}
		os.Chmod(sub, 0o755)
	}
}

// TestExtractDeep extracts names with very many directories. It opens each of them a few times.
func TestExtractDeep(t *testing.T) {
	const depth = 1000
	name := strings.Repeat("d/", depth) + "f"
	file := write(t, tarOf(t, tar.Header{Name: name}, tar.Header{Name: "d/d/g"}), t.TempDir(), "a.tar")
	out := filepath.Join(t.TempDir(), "out")
	opened := 0
	count := func(a *app) {
		a.step = func(name string) {
			if name == "directory" {
				opened++
			}
		}
	}
	pzWith(t, "", count, "-x", "--no-sync", file, "--output-dir", out).want(t, exitOK)
	if opened > 5*depth {
		t.Errorf("%d directories were opened %d times", depth, opened)
	}
	root, err := os.OpenRoot(out)
	for range depth {
		if err != nil {
			t.Fatal(err)
		}
		var sub *os.Root
		sub, err = root.OpenRoot("d")
		root.Close()
		root = sub
	}
	if p, err := root.ReadFile("f"); string(p) != name {
		t.Errorf("%d bytes, %v", len(p), err)
	}
}

// TestExtractHoles extracts a file of a TiB that is a hole, and one of content between holes.
func TestExtractHoles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const size = 1 << 40
	f, err := os.Create("big")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("content"), 1<<39); err != nil {
		t.Skip(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Skip(err)
	}
	f.Close()
	for _, format := range []string{"gnu", "pax --sparse-version=0.0", "pax --sparse-version=0.1", "pax"} {
		args := append([]string{gnuTar(t), "-Scf", "a.tar"}, strings.Fields("--format="+format+" big")...)
		mustRun(t, dir, "", args...)
		pz(t, "", "-x", "a.tar", "--output-dir", "out").want(t, exitOK)
		fi, err := os.Stat("out/big")
		if err != nil || fi.Size() != size || fi.Sys().(*syscall.Stat_t).Blocks > 1000 {
			t.Fatalf("%s: %v, %v", format, fi, err)
		}
		got, err := os.Open("out/big")
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 9)
		_, err = got.ReadAt(p, 1<<39-1)
		if string(p) != "\x00content\x00" {
			t.Errorf("%s: %q, %v", format, p, err)
		}
		got.Close()
		os.RemoveAll("out")
	}
	cmd := inShell(command("-x", "a.tar", "--output-dir", "out"), "ulimit -f 100; trap '' XFSZ")
	text, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(text), "big: file too large") {
		t.Errorf("with a limit: %v: %s", err, text)
	}
	wantFiles(t, "out")
	plain, err := os.ReadFile("a.tar")
	if err != nil {
		t.Fatal(err)
	}
	write(t, strings.Replace(string(plain), "\n549755813888\n", "\nx49755813888\n", 1), dir, "bad.tar")
	pz(t, "", "-x", "bad.tar").want(t, exitError,
		"bad.tar: big: its header, or its map of holes, is damaged")
}

// TestArchiveUnknownSize archives a file that has more content than its size says.
func TestArchiveUnknownSize(t *testing.T) {
	const name = "/proc/version"
	if fi, err := os.Stat(name); err != nil || fi.Size() != 0 {
		testenv.Missing(t, name)
	}
	t.Chdir(t.TempDir())
	pz(t, "", "--tar", "-o", "a.tar.pz", name).want(t, exitWarning,
		name+": has more content than its size says; the archive has the first 0 bytes")
	mustRun(t, "", unpz(t, "a.tar.pz"), gnuTar(t), "-tf", "-")
}

// TestArchiveChangedByTools has other programs change archives that pz has made. Their size must be
// whole records: GNU tar destroys others.
func TestArchiveChangedByTools(t *testing.T) {
	testenv.Slow(t)
	tool := gnuTar(t)
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "other", dir, "o")
	pz(t, "", "--tar", "-o", "o.tar.pz", "o").want(t, exitOK)
	write(t, unpz(t, "o.tar.pz"), dir, "o.tar")
	for _, files := range []int{1, 60} {
		os.RemoveAll("d")
		for i := range files {
			write(t, sample(100*i), dir, "d", fmt.Sprint("f", i+10))
		}
		os.Remove("a.tar.pz")
		pz(t, "", "--tar", "-o", "a.tar.pz", "d").want(t, exitOK)
		plain := unpz(t, "a.tar.pz")
		if len(plain)%10240 != 0 {
			t.Errorf("%d files: %d bytes", files, len(plain))
		}
		before := mustRun(t, dir, plain, tool, "-tf", "-")
		for _, c := range []struct{ command, want string }{
			{tool + " -rf a.tar o", before + "o\n"},
			{tool + " -uf a.tar o", before + "o\n"},
			{tool + " -Af a.tar o.tar", before + "o\n"},
			{tool + " -f a.tar --delete d/f10", strings.Replace(before, "d/f10\n", "", 1)},
			{"bsdtar -rf a.tar o", before + "o\n"},
			{"bsdtar -uf a.tar o", before + "o\n"},
			{"python3 -c import_tarfile;t=tarfile.open('a.tar','a');t.add('o');t.close()", before + "o\n"},
		} {
			args := strings.Fields(c.command)
			if _, err := exec.LookPath(args[0]); err != nil {
				testenv.Missing(t, args[0])
			}
			args[len(args)-1] = strings.Replace(args[len(args)-1], "import_", "import ", 1)
			write(t, plain, dir, "a.tar")
			mustRun(t, dir, "", args...)
			wantContent(t, mustRun(t, dir, "", tool, "-tf", "a.tar"), c.want)
			wantContent(t, pz(t, "", "-lq", "--tar", "a.tar").want(t, exitOK).out, c.want)
		}
	}
}
