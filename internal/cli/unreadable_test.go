package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// badDisk is a file of which the bytes from bad to end cannot be read.
type badDisk struct {
	fakeRemote
	bad, end int64
}

func (d *badDisk) ReadAt(p []byte, off int64) (int, error) {
	if off >= d.end || off+int64(len(p)) <= d.bad {
		return d.Reader.ReadAt(p, off)
	}
	n := 0
	if off < d.bad {
		n, _ = d.Reader.ReadAt(p[:d.bad-off], off)
	}
	return n, &fs.PathError{Op: "read", Path: "a", Err: syscall.EIO}
}

// fromBadDisk runs do, which writes a result, for a source that has such a part. It returns the
// result and the messages.
func fromBadDisk(t *testing.T, mode mode, data string, bad, end int64,
	do func(*app, *bytes.Buffer, *source) error) (out, messages string, code int, err error) {

	t.Helper()
	a := newApp()
	a.cfg.mode = mode
	a.stderr = stdio.get(t)
	defer stdio.put(a.stderr)
	disk := &badDisk{bad: bad, end: end}
	disk.Reset([]byte(data))
	in := &source{app: a, name: "a.pz", remote: disk, info: remoteInfo{"a.pz", disk}}
	var buf bytes.Buffer
	err = do(a, &buf, in)
	return buf.String(), readAll(t, a.stderr), a.status, err
}

// TestUnreadable repairs and recovers files of which a sector cannot be read.
func TestUnreadable(t *testing.T) {
	content := noise(400_000)
	good := pz(t, content, "-B64K", "--parity", "10", "-c").want(t, exitOK).out
	repair := func(a *app, w *bytes.Buffer, in *source) error { return a.repairTo(w, in, &meter{in: in}) }
	out, messages, code, err := fromBadDisk(t, modeRepair, good, 98_304, 102_400, repair)
	if err != nil || code != exitOK || out != good ||
		!strings.Contains(messages, "cannot be read count as damage: input/output error") ||
		!strings.Contains(messages, "repaired: 2 of 128 slices") {
		t.Errorf("repair: %v, code %d, exact %v: %s", err, code, out == good, messages)
	}
	// More than parity can replace becomes zeros.
	out, messages, code, err = fromBadDisk(t, modeRepair, good, 98_304, 204_800, repair)
	want := good[:98_304] + strings.Repeat("\x00", 204_800-98_304) + good[204_800:]
	if err != nil || code != exitWarning || out != want ||
		!strings.Contains(messages, "106496 bytes that cannot be read or repaired are zeros") {
		t.Errorf("repair of too much: %v, code %d, as wanted %v: %s", err, code, out == want, messages)
	}
	_, _, _, err = fromBadDisk(t, modeRepair, good, 0, math.MaxInt64, repair)
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("repair of a file that cannot be read: %v", err)
	}

	recoverIt := func(a *app, w *bytes.Buffer, in *source) error {
		m := a.newMeter(in, &output{})
		defer m.closeBar()
		m.w.w = w
		return a.recoverTo(&m.w, in, m, nil)
	}
	for _, format := range []string{"pz", "gz"} {
		packed := pz(t, content, "-B64K", "--format", format, "-c").want(t, exitOK).out
		out, messages, code, err := fromBadDisk(t, modeRecover, packed, 98_304, 102_400, recoverIt)
		if err != nil || code != exitWarning || len(out) < 200_000 || out == content ||
			!strings.HasSuffix(content, out[len(out)-100_000:]) {
			t.Errorf("%s: recover: %v, code %d, %d bytes: %s", format, err, code, len(out), messages)
		}
	}
}

// TestAdviceUnreadable: where -d ends at a sector that cannot be read, it names the way to repair
// the file.
func TestAdviceUnreadable(t *testing.T) {
	good := pz(t, sample(100_000), "--parity", "10", "-c").want(t, exitOK).out
	path := write(t, good[:len(good)-100], t.TempDir(), "a.pz")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	a := newApp()
	a.cfg.mode = modeDecompress
	a.stderr = stdio.get(t)
	defer stdio.put(a.stderr)
	in := &source{app: a, name: filepath.Base(path), f: f, info: info}
	m := &meter{in: in}
	err = m.readHealing(func() error { return &fs.PathError{Op: "read", Path: "a.pz", Err: syscall.EIO} })
	a.report(in, &output{app: a}, m, err)
	if got := readAll(t, a.stderr); !strings.Contains(got, "its parity can restore it: pz --repair") {
		t.Errorf("%q", got)
	}
}
