package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// TestDeviceNames checks that results do not go to devices, unless -o names one.
func TestDeviceNames(t *testing.T) {
	dir := `\\?\` + t.TempDir() // the system takes no device in it
	packed := pz(t, "content").out
	for _, name := range []string{"NUL", "com1.txt", "aux"} {
		in := write(t, packed, dir, name+".pz")
		pz(t, "", "-d", in).want(t, exitError, name+": is not a name for a file; name another file with -o")
		wantContent(t, unpz(t, in), "content")
		os.Remove(in)
	}
	wantFiles(t, dir)
	pz(t, "content", "-o", "NUL").want(t, exitOK)
}

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
	f, err := openShared(in, os.O_RDONLY)
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
	r := pz(t, "", in+"2").want(t, exitError, "a2: ")
	if strings.HasSuffix(r.err, ".\n") {
		t.Errorf("%q", r.err)
	}
}

// TestClosedPipe checks that a reader that closes its pipe gives no message.
func TestClosedPipe(t *testing.T) {
	packed := write(t, pz(t, strings.Repeat("content", 1<<20)).out, t.TempDir(), "a.pz")
	cmd := command("-dc", packed)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.ReadFull(out, make([]byte, 10))
	out.Close()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitError || errs.String() != "" {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
}

func TestSystemReason(t *testing.T) {
	for err, want := range map[error]string{
		windows.ERROR_PATH_NOT_FOUND: "no such file or directory",
		windows.ERROR_ACCESS_DENIED:  "permission denied",
		errors.New("a sentence."):    "a sentence.",
	} {
		if got := systemReason(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	if text := systemReason(windows.ERROR_DISK_FULL); text == "" || strings.HasSuffix(text, ".") {
		t.Errorf("%q", text)
	}
}
