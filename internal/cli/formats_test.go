package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tool returns the path of a program. One that is missing ends the test, and on a CI machine fails it.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return path
}

// runTool gives a program the bytes in on its standard input, and returns its standard output.
func runTool(t *testing.T, in string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(tool(t, name), args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, errs.String())
	}
	return out.String()
}

var contents = map[string]string{
	"empty": "", "one": "x", "text": sample(300_000), "noise": noise(100_000), "zeros": string(make([]byte, 200_000)),
}

// Every way to ask for a format gives the same file, with its suffix.
func TestFormats(t *testing.T) {
	for _, c := range []struct{ args, suffix, magic string }{
		{"", ".pz", "PZ"},
		{"--format pz", ".pz", "PZ"},
		{"--format=pz -p lzr", ".pz", "PZ"},
		{"-p lzseqr", ".pz", "PZ"},
		{"--format gz", ".gz", "\x1f\x8b\x08"},
		{"--format .gz", ".gz", "\x1f\x8b\x08"},
		{"-p deflate", ".gz", "\x1f\x8b\x08"},
		{"--format gz -p deflate", ".gz", "\x1f\x8b\x08"},
		{"--format zst", ".zst", "\x28\xb5\x2f\xfd"},
		{"-p lzf", ".zst", "\x28\xb5\x2f\xfd"},
		{"-p lzf -S .x", ".x", "\x28\xb5\x2f\xfd"},
	} {
		for name, content := range contents {
			dir := t.TempDir()
			in := write(t, content, dir, name)
			args := strings.Fields(c.args)
			pz(t, "", append(args, "-T3", "-B64K", "--rm", in)...).want(t, exitOK)
			wantFiles(t, dir, name+c.suffix)
			b, _ := os.ReadFile(in + c.suffix)
			if !strings.HasPrefix(string(b), c.magic) {
				t.Errorf("%q: it begins with % x", c.args, b[:min(8, len(b))])
			}
			pz(t, "", "-t", in+c.suffix).want(t, exitOK)
			if got := pz(t, "", "-dc", in+c.suffix).want(t, exitOK).out; got != content {
				t.Errorf("%q, %s: %d bytes came back of %d", c.args, name, len(got), len(content))
			}
			// Through pipes, where there is no seeking.
			through := runProcess(t, strings.NewReader(content), args...).want(t, exitOK).out
			if got := runProcess(t, strings.NewReader(through), "-d").want(t, exitOK).out; got != content {
				t.Errorf("%q, %s, pipe: %d bytes came back of %d", c.args, name, len(got), len(content))
			}
			pz(t, "", append(args, "-d", "--rm", "-S", c.suffix, in+c.suffix)...).want(t, exitOK) // --format does not matter any more
			wantFile(t, in, content)
			wantFiles(t, dir, name)
		}
	}
}

func TestFormatErrors(t *testing.T) {
	for _, c := range []struct{ args, text string }{
		{"--format xz", "--format xz: the formats are pz, gz, zst"},
		{"--format", "--format needs a value"},
		{"--format=zst -p deflate", "-p deflate writes .gz files, which --format zst contradicts"},
		{"-p lzr --format gz", "-p lzr writes .pz files, which --format gz contradicts"},
		{"-d -p lzr --format gz", "contradicts"},
		{"-p lzf -B 64M", "-B: blocks of pipeline lzf have 8388608 bytes at most"},
		{"-p zst", "there are lzr, lzseqr, deflate, lzf; did you mean --format zst?"},
		{"--gzip", "did you mean --format gz?"},
		{"-n=x", "takes no value"},
	} {
		pz(t, "", strings.Fields(c.args)...).want(t, exitError, c.text, " (try pz --help)\n")
	}
	pz(t, "content", "-d", "-p", "lzf", "-B64M").want(t, exitError, notPacked) // no matter when restoring
	pz(t, "", "-h", "--format", "xz").want(t, exitOK)
}

