package cli

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// tarOf returns a tar file of these entries. A header without a type is a file, of its name as
// content if it has no size.
func tarOf(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		content := ""
		if h.Typeflag == 0 && !strings.HasSuffix(h.Name, "/") {
			content = h.Name
		}
		if h.Mode == 0 {
			h.Mode = 0o644
			if strings.HasSuffix(h.Name, "/") {
				h.Mode = 0o755
			}
		}
		h.Size = int64(len(content))
		if h.ModTime.IsZero() {
			h.ModTime = fakeTime
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(content))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// names returns the names of all below a directory, separated by spaces.
func names(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			name += "/"
		}
		list = append(list, name)
		if err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list[1:], " ")
}

var someFiles = []tar.Header{
	{Name: "top"}, {Name: "d/"}, {Name: "d/a.txt"}, {Name: "d/e/b.txt"}, {Name: "d/e/[x]"}, {Name: "d/x"},
	{Name: "z/a.txt"},
}

// TestExtractMembers extracts named files and directories.
func TestExtractMembers(t *testing.T) {
	file := write(t, pz(t, tarOf(t, someFiles...), "-c").out, t.TempDir(), "a.tar.pz")
	list := write(t, "top\nz/\n", t.TempDir(), "list")
	for _, c := range []struct {
		args, want, text string
		code             int
	}{
		{"", "d/ d/a.txt d/e/ d/e/[x] d/e/b.txt d/x top z/ z/a.txt", "", exitOK},
		{".", "d/ d/a.txt d/e/ d/e/[x] d/e/b.txt d/x top z/ z/a.txt", "", exitOK},
		{"top", "top", "", exitOK},
		{"./d/e/ /top", "d/ d/e/ d/e/[x] d/e/b.txt top", "", exitOK},
		{"d/e/b.txt", "d/ d/e/ d/e/b.txt", "", exitOK},
		{"top top ./top", "top", "", exitOK},
		{"*.txt", "d/ d/a.txt d/e/ d/e/b.txt z/ z/a.txt", "", exitOK},
		{"d/*.txt", "d/ d/a.txt", "", exitOK},
		{"[dz]", "d/ d/a.txt d/e/ d/e/[x] d/e/b.txt d/x z/ z/a.txt", "", exitOK},
		{"d/e/[x]", "d/ d/e/ d/e/[x]", "", exitOK}, // a name, though it looks like a pattern
		{"--exclude e", "d/ d/a.txt d/x top z/ z/a.txt", "", exitOK},
		{"--exclude *.txt d", "d/ d/e/ d/e/[x] d/x", "", exitOK},
		{"--exclude a.tar.pz top", "top", "", exitOK},
		{"top none *.c", "top", "has no entry none\npz: " + printable(file) + ": has no entry *.c",
			exitError},
		{"to", "", "has no entry to", exitError},
		{"[", "", "has no entry [", exitError},
		{"--files-from " + list, "top z/ z/a.txt", "", exitOK},
	} {
		dir := t.TempDir()
		args := append([]string{"-x", "--output-dir", dir, file}, strings.Fields(c.args)...)
		pz(t, "", args...).want(t, c.code, c.text)
		if got := names(t, dir); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
	}
	r := pz(t, "", "-x", "-c", file, "d/a.txt", "z").want(t, exitOK)
	if r.out != "d/a.txtz/a.txt" {
		t.Errorf("-c prints %q", r.out)
	}
}

