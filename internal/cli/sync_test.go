package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// syncs runs pz in a directory and records its steps with the state of the directory.
type syncs struct {
	dir   string
	files func() string
	steps []string
	fail  string // the step that fails; "" for none
}

func (s *syncs) note(step string) error {
	s.steps = append(s.steps, step+": "+s.files())
	if step == s.fail {
		return errors.New("the disk is on fire")
	}
	return nil
}

func (s *syncs) run(t *testing.T, args ...string) result {
	t.Helper()
	return pzWith(t, "", func(a *app) {
		a.step = func(step string) { s.note(step) }
		a.syncFile = func(f *os.File) error { return errors.Join(s.note("sync file"), syncFile(f)) }
		a.syncDir = func(root *os.Root) error {
			return errors.Join(s.note("sync directory"), syncDir(root))
		}
	}, args...)
}

// TestOrderOfSyncs checks the order in which files change, in both directions, with and without an
// existing result. The result is complete and synced before it gets its name. The name is synced
// before the source is removed.
func TestOrderOfSyncs(t *testing.T) {
	content := sample(50_000)
	packed := pz(t, content).out
	for _, c := range []struct{ source, result, in, out, args string }{
		{"a", "a.pz", content, packed, "--rm=fast"},
		{"a.pz", "a", packed, content, "-d --rm"},
	} {
		for _, old := range []string{"", "old"} {
			for _, fail := range []string{"", "sync file", "sync directory"} {
				dir := t.TempDir()
				in := write(t, c.in, dir, c.source)
				if old != "" {
					write(t, old, dir, c.result)
				}
				state := func() string { return stateOf(t, dir, c.out) }
				s := &syncs{dir: dir, fail: fail, files: state}
				r := s.run(t, append(strings.Fields(c.args), "-f", in)...)
				before := "source"
				if old != "" {
					before = "source, old result"
				}
				want := []string{
					"created: " + before + ", part",
					"written: " + before + ", complete part",
					"sync file: " + before + ", complete part",
					"synced: " + before + ", complete part",
					"renamed: source, result",
					"sync directory: source, result",
					"directory synced: source, result",
					"removed: result",
				}
				switch fail {
				case "":
					r.want(t, exitOK)
					wantFiles(t, dir, c.result)
				case "sync file":
					want = want[:3]
					r.want(t, exitError, c.result+": the disk is on fire")
					if got := stateOf(t, dir, c.out); got != before {
						t.Errorf("the directory holds %s, want %s", got, before)
					}
				case "sync directory":
					want = want[:6]
					r.want(t, exitError, c.result+": cannot sync the directory: the disk is on fire; "+
						"the source is kept")
					wantFile(t, in, c.in)
				}
				if !reflect.DeepEqual(s.steps, want) {
					t.Errorf("%s, old %q, failing %q:\n%s\nwant\n%s", c.args, old, fail,
						strings.Join(s.steps, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
}

// TestOrderOfSyncsBelowOutputDir checks that the names of new directories are synced before the
// source is removed.
func TestOrderOfSyncsBelowOutputDir(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	out := filepath.Join(t.TempDir(), "out")
	var order []string
	pzWith(t, "", func(a *app) {
		a.step = func(step string) { order = append(order, step) }
		a.syncDir = func(root *os.Root) error {
			if list, err := os.ReadDir(root.Name()); err == nil && len(list) > 0 {
				order = append(order, list[0].Name())
			}
			return syncDir(root)
		}
	}, "--rm", "--output-dir", out, in).want(t, exitOK)
	want := append([]string{"out"}, strings.Split(dir, string(filepath.Separator))[1:]...)
	want = append(want, "created", "compressed", "written", "synced", "renamed", "a.pz",
		"directory synced", "removed")
	if runtime.GOOS != "windows" && !reflect.DeepEqual(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// stateOf names the files in a directory: the source, the result, an old result and a temporary
// file ("part"), which may be complete.
func stateOf(t *testing.T, dir, result string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var source, old, part []string
	for _, d := range list {
		b, err := os.ReadFile(filepath.Join(dir, d.Name()))
		if err != nil {
			t.Fatal(err)
		}
		temporary := strings.HasPrefix(d.Name(), ".")
		switch complete := string(b) == result; {
		case temporary && complete:
			part = append(part, "complete part")
		case temporary:
			part = append(part, "part")
		case complete:
			old = append(old, "result")
		case string(b) == "old":
			old = append(old, "old result")
		default:
			source = append(source, "source")
		}
	}
	return strings.Join(append(append(source, old...), part...), ", ")
}

// TestSyncErrors checks that the functions of the program report errors, but not files that cannot
// be synced.
func TestSyncErrors(t *testing.T) {
	a := newApp()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.syncFile(f); err != nil {
		t.Error(err)
	}
	f.Close()
	if err := a.syncFile(f); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed file: %v", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.syncDir(root); err != nil {
		t.Error(err)
	}
	root.Close()
	// On Windows syncDir does nothing.
	if err := a.syncDir(root); err == nil && runtime.GOOS != "windows" {
		t.Error("closed directory: no error")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := a.syncFile(w); err != nil && runtime.GOOS != "windows" {
		t.Errorf("pipe: %v", err)
	}
}
