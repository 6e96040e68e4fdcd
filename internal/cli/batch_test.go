package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// noFileIDs is what keeps -r from batches under Wine.
const noFileIDs = "file IDs in lists of directories"

// batchSteps runs pz on a directory and records what is synced and the steps, with the number of
// sources, results and temporary files.
type batchSteps struct {
	mu    sync.Mutex
	dir   string
	steps []string
	fail  string // name of a file or directory whose sync fails
}

func (b *batchSteps) note(step string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.steps = append(b.steps, fmt.Sprint(step, ": ", b.state()))
}

// state counts the files in the directory and below.
func (b *batchSteps) state() string {
	var sources, results, temps int
	filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
		case isTempName(d.Name()):
			temps++
		case filepath.Ext(path) == ".pz":
			results++
		default:
			sources++
		}
		return nil
	})
	return fmt.Sprintf("%d sources, %d results, %d temporary", sources, results, temps)
}

func (b *batchSteps) run(t *testing.T, args ...string) result {
	t.Helper()
	return pzWith(t, "", func(a *app) {
		a.step = func(step string) {
			if step != "created" && step != "written" {
				b.note(step)
			}
		}
		a.syncFile = func(f *os.File) error {
			b.note("sync file")
			return b.syncError(f.Name())
		}
		a.syncDir = func(root *os.Root) error {
			b.note("sync directory")
			return b.syncError(root.Name())
		}
	}, append(args, b.dir)...)
}

func (b *batchSteps) syncError(path string) error {
	// The random part of a temporary name may contain anything.
	name := strings.TrimPrefix(filepath.Base(path), ".")
	if b.fail != "" && strings.HasPrefix(name, b.fail) {
		return os.ErrInvalid
	}
	return nil
}

// tree creates n files in each of two directories.
func tree(t *testing.T, n int) string {
	dir := t.TempDir()
	for _, sub := range []string{"p", "q"} {
		for i := range n {
			write(t, sample(1000+i), dir, sub, fmt.Sprintf("f%02d", i))
		}
	}
	return dir
}

// TestOrderOfSyncsInBatch checks that every file of a batch is synced before one gets its name, and
// every directory before a source is removed.
func TestOrderOfSyncsInBatch(t *testing.T) {
	testenv.Wine(t, noFileIDs)
	for _, c := range []struct {
		fail                  string
		renamed, removed, end string
		code                  int
	}{
		{"", "6 sources, 6 results, 0 temporary", "0 sources, 6 results, 0 temporary",
			"0 sources, 6 results, 0 temporary", exitOK},
		{"f01", "6 sources, 4 results, 2 temporary", "2 sources, 4 results, 2 temporary",
			"2 sources, 4 results, 0 temporary", exitError},
		{"q", "6 sources, 6 results, 0 temporary", "3 sources, 6 results, 0 temporary",
			"3 sources, 6 results, 0 temporary", exitError},
	} {
		b := &batchSteps{dir: tree(t, 3), fail: c.fail}
		b.run(t, "--rm=fast", "-r").want(t, c.code)
		const written = "6 sources, 0 results, 6 temporary"
		var want []string
		for range 6 {
			want = append(want, "sync file: "+written)
		}
		want = append(want, "synced: "+written, "renamed: "+c.renamed, "sync directory: "+c.renamed,
			"sync directory: "+c.renamed, "directory synced: "+c.renamed, "removed: "+c.removed)
		if !slices.Equal(b.steps, want) {
			t.Errorf("failing %q:\n%s\nwant\n%s", c.fail, strings.Join(b.steps, "\n"),
				strings.Join(want, "\n"))
		}
		if b.state() != c.end {
			t.Errorf("failing %q: in the end %s, want %s", c.fail, b.state(), c.end)
		}
	}
}

// TestBatchSizes checks that a batch ends after its number of files and its number of bytes.
func TestBatchSizes(t *testing.T) {
	testenv.Wine(t, noFileIDs)
	commits := func(change func(*app), args ...string) (n int) {
		pzWith(t, "", func(a *app) {
			a.step = func(step string) {
				if step == "renamed" {
					n++
				}
			}
			change(a)
		}, args...).want(t, exitOK)
		return n
	}
	if n := commits(func(a *app) { a.batchFiles = 4 }, "-r", tree(t, 5)); n != 3 {
		t.Errorf("10 files in batches of 4: %d commits, want 3", n)
	}
	if n := commits(func(a *app) { a.batchFiles = -1 }, "-r", tree(t, 2)); n != 4 {
		t.Errorf("4 files without batches: %d commits, want 4", n)
	}
	// A large file is processed alone, between the batches in front of it and behind.
	dir := tree(t, 2)
	write(t, noise(largestInBatch+1), dir, "p", "f00x")
	if n := commits(func(*app) {}, "-r", dir); n != 3 {
		t.Errorf("4 small files and a large one: %d commits, want 3", n)
	}
}