// TestExtractOver extracts where files exist.
func TestExtractOver(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	links := []tar.Header{
		{Name: "file"}, {Name: "hard", Typeflag: tar.TypeLink, Linkname: "file"},
		{Name: "sym", Typeflag: tar.TypeSymlink, Linkname: "file"}, {Name: "dir/file"}, {Name: "was-dir"},
	}
	if runtime.GOOS == "windows" {
		links = append(links[:2], links[3:]...)
	}
	file := write(t, tarOf(t, links...), dir, "a.tar")
	write(t, "mine", dir, "file")
	write(t, "mine", dir, "sym")
	write(t, "mine", dir, "dir")
	write(t, "mine", dir, "was-dir", "file")
	pz(t, "", "-x", file).want(t, exitError, "file: already exists -- not overwritten; use -f",
		filepath.FromSlash("dir/file: is no directory, so nothing can be extracted to it"),
		"was-dir: is a directory\n")
	wantFile(t, "file", "mine")
	wantFile(t, "hard", "file") // not the file that was there
	os.Remove("dir")
	pz(t, "", "-xf", file).want(t, exitError, "was-dir: is a directory\n")
	wantFile(t, "file", "file")
	wantFile(t, "dir/file", "dir/file")
	if runtime.GOOS != "windows" {
		if target, err := os.Readlink("sym"); target != "file" {
			t.Errorf("sym is %q, %v", target, err)
		}
		a, _ := os.Stat("file")
		if b, err := os.Stat("hard"); err != nil || !os.SameFile(a, b) {
			t.Errorf("hard is not file: %v", err)
		}
	}
	if got := names(t, dir); strings.Contains(got, tempMark) {
		t.Errorf("temporary files: %s", got)
	}
	pz(t, "", "-x", file, "dir/file").want(t, exitWarning, "already exists")
	pz(t, "", "-xf", "a.tar", "--output-dir", ".", "file").want(t, exitOK)
	write(t, tarOf(t, tar.Header{Name: "self.tar"}), dir, "self.tar")
	pz(t, "", "-xf", "self.tar").want(t, exitError, "self.tar: is the input itself")
}

// TestExtractHardLink extracts a link alone, and one to a file that the archive lacks.
func TestExtractHardLink(t *testing.T) {
	dir := t.TempDir()
	file := write(t, tarOf(t, tar.Header{Name: "file"},
		tar.Header{Name: "one", Typeflag: tar.TypeLink, Linkname: "file"},
		tar.Header{Name: "two", Typeflag: tar.TypeLink, Linkname: "./file"},
		tar.Header{Name: "lost", Typeflag: tar.TypeLink, Linkname: "../../outside"}), dir, "a.tar")
	out := filepath.Join(dir, "out")
	write(t, "outside", dir, "outside")
	pz(t, "", "-x", file, "--output-dir", out, "one", "two").want(t, exitOK)
	wantFile(t, filepath.Join(out, "one"), "file")
	a, err1 := os.Stat(filepath.Join(out, "one"))
	b, err2 := os.Stat(filepath.Join(out, "two"))
	if err1 != nil || err2 != nil || !os.SameFile(a, b) {
		t.Errorf("the links are different files: %v, %v", err1, err2)
	}
	pz(t, "", "-x", file, "--output-dir", out, "lost").want(t, exitError,
		"lost: is a hard link to a file that the archive does not have")
	wantFiles(t, out, "one", "two")
	pz(t, "", "-c", "-x", file, "two").want(t, exitOK)
}

// TestExtractNames extracts names that lead out of the directory, which they must not leave.
func TestExtractNames(t *testing.T) {
	dir := t.TempDir()
	file := write(t, tarOf(t, tar.Header{Name: "../up"}, tar.Header{Name: "/abs/file"},
		tar.Header{Name: "a/../../b"}, tar.Header{Name: "./c/./d"}, tar.Header{Name: ".."}), dir, "a.tar")
	pz(t, "", "-x", file, "--output-dir", filepath.Join(dir, "out")).want(t, exitOK)
	const want = "a.tar out/ out/abs/ out/abs/file out/b out/c/ out/c/d out/up"
	if got := names(t, dir); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestListArchive lists entries as text, by name and as JSON.
func TestListArchive(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	file := write(t, tarOf(t, tar.Header{Name: "d/"}, tar.Header{Name: "d/new\nline\x1b", Mode: 0o4711},
		tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "d/new\nline\x1b"},
		tar.Header{Name: "s", Typeflag: tar.TypeSymlink, Linkname: "a\tb", Mode: 0o777},
		tar.Header{Name: "p", Typeflag: tar.TypeFifo, Mode: 0o1600}, tar.Header{Name: "\xff.o"}),
		t.TempDir(), "a.tar")
	const want = `drwxr-xr-x             0 2026-01-02 03:04 d/
-rws--x--x            11 2026-01-02 03:04 "d/new\nline\x1b"
-rws--x--x            11 2026-01-02 03:04 h link to "d/new\nline\x1b"
lrwxrwxrwx             0 2026-01-02 03:04 s -> "a\tb"
prw------T             0 2026-01-02 03:04 p
`
	const last = "-rw-r--r--             3 2026-01-02 03:04 \"\\xff.o\"\n"
	wantContent(t, pz(t, "", "-l", "--tar", file).want(t, exitOK).out, want+last)
	wantContent(t, pz(t, "", "-l", "--tar", "--exclude", "*.o", file).want(t, exitOK).out, want)
	wantContent(t, pz(t, "", "-lq", "--tar", file).want(t, exitOK).out,
		"d/\n\"d/new\\nline\\x1b\"\nh\ns\np\n\"\\xff.o\"\n")
	var list []entryListing
	r := pz(t, "", "-l", "--tar", "--json", file, file).want(t, exitOK)
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || len(list) != 12 {
		t.Fatalf("%d objects, %v: %s", len(list), err, r.out)
	}
	if e := list[1]; e.Archive != file || e.Name != "d/new\nline\x1b" || e.Type != "file" ||
		e.Mode != "4711" || e.Size != 11 || e.Modified != "2026-01-02T03:04:05Z" {
		t.Errorf("%+v", e)
	}
	if list[2].Type != "hardlink" || list[2].Link != "d/new\nline\x1b" ||
		string(list[5].NameBytes) != "\xff.o" {
		t.Errorf("%+v, %+v", list[2], list[5])
	}
	r = pz(t, "", "-l", "--tar", "--json", "-q", "none.tar").want(t, exitError, "none.tar: no such file")
	wantContent(t, r.out, "[]\n")
}

