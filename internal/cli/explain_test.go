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

// message returns the message of a failed run without "pz: " and the name of the file.
func (r result) message(t *testing.T, name string) string {
	t.Helper()
	r.want(t, exitError)
	text, ok := strings.CutPrefix(r.err, "pz: "+name+": ")
	if !ok || strings.Count(text, "\n") != 1 {
		t.Errorf("not one line about %s: %s", name, r.err)
	}
	return strings.TrimSuffix(text, "\n")
}

// flip returns s with the lowest bit of a byte inverted.
func flip(s string, at int) string { return s[:at] + string([]byte{s[at] ^ 1}) + s[at+1:] }

// repeated matches what details must not repeat.
const repeated = "at byte|block [0-9]|is cut short|of memory, more than|data after the end|" +
	"zstd frame follows|not .pz, .gz or .zst"

// TestDamageMessages checks the messages about a .pz file with one flipped bit or a cut
// end, of -t and of -l. Errors of lower layers appear with -v only.
func TestDamageMessages(t *testing.T) {
	dir := t.TempDir()
	good := pz(t, "", "-B4K", "-c", write(t, sample(50_000), dir, "a")).out // 13 blocks
	indexAt := len(good) - 4 - 8*13 - 32
	size := len(good)
	path := filepath.Join(dir, "a.pz")
	const (
		saves    = `; "pz --recover FILE -o OUT" saves `
		intact   = saves + "the intact blocks"
		anyIndex = "the index is damaged (byte "
	)
	for _, c := range []struct{ name, content, test, list string }{
		{"stream header", flip(good, 8), "the header is damaged (byte 0)" + intact, "same"},
		{"block header", flip(good, 20), "block 0 is damaged (byte 18)" + intact, ""},
		{"block", flip(good, 200), "block 0 is damaged (byte 18)" + intact, ""},
		{"index", flip(good, size-100), fmt.Sprintf(anyIndex+"%d)"+intact, indexAt), "same"},
		{"footer", flip(good, size-1), anyIndex, "same"},
		{"version", flip(good, 2), "comes from a newer pz, or its header is damaged" + intact, "same"},
		{"magic", flip(good, 0), "is damaged at its beginning" + intact, "same"},
		{"magic, cut", flip(good, 0)[:size-100],
			unknownFormat + `; if it was a .pz file, try "pz --recover FILE -o OUT"`, "same"},
		{"second stream", good + flip(good, 20),
			fmt.Sprintf("block 0 of stream 1 is damaged (byte %d)"+intact, size+18), ""},
		{"second header", good + flip(good, 8),
			fmt.Sprintf("the header of stream 1 is damaged (byte %d)"+intact, size), "same"},
		{"cut", good[:1000],
			"is cut short; the end is missing from block 0 on" + saves + "the complete blocks", "same"},
		{"cut in the second", good + good[:10],
			"is cut short; the end is missing" + saves + "the complete blocks", "same"},
	} {
		write(t, c.content, path)
		got := pz(t, "", "-t", path).message(t, path)
		if !strings.HasPrefix(got, c.test) {
			t.Errorf("%s, -t: %s\nwant %s", c.name, got, c.test)
		}
		if c.list == "same" {
			c.list = c.test
		}
		if c.list == "" {
			pz(t, "", "-l", path).want(t, exitOK) // the index is intact
		} else if got := pz(t, "", "-l", path).message(t, path); !strings.HasPrefix(got, c.list) {
			t.Errorf("%s, -l: %s\nwant %s", c.name, got, c.list)
		}
		// With -v a message has details, which repeat neither the kind of the error nor the place.
		got = pz(t, "", "-tv", path).message(t, path)
		if _, more, _ := strings.Cut(got, "; details: "); regexp.MustCompile(repeated).MatchString(more) {
			t.Errorf("%s, -v: %s", c.name, got)
		}
		// A pipe cannot be read again.
		got = runProcess(t, strings.NewReader(c.content), "-t").message(t, "standard input")
		if strings.Contains(got, "--recover") {
			t.Errorf("%s: useless advice for a pipe: %s", c.name, got)
		}
	}
	layers := regexp.MustCompile(`rans|lzseq|lz77|payload|corrupt|compress:`)
	step := size / 20
	if testenv.All() {
		step = size / 50
	}
	for at := 40; at < size; at += step {
		got := pz(t, "", "-t", write(t, flip(good, at), path)).message(t, path)
		if layers.MatchString(got) {
			t.Errorf("byte %d: the message shows lower layers: %s", at, got)
		}
	}
}

