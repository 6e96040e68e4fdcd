package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// Advice of messages.
const (
	adviceBlocks = `; "pz --recover FILE -o OUT" saves the intact blocks`
	adviceFrames = `; "pz --recover FILE -o OUT" saves the intact frames`
	adviceLeft   = `; "pz --recover FILE -o OUT" saves what is left of the content`
	adviceBefore = `; "pz -dc FILE" restores the content before the damage`
	adviceWhole  = `; "pz --recover FILE -o OUT" saves the complete frames`
)

// TestFormatMemoryMessages checks that the limit a message about a .gz or .zst file names suffices,
// and that one unit less does not.
func TestFormatMemoryMessages(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000)
	gz := write(t, pz(t, content, "--format", "gz").out, dir, "a.gz")
	zst := write(t, pz(t, content, "--format", "zst").out, dir, "a.zst")
	// A frame of unknown size needs its window.
	zstd := write(t, runTool(t, content, "zstd", "-c", "-9"), dir, "b.zst")
	for _, path := range []string{gz, zst, zstd} {
		got := pz(t, "", "-t", "-M10K", path).message(t, path)
		m := leastMemory.FindStringSubmatch(got)
		if m == nil || !strings.Contains(got, "iB of memory, more than the limit of 10 KiB; ") {
			t.Fatalf("%s: no advice in %s", path, got)
		}
		pz(t, "", "-t", "-M", m[1], path).want(t, exitOK)
		if path != zst { // as a block of the pipeline it may need less
			pz(t, "", "-t", "-M", oneLess(t, m[1]), path).want(t, exitError, "use -M "+m[1])
		}
	}
	// A window of 2 GiB needs -M.
	long := runTool(t, strings.Repeat(content, 100), "zstd", "-c", "-1", "--long=31")
	path := write(t, long, dir, "c.zst")
	got := pz(t, "", "-t", path).message(t, path)
	m := leastMemory.FindStringSubmatch(got)
	if m == nil || !strings.HasPrefix(got, "needs 2") ||
		!strings.Contains(got, "GiB of memory, more than ") {
		t.Fatalf("no advice in %s", got)
	}
	if n, err := parseSize(m[1]); err != nil || n < 2<<30 || n > 3<<30 {
		t.Errorf("advice: -M %s: %d, %v", m[1], n, err)
	}
}

// TestTrailingGarbage checks data after the end of .gz and .pz files. Zeros after a .gz file, which
// tapes add, are allowed. Other data is a warning.
func TestTrailingGarbage(t *testing.T) {
	content := sample(100_000)
	for _, f := range []string{"gz", "pz"} {
		dir := t.TempDir()
		packed := pz(t, content, "--format", f, "-B16K").out
		warning := fmt.Sprintf("trailing garbage after the compressed data (byte %d) is ignored", len(packed))
		in := write(t, packed+"garbage", dir, "a."+f)
		pz(t, "", "-t", in).want(t, exitWarning, in+": "+warning+"\n")
		pz(t, "", "-tq", in).want(t, exitWarning)
		pz(t, "", "-d", "--rm", in).want(t, exitWarning, warning+"; the file is not removed\n")
		wantFiles(t, dir, "a", "a."+f)
		wantFile(t, filepath.Join(dir, "a"), content)
		if got := pz(t, "", "-dc", in).want(t, exitWarning, warning); got.out != content {
			t.Errorf("%s: got %d bytes, want %d", f, len(got.out), len(content))
		}
		piped := runProcess(t, strings.NewReader(packed+"garbage"), "-d").want(t, exitWarning, warning)
		if piped.out != content {
			t.Errorf("%s, pipe: got %d bytes, want %d", f, len(piped.out), len(content))
		}
		list := pz(t, "", "-l", in).want(t, exitWarning, warning).out
		if !strings.Contains(list, " 100000 ") {
			t.Errorf("%s, -l: %s", f, list)
		}
	}
	dir := t.TempDir()
	packed := pz(t, content, "--format", "gz", "-B16K").out
	in := write(t, packed+string(make([]byte, 100_000)), dir, "a.gz")
	pz(t, "", "-d", in).want(t, exitOK)
	wantFile(t, filepath.Join(dir, "a"), content)
	write(t, packed+string(make([]byte, 512))+"x", dir, "a.gz")
	pz(t, "", "-df", in).want(t, exitWarning, "trailing garbage")
}

