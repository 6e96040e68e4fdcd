// Package packaging tests what packages of pz hold beside the program: scripts, descriptions of the
// file type, and the recipes of docs/RECIPES.md.
package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/cli"
	"github.com/gopz/compress/internal/testenv"
)

// TestMain makes the test binary act as pz if it is called by a name of pz.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "pz", "unpz", "pzcat":
		cli.Main(nil)
	}
	os.Exit(m.Run())
}

// shell is a directory with files, and the programs of a package of pz on its search path.
type shell struct {
	t   *testing.T
	dir string // current directory
	bin string // first directory of the search path
}

func newShell(t *testing.T) *shell {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the scripts of the tests use options of GNU programs")
	}
	s := &shell{t: t, dir: t.TempDir(), bin: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pz", "unpz", "pzcat"} {
		if err := os.Symlink(self, filepath.Join(s.bin, name)); err != nil {
			testenv.Missing(t, "symbolic links: "+err.Error())
		}
	}
	for _, name := range []string{"pzgrep", "pzless"} {
		// go test notices changes only of files that the test reads itself.
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(s.bin, name), text, 0o777)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run runs a script in a POSIX shell and returns its output, both streams, and its exit code.
func (s *shell) run(script string) (out string, code int) {
	s.t.Helper()
	cmd := exec.Command(testenv.Tool(s.t, "sh"), "-euc", script)
	cmd.Dir = s.dir
	path := s.bin + string(os.PathListSeparator) + os.Getenv("PATH")
	cmd.Env = append(os.Environ(), "PATH="+path, "PZ_LEVEL=", "PZ_THREADS=", "TAR_OPTIONS=", "GREP=",
		"LC_ALL=C", "LESS=", "HOME="+s.dir, "GIT_CONFIG_NOSYSTEM=1")
	text, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		s.t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// must runs a script that must succeed, and returns its output.
func (s *shell) must(script string) string {
	s.t.Helper()
	out, code := s.run(script)
	if code != 0 {
		s.t.Fatalf("exit code %d\n%s\n%s", code, script, out)
	}
	return out
}

// makeSearched makes the files that TestPzgrep and TestPzless read.
func makeSearched(s *shell) {
	s.must(`printf 'one\ntwo\nthree\n' >a
		pz -c a >a.pz
		pz --format gz -c a >a.gz
		pz --format zst -c a >'b c.zst'
		printf 'four two\n' >plain
		yes 'two lines' | head -n 500000 | pz >large.pz
		printf 'tw\n' >patterns
		pz -c a | head -c 20 >cut.pz`)
}

func TestPzgrep(t *testing.T) {
	testenv.Slow(t)
	s := newShell(t)
	makeSearched(s)
	s.must("mkdir dir; cp a.pz dir")
	const byFind = "use find DIR -type f -exec pzgrep PATTERN {} +, or GREP=rg\n"
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{`two a.pz`, "two\n", 0},
		{`two a.pz plain`, "a.pz:two\nplain:four two\n", 0},
		{`two 'b c.zst' a.gz`, "b c.zst:two\na.gz:two\n", 0},
		{`-n -i TWO a.pz`, "2:two\n", 0},
		{`-inx TWO a.pz`, "2:two\n", 0},
		{`-H two a.pz`, "a.pz:two\n", 0},
		{`-h two a.pz a.gz`, "two\ntwo\n", 0},
		{`-c o a.pz plain`, "a.pz:2\nplain:1\n", 0},
		{`-l two a.pz cut.none plain`, "a.pz\npz: cut.none: no such file or directory\nplain\n", 2},
		{`-l two a.pz plain`, "a.pz\nplain\n", 0},
		{`-e one -e three a.pz`, "one\nthree\n", 0},
		{`-ne one a.pz`, "1:one\n", 0},
		{`-f patterns a.pz`, "two\n", 0},
		{`--file=patterns a.pz`, "two\n", 0},
		{`--regexp one a.pz`, "one\n", 0},
		{`-A 1 one a.pz`, "one\ntwo\n", 0},
		{`-A1 one a.pz`, "one\ntwo\n", 0},
		{`one a.pz -A1`, "one\ntwo\n", 0},
		{`-e 'a b'\''c' a.pz`, "", 1},
		{`-- -x a.pz`, "", 1},
		{`none a.pz plain`, "", 1},
		{`-q two a.pz`, "", 0},
		{`-q none a.pz`, "", 1},
		{`-q two large.pz none`, "", 0},
		{`-m1 two large.pz`, "two lines\n", 0},
		{`-l two large.pz`, "large.pz\n", 0},
		{`two <a.pz`, "two\n", 0},
		{`-H two - <a.pz`, "(standard input):two\n", 0},
		{`two <plain`, "four two\n", 0},
		{`-r two .`, "pzgrep: -r is not supported; " + byFind, 2},
		{`-nR two .`, "pzgrep: -R is not supported; " + byFind, 2},
		{`--recurs two .`, "pzgrep: --recurs is not supported; " + byFind, 2},
		{`--include='*.pz' two .`, "pzgrep: --include=*.pz is not supported; " + byFind, 2},
		{`--exclude-from patterns two .`, "pzgrep: --exclude-from is not supported; " + byFind, 2},
		{`-d skip two a.pz`, "pzgrep: -d is not supported; pzgrep searches no directories\n", 2},
		{`--directories=skip two a.pz`,
			"pzgrep: --directories=skip is not supported; pzgrep searches no directories\n", 2},
		{`-D skip two a.pz`, "pzgrep: -D is not supported; pzgrep reads devices and pipes\n", 2},
		{`--devices=skip two a.pz`,
			"pzgrep: --devices=skip is not supported; pzgrep reads devices and pipes\n", 2},
		{`two dir a.pz`, "pzgrep: dir: is a directory; " + byFind + "a.pz:two\n", 2},
		{`-f - a.pz`, "pzgrep: -f -: patterns cannot come from standard input\n", 2},
		{`-ne`, "pzgrep: -e needs a value\n", 2},
	} {
		out, code := s.run("pzgrep " + c.args)
		if out != c.want || code != c.code {
			t.Errorf("pzgrep %s: exit code %d, %q, want %d, %q", c.args, code, out, c.code, c.want)
		}
	}
	if out, code := s.run("pzgrep two cut.pz"); code != 2 || !strings.Contains(out, "cut.pz") {
		t.Errorf("damaged file: exit code %d, %q", code, out)
	}
	// The advice works.
	if out := s.must("GREP='grep -i' pzgrep TWO a.pz"); out != "two\n" {
		t.Errorf("GREP with an option: %q", out)
	}
	if out := s.must("find dir -type f -exec pzgrep two {} +"); out != "two\n" {
		t.Errorf("find: %q", out)
	}
	if out, code := s.run("pzgrep"); code != 2 || !strings.HasPrefix(out, "Usage: pzgrep") {
		t.Errorf("no pattern: exit code %d, %q", code, out)
	}
}