// The tools that people have read our files, and we theirs, at all levels and put together from several.
func TestFormatTools(t *testing.T) {
	for _, c := range []struct {
		format string
		pack   []string
		unpack [][]string
	}{
		{"gz", []string{"gzip -1", "gzip -6", "gzip -9", "pigz -1", "pigz -9", "pigz -b 128 -p 3", "pigz -i", "libdeflate-gzip -12"},
			[][]string{{"gzip", "-dc"}, {"pigz", "-dc"}, {"libdeflate-gunzip", "-c"}}},
		{"zst", []string{"zstd -1", "zstd -3", "zstd -19", "zstd --fast=5", "zstd --no-check", "zstd --long=27", "zstd -T2 -B512K", "zstd --no-content-size"},
			[][]string{{"zstd", "-dc"}}},
	} {
		t.Run(c.format, func(t *testing.T) {
			all, packed := "", ""
			for name, content := range contents {
				ours := pz(t, content, "--format", c.format, "-T2", "-B16K").want(t, exitOK).out
				all, packed = all+content, packed+ours
				for _, u := range c.unpack {
					if got := runTool(t, ours, u[0], u[1:]...); got != content {
						t.Errorf("%s, %s: %d bytes of %d", u[0], name, len(got), len(content))
					}
				}
				path := write(t, content, t.TempDir(), name)
				for _, p := range c.pack {
					// By name as well, so that the tool knows the size.
					args := strings.Fields(p)
					for _, theirs := range []string{runTool(t, content, args[0], append(args[1:], "-c")...), runTool(t, "", args[0], append(args[1:], "-c", path)...)} {
						if got := pz(t, theirs, "-d").want(t, exitOK).out; got != content {
							t.Errorf("%s, %s: %d bytes of %d", p, name, len(got), len(content))
						}
						all, packed = all+content, packed+theirs
					}
				}
			}
			if got := pz(t, packed, "-d").want(t, exitOK).out; got != all {
				t.Errorf("all in one: %d bytes of %d", len(got), len(all))
			}
			if got := runProcess(t, strings.NewReader(packed), "-d", "-T2").want(t, exitOK).out; got != all {
				t.Errorf("all in one through a pipe: %d bytes of %d", len(got), len(all))
			}
		})
	}
}

// Names of results, and what has no name for one.
func TestSuffixes(t *testing.T) {
	packed := map[string]string{}
	for _, f := range formatNames() {
		packed[f] = pz(t, "content", "--format", f).out
	}
	dir := t.TempDir()
	for _, c := range []struct{ from, to string }{
		{"a.pz", "a"}, {"a.gz", "a"}, {"a.zst", "a"}, {"a.tgz", "a.tar"}, {"a.tzst", "a.tar"}, {"a.tar.gz", "a.tar"}, {"a.gz.zst", "a.gz"},
		{".gz", ""}, {".tgz", ""}, {"gz", ""}, {"a.GZ", ""}, {"a.txt", ""}, {"a.pzz", ""},
	} {
		for f, p := range packed { // the name need not tell the truth
			in := write(t, p, dir, c.from)
			if c.to == "" {
				pz(t, "", "-d", in).want(t, exitWarning, "unknown suffix -- ignored")
				wantFiles(t, dir, c.from)
			} else {
				pz(t, "", "-d", in).want(t, exitOK)
				wantFile(t, filepath.Join(dir, c.to), "content")
				os.Remove(filepath.Join(dir, c.to))
			}
			pz(t, "", "-d", "-o", filepath.Join(dir, "out"), in).want(t, exitOK)
			wantFile(t, filepath.Join(dir, "out"), "content")
			os.Remove(filepath.Join(dir, "out"))
			// Compressing what is compressed has to be meant.
			if c.to != "" {
				ext := c.from[strings.LastIndexByte(c.from, '.'):]
				pz(t, "", "--format", f, in).want(t, exitWarning, "already has "+ext+" suffix -- unchanged")
			}
			pz(t, "", "--format", f, "-f", in).want(t, exitOK)
			wantFiles(t, dir, c.from, c.from+"."+f)
			os.Remove(in + "." + f)
			os.Remove(in)
		}
	}
	// A suffix of one's own goes in front, and does not make the others unknown.
	in := write(t, packed["gz"], dir, "a.x")
	pz(t, "", "-d", "-S.x", in).want(t, exitOK)
	wantFiles(t, dir, "a", "a.x")
	pz(t, "", "-d", "-S.x", "-f", write(t, packed["zst"], dir, "a.zst")).want(t, exitOK)
	pz(t, "", "-S.y", write(t, "content", dir, "b")).want(t, exitOK)
	pz(t, "", "--format", "gz", "-S.z", filepath.Join(dir, "b")).want(t, exitOK)
	wantFiles(t, dir, "a", "a.x", "a.zst", "b", "b.y", "b.z")

	// The hint when somebody forgets the suffix.
	os.Remove(filepath.Join(dir, "a"))
	pz(t, "", "-d", filepath.Join(dir, "a")).want(t, exitError, "no such file", "there is ", "a.zst)")
}

