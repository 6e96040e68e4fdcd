package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress"
)

func TestRecover(t *testing.T) {
	dir := t.TempDir()
	content := noise(20 * 4096) // is stored, so that it is known where each block is
	good := pz(t, content, "-B4K").out
	out := filepath.Join(dir, "out")

	intact := write(t, good, dir, "intact.pz")
	pz(t, "", "--recover", intact, "-o", out).want(t, exitOK, "intact.pz: saved 81920 of 81920 bytes\n")
	wantFile(t, out, content)

	at := strings.Index(good, content[5*4096+100:5*4096+200])
	bad := write(t, good[:at]+string([]byte{good[at] ^ 1})+good[at+1:], dir, "bad.pz")
	pz(t, "", "-d", bad).want(t, exitError, "bad.pz: ", "--recover")
	res := pz(t, "", "-q", "--recover", bad, "-fo", out)
	res.want(t, exitWarning, "bad.pz: lost: block 5, bytes 20480 to 24575 of the content\n")
	if strings.Contains(res.err, "saved") {
		t.Errorf("-q tells good news: %s", res.err)
	}
	wantFile(t, out, content[:5*4096]+content[6*4096:])

	got := pz(t, "", "--recover", "--zero-fill", "-c", bad).want(t, exitWarning, "lost: block 5", "saved 77824 of 81920 bytes").out
	if got != content[:5*4096]+strings.Repeat("\x00", 4096)+content[6*4096:] {
		t.Error("zeros are not where content is lost")
	}

	// The end is missing: all blocks that are there.
	cut := write(t, good[:at], dir, "cut.pz")
	pz(t, "", "-d", cut).want(t, exitError, "the end is missing")
	pz(t, "", "--recover", cut, "-fo", out).want(t, exitWarning, "lost: an unknown number of blocks from block 5 on", "saved 20480")
	wantFile(t, out, content[:5*4096])

	fi, _ := os.Stat(bad)
	if fi == nil {
		t.Error("the source is gone")
	}
	runProcess(t, strings.NewReader(good), "--recover", "-c").want(t, exitError, "is not a regular file")
	pz(t, "", "--recover", filepath.Join(dir, "none"), "-c").want(t, exitError, "no such file")
}

// What cannot be recovered leaves no file, also not an empty one that looks like a result.
func TestNothingToRecover(t *testing.T) {
	good := pz(t, sample(100_000), "-B4K").out
	for name, c := range map[string]struct{ content, text string }{
		"text":      {"no .pz data at all", "is not .pz data"},
		"noise":     {noise(100_000), "is not .pz data"},
		"gzip":      {"\x1f\x8b\x08 and so on", "is .gz data, which has no index, and cannot be recovered (-dc FILE gives"},
		"empty":     {"", "is empty"},
		"no blocks": {good[:30], "nothing could be saved"},
		"zeros":     {good[:100], "nothing could be saved"},
		"zstd":      {"\x28\xb5\x2f\xfd\x04\x00", "is .zst data without a whole frame that says how much it holds, and cannot be recovered (-dc FILE gives"},
	} {
		dir := t.TempDir()
		in := write(t, c.content, dir, "a.pz")
		r := pz(t, "", "--recover", in, "-o", filepath.Join(dir, "out")).want(t, exitError, "a.pz: "+c.text)
		if strings.Contains(r.err, "--recover") {
			t.Errorf("%s: it advises what was just done: %s", name, r.err)
		}
		wantFiles(t, dir, "a.pz")
	}
}

