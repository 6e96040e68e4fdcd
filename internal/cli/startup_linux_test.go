package cli

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestInit bounds what packages of the module allocate before main begins, and keeps out packages
// that take long to begin. docs/notes/start-up.md has the costs.
func TestInit(t *testing.T) {
	testenv.Measures(t)
	cmd := command("--version")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	packages, own := 0, 0
	for line := range strings.Lines(string(trace)) {
		// init internal/cli @1.4 ms, 0.021 ms clock, 2792 bytes, 13 allocs
		f := strings.Fields(line)
		if len(f) != 11 || f[0] != "init" {
			continue
		}
		packages++
		switch f[1] {
		case "net/http", "crypto/tls", "crypto/x509":
			t.Errorf("%s is part of the program", f[1])
		}
		n, err := strconv.Atoi(f[7])
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		// This package has the variables of its tests as well.
		const module = "github.com/gopz/compress"
		if strings.HasPrefix(f[1], module) && f[1] != module+"/internal/cli" {
			own += n
		}
	}
	if packages < 20 {
		t.Fatalf("a trace of %d packages:\n%s", packages, trace)
	}
	if own > 32<<10 {
		t.Errorf("packages of this module allocate %d bytes at the start:\n%s", own, trace)
	}
	t.Logf("packages of this module allocate %d bytes", own)
}

// TestSmallFileMemory bounds the pages of memory that a file of 1 KiB takes: each takes some
// microseconds.
func TestSmallFileMemory(t *testing.T) {
	testenv.Measures(t)
	dir := t.TempDir()
	content := write(t, sample(1<<10), dir, "file")
	fixed := pageFaults(t, "--version")
	for _, args := range [][]string{
		{"-k"}, {"-k", "--format", "zst"}, {"-k", "--format", "gz"}, {"-t", ".pz"}, {"-t", ".zst"},
		{"-t", ".gz"}, {"-l", ".pz"},
	} {
		suffix := ""
		if last := args[len(args)-1]; last[0] == '.' {
			suffix, args = last, args[:len(args)-1]
		}
		own := pageFaults(t, append(args, content+suffix)...) - fixed
		if own > maxOwnPages {
			t.Errorf("%v takes %d pages more than --version, more than %d", args, own, maxOwnPages)
		}
		t.Logf("%v%s: %d pages", args, suffix, own)
	}
}

// maxOwnPages is the most pages that a file of 1 KiB takes. It is twice what they take, because
// that depends on the system.
const maxOwnPages = 220

// pageFaults returns the least number of page faults of several runs.
func pageFaults(t *testing.T, args ...string) int64 {
	t.Helper()
	least := int64(math.MaxInt64)
	for range 5 {
		cmd := command(append([]string{"-q", "-f"}, args...)...)
		var text bytes.Buffer
		cmd.Stderr = &text
		if err := cmd.Run(); err != nil {
			t.Fatalf("%q: %v, %s", args, err, text.Bytes())
		}
		least = min(least, int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Minflt))
	}
	return least
}

// TestSmallFileCalls bounds the system calls that opening files takes, which are much of the time
// of a small file. Package os makes eight calls of fcntl for a source and its result.
func TestSmallFileCalls(t *testing.T) {
	strace := testenv.Tool(t, "strace")
	dir := t.TempDir()
	const files = 40
	var names []string
	for i := range files {
		names = append(names, write(t, sample(1<<10), dir, strconv.Itoa(i)))
	}
	cmd := command(names...)
	cmd.Args = append([]string{strace, "-f", "-qq", "-e", "trace=fcntl", cmd.Path}, names...)
	cmd.Path = strace
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, trace)
	}
	if n := strings.Count(string(trace), "fcntl("); n > files {
		t.Errorf("%d files take %d calls of fcntl", files, n)
	}
}