func TestDirectoriesOfFormats(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i, f := range []string{"gz", "pz", "zst"} {
		name := fmt.Sprint(i)
		write(t, pz(t, "content "+name, "--format", f).out, dir, name+"."+f)
		want = append(want, name)
	}
	write(t, "plain", dir, "p")
	pz(t, "", "-r", "--format", "zst", dir).want(t, exitOK)
	wantFiles(t, dir, "0.gz", "1.pz", "2.zst", "p", "p.zst")
	os.Remove(filepath.Join(dir, "p"))
	pz(t, "", "-rd", "--rm", dir).want(t, exitOK)
	wantFiles(t, dir, append(want, "p")...)
	for _, name := range want {
		wantFile(t, filepath.Join(dir, name), "content "+name)
	}
}

var takes = regexp.MustCompile(`takes (\d+) bytes of memory, more than the limit of (\d+) \(raise -M to (\d+[KM]) at least\)$`)

// The memory that a message names will do, and a byte less will not.
func TestMemoryMessagesOfFormats(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000)
	gz := write(t, pz(t, content, "--format", "gz").out, dir, "a.gz")
	zst := write(t, pz(t, content, "--format", "zst").out, dir, "a.zst")
	zstd := write(t, runTool(t, content, "zstd", "-c", "-9"), dir, "b.zst") // of unknown size: its window counts
	long := write(t, runTool(t, strings.Repeat(content, 100), "zstd", "-c", "-1", "--long=31"), dir, "c.zst")
	for _, path := range []string{gz, zst, zstd, long} {
		for _, limit := range []string{"-M10K", "-k"} {
			if limit == "-k" && path != long {
				continue
			}
			m := takes.FindStringSubmatch(pz(t, "", "-t", limit, path).message(t, path))
			if m == nil {
				t.Fatal(path, limit, pz(t, "", "-t", limit, path).err)
			}
			if limit != "-k" && m[2] != "10240" {
				t.Errorf("%s: the limit is said to be %s", path, m[2])
			}
			if path != long { // whose 2 GiB are too much for small machines
				pz(t, "", "-t", "-M", m[1], path).want(t, exitOK)
				pz(t, "", "-t", "-M", m[3], path).want(t, exitOK)
			}
			least, _ := parseSize(m[1])
			if said, err := parseSize(m[3]); err != nil || said < least || said > least+1<<20 {
				t.Errorf("%s: %s is said to do, and %s is needed", path, m[3], m[1])
			}
			if path == zst {
				continue // as a block of the run it may take less
			}
			n, err := parseSize(m[1])
			if err != nil {
				t.Fatal(err)
			}
			pz(t, "", "-t", "-M", fmt.Sprint(n-1), path).want(t, exitError, "raise -M")
		}
	}
}