func TestDamageText(t *testing.T) {
	at := func(kind error, detail string) error {
		return &compress.Error{Kind: kind, Detail: detail, Offset: 1234}
	}
	for _, c := range []struct {
		d    compress.Damage
		want string
	}{
		{compress.Damage{Block: 3, Blocks: 4, ContentOffset: 100, Content: 50}, "lost: blocks 3 to 6, bytes 100 to 149 of the content"},
		{compress.Damage{Block: 3, Blocks: 1, Stream: 2, ContentOffset: -1, Content: 50},
			"lost: block 3 of stream 2, 50 bytes at an unknown place of the content"},
		{compress.Damage{Kind: compress.DamageUnknown, Block: 3, ContentOffset: 7, Content: -1},
			"lost: an unknown number of blocks from block 3 on, from byte 7 of the content on"},
		{compress.Damage{Kind: compress.DamageUnknown, Block: 3, ContentOffset: -1, Content: -1},
			"lost: an unknown number of blocks from block 3 on, at an unknown place of the content"},
		{compress.Damage{Kind: compress.DamageUnknown, Stream: 1, ContentOffset: 7, Content: -1, Err: at(compress.ErrTruncated, "")},
			"trailing garbage, or a damaged stream, from byte 1234 of the file on"},
		{compress.Damage{Kind: compress.DamageFrame, Err: at(compress.ErrCorrupt, "no header")}, "the header is damaged; no content is lost by that"},
		{compress.Damage{Kind: compress.DamageFrame, Err: at(compress.ErrCorrupt, "index: x")}, "the index is damaged; no content is lost by that"},
		{compress.Damage{Kind: compress.DamageFrame, Stream: 1, Err: at(compress.ErrTruncated, "")},
			"the index of stream 1 is damaged; no content is lost by that"},
		{compress.Damage{Kind: compress.DamageFrame, Err: at(compress.ErrCorrupt, "bytes that belong to no frame")},
			"bytes that belong to no frame, at byte 1234 of the file; no content is lost by that"},
	} {
		if got := damageText(c.d, "block"); got != c.want {
			t.Errorf("%+v:\n%s, want\n%s", c.d, got, c.want)
		}
	}
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

// Bytes that are missing from a .zst file cost one frame, and what is said is what happened.
func TestRecoverShortenedZstd(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000)
	good := pz(t, content, "--format", "zst", "-B16K").out
	middle := len(good) / 2
	cut := good[:middle] + good[middle+9:]
	path := write(t, cut, dir, "a.zst")
	pz(t, "", "-t", path).want(t, exitError, path+": frame ", " is damaged", "; --recover FILE -o OUT saves the intact frames)")
	r := pz(t, "", "-v", "--recover", path, "-c").want(t, exitWarning, path+": lost: frame ", "the seek table does not fit the frames", "saved 283616 of 300000 bytes")
	if i := strings.Index(content, r.out[len(r.out)-1000:]); !strings.HasPrefix(content, r.out[:16384]) || i != len(content)-1000 {
		t.Error("what is saved is not the content")
	}
	// The table as well.
	path = write(t, cut[:len(cut)-50]+strings.Repeat("\x00", 50), dir, "b.zst")
	pz(t, "", "-t", path).want(t, exitError, path+": frame ", "; --recover FILE -o OUT saves the intact frames)")
	if got := pz(t, "", "--recover", path, "-c").want(t, exitWarning, "lost: an unknown number of frames from frame ", "the index is damaged", "saved 283616 bytes").out; got != r.out {
		t.Error("less is saved without the table")
	}
}

// Of what is cut short, of whatever format, in the first or the second frame or member, -dc gives all that is there, and what is advised gives that.
func TestCutShort(t *testing.T) {
	dir, content := t.TempDir(), sample(600_000)
	for _, c := range []struct {
		name     string
		args     []string
		advice   string
		recovers bool
	}{
		{"a.pz", []string{"-B64K"}, "--recover FILE -o OUT saves what is there", true},
		{"a.gz", []string{"--format", "gz"}, "-dc FILE gives what is in front of that", false},
		{"a.zst", []string{"--format", "zst"}, "-dc FILE gives what is in front of that", false},
		{"b.zst", []string{"--format", "zst", "-B512K"}, "--recover FILE -o OUT saves the whole frames, -dc FILE gives what there is of the next one, too", true},
	} {
		good := pz(t, "", append(c.args, "-c", write(t, content, dir, "content"))...).want(t, exitOK).out
		cut := len(good) * 95 / 100
		if c.name == "a.zst" || c.name == "a.gz" { // in the middle of what is all in one
			cut = len(good) / 2
		}
		path := write(t, good[:cut], dir, c.name)
		pz(t, "", "-d", path).want(t, exitError, path+": is cut short (the end is missing", "; "+c.advice+")")
		shown := pz(t, "", "-dc", path).want(t, exitError, path+": is cut short").out
		if !strings.HasPrefix(content, shown) || len(shown) < 200_000 {
			t.Errorf("%s: %d bytes come out", c.name, len(shown))
		}
		if fromPipe := pz(t, good[:cut], "-dc").want(t, exitError, "is cut short").out; fromPipe != shown {
			t.Errorf("%s: %d bytes come out, of a pipe %d", c.name, len(shown), len(fromPipe))
		}
		switch r := pz(t, "", "--recover", path, "-c"); {
		case c.recovers:
			if r.want(t, exitWarning, "saved "); len(r.out) == 0 || !strings.HasPrefix(shown, r.out) || c.name == "b.zst" && len(r.out) == len(shown) {
				t.Errorf("%s: %d bytes are saved, %d come out", c.name, len(r.out), len(shown))
			}
		case c.name == "a.zst":
			r.want(t, exitError, "cannot be recovered (-dc FILE gives what there is if the end is missing; else zstd -dc FILE does)")
		}
	}
}
