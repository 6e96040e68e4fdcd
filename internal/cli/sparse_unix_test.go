//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// allocated returns how many bytes of storage a file takes.
func allocated(t *testing.T, path string) int64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Blocks) * 512
}

// TestSparse checks that restored files have holes in place of zeros, and the same content.
func TestSparse(t *testing.T) {
	dir := t.TempDir()
	hole := filepath.Join(dir, "hole")
	write(t, "", hole)
	os.Truncate(hole, 4<<20)
	if allocated(t, hole) != 0 {
		t.Skip("the file system has no holes")
	}
	const large = 4 << 20
	zero := strings.Repeat("\x00", large)
	text := sample(100_000)
	for i, content := range []string{
		zero, zero + "x", text + zero, text + zero + text, zero + text + zero, "\x00" + text + "\x00",
	} {
		for _, format := range []string{"pz", "gz", "zst"} {
			in := write(t, content, dir, "a")
			packed := filepath.Join(dir, "a."+format)
			pz(t, "", "-f", "--format", format, "--rm", in).want(t, exitOK)
			pz(t, "", "-d", packed).want(t, exitOK)
			wantFile(t, in, content)
			if got := allocated(t, in); len(content) > large && got > 300_000 {
				t.Errorf("case %d, %s: the file takes %d bytes", i, format, got)
			}
			pz(t, "", "-df", "--no-sparse", packed).want(t, exitOK)
			wantFile(t, in, content)
			if got := allocated(t, in); got < int64(len(content)) {
				t.Errorf("case %d, %s: with --no-sparse the file takes %d of %d bytes",
					i, format, got, len(content))
			}
			wantContent(t, pz(t, "", "-dc", packed).want(t, exitOK).out, content)
		}
	}
	// Recovery leaves holes for what is lost. Compressed files have none.
	packed := pz(t, noise(8<<20), "-B1M").out
	bad := write(t, packed[:4<<20]+"!"+packed[4<<20+1:], dir, "bad.pz")
	out := filepath.Join(dir, "out")
	pz(t, "", "--recover", "--zero-fill", "-o", out, bad).want(t, exitWarning)
	if got := allocated(t, out); got > 15<<19 {
		t.Errorf("the recovered file takes %d bytes", got)
	}
	in := write(t, packed+zero, dir, "stored")
	pz(t, "", "-1", in).want(t, exitOK)
	wantContent(t, unpz(t, in+".pz"), packed+zero)
}

// TestFileWriter writes pieces of many sizes.
func TestFileWriter(t *testing.T) {
	zero := strings.Repeat("\x00", 3*holeUnit)
	content := zero + noise(holeUnit/2) + zero + zero[:holeUnit/2] + noise(3*holeUnit) + zero
	for _, step := range []int{100, 4096, holeUnit - 1, holeUnit, holeUnit + 1, 10 * holeUnit, 1 << 30} {
		f, err := os.Create(filepath.Join(t.TempDir(), "a"))
		if err != nil {
			t.Fatal(err)
		}
		w := &fileWriter{f: f, sparse: true}
		for at := 0; at < len(content); at += step {
			p := []byte(content[at:min(len(content), at+step)])
			if n, err := w.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := w.finishHole(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		wantFile(t, f.Name(), content)
		if w.finishHole() == nil {
			t.Error("closed file: no error")
		}
	}
}