// TestMessagesOfBatch checks that messages come in the order of the files.
func TestMessagesOfBatch(t *testing.T) {
	testenv.Wine(t, noFileIDs)
	dir := tree(t, 6)
	write(t, "old", dir, "p", "f02.pz")
	write(t, noise(largestInBatch+1), dir, "p", "f03x")
	if os.Symlink("f01", filepath.Join(dir, "p", "f04link")) != nil {
		t.Skip("no symbolic links")
	}
	var want []string
	for _, sub := range []string{"p", "q"} {
		for i := range 6 {
			want = append(want, filepath.Join(dir, sub, fmt.Sprintf("f%02d", i)))
		}
	}
	at := filepath.Join(dir, "p")
	want = slices.Insert(want, 5, filepath.Join(at, "f04link"))
	want = slices.Insert(want, 4, filepath.Join(at, "f03x"))
	want = slices.Insert(want, 3, filepath.Join(at, "f02.pz")) // the note of -r
	res := pz(t, "", "-v", "-r", dir).want(t, exitWarning, "f02.pz: already exists")
	var got []string
	for line := range strings.Lines(res.err) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "pz: "), ": ")
		got = append(got, name)
	}
	want[2] = filepath.Join(at, "f02.pz") // the warning names the result
	want = append(want, "12 files")
	if !slices.Equal(got, want) {
		t.Errorf("messages about\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSameResultsInBatch checks that files of a batch are the same as those processed alone, in
// both directions.
func TestSameResultsInBatch(t *testing.T) {
	for _, format := range []string{"pz", "gz", "zst"} {
		dir := tree(t, 5)
		write(t, "", dir, "p", "empty")
		write(t, sample(largestInBatch), dir, "q", "large")
		pz(t, "", "--rm", "-r", "--format", format, dir).want(t, exitOK)
		var paths []string
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				paths = append(paths, path)
			}
			return nil
		})
		if len(paths) != 12 {
			t.Fatalf("%s: files %q", format, paths)
		}
		pz(t, "", "-t", "-r", dir).want(t, exitOK)
		pz(t, "", append([]string{"-d"}, paths...)...).want(t, exitOK)
		for _, path := range paths {
			packed, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			content := strings.TrimSuffix(path, "."+format)
			alone := pz(t, "", "-c", "--format", format, content).want(t, exitOK).out
			if string(packed) != alone {
				t.Errorf("%s: %d bytes in a batch, %d alone", path, len(packed), len(alone))
			}
			wantFile(t, content, unpz(t, path))
		}
	}
}

// TestSameNameInBatch checks files whose results have the same name, and results that are sources.
func TestSameNameInBatch(t *testing.T) {
	dir := t.TempDir()
	a := write(t, pz(t, "one").out, dir, "a.pz")
	b := write(t, pz(t, "two", "--format=gz").out, dir, "a.gz")
	pz(t, "", "-d", a, b).want(t, exitWarning, "a: already exists -- not overwritten")
	wantFile(t, filepath.Join(dir, "a"), "one")
	wantFiles(t, dir, "a", "a.gz", "a.pz")

	// With -f the result of a file may be the next file.
	once := write(t, pz(t, "old").out, dir, "c.pz")
	twice := write(t, pz(t, pz(t, "new").out).out, dir, "c.pz.pz")
	pz(t, "", "-d", "-f", "--rm", twice, once).want(t, exitOK)
	wantFile(t, filepath.Join(dir, "c"), "new")
	write(t, "new", dir, "c")
	write(t, "old", dir, "c.pz")
	pz(t, "", "-f", "--rm", filepath.Join(dir, "c"), once).want(t, exitOK)
	pz(t, "", "-d", "--rm", twice).want(t, exitOK)
	pz(t, "", "-d", "--rm", once).want(t, exitOK)
	wantFile(t, filepath.Join(dir, "c"), "new")
	os.Remove(filepath.Join(dir, "c"))

	in := write(t, "content", dir, "b")
	pz(t, "", in, in+".pz").want(t, exitWarning, "b.pz: already has suffix .pz -- not compressed")
	wantFiles(t, dir, "a", "a.gz", "a.pz", "b", "b.pz")
}

// TestPutOff checks files that cannot be restored beside others: those of other formats.
func TestPutOff(t *testing.T) {
	dir := t.TempDir()
	for _, suffix := range []string{"xz", "bz2", "Z"} {
		data, err := os.ReadFile(filepath.Join("internal", "foreign", "testdata", "log."+suffix))
		if err != nil {
			t.Fatal(err)
		}
		write(t, string(data), dir, suffix, "log."+suffix)
		write(t, pz(t, "content").out, dir, suffix, "a.pz")
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	pz(t, "", append([]string{"-d"}, paths...)...).want(t, exitOK)
	for _, suffix := range []string{"xz", "bz2", "Z"} {
		wantFile(t, filepath.Join(dir, suffix, "a"), "content")
		wantFiles(t, filepath.Join(dir, suffix), "a", "a.pz", "log", "log."+suffix)
	}
}

// TestNoSync checks that --no-sync syncs nothing, and that --synchronous takes it back.
func TestNoSync(t *testing.T) {
	b := &batchSteps{dir: tree(t, 2)}
	b.run(t, "--synchronous", "--no-sync", "--rm", "-r").want(t, exitOK)
	for _, step := range b.steps {
		if strings.HasPrefix(step, "sync ") {
			t.Error(step)
		}
	}
	if got := b.state(); got != "0 sources, 4 results, 0 temporary" {
		t.Error(got)
	}
	b = &batchSteps{dir: tree(t, 1)}
	b.run(t, "--no-sync", "--synchronous", "-r").want(t, exitOK)
	if !slices.ContainsFunc(b.steps, func(s string) bool { return strings.HasPrefix(s, "sync file") }) {
		t.Error("the last option does not count")
	}
}
