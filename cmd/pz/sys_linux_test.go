package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gopz/compress"
)

// A disk that is full.
func TestNoSpace(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a file system of its own cannot be mounted here: %v (TestFileSizeLimit and TestFullDevice cover failing writes)", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	in := write(t, noise(150_000), dir, "in")
	pz(t, "", "--rm", in).want(t, exitError, "in.pz: no space left on device")
	wantFiles(t, dir, "in")

	packed := write(t, pz(t, string(make([]byte, 1<<20))).out, dir, "zeros.pz")
	pz(t, "", "-d", "--rm", packed).want(t, exitError, "zeros: no space left on device")
	pz(t, "", "-d", "--rm", "-o", filepath.Join(dir, "out"), packed).want(t, exitError, "out: no space left on device")
	wantFiles(t, dir, "in", "zeros.pz")
	wantFile(t, in, noise(150_000))

	// The source may be on another file system than the result.
	out := filepath.Join(t.TempDir(), "out")
	pz(t, "", "--rm", "-o", out, in).want(t, exitOK)
	wantFiles(t, dir, "zeros.pz")
	if got := unpz(t, out); got != noise(150_000) {
		t.Errorf("%d bytes", len(got))
	}
}

// Files of /proc say they are empty and are not.
func TestProcFiles(t *testing.T) {
	want, err := os.ReadFile("/proc/version")
	if err != nil {
		t.Skip(err)
	}
	if got := pz(t, pz(t, "", "-c", "/proc/version").want(t, exitOK).out, "-d").out; got != string(want) {
		t.Errorf("%q", got)
	}
}

// What --help says about memory is kept, also over several files.
func TestMemoryIsAsStated(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	dir := t.TempDir()
	in := write(t, strings.Repeat(sample(1<<20), 24), dir, "in")
	peak := func(args ...string) int64 {
		t.Helper()
		cmd := command(append(args, "-T2")...)
		cmd.Env = append(cmd.Env, "PZ_TEST_PEAK=1")
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		// Not the maximum of getrusage: that begins with the size of the process that forked.
		_, hwm, _ := strings.Cut(errs.String(), "VmHWM:")
		var kib int64
		if _, err := fmt.Sscanf(hwm, "%d kB", &kib); err != nil {
			t.Skipf("no VmHWM in /proc/self/status: %v", err)
		}
		return kib << 10
	}
	for _, level := range []int{1, 6} {
		opts := (&config{}).memoryOptions(level, 2)
		writer, err := compress.WriterMemory(opts...)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := compress.ReaderMemory(0, opts...)
		if err != nil {
			t.Fatal(err)
		}
		packed := filepath.Join(dir, strconv.Itoa(level))
		if n := peak("-"+strconv.Itoa(level), "-o", packed, in); n > writer+programMemory {
			t.Errorf("level %d takes %d bytes to compress, more than %d", level, n, writer+programMemory)
		}
		if n := peak("-t", packed, packed, packed, packed); n > reader+programMemory {
			t.Errorf("level %d takes %d bytes to restore, more than %d", level, n, reader+programMemory)
		}
		if n := peak("-c", "-"+strconv.Itoa(level), in, in); n > writer+programMemory {
			t.Errorf("level %d takes %d bytes to compress two files, more than %d", level, n, writer+programMemory)
		}
	}
}