func TestEmptyInput(t *testing.T) {
	path := write(t, "", t.TempDir(), "a.pz")
	const want = "is empty; compressed files never are"
	for _, args := range []string{"-t", "-l", "-d", "-dc", "--recover -c"} {
		if got := pz(t, "", append(strings.Fields(args), path)...).message(t, path); got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
	if got := runProcess(t, strings.NewReader(""), "-d").message(t, "standard input"); got != want {
		t.Errorf("pipe: %s", got)
	}
	if got := pz(t, "", "-d").message(t, "standard input"); got != want {
		t.Errorf("redirected: %s", got)
	}
}

// TestOtherFormatsAreNamed checks that the message names a format that pz does not read.
func TestOtherFormatsAreNamed(t *testing.T) {
	dir := t.TempDir()
	for magic, want := range map[string]string{
		"PK\x03\x04":             "is zip data; use unzip",
		"PK\x05\x06":             "is zip data; use unzip",
		"7z\xbc\xaf\x27\x1c":     "is 7z data; use 7z x",
		"LRZI\x00":               "is lrzip data; use lrzip -d",
		"\x1f\x8b\x07":           unknownFormat, // an undefined compression method
		"BZ":                     unknownFormat,
		"PKWARE":                 unknownFormat,
		"plain text, and enough": unknownFormat,
	} {
		for _, content := range []string{magic, magic + noise(1000)} {
			path := write(t, content, dir, "a.other")
			for _, args := range []string{"-t", "-l", "-dc", "-d -o " + filepath.Join(dir, "out")} {
				got := pz(t, "", append(strings.Fields(args), path)...).message(t, path)
				if got != want {
					t.Errorf("%q, %s: %s", magic, args, got)
				}
			}
			got := runProcess(t, strings.NewReader(content), "-d").message(t, "standard input")
			if got != want {
				t.Errorf("%q through a pipe: %s", magic, got)
			}
			// Without -o and -c the suffix is wrong as well.
			if want == unknownFormat {
				pz(t, "", "-d", path).want(t, exitWarning,
					path+": "+want+" and has no suffix of such data -- ignored\n")
			} else {
				pz(t, "", "-d", path).want(t, exitError, path+": "+want+"\n")
			}
			wantFiles(t, dir, "a.other")
		}
	}
}

// leastMemory matches the advice of a message about memory.
var leastMemory = regexp.MustCompile(`use -M (\d+[KM]) or more`)

// TestMemoryMessages checks that the limit a message names suffices, and that one unit less does
// not.
func TestMemoryMessages(t *testing.T) {
	dir := t.TempDir()
	in := write(t, sample(300_000), dir, "a")
	big := write(t, "", dir, "big")
	if err := os.Truncate(big, 40<<20); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(dir, "big.pz")
	pz(t, "", "-1", "-B16M", big).want(t, exitOK)
	for _, args := range []string{
		"-c " + in, "-9c " + in, "-c -B4K " + in, "-1c -B64M -T2 " + big, "-t " + packed,
	} {
		run := func(limit string) result {
			return pz(t, "", append(strings.Fields(args), "-M", limit)...)
		}
		got := run("10K").want(t, exitError, "iB of memory, more than the limit of 10 KiB; ").err
		m := leastMemory.FindStringSubmatch(got)
		if m == nil {
			t.Fatalf("%s: no advice in %s", args, got)
		}
		if strings.Contains(got, "-B") == strings.HasPrefix(args, "-t") {
			t.Errorf("%s: advice for the other direction: %s", args, got)
		}
		run(m[1]).want(t, exitOK)
		run(oneLess(t, m[1])).want(t, exitError, "more than the limit")
	}
	content, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	got := runProcess(t, strings.NewReader(string(content)), "-t", "-M1M").message(t, "standard input")
	m := leastMemory.FindStringSubmatch(got)
	if m == nil || !strings.Contains(got, " of memory, more than the limit of 1 MiB; ") {
		t.Fatalf("pipe: no advice in %s", got)
	}
	r := runProcess(t, strings.NewReader(string(content)), "-t", "-M"+m[1])
	if r.code != exitOK {
		t.Errorf("-M %s from a pipe: %+v", m[1], r)
	}
}

// oneLess returns a value of -M that is one K or M less than limit.
func oneLess(t *testing.T, limit string) string {
	t.Helper()
	n, err := parseSize(limit)
	if err != nil {
		t.Fatal(err)
	}
	unit := int64(1 << 10)
	if strings.HasSuffix(limit, "M") {
		unit = 1 << 20
	}
	return fmt.Sprint(n - unit)
}
