package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestNoSpace checks a full disk.
func TestNoSpace(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256k"); err != nil {
		// TestFileSizeLimit and TestFullDevice cover failing writes as well.
		t.Skipf("cannot mount a file system: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	in := write(t, noise(150_000), dir, "in")
	pz(t, "", "--rm", in).want(t, exitError, "in.pz: no space left on device")
	wantFiles(t, dir, "in")

	packed := write(t, pz(t, strings.Repeat("x", 1<<20)).out, dir, "x.pz")
	pz(t, "", "-d", "--rm", packed).want(t, exitError, "x: no space left on device")
	pz(t, "", "-d", "--rm", "-o", filepath.Join(dir, "out"), packed).want(t, exitError,
		"out: no space left on device")
	wantFiles(t, dir, "in", "x.pz")
	wantFile(t, in, noise(150_000))

	// Source and result may be on different file systems.
	out := filepath.Join(t.TempDir(), "out")
	pz(t, "", "--rm", "-o", out, in).want(t, exitOK)
	wantFiles(t, dir, "x.pz")
	if got := unpz(t, out); got != noise(150_000) {
		t.Errorf("%d bytes", len(got))
	}
}

// TestProcFiles checks a file in /proc, whose size is 0 although it has content.
func TestProcFiles(t *testing.T) {
	want, err := os.ReadFile("/proc/version")
	if err != nil {
		testenv.Missing(t, err.Error())
	}
	packed := pz(t, "", "-c", "/proc/version").want(t, exitOK).out
	if got := pz(t, packed, "-d").out; got != string(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
