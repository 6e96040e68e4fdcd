package cli

import (
	"strings"
	"testing"
)

// record returns options that write down how they are set.
func record(list *[]string) (fs flagSet) {
	for _, o := range []flag{
		{long: levelFlag, rule: needsValue}, {long: "keep", short: "k"}, {long: "force", short: "f"},
		{long: "fast"}, {long: "output", short: "o", rule: needsValue},
		{long: "threads", short: "T", rule: needsValue}, {long: "help", short: "h", rule: optionalValue},
	} {
		o.set = func(value string) error {
			s := o.long
			if o.rule != noValue {
				s += "=" + value
			}
			*list = append(*list, s)
			return nil
		}
		fs = append(fs, &o)
	}
	return fs
}

// TestParse gives the options that each command line sets, then its operands.
func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ": "},
		{"a -", ": a -"},
		{"-9", "level=9: "},
		{"-1 a -2", "level=1 level=2: a"},
		{"-19", "level=19: "},
		{"-9k", "level=9 keep: "},
		{"-k9f", "keep level=9 force: "},
		{"-k3f5k", "keep level=3 force level=5 keep: "},
		{"-T2", "threads=2: "},
		{"-T=2", "threads=2: "},
		{"-T= -3", "threads= level=3: "},
		{"-fT2", "force threads=2: "},
		{"-9T2", "level=9 threads=2: "},
		{"-T 2 -3", "threads=2 level=3: "},
		{"-fT -3 -4", "force threads=-3 level=4: "},
		{"-T2k9", "threads=2k9: "},
		{"-T9-k", "threads=9-k: "},
		{"-o -9", "output=-9: "},
		{"-o-9", "output=-9: "},
		{"-o=-9 -9", "output=-9 level=9: "},
		{"--output -9", "output=-9: "},
		{"--output=-9 a -9", "output=-9 level=9: a"},
		{"--output= a", "output=: a"},
		{"--output=a=b", "output=a=b: "},
		{"--output --fast", "output=--fast: "},
		{"--fast --keep", "fast keep: "},
		{"-9 -- -9 --fast", "level=9: -9 --fast"},
		{"-o -- -9", "output=-- level=9: "},
		{"a -- -- b", ": a -- b"},
		{"-hk", "help= keep: "},
		{"-h=all -k", "help=all keep: "},
		{"--help all", "help=: all"},
		{"--help=all", "help=all: "},
	} {
		var list []string
		operands, err := record(&list).parse(strings.Fields(c.in))
		got := strings.Join(list, " ") + ": " + strings.Join(operands, " ")
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.in, got, err, c.want)
		}
	}
}

// TestParseErrors gives the options that are set before the error.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ in, set, err string }{
		{"-k9- f", "keep level=9", `unknown option "-"`},
		{"-9=", "level=9", `unknown option "="`},
		{"-9é", "level=9", "unknown option -é"},
		{"-k\xffk", "keep", `unknown option -"\xffk"`},
		{"-k=9", "", "-k takes no value"},
		{"--fast=3", "", "--fast takes no value"},
		{"--keep=", "", "-k takes no value"},
		{"-k -o", "keep", "-o needs a value"},
		{"--output", "", "-o needs a value"},
		{"---keep", "", "invalid option ---keep"},
		{"--kee", "", "unknown option --kee; did you mean --keep?"},
	} {
		var list []string
		operands, err := record(&list).parse(strings.Fields(c.in))
		got := strings.Join(list, " ")
		if err == nil || err.Error() != c.err || got != c.set || operands != nil {
			t.Errorf("%s: set %q, %v, want %q, %s", c.in, got, err, c.set, c.err)
		}
	}
}

// FuzzParse checks that arguments without options are operands, and that no argument panics.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"-9k\nx", "-o\n-9\n--\n-9", "-kT2\n-5f", "--best\n--output\n--fast", "-=9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		args := strings.Split(s, "\n")
		var list []string
		operands, err := record(&list).parse(args)
		if !strings.Contains(s, "-") && (err != nil || len(list) > 0 || len(operands) != len(args)) {
			t.Errorf("%q: set %q, operands %q, %v", args, list, operands, err)
		}
		parseFlags(args, func(string) string { return "" })
	})
}
