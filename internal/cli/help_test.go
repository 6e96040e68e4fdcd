package cli

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gopz/compress"
	"github.com/gopz/compress/simd"
	"github.com/spf13/pflag"
)

// TestOptionTable checks that optionTable and the parser have the same options.
func TestOptionTable(t *testing.T) {
	var c config
	fs := c.flagSet()
	described := map[string]bool{}
	for _, o := range optionTable {
		if o.long == "" {
			continue
		}
		if described[o.long] {
			t.Errorf("--%s has two rows", o.long)
		}
		described[o.long] = true
		if o.text == "" {
			t.Errorf("--%s has no text", o.long)
		}
		f := fs.Lookup(o.long)
		switch {
		case o.long == "fast" || o.long == "best": // rewriteLevels handles them
		case f == nil:
			t.Errorf("the parser lacks --%s", o.long)
		case f.Shorthand != o.short:
			t.Errorf("--%s: short name %q, want %q", o.long, f.Shorthand, o.short)
		case takesValue(f) != (o.value != "") && o.long != "help" && o.long != "long" &&
			o.long != "seekable" && o.long != "bench" && o.long != "rm":
			t.Errorf("--%s: takes a value: %v, placeholder %q", o.long, takesValue(f), o.value)
		}
	}
	fs.VisitAll(func(f *pflag.Flag) {
		if !described[f.Name] {
			t.Errorf("optionTable lacks --%s", f.Name)
		}
	})
}

func TestHelp(t *testing.T) {
	brief := pz(t, "", "--help").want(t, exitOK).out
	all := pz(t, "", "--help=all").want(t, exitOK).out
	if n := strings.Count(brief, "\n"); n > 23 {
		t.Errorf("--help has %d lines, which do not fit into a terminal of 24 with a prompt", n)
	}
	for _, text := range []string{brief, all} {
		for line := range strings.SplitSeq(text, "\n") {
			if utf8.RuneCountInString(line) > helpWidth || strings.ContainsAny(line, "{}") {
				t.Errorf("line of help: %q", line)
			}
		}
	}
	for _, o := range optionTable {
		if !strings.Contains(all, o.names()) {
			t.Errorf("--help=all lacks %s", o.names())
		}
		if strings.Contains(brief, o.names()+" ") != (o.brief != "") && o.long != "" {
			t.Errorf("--help: %s, text %q", o.names(), o.brief)
		}
	}
	if again := pz(t, "", "-h").out; again != brief {
		t.Errorf("-h differs from --help: %s", again)
	}
	json := slices.IndexFunc(optionTable, func(o option) bool { return o.long == "json" })
	for i := range reflect.TypeFor[listing]().NumField() {
		field, _, _ := strings.Cut(reflect.TypeFor[listing]().Field(i).Tag.Get("json"), ",")
		if !regexp.MustCompile(`\b` + field + `\b`).MatchString(optionTable[json].text) {
			t.Errorf("--help=all lacks the field %s of --json", field)
		}
	}
}

// TestHelpMemoryTable checks that the memory table depends on -T.
func TestHelpMemoryTable(t *testing.T) {
	one := pz(t, "", "-T1", "--help=all").want(t, exitOK).out
	eight := pz(t, "", "-T8", "--help=all").want(t, exitOK).out
	if !strings.Contains(one, "1 thread (-T)") || !strings.Contains(eight, "8 threads (-T)") {
		t.Error("the table does not state the number of threads")
	}
	row := func(text string) string {
		_, rest, _ := strings.Cut(text, "\n      9  ")
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	if !strings.Contains(row(one), "iB") || row(one) == row(eight) {
		t.Errorf("level 9: %q with one thread, %q with eight", row(one), row(eight))
	}
}

func TestVersion(t *testing.T) {
	v := pz(t, "", "--version").want(t, exitOK).out
	if !strings.HasPrefix(v, "pz ") || strings.Count(v, "\n") != 1 ||
		!strings.HasSuffix(v, ", kernels: "+simd.Tier()+"\n") {
		t.Errorf("version: %q", v)
	}
}

// TestBlockSizesPage checks that docs/CLI.md has the default block sizes of .pz.
func TestBlockSizesPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/CLI.md")
	if err != nil {
		t.Fatal(err)
	}
	levels, sizes := "| level |", "| block of a .pz file |"
	from := 1
	for level := 1; level <= compress.MaxLevel; level++ {
		size := levelBlock(level)
		if level < compress.MaxLevel && levelBlock(level+1) == size {
			continue
		}
		if from == level {
			levels += fmt.Sprintf(" %d |", level)
		} else {
			levels += fmt.Sprintf(" %d to %d |", from, level)
		}
		sizes += " " + formatSize(size) + " |"
		from = level + 1
	}
	for _, row := range []string{levels, sizes} {
		if !strings.Contains(string(text), row+"\n") {
			t.Errorf("docs/CLI.md lacks %q", row)
		}
	}
}