// What follows the compressed data of .gz is told, and takes nothing away from it; zeros, as tapes leave them, are nothing to tell.
func TestTrailingGarbage(t *testing.T) {
	content := sample(100_000)
	dir := t.TempDir()
	packed := pz(t, content, "--format", "gz", "-B16K").out
	at := fmt.Sprintf("trailing garbage after the end of the compressed data (at byte %d) -- ignored", len(packed))
	in := write(t, packed+"garbage", dir, "a.gz")
	pz(t, "", "-t", in).want(t, exitWarning, in+": "+at+"\n")
	pz(t, "", "-tq", in).want(t, exitWarning)
	pz(t, "", "-d", "--rm", in).want(t, exitWarning, at+" -- not removed\n")
	wantFiles(t, dir, "a", "a.gz")
	wantFile(t, filepath.Join(dir, "a"), content)
	if got := pz(t, "", "-dc", in).want(t, exitWarning, at); got.out != content {
		t.Errorf("%d bytes of %d", len(got.out), len(content))
	}
	if got := runProcess(t, strings.NewReader(packed+"garbage"), "-d").want(t, exitWarning, at); got.out != content {
		t.Errorf("pipe: %d bytes of %d", len(got.out), len(content))
	}
	if got := pz(t, "", "-l", in).want(t, exitWarning, at).out; !strings.Contains(got, " 100000 ") {
		t.Error(got)
	}
	// Zeros.
	write(t, packed+string(make([]byte, 100_000)), dir, "a.gz")
	pz(t, "", "-d", "-f", in).want(t, exitOK)
	wantFile(t, filepath.Join(dir, "a"), content)
	write(t, packed+string(make([]byte, 512))+"x", dir, "a.gz")
	pz(t, "", "-df", in).want(t, exitWarning, "trailing garbage")
	// In .pz there is more to be said, and an error.
	in = write(t, pz(t, content).out+"garbage", t.TempDir(), "a.pz")
	pz(t, "", "-d", in).want(t, exitError, "trailing garbage", "--recover")
}

// What is no frame between or behind frames of .zst may have been one: it is damage.
func TestNoFrame(t *testing.T) {
	content := sample(100_000)
	packed := pz(t, content, "--format", "zst", "-B16K").out
	second := 4 + strings.Index(packed[4:], packed[:4])
	for _, c := range []struct {
		name, file string
		at         int
	}{
		{"garbage", packed + "garbage", len(packed)},
		{"zeros", packed + string(make([]byte, 512)), len(packed)},
		{"flipped bit in a magic number", packed[:second] + string(packed[second]^1) + packed[second+1:], second},
	} {
		dir := t.TempDir()
		in := write(t, c.file, dir, "a.zst")
		text := fmt.Sprintf("the file is damaged (at byte %d", c.at)
		pz(t, "", "-d", "--rm", in).want(t, exitError, in+": "+text)
		wantFiles(t, dir, "a.zst")
		pz(t, "", "-tv", in).want(t, exitError, text, "what follows is no zstd frame")
		pz(t, "", "-l", in).want(t, exitError, text)
		if got := pz(t, "", "-dc", in).want(t, exitError, text).out; !strings.HasPrefix(content, got) || len(got) == 0 {
			t.Errorf("%s: %d bytes came out", c.name, len(got))
		}
	}
}

