package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRestoreSmallFiles checks small files that one call does not restore: with much content, of
// several formats, with other data behind them, and damaged. Content and messages are those of a
// pipe, which a Reader restores.
func TestRestoreSmallFiles(t *testing.T) {
	text := pz(t, sample(5000)).out
	for _, c := range []struct{ name, packed string }{
		{"one", text},
		{"much content", pz(t, strings.Repeat("\x00", oneShotContent+1)).out},
		{"formats", text + pz(t, "middle", "--format=gz").out + pz(t, "end", "--format=zst").out},
		{"other data", text + "other data"},
		{"cut short", text[:len(text)-1]},
		{"damaged", strings.Replace(text, text[len(text)/2:][:1], "\x00", 1)},
		{"long", pz(t, noise(oneShot)).out},
		{"empty", pz(t, "").out},
		{"nothing", ""},
	} {
		in := write(t, c.packed, t.TempDir(), "a.pz")
		pipe := pz(t, c.packed, "-d")
		file := pz(t, "", "-dc", in)
		err := strings.ReplaceAll(file.err, in, "standard input")
		if file.out != pipe.out || err != pipe.err || file.code != pipe.code {
			t.Errorf("%s: from a file %d bytes, code %d, %q; from a pipe %d bytes, code %d, %q",
				c.name, len(file.out), file.code, err, len(pipe.out), pipe.code, pipe.err)
		}
		beside := pz(t, "", "-d", in)
		if beside.code != pipe.code || beside.err != file.err {
			t.Errorf("%s: beside the source code %d, %q", c.name, beside.code, beside.err)
		}
		if pipe.code == exitOK {
			wantFile(t, strings.TrimSuffix(in, ".pz"), pipe.out)
		}
	}
}

// TestGrownFile checks a file that grows after its directory has been read. It does not go into a
// batch any more, and its result has all of it.
func TestGrownFile(t *testing.T) {
	dir := t.TempDir()
	write(t, "first", dir, "a")
	second := write(t, "second", dir, "b")
	commits := 0
	pzWith(t, "", func(a *app) {
		a.step = func(step string) {
			switch step {
			case "created":
				os.Truncate(second, largestInBatch+1)
			case "renamed":
				commits++
			}
		}
	}, "-T1", "-r", dir).want(t, exitOK)
	if commits != 2 {
		t.Errorf("%d commits, want 2", commits)
	}
	if got := unpz(t, second+".pz"); len(got) != largestInBatch+1 {
		t.Errorf("%d bytes, want %d", len(got), largestInBatch+1)
	}
}

// TestSharedDirectories checks that the directories of operands, and those below --output-dir, are
// synced once a batch.
func TestSharedDirectories(t *testing.T) {
	dir := tree(t, 5)
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	out := t.TempDir()
	pz(t, "", append([]string{"--output-dir", out}, files...)...).want(t, exitOK) // makes directories
	for _, args := range [][]string{{"-k"}, {"-k", "-f", "--output-dir", out}} {
		b := &batchSteps{dir: dir}
		syncs := 0
		pzWith(t, "", func(a *app) {
			a.syncDir = func(*os.Root) error {
				b.mu.Lock()
				defer b.mu.Unlock()
				syncs++
				return nil
			}
		}, append(args, files...)...).want(t, exitOK)
		if syncs != 2 {
			t.Errorf("%q: 2 directories of %d files were synced %d times", args[1:], len(files), syncs)
		}
	}
}
