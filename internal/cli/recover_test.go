package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/testenv"
)

func TestRecover(t *testing.T) {
	dir := t.TempDir()
	content := noise(20 * 4096) // stored as it is, so the test can find each block
	good := pz(t, content, "-B4K").out
	out := filepath.Join(dir, "out")

	intact := write(t, good, dir, "intact.pz")
	pz(t, "", "--recover", intact, "-o", out).want(t, exitOK,
		"intact.pz: saved 81920 of 81920 bytes\n")
	wantFile(t, out, content)

	at := strings.Index(good, content[5*4096+100:5*4096+200])
	bad := write(t, good[:at]+string([]byte{good[at] ^ 1})+good[at+1:], dir, "bad.pz")
	pz(t, "", "-d", bad).want(t, exitError, "bad.pz: ", "--recover")
	res := pz(t, "", "-q", "--recover", bad, "-fo", out)
	res.want(t, exitWarning, "bad.pz: lost: block 5, bytes 20480 to 24575 of the content\n")
	if strings.Contains(res.err, "saved") {
		t.Errorf("-q prints what was saved: %s", res.err)
	}
	wantFile(t, out, content[:5*4096]+content[6*4096:])

	got := pz(t, "", "--recover", "--zero-fill", "-c", bad).want(t, exitWarning,
		"lost: block 5", "saved 77824 of 81920 bytes").out
	if got != content[:5*4096]+strings.Repeat("\x00", 4096)+content[6*4096:] {
		t.Error("lost content is not replaced by zeros")
	}

	// The end is missing.
	cut := write(t, good[:at], dir, "cut.pz")
	pz(t, "", "-d", cut).want(t, exitError, "the end is missing")
	pz(t, "", "--recover", cut, "-fo", out).want(t, exitWarning,
		"lost: an unknown number of blocks from block 5 on", "saved 20480")
	wantFile(t, out, content[:5*4096])

	if !exists(bad) {
		t.Error("the source is gone")
	}
	runProcess(t, strings.NewReader(good), "--recover", "-c").want(t, exitError,
		"is not a regular file")
	pz(t, "", "--recover", filepath.Join(dir, "none"), "-c").want(t, exitError, "no such file")
}

// TestNothingToRecover checks that a file without intact blocks gives an error and no output file.
func TestNothingToRecover(t *testing.T) {
	good := pz(t, sample(100_000), "-B4K").out
	for name, c := range map[string]struct{ content, text string }{
		"text":      {"plain text", "has neither the header of a .pz file nor an intact block"},
		"noise":     {noise(100_000), "has neither the header of a .pz file nor an intact block"},
		"gzip":      {"\x1f\x8b\x08 and so on", "nothing can be saved"},
		"empty":     {"", "is empty"},
		"no blocks": {good[:30], "nothing can be saved"},
		"zeros":     {good[:100], "nothing can be saved"},
		"zstd":      {"\x28\xb5\x2f\xfd\x04\x00", "nothing can be saved"},
		"magic":     {"\x28\xb5\x2f\xfd", "is .zst data without a frame to recover"},
	} {
		dir := t.TempDir()
		in := write(t, c.content, dir, "a.pz")
		r := pz(t, "", "--recover", in, "-o", filepath.Join(dir, "out")).want(t, exitError,
			"a.pz: "+c.text)
		if strings.Contains(r.err, "pz --recover") {
			t.Errorf("%s: the message advises --recover: %s", name, r.err)
		}
		wantFiles(t, dir, "a.pz")
	}
}

