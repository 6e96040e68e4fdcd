package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// TestPaths compresses and restores a file by several kinds of paths.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	deep := filepath.Join(dir, strings.Repeat("d", 120), strings.Repeat("e", 120))
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "content", dir, "a")
	write(t, "content", deep, "a")
	volume := filepath.VolumeName(dir)
	for _, path := range []string{
		"a", `.\a`, "./a", "A", volume + "a", dir + `\a`, strings.ReplaceAll(dir, `\`, "/") + "/a",
		`\\?\` + dir + `\a`, strings.ToUpper(dir) + `\a`, filepath.Join(deep, "a"),
	} {
		pz(t, "", "-f", path).want(t, exitOK)
		if err := os.Remove(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		pz(t, "", "-d", "--rm", path+".PZ").want(t, exitOK)
		wantFile(t, path, "content")
	}
	wantFiles(t, deep, "a")
	pz(t, "", "-o", "A", "a").want(t, exitError, "is the input itself")
}

// TestSharing checks that another program may rename a source, and that one without sharing gives a
// message.
func TestSharing(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	f, err := openShared(in)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(in, in+"2"); err != nil {
		t.Error(err)
	}
	name, _ := windows.UTF16PtrFromString(in + "2")
	f.Close()
	h, err := windows.CreateFile(name, windows.GENERIC_READ, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(h)
	pz(t, "", in+"2").want(t, exitError, "a2: ")
}
