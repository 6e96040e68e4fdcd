package cli

import (
	"slices"
	"strings"
	"testing"
)

// shortValue and longValue report whether an option of these tests takes a value.
func shortValue(c byte) bool  { return strings.IndexByte("oTBSMp", c) >= 0 }
func longValue(s string) bool { return s == "output" || s == "threads" }

// completeName completes a name for these tests.
func completeName(part string) string {
	for _, name := range []string{"best", "output", "stdout", "threads"} {
		if strings.HasPrefix(name, part) {
			return name
		}
	}
	return part
}

// listName returns the name of the option of these tests that a list of levels may follow.
func listName(c byte) string {
	if c == 'b' {
		return "bench"
	}
	return ""
}

var testNames = optionNames{
	short: shortValue, long: longValue, full: completeName, levels: listName,
}

func TestRewriteLevels(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"file -", "file -"},
		{"-9", "--level=9"},
		{"-1 f -2", "--level=1 f --level=2"},
		{"-19", "--level=19"},
		{"-9k", "--level=9 -k"},
		{"-k9", "-k --level=9"},
		{"-k9f", "-k --level=9 -f"},
		{"-d3f5k", "-d --level=3 -f --level=5 -k"},
		{"-T2", "-T2"},
		{"-dT2", "-dT2"},
		{"-9T2", "--level=9 -T2"},
		{"-T 2 -3", "-T 2 --level=3"},
		{"-dT -3 -4", "-dT -3 --level=4"},
		{"-T2k9", "-T2k9"},
		{"-o -9", "-o -9"},
		{"-o-9", "-o-9"},
		{"-o=-9 -9", "-o=-9 --level=9"},
		{"-fo -9 -8", "-fo -9 --level=8"},
		{"-B 64K -S .9 -M 1G -9", "-B 64K -S .9 -M 1G --level=9"},
		{"--output -9", "--output -9"},
		{"--output=-9 -9", "--output=-9 --level=9"},
		{"--threads 3 -3", "--threads 3 --level=3"},
		{"--stdout -3", "--stdout --level=3"},
		{"--fast --best", "--level=1 --level=9"},
		{"--output --best", "--output --best"},
		{"--fast=3", "--fast=3"},
		{"--bes --std", "--level=9 --stdout"},
		{"--out -9 --thr=-9 -9", "--output -9 --threads=-9 --level=9"},
		{"--output --bes", "--output --bes"},
		{"-o --bes -- --bes", "-o --bes -- --bes"},
		{"--fas -- --", "--fas -- --"},
		{"-9 -- -9 --best", "--level=9 -- -9 --best"},
		{"-o -- -9", "-o -- --level=9"},
		{"-k=9", "-k=9"},
		{"-9=", "--level=9 -="},
		{"-o", "-o"},
		{"--output", "--output"},
		{"-9é", "--level=9 -é"},
		{"-9-best", "-9-best"},
		{"-k9- f", "-k9- f"},
		{"-T9-best", "-T9-best"},
		{"-b", "-b"},
		{"-b -3", "-b --level=3"},
		{"-b3", "--bench=3"},
		{"-kb1-9d", "-k --bench=1-9 -d"},
		{"-b1,3,5-7", "--bench=1,3,5-7"},
		{"-b1T9", "--bench=1 -T9"},
		{"-b=3", "-b=3"},
		{"-b-3", "-b-3"},
		{"-ob3", "-ob3"},
	} {
		got := rewriteLevels(strings.Fields(c.in), testNames)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %s, want %s", c.in, strings.Join(got, " "), c.want)
		}
	}
}

func FuzzRewriteLevels(f *testing.F) {
	for _, s := range []string{
		"-9k\nx", "-o\n-9\n--\n-9", "-kT2\n-5f", "--best\n--output\n--fast", "-=9", "-kb1-3,5d\n-b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		args := strings.Split(s, "\n")
		got := rewriteLevels(slices.Clone(args), testNames)
		again := rewriteLevels(slices.Clone(got), testNames)
		if !slices.Equal(got, again) {
			t.Errorf("%q became %q, and that became %q", args, got, again)
		}
		if !strings.ContainsAny(s, "0123456789") && !strings.Contains(s, "--fast") &&
			!strings.Contains(s, "--b") && !strings.Contains(s, "--o") && !strings.Contains(s, "--s") &&
			!strings.Contains(s, "--t") && !slices.Equal(args, got) {
			t.Errorf("%q without a level became %q", args, got)
		}
		// The parser must not panic.
		parseFlags(args, func(string) string { return "" }, false)
	})
}
