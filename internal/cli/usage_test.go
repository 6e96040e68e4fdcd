package cli

import (
	"strings"
	"testing"
)

// One line in the command's own words; the parser's must not show.
func TestUsageMessages(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-y", "there is no option -y"},
		{"-é", "there is no option -é"},
		{"-9é", "there is no option -é"},
		{"-ysh", "there is no option -y, as in -ysh"},
		{"-best", "there is no option -b, as in -best; did you mean --best?"},
		{"-dkx=3", "there is no option -x, as in -x=3"},
		{"-k-9", `there is no option "-"`},
		{"-=", `there is no option "="`},
		{"--=x", "--=x is not an option"},
		{"--xyz", "there is no option --xyz"},
		{"--b", "there is no option --b"},
		{"--rmm", "there is no option --rmm; did you mean --rm?"},
		{"--decomp", "there is no option --decomp; did you mean --decompress?"},
		{"--uncompress", "there is no option --uncompress; did you mean --decompress?"},
		{"--sdtout=3", "there is no option --sdtout; did you mean --stdout?"},
		{"--fsat", "there is no option --fsat; did you mean --fast?"},
		{"--\x1b[31m", `there is no option --"\x1b[31m"`},
		{"-T", "-T needs a value"},
		{"--threads", "-T needs a value"},
		{"-kdB", "-B needs a value"},
		{"--level", "--level needs a value"},
		{"-19", "level 19: a level is a number from 1 to 9"},
		{"-0", "level 0: a level is a number from 1 to 9"},
		{"--level=x", "level x: a level is a number from 1 to 9"},
		{"--level=", `level "": a level is a number from 1 to 9`},
		{"-B3", "-B 3: a block size is a power of two from 4 KiB to 64 MiB"},
		{"--memory=0", "-M 0: a memory limit is more than 0"},
		{"-d=x", "-d takes no value"},
		{"--force=maybe", "-f takes no value"},
		{"--json=3", "--json takes no value"},
		{"--best=3", "--best takes no value"},
	} {
		got := pz(t, "", strings.Fields(c.args)...).want(t, exitError).err
		if want := "pz: " + c.want + " (try pz --help)\n"; got != want {
			t.Errorf("%s: %s, want %s", c.args, got, want)
		}
	}
	pz(t, "", "").want(t, exitError, `pz: "": is no name of a file`)
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "xabc", 1}, {"kitten", "sitting", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
