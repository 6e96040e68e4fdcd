package main

import (
	"errors"
	"flag"
	"strings"
	"testing"

	pzbeam "github.com/gopz/compress/integrations/beam"
)

// parseArgs parses arguments with the options of a runner that "--endpoint" and "--worker" stand
// for.
func parseArgs(args string) (*command, error) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.String("endpoint", "", "")
	fs.String("runner", "prism", "")
	fs.Bool("worker", false, "")
	fs.Bool("async", false, "")
	return parse(strings.Fields(args), fs)
}

// TestParse gives options between files, and wrong arguments.
func TestParse(t *testing.T) {
	c, err := parseArgs("compress a --out o -7 b --endpoint host:1 -f -- -c")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.patterns, " "); got != "a b -c" || c.name != "compress" || c.Level != 7 ||
		c.Output != "o" || c.Existing != pzbeam.Replace {
		t.Errorf("parsed %+v", c)
	}
	if _, err := parseArgs("--worker --endpoint=x"); err != nil {
		t.Errorf("a worker: %v", err)
	}
	if _, err := parseArgs("--help"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
	for _, x := range [][2]string{
		{"", "a command is missing: compress, decompress, verify or recover"},
		{"shrink a", `unknown command "shrink": it is compress, decompress, verify or recover`},
		{"verify", "verify: no files named"},
		{"compress a", "compress: --out DIR is missing"},
		{"compress a --out", "option --out needs a value"},
		{"compress a --out o --level 12", "level 12: a level is a number from 1 to 9"},
		{"compress a --out o -0", "level 0: a level is a number from 1 to 9"},
		{"compress a --out o -x", "unknown option -x"},
		{"compress a --out o --lvel 7", "unknown option --lvel"},
		{"compress a --out o --group-size x",
			`invalid value "x" for option --group-size: parse error`},
		{"compress a --out o --runner nix",
			`unknown runner "nix": it is prism, dataflow, flink, spark, universal`},
		{"compress a --out o --report r", "compress: option --report is for verify, recover only"},
		{"decompress a --out o --format gz", "decompress: option --format is for compress only"},
		{"verify a --async",
			"verify: with --async there is no exit status: --report FILE is needed"},
		{"recover a --out o --level 3", "recover: option --level is for compress only"},
		{"decompress a --out o --zero-fill=x",
			`invalid boolean value "x" for -zero-fill: parse error`},
	} {
		if _, err := parseArgs(x[0]); err == nil || err.Error() != x[1] {
			t.Errorf("pzbeam %s: error %v, want %s", x[0], err, x[1])
		}
	}
	if _, err := parseArgs("verify a --async --report r"); err != nil {
		t.Error(err)
	}
}

// TestHelp checks that the help names every option, and fits a terminal.
func TestHelp(t *testing.T) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	new(command).define(fs)
	fs.VisitAll(func(f *flag.Flag) {
		if len(f.Name) > 2 && !strings.Contains(usage, " --"+f.Name) {
			t.Errorf("the help lacks --%s", f.Name)
		}
	})
	for _, line := range strings.Split(usage, "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// TestMessage checks what is printed of an error of a runner.
func TestMessage(t *testing.T) {
	for _, x := range [][2]string{
		{"1: ParDo\n\tfailed:\npzbeam: a: is a directory\nhint", "pzbeam: a: is a directory"},
		{"pzbeam: b: the output exists",
			"pzbeam: b: the output exists; -f replaces it, --skip-existing leaves it"},
		{"connection refused", "pzbeam: connection refused"},
	} {
		if got := message(errors.New(x[0])); got != x[1] {
			t.Errorf("%q becomes %q", x[0], got)
		}
	}
}
