package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// completionCases has what a user types, with \t for the key that completes, and the arguments that
// the command gets.
var completionCases = []struct{ typed, want string }{
	{"pz --recurs\t", "<--recursive>"},
	{"pz --format z\t --recurs\t", "<--format><zst><--recursive>"},
	{"pz --format=z\t", "<--format=zst>"},
	{"pz --backend c\t", "<--backend><cpu>"},
	{"pz -p lzs\t", "<-p><lzseqr>"},
	{"pz --help=ba\t", "<--help=bash>"},
	{"pz lette\t", "<letter one.txt>"},
	{"pz -o lette\t", "<-o><letter one.txt>"},
	{"pz --output-dir fol\t", "<--output-dir><folder"}, // zsh removes the slash
	{"unpz --decomp\t", "<--decompress>"},
	{"pzcat --verb\t", "<--verbose>"},
	{"pz -- --forma\t", "<--><--forma>"},
}

// typed returns what an interactive shell prints while a user types lines.
func typed(t *testing.T, dir string, lines []string, shell ...string) string {
	t.Helper()
	person, program := openTerminal(t)
	setColumns(t, person, 500) // shells do not break the lines
	cmd := exec.Command(testenv.Tool(t, shell[0]), shell[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=dumb", "HOME="+dir, "HISTFILE=", "INPUTRC=/dev/null")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	go person.WriteString(strings.Join(lines, "\n") + "\nexit\n")
	var all strings.Builder
	b := make([]byte, 4096)
	for {
		n, err := person.Read(b) // fails when the shell ends
		all.Write(b[:n])
		if err != nil {
			break
		}
	}
	cmd.Wait()
	return all.String()
}

// TestCompletionTyped types into bash and zsh.
func TestCompletionTyped(t *testing.T) {
	testenv.Slow(t)
	for _, shell := range []struct {
		kind, file string
		args       []string
		setup      string
	}{
		{"bash", "pz", []string{"--norc", "--noprofile", "-i"}, "source ./pz"},
		{"zsh", "_pz", []string{"-f", "-i"}, "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D"},
	} {
		t.Run(shell.kind, func(t *testing.T) {
			dir := t.TempDir()
			write(t, generateHelp(shell.kind), dir, shell.file)
			write(t, "", dir, "letter one.txt")
			write(t, "", dir, "folded.txt")
			if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
				t.Fatal(err)
			}
			lines := []string{shell.setup}
			for _, name := range programs {
				lines = append(lines, name+`() { printf '<%s>' "$@"; echo; }`)
			}
			for _, c := range completionCases {
				lines = append(lines, c.typed)
			}
			got := typed(t, dir, lines, append([]string{shell.kind}, shell.args...)...)
			for _, c := range completionCases {
				if !strings.Contains(got, "\n"+c.want) {
					t.Errorf("%q: no %s", c.typed, c.want)
				}
			}
			if t.Failed() {
				t.Logf("%s", got)
			}
		})
	}
}

// TestCompletionFish asks fish for completions.
func TestCompletionFish(t *testing.T) {
	fish := testenv.Tool(t, "fish")
	dir := t.TempDir()
	write(t, generateHelp("fish"), dir, "pz.fish")
	write(t, "", dir, "letter one.txt")
	write(t, "", dir, "folded.txt")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ typed, want string }{
		{"pz --forma", "--format\tWrite format pz, gz or zst"},
		{"pz --format z", "zst"},
		{"pz --format=z", "--format=zst"},
		{"pz -p lzs", "lzseqr"},
		{"pz lette", "letter one.txt"},
		{"pz -o lette", "letter one.txt"},
		{"pz --output-dir fol", "folder/"},
		{"unpz --decomp", "--decompress\tRestore files"},
		{"pzcat --verb", "--verbose\t"},
	} {
		cmd := exec.Command(fish, "--no-config", "-c", "source pz.fish; complete -C \""+c.typed+`"`)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), c.want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%q: %v, %q, want %q", c.typed, err, out, c.want)
		}
	}
}
