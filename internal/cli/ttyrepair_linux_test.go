package cli

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/gopz/compress/parity"
)

// waitingReader is a remote file. Before each read from one of some places on it waits for drawings
// of the progress bar.
type waitingReader struct {
	fakeRemote
	wait   func()
	places []int64
}

func (r *waitingReader) ReadAt(p []byte, off int64) (int, error) {
	if slices.Contains(r.places, off) {
		r.wait()
	}
	return r.Reader.ReadAt(p, off)
}

// newWaitingSource returns a source that reads such a file.
func newWaitingSource(a *app, data string, wait func(), places ...int64) *source {
	r := &waitingReader{wait: wait, places: places}
	r.Reset([]byte(data))
	return &source{app: a, name: "a", remote: r, info: remoteInfo{"a", r}}
}

// waitingWriter waits behind each write.
type waitingWriter struct {
	io.Writer
	wait func()
}

func (w waitingWriter) Write(p []byte) (int, error) {
	defer w.wait()
	return w.Writer.Write(p)
}

// TestProgressBarRepair checks that the bar moves while --repair reads and writes.
func TestProgressBarRepair(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w, err := parity.NewWriter(&file, parity.Options{Percent: 10})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		io.WriteString(w, noise(100_000))
		w.EndZone()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, person := terminalApp(t)
	setColumns(t, person, 100)
	a.cfg.mode = modeRepair
	clock := newTestClock(a)
	wait := func() { clock.wait(t, 1) }
	// The first zone is read behind all footers, and before anything is written.
	in := newWaitingSource(a, file.String(), wait, 0)
	m := a.newMeter(in, &output{})
	var result bytes.Buffer
	m.w.w = &result
	if err := a.repairTo(waitingWriter{&m.w, wait}, in, m); err != nil {
		t.Fatal(err)
	}
	m.closeBar()
	screen := seen(a, person)
	if !regexp.MustCompile(`\ra: [1-9][0-9.]* KiB read, 1[0-9]s +\[ *=== *\]`).MatchString(screen) {
		t.Errorf("the bar does not show what is read: %q", screen)
	}
	got := slices.Compact(shares(screen))
	if len(got) < 3 || !slices.IsSorted(got) || got[len(got)-1] != 100 {
		t.Errorf("the bar shows %v%%: %q", got, screen)
	}
}

// TestProgressBarComparing checks that the bar moves while --rm compares the result with the
// source.
func TestProgressBarComparing(t *testing.T) {
	t.Parallel()
	content := noise(1 << 20)
	dir := t.TempDir()
	write(t, pz(t, content, "-c", "-B64K").want(t, exitOK).out, dir, "temp")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	a, person := terminalApp(t)
	setColumns(t, person, 100)
	clock := newTestClock(a)
	wait := func() { clock.wait(t, 1) }
	in := newWaitingSource(a, content, wait, 256<<10, 512<<10, 768<<10)
	out := &output{app: a, at: location{root: root}, temp: "temp"}
	j := &job{app: a, in: in, out: out, m: &meter{app: a, in: in}}
	j.m.r.n = int64(len(content))
	if err := j.verify(); err != nil {
		t.Fatal(err)
	}
	screen := seen(a, person)
	if !regexp.MustCompile(`\rcomparing a: 512 KiB, [0-9.]+ MB/s, 1[0-9]s, 1[0-9]s left  50% \[`).
		MatchString(screen) {
		t.Errorf("on the screen: %q", screen)
	}
	// On a slow machine the bar may be drawn between the places where the source waits as well.
	got := slices.Compact(shares(screen))
	for _, share := range []int{25, 50, 75} {
		if !slices.Contains(got, share) {
			t.Errorf("the bar does not show %d%%", share)
		}
	}
	if !slices.IsSorted(got) || got[len(got)-1] != 75 {
		t.Errorf("the bar shows %v%%: %q", got, screen)
	}
	if a.bar != nil {
		t.Error("the bar is not removed")
	}
}
