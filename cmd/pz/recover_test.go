package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRecover(t *testing.T) {
	dir := t.TempDir()
	content := noise(20 * 4096) // is stored, so that it is known where each block is
	good := pz(t, content, "-B4K").out
	out := filepath.Join(dir, "out")

	intact := write(t, good, dir, "intact.pz")
	pz(t, "", "--recover", intact, "-o", out).want(t, exitOK)
	wantFile(t, out, content)

	at := strings.Index(good, content[5*4096+100:5*4096+200])
	bad := write(t, good[:at]+string(good[at]^1)+good[at+1:], dir, "bad.pz")
	pz(t, "", "-d", bad).want(t, exitError, "bad.pz: ", "--recover")
	res := pz(t, "", "-q", "--recover", bad, "-fo", out)
	res.want(t, exitWarning, "bad.pz: lost: 1 block from block 5 of stream 0 on, bytes 20480 to 24575 of the content")
	wantFile(t, out, content[:5*4096]+content[6*4096:])

	got := pz(t, "", "--recover", "--zero-fill", "-c", bad).want(t, exitWarning, "lost: 1 block").out
	if got != content[:5*4096]+strings.Repeat("\x00", 4096)+content[6*4096:] {
		t.Error("zeros are not where content is lost")
	}

	// The end is missing: all blocks that are there.
	cut := write(t, good[:at], dir, "cut.pz")
	pz(t, "", "-d", cut).want(t, exitError, "the end is missing")
	pz(t, "", "--recover", cut, "-fo", out).want(t, exitWarning, "lost: ")
	wantFile(t, out, content[:5*4096])

	fi, _ := os.Stat(bad)
	if fi == nil {
		t.Error("the source is gone")
	}
	runProcess(t, strings.NewReader(good), "--recover", "-c").want(t, exitError, "is not a regular file")
	pz(t, "", "--recover", filepath.Join(dir, "none"), "-c").want(t, exitError, "no such file")
}

// Damage of one bit: -t must see it and --rm must not act. The library's tests go through all bits; these are samples.
func TestFlipsAreSeen(t *testing.T) {
	dir := t.TempDir()
	good := []byte(pz(t, sample(600), "-B4K").out)
	path := filepath.Join(dir, "a.pz")
	for bit := 0; bit < 8*len(good); bit += 29 {
		good[bit/8] ^= 1 << (bit % 8)
		os.WriteFile(path, good, 0o600)
		good[bit/8] ^= 1 << (bit % 8)
		if bit%2 == 0 {
			pz(t, "", "-d", "--rm", path).want(t, exitError)
		} else {
			pz(t, "", "-t", path).want(t, exitError)
		}
		wantFiles(t, dir, "a.pz")
		if t.Failed() {
			t.Fatalf("bit %d", bit)
		}
	}
}