// TestNoFrame checks that data between or after frames of a .zst file counts as damage, because it
// may have been a frame.
func TestNoFrame(t *testing.T) {
	content := sample(100_000)
	packed := pz(t, content, "--format", "zst", "--seekable=16K").out
	second := 4 + strings.Index(packed[4:], packed[:4])
	for _, c := range []struct {
		name, file string
		at         int
		listed     bool // the seek table lists all
	}{
		{"garbage", packed + "garbage", len(packed), false},
		{"zeros", packed + string(make([]byte, 512)), len(packed), false},
		{"flipped bit in a magic number", flip(packed, second), second, true},
	} {
		dir := t.TempDir()
		in := write(t, c.file, dir, "a.zst")
		text := fmt.Sprintf("no frame begins (byte %d): a frame is damaged, or garbage follows", c.at)
		pz(t, "", "-d", "--rm", in).want(t, exitError, in+": "+text)
		wantFiles(t, dir, "a.zst")
		pz(t, "", "-tv", in).want(t, exitError, text)
		if c.listed {
			pz(t, "", "-l", in).want(t, exitOK)
		} else {
			pz(t, "", "-l", in).want(t, exitError, text)
		}
		got := pz(t, "", "-dc", in).want(t, exitError, text).out
		if !strings.HasPrefix(content, got) || len(got) == 0 {
			t.Errorf("%s: got %d bytes", c.name, len(got))
		}
	}
}

// TestCutFormats checks .gz and .zst files that lack their end: pz leaves no file, keeps the source
// and gives advice.
func TestCutFormats(t *testing.T) {
	content := sample(100_000)
	advice := regexp.MustCompile(
		regexp.QuoteMeta(adviceBefore) + "|" + regexp.QuoteMeta(adviceWhole))
	const text = "is cut short; the end is missing"
	for _, f := range []string{"gz", "zst"} {
		dir := t.TempDir()
		packed := pz(t, content, "--format", f, "-B16K").out
		step := 1 + len(packed)/16
		if testenv.All() {
			step = 1 + len(packed)/40
		}
		for at := step; at < len(packed); at += step {
			path := write(t, packed[:at], dir, "a."+f)
			got := pz(t, "", "-d", "--rm", path).want(t, exitError, path+": "+text)
			if !advice.MatchString(got.err) {
				t.Errorf("%s cut to %d: %s", f, at, got.err)
			}
			shown := pz(t, "", "-dc", path).want(t, exitError, path+": "+text).out
			if !strings.HasPrefix(content, shown) {
				t.Errorf("%s cut to %d: -dc restores %d bytes that differ", f, at, len(shown))
			}
			pz(t, "", "-l", path).want(t, exitError, path+": "+text)
			wantFiles(t, dir, "a."+f)
		}
	}
}

// TestDamagedFormats checks the same for bytes that are overwritten in the middle.
func TestDamagedFormats(t *testing.T) {
	content := sample(100_000)
	for f, advice := range map[string]string{"gz": adviceLeft, "zst": adviceFrames} {
		dir := t.TempDir()
		blocks := "-B16K"
		if f == "zst" {
			blocks = "--seekable=16K"
		}
		packed := pz(t, content, "--format", f, blocks).out
		middle := len(packed) / 2
		bad := packed[:middle] + "\x00\xff\x00\xff\x00\xff" + packed[middle+6:]
		path := write(t, bad, dir, "a."+f)
		pz(t, "", "-d", "--rm", path).want(t, exitError, path+": ", " is damaged (byte ", advice)
		pz(t, "", "-t", path).want(t, exitError, path+": ", " is damaged (byte ", advice)
		got := pz(t, "", "-dc", path).want(t, exitError, path+": ", " is damaged (byte ").err
		if strings.Contains(got, "-dc FILE") || !strings.Contains(got, advice) {
			t.Errorf("%s, -dc: %s", f, got)
		}
		piped := packed[:middle] + packed[middle+6:]
		got = runProcess(t, strings.NewReader(piped), "-t").want(t, exitError).err
		if strings.Contains(got, "FILE") {
			t.Errorf("%s: advice for a pipe: %s", f, got)
		}
		r := pz(t, "", "--recover", path, "-c")
		if f == "zst" {
			r.want(t, exitWarning, "lost: frame ", ": saved ")
		} else {
			r.want(t, exitWarning, "not verified: ", ": saved ")
		}
		wantFiles(t, dir, "a."+f)
	}
	// With or without a seek table at the end.
	zst := pz(t, content, "--format", "zst", "--seekable=16K").out
	bad := zst[:len(zst)/2] + "\x00\xff\x00\xff\x00\xff" + zst[len(zst)/2+6:]
	for _, end := range []string{"", "garbage"} {
		path := write(t, bad+end, t.TempDir(), "a.zst")
		pz(t, "", "-t", path).want(t, exitError, " is damaged (byte ", adviceFrames)
	}
}