func TestDamageText(t *testing.T) {
	at := func(kind error, block int64) error {
		return &compress.Error{Kind: kind, Block: block, Offset: 1234}
	}
	for _, c := range []struct {
		unit string
		d    compress.Damage
		want string
	}{
		{"block", compress.Damage{Block: 3, Blocks: 4, ContentOffset: 100, Content: 50},
			"lost: blocks 3 to 6, bytes 100 to 149 of the content"},
		{"block", compress.Damage{Block: 3, Blocks: 1, Stream: 2, ContentOffset: -1, Content: 50},
			"lost: block 3 of stream 2, 50 bytes at an unknown offset of the content"},
		{"frame", compress.Damage{Kind: compress.DamageUnknown, Block: 3, ContentOffset: 7, Content: -1},
			"lost: an unknown number of frames from frame 3 on, from byte 7 of the content on"},
		{"member", compress.Damage{Kind: compress.DamageUnknown, Stream: 3, ContentOffset: -1, Content: -1},
			"lost: an unknown amount of member 3, at an unknown offset of the content"},
		{"block", compress.Damage{Kind: compress.DamageUnknown, Stream: 1, ContentOffset: 7, Content: -1,
			Err: at(compress.ErrTruncated, -1)},
			"trailing garbage, or a damaged stream: at byte 1234: input is cut short"},
		{"block", compress.Damage{Kind: compress.DamageFrame, Err: at(compress.ErrCorrupt, 5)},
			"block 5 at byte 1234: corrupt input; no content is lost"},
		{"block", compress.Damage{Kind: compress.DamageWindow, ContentOffset: -1, Content: 5, Span: 700},
			"lost: 5 of 700 bytes of later content, which repeat lost content"},
		{"member", compress.Damage{Kind: compress.DamageCheck, Stream: 2, Span: 700,
			Err: at(compress.ErrChecksum, -1)},
			"not verified: 700 bytes of member 2: at byte 1234: checksum mismatch"},
	} {
		if got := damageText(c.d, c.unit); got != c.want {
			t.Errorf("%+v:\n%s, want\n%s", c.d, got, c.want)
		}
	}
}

// TestFlippedBits checks that -t detects a flipped bit and that --rm then keeps the source. The
// library's tests flip all bits; this test samples them.
func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	good := []byte(pz(t, sample(600), "-B4K").out)
	path := filepath.Join(dir, "a.pz")
	step := 61
	if testenv.All() {
		step = 29
	}
	for bit := 0; bit < 8*len(good); bit += step {
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

// TestRecoverShortenedZstd checks that missing bytes in a .zst file cost one frame.
func TestRecoverShortenedZstd(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000)
	good := pz(t, content, "--format", "zst", "--seekable=16K").out
	middle := len(good) / 2
	cut := good[:middle] + good[middle+9:]
	path := write(t, cut, dir, "a.zst")
	const advice = `; "pz --recover FILE -o OUT" saves the intact frames`
	pz(t, "", "-t", path).want(t, exitError, path+": frame ", " is damaged", advice)
	r := pz(t, "", "-v", "--recover", path, "-c").want(t, exitWarning,
		path+": lost: frame ", "; details: ", "saved 283616 of 300000 bytes")
	end := strings.Index(content, r.out[len(r.out)-1000:])
	if !strings.HasPrefix(content, r.out[:16384]) || end != len(content)-1000 {
		t.Error("the saved bytes are not the content")
	}
	// The seek table is damaged as well.
	path = write(t, cut[:len(cut)-50]+strings.Repeat("\x00", 50), dir, "b.zst")
	pz(t, "", "-t", path).want(t, exitError, path+": frame ", advice)
	got := pz(t, "", "--recover", path, "-c").want(t, exitWarning,
		"lost: an unknown number of frames from frame ", "saved 283616 bytes").out
	if got != r.out {
		t.Error("the saved bytes differ without the seek table")
	}
}