// Damage is an error, leaves no file, and keeps the source.
func TestDamagedFormats(t *testing.T) {
	content := sample(100_000)
	for _, f := range []string{"gz", "zst"} {
		dir := t.TempDir()
		packed := pz(t, content, "--format", f, "-B16K").out
		path := filepath.Join(dir, "a."+f)
		for at := 0; at < len(packed); at += 1 + len(packed)/40 {
			write(t, packed[:at], dir, "a."+f)
			if at > 0 {
				text := "is cut short (the end is missing"
				got := pz(t, "", "-d", "--rm", path).want(t, exitError, path+": "+text)
				if advice := regexp.MustCompile(`; (-dc FILE gives what is in front of that|--recover FILE -o OUT saves the whole frames, -dc FILE gives what there is of the next one, too)\)`); !advice.MatchString(got.err) {
					t.Errorf("%s cut to %d: %s", f, at, got.err)
				}
				if got := pz(t, "", "-dc", path).want(t, exitError, path+": "+text).out; !strings.HasPrefix(content, got) {
					t.Errorf("%s cut to %d: what came out is no part of the content", f, at)
				}
				pz(t, "", "-l", path).want(t, exitError, path+": "+text)
			}
			wantFiles(t, dir, "a."+f)
		}
		middle := len(packed) / 2
		write(t, packed[:middle]+"\x00\xff\x00\xff\x00\xff"+packed[middle+6:], dir, "a."+f)
		// Behind the damage there is more to be had where a seek table leads there.
		advice := map[string]string{"gz": "; -dc FILE gives what is in front of that)\n", "zst": "; --recover FILE -o OUT saves the intact frames)\n"}[f]
		pz(t, "", "-d", "--rm", path).want(t, exitError, path+": ", " is damaged (at byte ", advice)
		pz(t, "", "-t", path).want(t, exitError, path+": ", " is damaged (at byte ", advice)
		if got := pz(t, "", "-dc", path).want(t, exitError, path+": ", " is damaged (at byte ").err; strings.Contains(got, "-dc FILE") || strings.Contains(got, advice) != (f == "zst") {
			t.Errorf("-dc: %s", got)
		}
		if got := runProcess(t, strings.NewReader(packed[:middle]+packed[middle+6:]), "-t").want(t, exitError).err; strings.Contains(got, "FILE") {
			t.Errorf("advice for a pipe: %s", got)
		}
		got := pz(t, "", "--recover", path, "-c")
		if f == "zst" { // it has a seek table
			got.want(t, exitWarning, "lost: frame ", ": saved ")
		} else if want := "is .gz data, which has no index, and cannot be recovered (-dc FILE gives what is in front of the damage)"; got.message(t, path) != want {
			t.Errorf("--recover: %s", got.err)
		}
		wantFiles(t, dir, "a."+f)
	}
	// So it is without a table at the end.
	for _, c := range []struct{ end, advice string }{
		{"", "; --recover FILE -o OUT saves the intact frames)"},
		{"garbage", "; --recover FILE -o OUT saves the intact frames)"},
	} {
		zst := pz(t, content, "--format", "zst", "-B16K").out
		bad := zst[:len(zst)/2] + "\x00\xff\x00\xff\x00\xff" + zst[len(zst)/2+6:] + c.end
		pz(t, "", "-t", write(t, bad, t.TempDir(), "a.zst")).want(t, exitError, " is damaged (at byte ", c.advice)
	}
	// What is wrong in the second of several is said so.
	gz, zst := pz(t, content, "--format", "gz").out, pz(t, content, "--format", "zst").out
	path := filepath.Join(t.TempDir(), "a")
	os.WriteFile(path, []byte(gz+gz[:len(gz)-3]+"abc"), 0o600)
	if got := pz(t, "", "-tf", path).message(t, path); !strings.HasPrefix(got, "member 1 is damaged (at byte ") {
		t.Error(got)
	}
	os.WriteFile(path, []byte(gz+gz[:len(gz)-3]), 0o600)
	if got := pz(t, "", "-t", path).message(t, path); !strings.HasPrefix(got, "is cut short (the end is missing from member 1 on") {
		t.Error(got)
	}
	os.WriteFile(path, []byte(zst+zst[:1000]), 0o600)
	if got := pz(t, "", "-t", path).message(t, path); !strings.HasPrefix(got, "is cut short (the end is missing from frame 1 on") {
		t.Error(got)
	}
	// An archive that somebody took for a compressed one.
	path = write(t, strings.Repeat("x", 257)+"ustar\x0000"+strings.Repeat("\x00", 248), t.TempDir(), "a.tar.pz")
	pz(t, "", "-d", path).want(t, exitError, "is a tar archive that is not compressed (use tar -xf)")
	pz(t, "", "-d", write(t, strings.Repeat("x", 257)+"ustar\x0000"+strings.Repeat("\x00", 248), t.TempDir(), "a.tar")).want(t, exitWarning, "is a tar archive that is not compressed -- ignored (use tar -xf)")
	// A dictionary is not to be had.
	dict := "\x28\xb5\x2f\xfd\x21\x07\x05\x29\x00\x00hello"
	if got := pz(t, dict, "-d").message(t, "standard input"); got != "needs something that pz does not have (the frame needs dictionary 7)" {
		t.Error(got)
	}
}
