// Package testenv lets a test say what it needs. A test calls it at its beginning; scripts then run
// whole packages and never choose tests by name.
//
// A test that lacks something skips. On a CI machine, where the environment variable CI is set, a
// missing program, device or directory is a failure, so that a test never silently stops running.
package testenv

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	// EnvTest selects the amount of tests. The value "all" runs those that call Long. The value
	// "matrix" adds all combinations of levels, threads and sizes, and takes real files in full.
	// That takes hours.
	EnvTest = "PZ_TEST"
	// EnvCorpus names a directory of real files for tests.
	EnvCorpus = "PZ_CORPUS"
	// EnvSeed is the only seed of tests of random behaviour.
	EnvSeed = "PZ_SEED"
	// EnvCI turns a missing requirement into a failure.
	EnvCI = "CI"
)

// Long skips the test unless PZ_TEST is "all" or "matrix". Use it for a test that takes more than
// about ten seconds. In short mode Long always skips.
func Long(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skipf("long test: set %s=all to run it", EnvTest)
	}
}

// All reports whether PZ_TEST is "all" or "matrix" and the tests do not run in short mode. Use it
// in a test that covers fewer cases by default; use Long to skip a whole test.
func All() bool { return Matrix() || os.Getenv(EnvTest) == "all" && !testing.Short() }

// Matrix reports whether PZ_TEST is "matrix" and the tests do not run in short mode.
func Matrix() bool { return os.Getenv(EnvTest) == "matrix" && !testing.Short() }

// Seeds returns the seeds of a test of random behaviour: the given ones, and with PZ_TEST=all a new
// one. PZ_SEED replaces them all. Seeds writes a new seed to standard error, since a test that
// crashes loses its log.
func Seeds(t testing.TB, fixed ...uint64) []uint64 {
	t.Helper()
	if v := os.Getenv(EnvSeed); v != "" {
		seed, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", EnvSeed, err)
		}
		return []uint64{seed}
	}
	if All() {
		seed := uint64(rand.Uint32())
		fmt.Fprintf(os.Stderr, "%s: %s=%d\n", t.Name(), EnvSeed, seed)
		fixed = append(slices.Clip(fixed), seed)
	}
	return fixed
}

// Measures skips a test that measures memory, allocations or goroutines of the process. The race
// detector and an emulator change all of these.
func Measures(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("measures the process: meaningless with the race detector")
	}
	if Emulated() {
		t.Skip("measures the process: meaningless under an emulator")
	}
}

// Slow skips a test that takes too long at a tenth of the speed, with the race detector or under an
// emulator, and whose subject other tests cover there.
func Slow(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("too slow with the race detector")
	}
	if Emulated() {
		t.Skip("too slow under an emulator")
	}
}

// Emulated reports whether qemu's user mode emulation runs this process.
func Emulated() bool { return emulated() }

var emulated = sync.OnceValue(func() bool {
	// The kernel names a process by its executable, which is the emulator.
	name, err := os.ReadFile("/proc/self/comm")
	return err == nil && strings.HasPrefix(string(name), "qemu-")
})

// Wine skips a test under Wine, which lacks what.
func Wine(t testing.TB, what string) {
	t.Helper()
	if runtime.GOOS != "windows" {
		return
	}
	if _, err := os.Stat(`C:\windows\system32\winecfg.exe`); err == nil {
		t.Skip("Wine lacks " + what)
	}
}

// SVG checks that a picture is well-formed, and that no text in it comes from a number that is
// none.
func SVG(t testing.TB, picture []byte) {
	t.Helper()
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		if bytes.Contains(picture, []byte(bad)) {
			t.Errorf("%q in the picture", bad)
		}
	}
	d := xml.NewDecoder(bytes.NewReader(picture))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
	}
}

// CoarseClock reports whether the clock may stand still for milliseconds, so that short work takes
// no time.
const CoarseClock = runtime.GOOS == "windows"

// Tool returns the path of the program called name. Without the program the test skips, or fails if
// CI is set.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "the program "+name)
	}
	return path
}

// Python returns the path of a Python interpreter that has a module. The distribution's own may
// have it where the first one in PATH does not. Without one the test ends as that of [Missing].
func Python(t testing.TB, module string) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", "import "+module).Run() == nil {
			return path
		}
	}
	Missing(t, "Python's module "+module)
	return ""
}

// Missing ends a test that lacks what: it skips the test, or fails it if CI is set.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(EnvCI) != "" {
		t.Fatalf("missing: %s (%s is set, so this is a failure)", what, EnvCI)
	}
	t.Skipf("missing: %s", what)
}

// Corpus returns the directory of real files that PZ_CORPUS names, or "" if it is not set. A value
// that is not a directory fails the test.
func Corpus(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(EnvCorpus)
	if dir == "" {
		return ""
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatalf("%s: %v", EnvCorpus, err)
	}
	if !info.IsDir() {
		t.Fatalf("%s: %s is not a directory", EnvCorpus, dir)
	}
	return dir
}