// TestDamagedFrame damages a .zst file of a single frame: -dc writes the blocks of the frame in
// front of the damage, as zstd does.
func TestDamagedFrame(t *testing.T) {
	content, dir := sample(600_000), t.TempDir()
	for _, c := range []struct{ name, packed, advice string }{
		{"pz", pz(t, content, "--format", "zst", "-B1M").out, adviceBefore},
		{"zstd", runTool(t, content, "zstd", "-c", "--stream-size=600000"), adviceBefore},
	} {
		at := len(c.packed) * 8 / 10
		bad := c.packed[:at] + strings.Repeat("\xff", 64) + c.packed[at+64:]
		path := write(t, bad, dir, c.name+".zst")
		const text = "frame 0 is damaged"
		got := pz(t, "", "-dc", path).want(t, exitError, path+": "+text).out
		if !strings.HasPrefix(content, got) || len(got) < 256<<10 {
			t.Errorf("%s: -dc restores %d bytes", c.name, len(got))
		}
		if piped := runProcess(t, strings.NewReader(bad), "-dc").want(t, exitError, text).out; piped != got {
			t.Errorf("%s: %d bytes of a pipe, %d of a file", c.name, len(piped), len(got))
		}
		e := pz(t, "", "-d", "--rm", path).want(t, exitError, text).err
		if advice := strings.TrimPrefix(c.advice, "; "); !strings.Contains(e, advice) {
			t.Errorf("%s: no advice in %s", c.name, e)
		}
		saved := pz(t, "", "--recover", "-c", path).want(t, exitWarning, "not verified").out
		if saved != got {
			t.Errorf("%s: --recover saves %d bytes, -dc restores %d", c.name, len(saved), len(got))
		}
		wantFiles(t, dir, c.name+".zst")
		os.Remove(path)
	}
}

// TestDamagedMagic damages the first magic number. -t and -d name --recover if that saves
// something, as far as the end of the file or its suffix tells.
func TestDamagedMagic(t *testing.T) {
	content := sample(100_000)
	const try = unknownFormat + `; if it was a .gz file, try "pz --recover FILE -o OUT"`
	for _, c := range []struct{ args, name, want string }{
		{"--format=pz -B16K", "a.pz", "is damaged at its beginning" + adviceBlocks},
		{"--format=pz -B16K", "a", "is damaged at its beginning" + adviceBlocks},
		{"--format=zst --seekable=16K", "a.zst", "is damaged at its beginning" + adviceFrames},
		{"--format=zst --seekable=16K", "a", "is damaged at its beginning" + adviceFrames},
		{"--format=zst --seekable=1M", "a.zst", unknownFormat}, // one frame
		{"--format=zst", "a.zst", unknownFormat},
		{"--format=gz", "a.gz", try},
		{"--format=gz", "a.tgz", try},
	} {
		packed := pz(t, content, append(strings.Fields(c.args), "-c")...).out
		path := write(t, flip(packed, 0), t.TempDir(), c.name)
		for _, mode := range []string{"-t", "-dc"} {
			if got := pz(t, "", mode, path).message(t, path); got != c.want {
				t.Errorf("%s, %s, %s: %s, want %s", c.args, c.name, mode, got, c.want)
			}
		}
		saved := len(pz(t, "", "--recover", "-c", path).out)
		if advised := strings.Contains(c.want, "--recover"); advised != (saved > 80_000) {
			t.Errorf("%s, %s: --recover saves %d bytes", c.args, c.name, saved)
		}
	}
}

// TestSecondMember checks that a message counts members and frames.
func TestSecondMember(t *testing.T) {
	content := sample(100_000)
	gz := pz(t, content, "--format", "gz").out
	zst := pz(t, content, "--format", "zst").out
	path := filepath.Join(t.TempDir(), "a")
	for _, c := range []struct{ packed, want string }{
		{gz + gz[:len(gz)-3] + "abc", "member 1 is damaged (byte "},
		{gz + gz[:len(gz)-3], "is cut short; the end is missing from member 1 on"},
		{zst + zst[:1000], "is cut short; the end is missing from frame 1 on"},
	} {
		if err := os.WriteFile(path, []byte(c.packed), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := pz(t, "", "-t", path).message(t, path); !strings.HasPrefix(got, c.want) {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestNotCompressed checks the messages about tar archives and dictionaries.
func TestNotCompressed(t *testing.T) {
	tar := strings.Repeat("x", 257) + "ustar\x0000" + strings.Repeat("\x00", 248)
	path := write(t, tar, t.TempDir(), "a.tar.pz")
	pz(t, "", "-d", path).want(t, exitError, "is an uncompressed tar archive; use tar -xf\n")
	path = write(t, tar, t.TempDir(), "a.tar")
	pz(t, "", "-d", path).want(t, exitWarning,
		"is an uncompressed tar archive -- ignored; use tar -xf\n")

	dict := "\x28\xb5\x2f\xfd\x21\x07\x05\x29\x00\x00hello"
	const want = "needs the dictionary with ID 7; give it with -D"
	if got := pz(t, dict, "-d").message(t, "standard input"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
