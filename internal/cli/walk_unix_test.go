//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// deepTree creates directories called d, each in the one before. The first level, the last and some
// between have files a and z, which sort before and after d.
func deepTree(t *testing.T, levels int) (tree string, files []string) {
	t.Helper()
	tree = t.TempDir()
	for level := range levels + 1 {
		if level%50 != 0 && level != 1 && level != levels {
			continue
		}
		for _, name := range []string{"a", "z"} {
			path := filepath.Join(strings.Repeat("d/", level), name)
			write(t, path, tree, path)
			files = append(files, path)
		}
	}
	return tree, files
}

// TestDeepDirectories checks that -r walks a deep tree with few open files.
func TestDeepDirectories(t *testing.T) {
	tree, files := deepTree(t, 300)
	run := func(args ...string) {
		t.Helper()
		cmd := inShell(command(append(args, tree)...), "ulimit -n 56")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %d bytes, %.300s", err, len(out), out)
		}
	}
	run("-r", "--rm")
	for _, name := range files {
		wantGone(t, filepath.Join(tree, name))
	}
	run("-rd", "--rm")
	for _, name := range files {
		wantFile(t, filepath.Join(tree, name), name)
	}
	// The order is the same for directories that are reopened.
	var want bytes.Buffer
	for level := range 301 {
		if name := strings.Repeat("d/", level) + "a"; exists(filepath.Join(tree, name)) {
			want.WriteString(name)
		}
	}
	for level := 300; level >= 0; level-- {
		if name := strings.Repeat("d/", level) + "z"; exists(filepath.Join(tree, name)) {
			want.WriteString(name)
		}
	}
	packed := pz(t, "", "-rc", tree).want(t, exitOK).out
	if got := pz(t, packed, "-d").want(t, exitOK).out; got != want.String() {
		t.Errorf("the content differs: got %d bytes, want %d", len(got), want.Len())
	}
}

// TestTemporaryFilesAreNoSources checks that -r leaves alone what another pz is writing.
func TestTemporaryFilesAreNoSources(t *testing.T) {
	dir := t.TempDir()
	in := write(t, sample(100_000), dir, "a")
	for _, args := range []string{"-r --rm", "-rf --rm", "-rd", "-rt"} {
		res := atStep(t, "written", func() {
			temps, _ := filepath.Glob(filepath.Join(dir, ".a.pz.pz-*"))
			if len(temps) != 1 {
				t.Fatalf("temporary files: %q", temps)
			}
			all := append(strings.Fields(args), "-v", "-S.pz-00000000", dir)
			pz(t, "", all...).want(t, exitOK, temps[0]+": is a temporary file of pz -- ignored\n")
			if args == "-r --rm" || args == "-rf --rm" {
				wantGone(t, in)
				os.Rename(in+".pz-00000000", in) // keeps the size only
			}
		}, "-f", in)
		if res.code == exitError {
			t.Errorf("%s: the other pz failed: %s", args, res.err)
		}
		list, _ := filepath.Glob(filepath.Join(dir, ".*"))
		if len(list) > 0 {
			t.Errorf("%s: %q", args, list)
		}
		os.RemoveAll(dir)
		write(t, sample(100_000), dir, "a")
	}
	for name, want := range map[string]bool{
		tempName("a.pz"): true, tempName(strings.Repeat("x", 250)): true, tempName("é"): true,
		".pz-01234567": false, "..pz-01234567": false, "a.pz-01234567": false,
		".a.pz-0123456": false, ".a.pz-0123456x": false, ".a.pz-012345678": false, "": false, ".": false,
	} {
		if isTempName(name) != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
	}
}

// TestDeepDirectoryReplaced checks that -r does not enter what has replaced a closed directory.
func TestDeepDirectoryReplaced(t *testing.T) {
	for _, link := range []bool{true, false} {
		tree, _ := deepTree(t, maxOpenDirs+10)
		victim := t.TempDir()
		write(t, "precious", victim, "z")
		first, moved := filepath.Join(tree, "d"), filepath.Join(tree, "moved")
		done := false
		res := pzWith(t, "", func(a *app) {
			a.batchFiles = 1
			n := 0
			a.step = func(step string) {
				if step != "removed" {
					return
				}
				n++
				if n == 3 { // the first file of the last directory
					done = true
					os.Rename(first, moved)
					if link {
						os.Symlink(victim, first)
					} else {
						write(t, "precious", first, "z")
					}
				}
			}
		}, "-r", "--rm", tree)
		if !done {
			t.Fatal("nothing was replaced")
		}
		res.want(t, exitError, first+": ")
		wantFiles(t, victim, "z")
		wantFile(t, filepath.Join(first, "z"), "precious")
		wantFile(t, filepath.Join(moved, "z"), "d/z")
		wantGone(t, filepath.Join(tree, "z")) // the run continues with the operand
	}
}