func TestPzgrepWithRipgrep(t *testing.T) {
	testenv.Slow(t)
	testenv.Tool(t, "rg")
	s := newShell(t)
	makeSearched(s)
	out := s.must("GREP=rg pzgrep --sort path -n -x two a.gz a.pz 'b c.zst' plain")
	if want := "a.gz:2:two\na.pz:2:two\nb c.zst:2:two\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	if _, code := s.run("GREP=rg pzgrep none a.pz"); code != 1 {
		t.Errorf("no match: exit code %d, want 1", code)
	}
}

func TestPzless(t *testing.T) {
	testenv.Slow(t)
	testenv.Tool(t, "less")
	s := newShell(t)
	makeSearched(s)
	// less copies its input where its output is no terminal.
	for args, want := range map[string]string{
		"a.pz":           "one\ntwo\nthree\n",
		"'b c.zst' a.gz": "one\ntwo\nthree\none\ntwo\nthree\n",
		"plain":          "four two\n",
		"<a.pz":          "one\ntwo\nthree\n",
	} {
		if got := s.must("pzless " + args); got != want {
			t.Errorf("pzless %s: %q, want %q", args, got, want)
		}
	}
}

// TestExitCodes compares the exit codes and the output of pzgrep and pzless with those of zgrep and
// zless of gzip 1.12. TOOL stands for either.
func TestExitCodes(t *testing.T) {
	testenv.Slow(t)
	for _, tool := range []string{"zgrep", "zless", "less", "bash"} {
		testenv.Tool(t, tool)
	}
	s := newShell(t)
	makeSearched(s)
	s.must(`pz --format gz -c large.pz -d | gzip >large.gz
		head -c 20 a.gz >cut.gz
		(cat a.gz; echo 'tail two') >half.gz
		: | gzip >empty.gz
		for n in 2 9 15; do printf "#!/bin/sh\nkill -$n \$\$\n" >signal$n; done
		for n in 1 3 130; do printf "#!/bin/sh\ncat >/dev/null; exit $n\n" >code$n; done
		for n in 3 127; do mkdir bin$n; printf "#!/bin/sh\nexit $n\n" | tee bin$n/gzip >bin$n/pz; done
		mkdir bin143; printf "#!/bin/sh\nkill \$\$\n" | tee bin143/gzip >bin143/pz
		chmod +x signal* code* bin*/*`)
	grep := []string{
		"TOOL two a.gz plain", "TOOL none a.gz plain", "TOOL two cut.gz a.gz", "TOOL tail half.gz",
		"TOOL two missing a.gz", "TOOL none a.gz missing", "TOOL -q two large.gz", "TOOL -L none a.gz plain",
		"TOOL 'a\\(' a.gz", "TOOL two a.gz >/dev/full",
		"TOOL two large.gz a.gz | sed q; echo ${PIPESTATUS[0]}",
		"trap '' PIPE; TOOL two large.gz | sed q; echo ${PIPESTATUS[0]}",
		"GREP=missing TOOL two a.gz plain", "GREP=/etc/passwd TOOL two a.gz",
		"GREP=./signal2 TOOL two a.gz", "GREP=./signal9 TOOL two a.gz plain", "GREP=./signal15 TOOL two a.gz",
		"GREP=./code1 TOOL two a.gz", "GREP=./code3 TOOL two a.gz missing",
		"GREP=./code130 TOOL two a.gz plain", "PATH=bin3:$PATH; TOOL two a.gz",
		"PATH=bin127:$PATH; TOOL two a.gz", "PATH=bin143:$PATH; TOOL two a.gz plain",
	}
	less := []string{
		"TOOL empty.gz", "TOOL half.gz plain", "TOOL <empty.gz", "TOOL cut.gz", "TOOL missing",
		"tool=$(command -v TOOL); PATH=/missing; /bin/sh $tool a.gz",
		"TOOL large.gz | sed q; echo ${PIPESTATUS[0]}",
	}
	run := func(script, tool string) (out string, code int) {
		script = strings.ReplaceAll(script, "TOOL", tool)
		script = strings.ReplaceAll(script, "'", `'\''`)
		return s.run("unset GREP; exec 2>/dev/null; bash -c '" + script + "' </dev/null")
	}
	for tool, scripts := range map[string][]string{"grep": grep, "less": less} {
		for _, script := range scripts {
			want, code := run(script, "z"+tool)
			got, gotCode := run(script, "pz"+tool)
			if got != want || gotCode != code {
				t.Errorf("%s: pz%s ends with %d, %q, want %d, %q", script, tool, gotCode, got, code, want)
			}
		}
	}
}