// TestNoArchive reads what is no archive, or a damaged one.
func TestNoArchive(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	plain := tarOf(t, tar.Header{Name: "a"}, tar.Header{Name: "b"})
	text := sample(3000)
	for _, c := range []struct{ name, content, text string }{
		{"text", text, "text: is no tar archive, or is damaged at byte 0 of the tar file"},
		{"text.pz", pz(t, text, "-c").out, "text.pz: is no tar archive, or is damaged at byte 0"},
		{"text.zst", pz(t, text, "-c", "--format=zst").out, "is no tar archive"},
		{"a.zip", "PK\x03\x04" + text, "a.zip: is zip data; use unzip"},
		{"a.tar.lzo", "\x89LZO\x00\r\n\x1a\n", "a.tar.lzo: is lzop data; use lzop -d"},
		{"none", "", "none: "},
		{"short", "abc", "short: is cut short, or is no tar archive"},
		{"cut.tar", plain[:500], "cut.tar: is cut short"},
		{"bad.tar", "x" + plain[1:1024], "bad.tar: is no tar archive, or is damaged at byte 0"},
		{"cut.tar.pz", pz(t, plain, "-c").out[:50], "cut.tar.pz: is cut short"},
	} {
		write(t, c.content, dir, c.name)
		pz(t, "", "-x", c.name, "--output-dir", "out").want(t, exitError, c.text)
		pz(t, "", "-l", "--tar", c.name).want(t, exitError, c.text)
	}
	pz(t, "", "-x", "missing.tar").want(t, exitError, "missing.tar: no such file")
	pz(t, "", "-x", dir).want(t, exitError, "is a directory; -x takes an archive")
	if exists("out") {
		t.Error("the output directory exists")
	}
	// Zeros are an archive without entries.
	write(t, string(make([]byte, 10240)), dir, "zero.tar")
	pz(t, "", "-x", "zero.tar").want(t, exitOK)
}

