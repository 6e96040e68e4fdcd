package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestManPage checks that the man page has all options and all of their text.
func TestManPage(t *testing.T) {
	page := pz(t, "", "--help=man").want(t, exitOK).out
	plain := strings.NewReplacer(`\fB`, "", `\fI`, "", `\fR`, "", `\&`, "", `\-`, "-", `\e`, `\`,
		`\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", "\n", " ").Replace(page)
	for _, o := range optionTable {
		text := strings.TrimSpace(o.names()) + " " + helpValues().Replace(o.text)
		if !strings.Contains(plain, " "+text+" ") {
			t.Errorf("the man page lacks %q", text)
		}
	}
	links := `zstd is "pz --format=zst" , unzstd is "pz -d" , zstdcat is "pz -dcf" .`
	if !strings.Contains(strings.NewReplacer(".B ", "", ".BR ", "").Replace(plain), links) {
		t.Errorf("the man page lacks %s", links)
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ". ") {
			t.Errorf("text that is a request: %q", line)
		}
	}
	for _, r := range page {
		if r > '~' {
			t.Errorf("the man page has %q; man pages are in ASCII", r)
		}
	}
}

// TestManText checks text that has a meaning in man pages.
func TestManText(t *testing.T) {
	for in, want := range map[string]string{
		"-x a\\b 'q' `c` ~ ^": `\-x a\eb \(aqq\(aq \(gac\(ga \(ti \(ha`,
		".gz":                 `\&.gz`,
		"A.\n.b":              "A.\n\\&.b",
		"-1 ... -9":           `\-1 ... \-9`,
	} {
		if got := manText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got, want := manSentences("One. .gz two."), "One.\n\\&.gz two."; got != want {
		t.Errorf("sentences: %q, want %q", got, want)
	}
}

// TestManRenders checks that formatters accept the man page without a warning.
func TestManRenders(t *testing.T) {
	page := manPage("v1.2.3", "2026-01-31")
	for _, formatter := range [][]string{
		{"groff", "-man", "-ww", "-Tascii", "-P-cbou"},
		{"mandoc", "-Tlint", "-Wwarning"},
	} {
		t.Run(formatter[0], func(t *testing.T) {
			cmd := exec.Command(testenv.Tool(t, formatter[0]), formatter[1:]...)
			cmd.Stdin = strings.NewReader(page)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			messages := stderr.String()
			if formatter[0] == "mandoc" { // its messages are its output
				messages += stdout.String()
			} else if !strings.Contains(stdout.String(), "-1 ... -9, --level N\n") {
				t.Errorf("no text: %q", stdout.String())
			}
			if err != nil || messages != "" {
				t.Errorf("%v\n%s", err, messages)
			}
		})
	}
}
