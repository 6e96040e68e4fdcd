package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestRange restores parts of files with and without an index, of standard input and of URLs.
func TestRange(t *testing.T) {
	dir := t.TempDir()
	content := sample(400_000)
	file := write(t, content, dir, "file")
	pack := func(name string, args ...string) string {
		packed := pz(t, "", append(args, "-c", file)...).want(t, exitOK).out
		return write(t, packed, dir, name)
	}
	files := []string{
		pack("indexed.pz", "-B64K"), pack("table.zst", "-B64K", "--format=zst"),
		pack("plain.gz", "--format=gz"), pack("frame.zst", "--format=zst", "-B512K"),
		pack("indexed.gz", "--format=gz"),
		write(t, pz(t, content[:100_000], "-c").out+
			pz(t, content[100_000:], "-c", "--format=gz").out, dir, "two"),
	}
	pz(t, "", "--index", files[4]).want(t, exitOK)
	for _, name := range files {
		packed, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ off, size int }{
			{0, 1}, {0, 400_000}, {0, 500_000}, {1, 0}, {399_999, 1}, {400_000, 5}, {65_535, 2},
			{150_000, 200_000}, {390_000, -1}, {0, -1},
		} {
			end := min(c.off+c.size, len(content))
			arg := fmt.Sprintf("--range=%d:%d", c.off, c.size)
			if c.size < 0 {
				end, arg = len(content), fmt.Sprintf("--range=%d:", c.off)
			}
			want := content[c.off:end]
			const url = "https://host/file?sig=secret"
			for what, r := range map[string]result{
				"file":           pz(t, "", "-dc", arg, name),
				"standard input": pz(t, string(packed), "-dc", arg),
				"URL":            pzWith(t, "", withURL(t, string(packed), 0), "-dc", arg, url),
			} {
				r.want(t, exitOK)
				if r.out != want {
					t.Errorf("%s of %s, %s: %d bytes, want %d", arg, name, what, len(r.out), len(want))
				}
			}
		}
		pz(t, "", "-dc", "--range=400001:1", name).want(t, exitError, "has 400000 bytes of content")
		out := dir + "/out"
		pz(t, "", "-df", "--range", "100K:1K", "-o", out, name).want(t, exitOK)
		if got, err := os.ReadFile(out); err != nil || string(got) != content[100<<10:101<<10] {
			t.Errorf("%s: -o: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestRangeReads checks that a part of a file with an index is read without the blocks in front,
// and that nothing behind the part is read of a file without one.
func TestRangeReads(t *testing.T) {
	content := sample(400_000)
	for _, format := range []string{"pz", "zst", "gz"} {
		args := []string{"-c", "-B64K", "--format", format}
		if format == "zst" {
			args = []string{"-c", "--seekable=64K", "--format", format}
		}
		packed := []byte(pz(t, content, args...).want(t, exitOK).out)
		damaged := len(packed) / 3
		part := "--range=390000:100"
		if format == "gz" {
			damaged = len(packed) * 2 / 3
			part = "--range=100:100"
		}
		packed[damaged] ^= 0xff
		file := write(t, string(packed), t.TempDir(), "file")
		pz(t, "", "-dc", part, file).want(t, exitOK)
		pz(t, "", "-t", file).want(t, exitError)
	}
}

// TestRangeOption checks values and combinations that are errors.
func TestRangeOption(t *testing.T) {
	for args, text := range map[string]string{
		"-dc --range 5":                "as in 4M:512K",
		"-dc --range :5":               "as in 4M:512K",
		"-dc --range -5:5":             "as in 4M:512K",
		"-dc --range 1:2:3":            "as in 4M:512K",
		"-dc --range 0x5:5":            "as in 4M:512K",
		"-d --range 1:2 x":             "-d and -o FILE",
		"-t --range 1:2":               "-d and -o FILE",
		"-c --range 1:2":               "-d and -o FILE",
		"-d --rm -o x --range 1:2 a.b": "--rm does not go with --range",
	} {
		pz(t, "", strings.Fields(args)...).want(t, exitError, text)
	}
}
