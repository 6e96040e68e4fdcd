package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// message is what a failed run says, without "pz: " and the name of the file.
func (r result) message(t *testing.T, name string) string {
	t.Helper()
	r.want(t, exitError)
	text, ok := strings.CutPrefix(r.err, "pz: "+name+": ")
	if !ok || strings.Count(text, "\n") != 1 {
		t.Errorf("not one line about %s: %s", name, r.err)
	}
	return strings.TrimSuffix(text, "\n")
}

// Where a bit is wrong decides what is damaged; of what lower layers say about it only -v tells.
func TestDamageMessages(t *testing.T) {
	dir := t.TempDir()
	good := pz(t, "", "-B4K", "-c", write(t, sample(50_000), dir, "a")).out // 13 blocks
	index := len(good) - 100                                                // somewhere in it
	flip := func(s string, at int) string { return s[:at] + string([]byte{s[at] ^ 1}) + s[at+1:] }
	path := filepath.Join(dir, "a.pz")
	for _, c := range []struct{ name, content, test, list string }{
		{"stream header", flip(good, 8), "the header is damaged (at byte 0; --recover FILE -o OUT saves the intact blocks)", "same"},
		{"block header", flip(good, 20), "block 0 is damaged (at byte 18; --recover FILE -o OUT saves the intact blocks)", ""},
		{"block", flip(good, 200), "block 0 is damaged (at byte 18; --recover FILE -o OUT saves the intact blocks)", ""},
		{"index", flip(good, index), fmt.Sprintf("the index is damaged (at byte %d; --recover FILE -o OUT saves the intact blocks)",
			len(good)-4-8*13-32), "same"},
		{"footer", flip(good, len(good)-1), "the index is damaged (at byte ", "same"},
		{"version", flip(good, 2), "was made by a newer pz, or its header is damaged (--recover FILE -o OUT saves the intact blocks)", "same"},
		{"magic", flip(good, 0), notPacked + " (if only its beginning is damaged, --recover FILE -o OUT saves the blocks)", "same"},
		{"second stream", good + flip(good, 20),
			fmt.Sprintf("block 0 of stream 1 is damaged (at byte %d; --recover FILE -o OUT saves the intact blocks)", len(good)+18), ""},
		{"second header", good + flip(good, 8),
			fmt.Sprintf("the header of stream 1 is damaged (at byte %d; --recover FILE -o OUT saves the intact blocks)", len(good)), "same"},
		{"garbage", good + "garbage", fmt.Sprintf(
			"trailing garbage after the end of the compressed data (at byte %d; --recover FILE -o OUT saves what is in front of it)", len(good)), "same"},
		{"garbage byte", good + "\x00", fmt.Sprintf(
			"trailing garbage after the end of the compressed data (at byte %d; --recover FILE -o OUT saves what is in front of it)", len(good)), "same"},
		{"cut", good[:1000], "is cut short (the end is missing from block 0 on; --recover FILE -o OUT saves what is there)", "same"},
		{"cut in the second", good + good[:10], "is cut short (the end is missing; --recover FILE -o OUT saves what is there)", "same"},
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
			pz(t, "", "-l", path).want(t, exitOK) // the index does not know of it
		} else if got := pz(t, "", "-l", path).message(t, path); !strings.HasPrefix(got, c.list) {
			t.Errorf("%s, -l: %s\nwant %s", c.name, got, c.list)
		}
		if got := pz(t, "", "-tv", path).message(t, path); !strings.Contains(got, "; details: ") {
			t.Errorf("%s, -v: no details in %s", c.name, got)
		}
		// A pipe cannot be read again.
		if got := runProcess(t, strings.NewReader(c.content), "-t").message(t, "standard input"); strings.Contains(got, "--recover") {
			t.Errorf("%s: bad advice for a pipe: %s", c.name, got)
		}
	}
	layers := regexp.MustCompile(`rans|lzseq|lz77|payload|corrupt|compress:`)
	for at := 40; at < len(good); at += len(good) / 50 {
		if got := pz(t, "", "-t", write(t, flip(good, at), path)).message(t, path); layers.MatchString(got) {
			t.Errorf("byte %d: lower layers show in %s", at, got)
		}
	}
}