// TestArchiveFront lists and extracts what is in front of damage, and what is behind a damaged
// header, as tar does. The archive has no list of its entries.
func TestArchiveFront(t *testing.T) {
	t.Chdir(t.TempDir())
	const headerB, headerC = 1024, 204_288 // where they begin
	content := map[string]string{"a": "a", "b": sample(202_500), "c": sample(202_500)}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"a", "b", "c"} {
		h := tar.Header{Name: name, Mode: 0o644, Size: int64(len(content[name])), ModTime: fakeTime}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, content[name])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	plain := b.String()
	packed := func(args ...string) string {
		return pz(t, plain, append(args, "-B64K", "-c")...).want(t, exitOK).out
	}
	flip := func(s string, at int) string { return s[:at] + string(s[at]^1) + s[at+1:] }
	pzTar, gzTar, zstTar := packed(), packed("--format=gz"), packed("--format=zst")
	for i, c := range []struct{ archive, want string }{
		{plain[:headerB+100], "a"},
		{plain[:headerC-200], "a b"}, // in the padding of b
		{plain[:headerC-1000], "a"},  // in its content
		{plain[:len(plain)-1024], "a b c"},
		{flip(plain, headerB), "a c"},
		{flip(plain, headerC), "a b"},
		{flip(pzTar, len(pzTar)*6/8), "a b"},
		{pzTar[:len(pzTar)*6/8], "a b"},
		{pzTar[:len(pzTar)*3/8], "a"},
		{gzTar[:len(gzTar)*3/8], "a"},
		{flip(zstTar, len(zstTar)*6/8), "a b"},
		{zstTar[:len(zstTar)*3/8], "a"},
	} {
		file, out := write(t, c.archive, t.TempDir(), "file"), filepath.Join(t.TempDir(), "out")
		for _, stdin := range []string{"", c.archive} {
			name := file
			if stdin != "" {
				name = "-"
			}
			os.RemoveAll(out)
			code := exitError
			if c.want == "a b c" {
				code = exitOK // as with tar, two blocks of zeros may be missing
			}
			pz(t, stdin, "-x", name, "--output-dir", out).want(t, code)
			for name := range strings.FieldsSeq(c.want) {
				wantFile(t, filepath.Join(out, name), content[name])
			}
			if got := names(t, out); got != c.want {
				t.Errorf("archive %d: files %s, want %s", i, got, c.want)
			}
			list := pz(t, stdin, "-lq", "--tar", name)
			got := strings.Join(strings.Fields(list.out), " ")
			if !strings.HasPrefix(got, c.want) || list.code != code && got != "a b c" {
				t.Errorf("archive %d: exit code %d, entries %s; want %s", i, list.code, got, c.want)
			}
		}
	}
	file := write(t, flip(gzTar, len(gzTar)*6/8), "bad.tar.gz")
	pz(t, "", "-x", file, "--output-dir", "bad").want(t, exitError, "may be damaged too")
	wantFile(t, "bad/b", content["b"])
	for i, bad := range []string{flip(pzTar, len(pzTar)-20), pzTar[:len(pzTar)-20]} {
		out := fmt.Sprint("index", i)
		r := pz(t, bad, "-x", "-", "--output-dir", out).want(t, exitError,
			"; all entries in front of that were read")
		wantFiles(t, out, "a", "b", "c")
		if strings.Contains(r.err, "only") {
			t.Error(r.err)
		}
	}
}

// TestDamagedArchive extracts the files whose blocks are intact.
func TestDamagedArchive(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a", "b", "c"} {
		write(t, sample(200_000), dir, "d", name)
	}
	pz(t, "", "--tar", "-B64K", "d").want(t, exitOK)
	packed, err := os.ReadFile("d.tar.pz")
	if err != nil {
		t.Fatal(err)
	}
	packed[len(packed)/2] ^= 1
	write(t, string(packed), dir, "d.tar.pz")
	pz(t, "", "-x", "d.tar.pz", "--output-dir", "out").want(t, exitError,
		"d.tar.pz: d/b: block ", " is damaged")
	wantFiles(t, "out/d", "a", "c")
	wantFile(t, "out/d/c", sample(200_000))
}

