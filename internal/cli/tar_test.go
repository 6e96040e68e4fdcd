package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestTar checks that tar -I pz writes and reads archives of all formats, and that tar reads those
// of gzip and zstd without pz.
func TestTar(t *testing.T) {
	testenv.Slow(t)
	tar := testenv.Tool(t, "tar")
	out, _ := exec.Command(tar, "--version").Output()
	if !bytes.HasPrefix(out, []byte("tar (GNU")) {
		testenv.Missing(t, "GNU tar, which has -I")
	}
	testenv.Tool(t, "gzip")
	testenv.Tool(t, "zstd")
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "pz")); err != nil {
		t.Skip(err)
	}
	write(t, sample(300_000), dir, "tree", "a")
	write(t, noise(50_000), dir, "tree", "sub", "b")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(tar, args...)
		cmd.Dir = dir
		path := dir + string(os.PathListSeparator) + os.Getenv("PATH")
		cmd.Env = append(os.Environ(), "PZ_TEST_CHILD=1", "PATH="+path)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("tar %q: %v: %s", args, err, out)
		}
	}
	for _, c := range []struct{ prog, suffix string }{
		{"pz", ".pz"},
		{"pz -9 -T2", ".pz"},
		{"pz --format gz", ".gz"},
		{"pz --format zst", ".zst"},
		{"pz -p lzf -B64K", ".zst"},
	} {
		prog, name := c.prog, "tree.tar"+c.suffix
		run("-I", prog, "-cf", name, "tree")
		os.RemoveAll(filepath.Join(dir, "back"))
		os.Mkdir(filepath.Join(dir, "back"), 0o755)
		run("-I", prog, "-xf", name, "-C", "back")
		wantFile(t, filepath.Join(dir, "back", "tree", "a"), sample(300_000))
		wantFile(t, filepath.Join(dir, "back", "tree", "sub", "b"), noise(50_000))
		pz(t, "", "-t", filepath.Join(dir, name)).want(t, exitOK)
		if c.suffix == ".pz" {
			continue
		}
		// With the programs of tar, and with pz without an option.
		for _, args := range [][]string{{"-xf", name}, {"-I", "pz", "-xf", name}} {
			os.RemoveAll(filepath.Join(dir, "tree"))
			run(args...)
			wantFile(t, filepath.Join(dir, "tree", "a"), sample(300_000))
			wantFile(t, filepath.Join(dir, "tree", "sub", "b"), noise(50_000))
		}
	}
}
