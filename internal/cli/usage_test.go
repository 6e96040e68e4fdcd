package cli

import (
	"strings"
	"testing"
)

// TestUsageMessages checks that each invalid command line gives one line in the command's own
// words.
func TestUsageMessages(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-y", "unknown option -y"},
		{"-é", "unknown option -é"},
		{"-9é", "unknown option -é"},
		{"-ysh", "unknown option -y in -ysh"},
		{"-C dir", "unknown option -C; did you mean --output-dir?"},
		{"-xC dir a.tar.pz", "unknown option -C; did you mean --output-dir?"},
		{"-x --directory=dir", "unknown option --directory; did you mean --output-dir?"},
		{"-best", "-e st: the level must be a number; did you mean --best?"},
		{"-dky=3", "unknown option -y in -y=3"},
		{"-k-9", `unknown option "-"`},
		{"-=", `unknown option "="`},
		{"--=x", "invalid option --=x"},
		{"--xyz", "unknown option --xyz"},
		{"--b", "--b is ambiguous: " +
			"--backend, --bench, --bench-time, --bench-to, --best or --block-size"},
		{"--b=4K", "--b is ambiguous: " +
			"--backend, --bench, --bench-time, --bench-to, --best or --block-size"},
		{"--bench=x", "--bench=x: levels must be a list such as 3, 1-9 or 1,3,5-7, from 1 to 9"},
		{"--benchmark", "unknown option --benchmark; did you mean --bench?"},
		{"--rec", "--rec is ambiguous: --recover or --recursive"},
		{"--decompresss", "unknown option --decompresss; did you mean --decompress?"},
		{"--bl", "-B needs a value"},
		{"--th=x", "-T x: the number of threads must be from 0 (all processors) to 1024"},
		{"--fas=3", "--fast takes no value"},
		{"--silent", "unknown option --silent; did you mean --quiet?"},
		{"--rmm", "unknown option --rmm; did you mean --rm?"},
		{"--remove", "unknown option --remove; did you mean --rm?"},
		{"--patch-from=x", "unknown option --patch-from; did you mean --dictionary?"},
		{"--extreme", "unknown option --extreme; did you mean --best?"},
		{"--train-cover=k=50", "unknown option --train-cover; did you mean --train?"},
		{"--sdtout=3", "unknown option --sdtout; did you mean --stdout?"},
		{"--fsat", "unknown option --fsat; did you mean --fast?"},
		{"--gzip", "unknown option --gzip; did you mean --format gz?"},
		{"--\x1b[31m", `unknown option --"\x1b[31m"`},
		{"-T", "-T needs a value"},
		{"--threads", "-T needs a value"},
		{"-kdB", "-B needs a value"},
		{"--level", "--level needs a value"},
		{"-19", "level 19: the level must be a number from 1 to 9"},
		{"-0", "level 0: the level must be a number from 1 to 9"},
		{"--level=x", "level x: the level must be a number from 1 to 9"},
		{"--level=", `level "": the level must be a number from 1 to 9`},
		{"-B3", "-B 3: the block size must be a power of two from 4 KiB to 64 MiB"},
		{"--memory=0", "-M 0: the memory limit must be greater than 0"},
		{"-d=x", "-d takes no value"},
		{"--force=maybe", "-f takes no value"},
		{"--json=3", "--json takes no value"},
		{"--best=3", "--best takes no value"},
		{"--help=most", "--help=most: use --help, or --help=all for all options"},
	} {
		got := pz(t, "", strings.Fields(c.args)...).want(t, exitError).err
		if want := "pz: " + c.want + " (try pz --help)\n"; got != want {
			t.Errorf("%s: %s, want %s", c.args, got, want)
		}
	}
	if got := pz(t, "", "").want(t, exitError).err; got != "pz: the file name is empty\n" {
		t.Errorf("empty name: %s", got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "xabc", 1},
		{"kitten", "sitting", 3},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestOptionalValue checks the hint at a value of --long that is taken for a file.
func TestOptionalValue(t *testing.T) {
	in := write(t, "content", t.TempDir(), "in")
	for _, value := range []string{"27", "128M"} {
		pz(t, "", "--long", value, "-c", in).want(t, exitError,
			"pz: "+value+": no such file or directory; did you mean --long="+value+"?\n")
	}
	if r := pz(t, "", "--long", "5", "-c", in).want(t, exitError); strings.Contains(r.err, "did you mean") {
		t.Errorf("a number that is no window: %s", r.err)
	}
}
