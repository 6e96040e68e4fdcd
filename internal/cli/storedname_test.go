package cli

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var someTime = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

func mustTime(t *testing.T, path string, want time.Time) {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !fi.ModTime().Equal(want) {
		t.Errorf("%s: time %v, want %v", path, fi.ModTime(), want)
	}
}

// TestNameAgainstGzip checks that gzip uses the name and time that pz stores, and pz those of gzip:
// with -N both are used, without it neither, and with -n neither is stored.
func TestNameAgainstGzip(t *testing.T) {
	gzipProgram := func(dir string, args ...string) {
		t.Helper()
		for i, a := range args {
			if !strings.HasPrefix(a, "-") {
				args[i] = filepath.Join(dir, a)
			}
		}
		runTool(t, "", "gzip", args...)
	}
	for i, name := range []string{
		"plain.txt", "gr\u00fcn", "with space", "no latin: \u20ac \U0001F600", "bytes \xff\xfe",
	} {
		for j, c := range []struct {
			pack, unpack string
			kept         bool
		}{
			{"", "-N", true},
			{"-N", "-N", true},
			{"-nN", "-N", true},
			{"", "", false},
			{"-N", "-n", false},
			{"-n", "-N", false},
			{"-n", "", false},
			{"", "-Nn", false},
		} {
			if !oneOf(3, i, j) {
				continue
			}
			for _, ours := range []bool{true, false} {
				dir := t.TempDir()
				in := filepath.Join(dir, name)
				if err := os.WriteFile(in, []byte("content"), 0o600); err != nil {
					t.Log(err) // not every file system allows such names
					continue
				}
				os.Chtimes(in, someTime, someTime)
				packed, result := filepath.Join(dir, "other.gz"), filepath.Join(dir, "other")
				args := strings.Fields(c.pack)
				if ours {
					pz(t, "", append(args, "--format", "gz", "--rm", "-o", packed, in)...).want(t, exitOK)
				} else {
					gzipProgram(dir, append(args, name)...)
					if err := os.Rename(in+".gz", packed); err != nil {
						t.Fatal(err)
					}
				}
				fileTime := time.Date(2011, 1, 1, 1, 1, 1, 0, time.UTC)
				os.Chtimes(packed, fileTime, fileTime)
				args = append(strings.Fields(c.unpack), "-d")
				if ours {
					gzipProgram(dir, append(args, "-k", "other.gz")...)
				} else {
					pz(t, "", append(args, packed)...).want(t, exitOK)
				}
				if c.kept {
					result, fileTime = in, someTime
				}
				wantFile(t, result, "content")
				mustTime(t, result, fileTime)
				if list, _ := os.ReadDir(dir); len(list) != 2 {
					t.Errorf("%q: the directory holds %v, want two files", name, list)
				}
			}
		}
	}
}

// TestNameIsNotTrusted checks that a stored name never leads out of the directory.
func TestNameIsNotTrusted(t *testing.T) {
	pack := func(name string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Name, w.ModTime = name, someTime
		w.Write([]byte("content"))
		w.Close()
		return b.String()
	}
	for name, want := range map[string]string{
		"../up":       "up",
		"/etc/passwd": "passwd",
		"a/b/c":       "c",
		"..":          "",
		".":           "",
		"a/":          "",
		"../..":       "",
		"x\n\x1b[31m": "",
		"x\x7f":       "",
		"x\u009b31m":  "",
		"-rf":         "",
		"--":          "",
		"a/-i":        "",
		"-/b":         "b",
		"b-":          "b-",
	} {
		top := t.TempDir()
		dir := filepath.Join(top, "dir")
		in := write(t, pack(name), dir, "f.gz")
		if want == "" {
			pz(t, "", "-dN", in).want(t, exitWarning,
				"stores the name ", ", which is not a safe file name -- not used")
			want = "f"
		} else {
			pz(t, "", "-dN", in).want(t, exitOK)
		}
		wantFile(t, filepath.Join(dir, want), "content")
		mustTime(t, filepath.Join(dir, want), someTime)
		wantFiles(t, top, "dir")
	}
	// It replaces no file, and never the source.
	dir := t.TempDir()
	in := write(t, pack("f.gz"), dir, "f.gz")
	pz(t, "", "-dNf", in).want(t, exitError, "is the input itself")
	write(t, pack("victim"), dir, "f.gz")
	victim := write(t, "mine", dir, "victim")
	pz(t, "", "-dN", in).want(t, exitWarning, "victim: already exists -- not overwritten")
	wantFile(t, victim, "mine")
	wantFiles(t, dir, "f.gz", "victim")
	// With -o pz uses the time only. A damaged header has no name.
	out := filepath.Join(dir, "out")
	pz(t, "", "-dN", "-o", out, in).want(t, exitOK)
	wantFile(t, out, "content")
	mustTime(t, out, someTime)
	write(t, pack("victim")[:15], dir, "g.gz")
	pz(t, "", "-dN", filepath.Join(dir, "g.gz")).want(t, exitError, "is cut short")
	// -N changes nothing for other formats.
	write(t, pz(t, "content", "--format", "zst").out, dir, "h.zst")
	pz(t, "", "-dN", filepath.Join(dir, "h.zst")).want(t, exitOK)
	wantFiles(t, dir, "f.gz", "g.gz", "h", "h.zst", "out", "victim")
}

// TestNoNameOfStandardInput checks that the output for standard input does not depend on its
// origin.
func TestNoNameOfStandardInput(t *testing.T) {
	a := pz(t, "content", "--format", "gz").want(t, exitOK).out
	b := runProcess(t, strings.NewReader("content"), "--format", "gz", "-n").want(t, exitOK).out
	in := write(t, "content", t.TempDir(), "name")
	c := pz(t, "", "-c", "-n", "--format", "gz", in).want(t, exitOK).out
	if a != b || a != c {
		t.Errorf("% x, % x, % x", a, b, c)
	}
	d := pz(t, "", "-c", "--format", "gz", in).want(t, exitOK).out
	if !strings.Contains(d, "name\x00") {
		t.Errorf("the header lacks the name: % x", d)
	}
}

// TestListStoredName checks what -l -v prints of the header of a .gz file.
func TestListStoredName(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		time time.Time
		want string
	}{
		{"a b", someTime, "stores the name a b and the time 2001-02-03T04:05:06Z\n"},
		{"../\x1b", time.Time{}, "stores the name \"../\\x1b\"\n"},
		{"", someTime, "stores the time 2001-02-03T04:05:06Z\n"},
		{"", time.Time{}, ""},
	} {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Name, w.ModTime = c.name, c.time
		w.Write([]byte("content"))
		w.Close()
		in := write(t, b.String(), dir, "in.gz")
		var want []string
		if c.want != "" {
			want = []string{"pz: " + in + ": " + c.want}
		}
		pz(t, "", "-lv", in).want(t, exitOK, want...)
		pz(t, "", "-l", in).want(t, exitOK)
	}
}