// TestMakeArchive makes archives with names of all kinds, and leaves out what does not belong.
func TestMakeArchive(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "tree")
	for _, name := range []string{"d/a.o", "d/b.c", "d/e/f", "d/.x.pz-01234567", "g"} {
		write(t, name, work, name)
	}
	t.Chdir(work)
	list := write(t, "g\nd/e\n", dir, "list")
	for _, c := range []struct {
		args, file, want string
	}{
		{"d", "d.tar.pz", "d/ d/a.o d/b.c d/e/ d/e/f"},
		{"d/", "d.tar.pz", "d/ d/a.o d/b.c d/e/ d/e/f"},
		{"./d/e --format zst", "d/e.tar.zst", "d/e/ d/e/f"},
		{"g", "g.tar.pz", "g"},
		{"-o x.tgz g d --exclude *.o", "x.tgz", "g d/ d/b.c d/e/ d/e/f"},
		{"-o d/x.tar.pz d", "d/x.tar.pz", "d/ d/a.o d/b.c d/e/ d/e/f"},
		{"-o x.tar.pz ../tree/d/e", "x.tar.pz", "tree/d/e/ tree/d/e/f"},
		{"-o x.tar.pz . --exclude d", "x.tar.pz", "g"},
		{"-o x.tar.pz --files-from " + list, "x.tar.pz", "g d/e/ d/e/f"},
		{"--output-dir " + dir + "/out d/e", dir + "/out/d/e.tar.pz", "d/e/ d/e/f"},
	} {
		args := append([]string{"--tar", "-f"}, strings.Fields(c.args)...)
		for range 2 { // the second time the archive exists
			pz(t, "", args...).want(t, exitOK)
			got := pz(t, "", "-lq", "--tar", c.file).want(t, exitOK).out
			if got = strings.TrimSpace(strings.ReplaceAll(got, "\n", " ")); got != c.want {
				t.Errorf("%s: %s, want %s", c.args, got, c.want)
			}
		}
		os.Remove(c.file)
	}
	abs := filepath.Join(work, "g")
	got := pz(t, pz(t, "", "--tar", "-c", abs).want(t, exitOK).out, "-lq", "--tar", "-").out
	volume := len(filepath.VolumeName(abs)) + 1
	wantContent(t, got, filepath.ToSlash(abs[volume:])+"\n")
	pz(t, "", "--tar", "-o", "x.tar.pz", "none", "g", "", "-", "http://host/x").want(t, exitError,
		"none: no such file", "the file name is empty", "standard input: has no name",
		"http://host/x: is a URL, which only")
	wantContent(t, pz(t, "", "-lq", "--tar", "x.tar.pz").out, "g\n")
	pz(t, "", "--tar", "-o", "x.tar.pz", "g").want(t, exitWarning, "x.tar.pz: already exists")
	pz(t, "", "--tar", "-f", "-o", "x.tar.pz", "none").want(t, exitError, "none: no such file",
		"not written, since it would be empty")
	wantContent(t, pz(t, "", "-lq", "--tar", "x.tar.pz").out, "g\n") // the old one stays
}

// TestArchiveOptions checks options that do not go together.
func TestArchiveOptions(t *testing.T) {
	for _, c := range []struct{ args, text string }{
		{"--tar", "--tar needs the names"},
		{"--tar a b", "--tar needs -o FILE or -c"},
		{"--tar --files-from a", "--tar needs -o FILE or -c"},
		{"--tar .", "--tar needs -o FILE or -c: . has no name"},
		{"--tar a/..", "--tar needs -o FILE or -c: .. has no name"},
		{"--tar -o x.tar a", "name it x.tar.pz"},
		{"--tar -o x.tar.xz a", "pz writes .pz, .gz and .zst files, not .xz"},
		{"--tar --rm a", "--rm does not go with --tar and -x"},
		{"--tar --stream-size 3 a", "--stream-size does not go with --tar"},
		{"--tar -d a", "--tar makes an archive, or lists one with -l"},
		{"--tar -t a", "--tar makes an archive, or lists one with -l"},
		{"--tar --json a", "--json goes with -l and -b only"},
		{"-x -o x a", "-o does not go with -x"},
		{"-x -c --output-dir x a", "--output-dir does not go with -o and -c"},
		{"-x --rm a", "--rm does not go with --tar and -x"},
		{"-x -r a", "-x takes one archive"},
		{"-x --range 1:2 a", "--range goes with -d and -c"},
		{"-x --files-from a", "-x needs the name of the archive"},
	} {
		pz(t, "", strings.Fields(c.args)...).want(t, exitError, c.text)
	}
}

// TestSpoolDirectory lists an archive that needs a temporary file, without a directory for that.
// The message names the directory.
func TestSpoolDirectory(t *testing.T) {
	dir := t.TempDir()
	path := write(t, runTool(t, tarOf(t, tar.Header{Name: "a"}), "xz", "-c"), dir, "x.tar.xz")
	missing := filepath.Join(dir, "missing")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "USERPROFILE"} { // os.TempDir reads these
		t.Setenv(name, missing)
	}
	r := runProcess(t, nil, "-l", "--tar", path)
	r.want(t, exitError, "cannot make a temporary file in "+missing)
	if strings.Contains(r.err, "damaged") {
		t.Error(r.err)
	}
}