// fileTypes has contents and whether they are .pz files.
const fileTypes = `
	pz -c a >sized
	pz <a >redirected
	cat a | pz >piped
	pz --no-check -p lzr -c a >other
	head -c 70000 /dev/zero >b && pz -c b >long && cat b | pz --no-check >longpiped
	: >empty && pz -c empty >nothing
	printf 'PZ\001\001\210\003\000' >bits
	printf 'PZ\001 a text' >text
	printf 'PZ\001\001\013\003' >small
	printf 'PZ\001\001\033\003' >large
	printf 'PZ\001\001\020\004' >flags
	printf 'PZ\002\001\020\003' >version2`

// TestMagic asks file(1) what it recognizes.
func TestMagic(t *testing.T) {
	testenv.Slow(t)
	testenv.Tool(t, "file")
	s := newShell(t)
	magic, err := filepath.Abs("pz.magic")
	if err == nil {
		_, err = os.Stat(magic)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.must("printf 'some content' >a" + fileTypes)
	for name, want := range map[string]string{
		"sized":      "pz compressed data, pipeline lzseqr, content size 12",
		"redirected": "pz compressed data, pipeline lzseqr, content size 12",
		"piped":      "pz compressed data, pipeline lzseqr, content size 12",
		"other":      "pz compressed data, pipeline lzr, content size 12, no content checks",
		"long":       "pz compressed data, pipeline lzseqr, block size 2^17, content size 70000",
		"longpiped":  "pz compressed data, pipeline lzseqr, block size 2^21, no content checks",
		"bits":       "data",
		"nothing":    "pz compressed data",
		"text":       "data",
		"small":      "data",
		"large":      "data",
		"flags":      "data",
		"version2":   "data",
	} {
		got := strings.TrimSpace(s.must("file -b -m '" + magic + "' " + name))
		if name == "nothing" {
			got, _, _ = strings.Cut(got, ",")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if mime := s.must("file -b --mime-type -m '" + magic + "' " + name); want != "data" &&
			mime != "application/x-pz\n" {
			t.Errorf("%s: MIME type %q", name, mime)
		}
	}
}

// TestMIME asks GLib for the types of files.
func TestMIME(t *testing.T) {
	testenv.Slow(t)
	testenv.Tool(t, "update-mime-database")
	testenv.Tool(t, "gio")
	s := newShell(t)
	description, err := os.ReadFile("pz.xml")
	if err != nil {
		t.Fatal(err)
	}
	packages := filepath.Join(s.dir, "share", "mime", "packages")
	if err := os.MkdirAll(packages, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(packages, "pz.xml"), description, 0o666); err != nil {
		t.Fatal(err)
	}
	s.must("printf 'some content' >a; cp a a.pz; cp a a.tar.pz; update-mime-database share/mime" +
		fileTypes)
	for name, want := range map[string]string{
		"sized": "application/x-pz", "piped": "application/x-pz", "other": "application/x-pz",
		"nothing": "application/x-pz", "a.pz": "application/x-pz",
		"a.tar.pz": "application/x-pz-compressed-tar",
		"text":     "", "flags": "", "version2": "",
	} {
		out := s.must("export XDG_DATA_HOME=$PWD/share XDG_DATA_DIRS=$PWD/share\n" +
			"gio info -a standard::content-type " + name)
		_, got, _ := strings.Cut(strings.TrimSpace(out), "standard::content-type: ")
		if want == "" && !strings.Contains(got, "x-pz") {
			continue
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
