package cli

import (
	"fmt"
	"strings"
	"testing"
)

// TestFormatsFollowOneAnother checks that -d and -t restore parts in several formats, from files,
// pipes and a partly read standard input.
func TestFormatsFollowOneAnother(t *testing.T) {
	part := func(format string, n int) (packed, content string) {
		content = fmt.Sprint(n, format) + sample(n)
		return pz(t, content, "--format", format, "-1", "-B64K").want(t, exitOK).out, content
	}
	for _, order := range []string{"gz pz", "pz gz", "gz zst", "zst gz", "zst pz", "pz zst",
		"gz gz zst zst pz pz gz", "pz zst pz zst"} {
		for _, size := range []int{10, 700_000} {
			packed, content := "", ""
			for i, f := range strings.Fields(order) {
				p, c := part(f, size+i)
				packed, content = packed+p, content+c
			}
			in := write(t, packed, t.TempDir(), "a.pz")
			wantContent(t, pz(t, "", "-dc", in).want(t, exitOK).out, content)
			wantContent(t, pz(t, packed, "-dcf").want(t, exitOK).out, content)
			piped := runProcess(t, strings.NewReader(packed), "-d").want(t, exitOK)
			wantContent(t, piped.out, content)
			piped = runProcess(t, strings.NewReader(packed), "-dcf", "-T1").want(t, exitOK)
			wantContent(t, piped.out, content)
			pz(t, "", "-tv", in).want(t, exitOK, fmt.Sprint(len(content), " bytes of content, "),
				fmt.Sprint(len(packed), " compressed"))
			runProcess(t, strings.NewReader(packed), "-tv").want(t, exitOK,
				fmt.Sprint(len(content), " bytes of content, "), fmt.Sprint(len(packed), " compressed"))
			pz(t, "", "-d", "--rm", in).want(t, exitOK)
			wantFile(t, strings.TrimSuffix(in, ".pz"), content)
			wantGone(t, in)
		}
	}
}

// TestDamageBehindOtherFormat checks messages about the second part of a file: where damage is, and
// what follows the data.
func TestDamageBehindOtherFormat(t *testing.T) {
	dir := t.TempDir()
	gz := pz(t, "first", "--format", "gz").out
	pzs := pz(t, "second").out
	in := write(t, gz+pzs[:len(pzs)-1]+"!", dir, "a.gz")
	res := pz(t, "", "-t", in).want(t, exitError, "a.gz: the index is damaged (byte ")
	var at int
	fmt.Sscanf(res.err[strings.Index(res.err, "(byte "):], "(byte %d)", &at)
	if at < len(gz) || at >= len(gz)+len(pzs) || strings.Contains(res.err, "--recover") {
		t.Errorf("damage behind byte %d: %s", len(gz), res.err)
	}
	if got := runProcess(t, strings.NewReader(gz+pzs[:len(pzs)-1]), "-d").want(t, exitError,
		"is cut short"); got.out != "firstsecond" {
		t.Errorf("%q", got.out)
	}
	// Garbage stays garbage.
	for _, garbage := range []string{"x", "PZ", "PZzz text", "\x1f\x8b", "\xfd7zXZ\x00"} {
		for _, piped := range []bool{false, true} {
			data := pzs + gz + garbage
			var res result
			if piped {
				res = runProcess(t, strings.NewReader(data), "-d")
			} else {
				res = pz(t, data, "-d")
			}
			if res.code == exitOK || res.out != "secondfirst" {
				t.Errorf("%q: %+v", garbage, res)
			}
			if garbage == "x" {
				res.want(t, exitWarning, fmt.Sprintf("trailing garbage after the compressed data (byte %d)",
					len(pzs)+len(gz)))
			}
		}
	}
	// What needs random access says so.
	in = write(t, gz+pzs, dir, "b.gz")
	text := fmt.Sprintf("goes on in another format (byte %d)", len(gz))
	pz(t, "", "-l", in).want(t, exitWarning, text)
	in = write(t, pzs+gz, dir, "b.pz")
	pz(t, "", "-l", in).want(t, exitWarning, fmt.Sprintf("goes on in another format (byte %d)", len(pzs)))
}

// TestRecentBytes checks which bytes are kept.
func TestRecentBytes(t *testing.T) {
	var r recentBytes
	all := noise(8 * recentSize)
	for at, i := 0, 0; at < len(all); i++ {
		n := min([]int{1, 100, 128 << 10, recentSize - 1, 3 * recentSize, 7}[i%6], len(all)-at)
		r.addBytes([]byte(all[at : at+n]))
		at += n
		if cap(r.buf) > 4*recentSize {
			t.Fatalf("%d bytes are kept", cap(r.buf))
		}
		for _, back := range []int{0, 1, min(n, recentSize), recentSize} {
			if off := at - back; off >= 0 && string(r.from(int64(off))) != all[off:at] {
				t.Fatalf("%d bytes before %d are not kept", back, at)
			}
		}
	}
	if r.from(0) != nil || r.from(r.end+1) != nil {
		t.Error("bytes that are not kept")
	}
}