func TestEmptyInput(t *testing.T) {
	path := write(t, "", t.TempDir(), "a.pz")
	const want = "is empty, which no compressed file is"
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

func TestForeignDataIsNamed(t *testing.T) {
	dir := t.TempDir()
	for magic, want := range map[string]string{
		"\xfd7zXZ\x00":           "is xz data (use xz -d)",
		"BZh9":                   "is bzip2 data (use bzip2 -d)",
		"\x04\x22\x4d\x18":       "is lz4 data (use lz4 -d)",
		"PK\x03\x04":             "is zip data (use unzip)",
		"PK\x05\x06":             "is zip data (use unzip)",
		"\x1f\x9d\x90":           "is compress data (use gzip -d)",
		"\x1f\x8b\x07":           notPacked, // a method that nobody has
		"BZ":                     notPacked,
		"PKWARE":                 notPacked,
		"plain text, and enough": notPacked,
	} {
		for _, content := range []string{magic, magic + noise(1000)} {
			path := write(t, content, dir, "a.other")
			for _, args := range []string{"-t", "-l", "-dc", "-d -o " + filepath.Join(dir, "out")} {
				if got := pz(t, "", append(strings.Fields(args), path)...).message(t, path); got != want {
					t.Errorf("%q, %s: %s", magic, args, got)
				}
			}
			if got := runProcess(t, strings.NewReader(content), "-d").message(t, "standard input"); got != want {
				t.Errorf("%q through a pipe: %s", magic, got)
			}
			// Without a place for the result the name is wrong as well, but the content says more.
			ignored := strings.Replace(want, " (", " -- ignored (", 1)
			if want == notPacked {
				ignored += ", and has another suffix -- ignored"
			}
			pz(t, "", "-d", path).want(t, exitWarning, path+": "+ignored+"\n")
			wantFiles(t, dir, "a.other")
		}
	}
}

var leastOption = regexp.MustCompile(`raise -M to (\d+[KM]) at least`)

// The limit that a message names will do, and a unit less will not.
func TestMemoryMessages(t *testing.T) {
	dir := t.TempDir()
	in := write(t, sample(300_000), dir, "a")
	big := write(t, "", dir, "big")
	if err := os.Truncate(big, 40<<20); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(dir, "big.pz")
	pz(t, "", "-1", "-B16M", big).want(t, exitOK)
	for _, args := range []string{"-c " + in, "-9c " + in, "-c -B4K " + in, "-1c -B64M -T2 " + big, "-t " + packed} {
		run := func(limit string) result { return pz(t, "", append(strings.Fields(args), "-M", limit)...) }
		got := run("10K").want(t, exitError, " of memory, more than the limit of 10 KiB (raise -M to ", "iB of memory").err
		m := leastOption.FindStringSubmatch(got)
		if m == nil {
			t.Fatal(args, got)
		}
		if strings.Contains(got, "-B") == strings.HasPrefix(args, "-t") {
			t.Errorf("%s: advice for the other direction: %s", args, got)
		}
		run(m[1]).want(t, exitOK)
		n, err := parseSize(m[1])
		if err != nil {
			t.Fatal(err)
		}
		unit := int64(1 << 10)
		if strings.HasSuffix(m[1], "M") {
			unit = 1 << 20
		}
		run(fmt.Sprint(n-unit)).want(t, exitError, "more than the limit")
	}
	// So of a pipe.
	content, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	got := runProcess(t, strings.NewReader(string(content)), "-t", "-M1M").message(t, "standard input")
	m := leastOption.FindStringSubmatch(got)
	if m == nil || !strings.Contains(got, " of memory, more than the limit of 1 MiB (raise -M to ") {
		t.Fatal(got)
	}
	if got := runProcess(t, strings.NewReader(string(content)), "-t", "-M"+m[1]); got.code != 0 {
		t.Errorf("%+v", got)
	}
}