// TestCutShort checks files of all formats that lack their end: -dc restores the content that is
// left, and the advice works.
func TestCutShort(t *testing.T) {
	const beforeDamage = `; "pz -dc FILE" restores the content before the damage`
	for _, c := range []struct {
		name   string
		args   []string
		cut    int // percentage that is left
		advice string
	}{
		{"a.pz", []string{"-B64K"}, 95, `; "pz --recover FILE -o OUT" saves the complete blocks`},
		{"a.gz", []string{"--format", "gz"}, 50, beforeDamage},
		{"a.zst", []string{"--format", "zst"}, 50, beforeDamage}, // one frame
		{"b.zst", []string{"--format", "zst", "--seekable=512K"}, 95,
			`; "pz --recover FILE -o OUT" saves the complete frames`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, content := t.TempDir(), sample(600_000)
			in := write(t, content, dir, "content")
			good := pz(t, "", append(c.args, "-c", in)...).want(t, exitOK).out
			cut := good[:len(good)*c.cut/100]
			path := write(t, cut, dir, c.name)
			pz(t, "", "-d", path).want(t, exitError,
				path+": is cut short; the end is missing", c.advice+"\n")
			shown := pz(t, "", "-dc", path).want(t, exitError, path+": is cut short").out
			if !strings.HasPrefix(content, shown) || len(shown) < 200_000 {
				t.Errorf("-dc restores %d bytes", len(shown))
			}
			piped := pz(t, cut, "-dc").want(t, exitError, "is cut short").out
			if piped != shown {
				t.Errorf("-dc restores %d bytes of a file and %d of a pipe", len(shown), len(piped))
			}
			saved := pz(t, "", "--recover", path, "-c").want(t, exitWarning, "saved ").out
			if saved != shown {
				t.Errorf("--recover saves %d bytes, -dc restores %d", len(saved), len(shown))
			}
		})
	}
}

// TestRecoverMixed damages one of three joined files, which are in two formats. The others are
// saved at their places.
func TestRecoverMixed(t *testing.T) {
	formats := []string{"pz", "gz", "zst"}
	for _, outer := range formats {
		for _, inner := range formats {
			if outer == inner {
				continue
			}
			var parts, contents []string
			for i, format := range []string{outer, inner, outer} {
				content := noise(20_000 + i) // stored as it is
				contents = append(contents, content)
				parts = append(parts, pz(t, content, "--format", format, "-c").out)
			}
			joined := strings.Join(parts, "")
			want := strings.Join(contents, "")
			if outer == "zst" {
				parts[0] = pz(t, contents[0], "--format", "zst", "--parity", "5", "-c").out
				joined = strings.Join(parts, "")
			}
			file := write(t, joined, t.TempDir(), "joined."+outer)
			saved := pz(t, "", "--recover", "-c", file).want(t, exitOK, "saved 60003 of 60003 bytes").out
			if saved != want {
				t.Errorf("%s in %s: %d bytes of %d", inner, outer, len(saved), len(want))
			}
			at, before := 0, 0
			for i, part := range parts {
				bad := []byte(joined)
				bad[at+10_000] ^= 1
				file := write(t, string(bad), t.TempDir(), "joined."+outer)
				got := pz(t, "", "--recover", "-c", "--zero-fill", file).want(t, exitWarning, "saved").out
				size := len(contents[i])
				if len(got) != len(want) || got[:before] != want[:before] ||
					got[before+size:] != want[before+size:] {
					t.Errorf("%s in %s, part %d damaged: %d of %d bytes",
						inner, outer, i, len(got), len(want))
				}
				at, before = at+len(part), before+size
			}
		}
	}
}

// TestRecoverNeedsMemory recovers a file with a frame that needs more memory than -M allows. The
// report says so, and the other frame is saved.
func TestRecoverNeedsMemory(t *testing.T) {
	large := string(bbtest.WindowFrame(64<<20, []byte("large")))
	small := string(bbtest.WindowFrame(1<<10, []byte("small")))
	file := write(t, large+small, t.TempDir(), "a.zst")
	got := pz(t, "", "--recover", "-M16M", "-c", file).want(t, exitWarning,
		"a.zst: lost: frame 0, from byte 0 of the content on; it needs ",
		", more than the limit of 16 MiB; use -M ").out
	if got != "small" {
		t.Errorf("%q is saved", got)
	}
	got = pz(t, "", "--recover", "-c", file).want(t, exitOK, "saved 10 of 10 bytes").out
	if got != "largesmall" {
		t.Errorf("%q is saved without a limit", got)
	}
}
