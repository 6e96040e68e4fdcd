package cli

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

var update = flag.Bool("update", false, "write docs/generated/options.md")

const optionsPage = "../../docs/generated/options.md"

// TestOptionsPage checks that docs/generated/options.md is what otherPrograms says. Run
//
//	go test -run TestOptionsPage ./internal/cli -update
//
// to write it.
func TestOptionsPage(t *testing.T) {
	own := map[string]option{}
	for _, o := range optionTable {
		own["--"+o.long] = o
	}
	var b strings.Builder
	b.WriteString("# Options of gzip, zstd and xz\n\nThis page is generated from " +
		"`internal/cli/counterparts_test.go`. A test compares it with\nthe help of these programs.\n")
	for _, p := range otherPrograms {
		fmt.Fprintf(&b, "\n## %s\n\nVersion: %s\n\n| %s | pz | note |\n|---|---|---|\n",
			p.name, p.version, p.name)
		for _, c := range p.options {
			if c.pz == "" && c.note == "" {
				t.Errorf("%s %s has neither an option of pz nor a reason", p.name, c.option)
			}
			var names []string
			for name := range strings.SplitSeq(c.pz, ", ") {
				long, _, _ := strings.Cut(strings.ReplaceAll(name, "=", " "), " ")
				o, ok := own[long]
				if !ok && c.pz != "" {
					t.Errorf("%s %s: pz has no option %s", p.name, c.option, long)
				}
				if o.short != "" && long == name {
					name = "-" + o.short + ", " + name
				}
				if c.pz != "" {
					names = append(names, "`"+name+"`")
				}
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.ReplaceAll(c.option, "|", `\|`),
				strings.Join(names, ", "), c.note)
		}
	}
	if *update {
		if err := os.WriteFile(optionsPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(optionsPage)
	if err != nil || string(text) != b.String() {
		t.Errorf("%s is not up to date (%v); use -update", optionsPage, err)
	}
}

// optionPattern matches the options at the beginning of a line of help.
var optionPattern = regexp.MustCompile(`^ +(-0 \.\.\. -9|-[^\s,]+(?:, --[^\s,]+)?(?: [A-Z]+\b)?)(?: |$)`)

// longPattern matches an option whose value has commas.
var longPattern = regexp.MustCompile(`^ +(--[a-z-]+\[=[^\s]*\])(?: |$)`)

// helpOptions returns the options in a help text, each once.
func helpOptions(text string) (list []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		m := longPattern.FindStringSubmatch(line)
		if m == nil {
			m = optionPattern.FindStringSubmatch(line)
		}
		if m != nil && !slices.Contains(list, m[1]) {
			list = append(list, m[1])
		}
	}
	return list
}

// TestOptionsOfOthers checks that otherPrograms has exactly the options of the installed programs.
// It skips programs of other versions.
func TestOptionsOfOthers(t *testing.T) {
	for _, p := range otherPrograms {
		t.Run(p.name, func(t *testing.T) {
			path := testenv.Tool(t, p.name)
			version, err := exec.Command(path, "--version").Output()
			first, _, _ := strings.Cut(string(version), "\n")
			if err != nil || !strings.Contains(first, p.version) {
				t.Skipf("%q is another version than %q (%v)", first, p.version, err)
			}
			text, err := exec.Command(path, p.help).Output()
			if err != nil {
				t.Fatal(err)
			}
			var known []string
			for _, c := range p.options {
				known = append(known, c.option)
			}
			has := helpOptions(string(text))
			for _, name := range has {
				if !slices.Contains(known, name) {
					t.Errorf("otherPrograms lacks %s %q", p.name, name)
				}
			}
			for _, name := range known {
				if !slices.Contains(has, name) {
					t.Errorf("%s has no option %q", p.name, name)
				}
			}
		})
	}
}

// TestOptionsLikeOthers checks options that pz has for users of other programs.
func TestOptionsLikeOthers(t *testing.T) {
	in := sample(5000)
	plain := pz(t, in).out
	if pz(t, in, "--no-check").out == plain ||
		pz(t, in, "--no-check", "--check").want(t, exitOK).out != plain {
		t.Error("--check does not override --no-check")
	}
	if pz(t, in, "--synchronous").want(t, exitOK).out != plain {
		t.Error("--synchronous changes the file")
	}
	all := pz(t, "", "--help=all").out
	if pz(t, "", "-H").want(t, exitOK).out != all || pz(t, "", "--long-help").want(t, exitOK).out != all {
		t.Error("-H differs from --help=all")
	}
}
