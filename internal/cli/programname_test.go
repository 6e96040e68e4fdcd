package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// runAs runs pz as a process under another name.
func runAs(t *testing.T, name, stdin string, args ...string) result {
	t.Helper()
	cmd := command(args...)
	cmd.Args[0] = name
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	cmd.Run()
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// TestProgramNames checks what pz does under the names of links to it, and that options override
// that.
func TestProgramNames(t *testing.T) {
	packed := map[string]string{}
	for _, f := range formats {
		packed[f.String()] = pz(t, "content", "--format", f.String()).out
	}
	for _, c := range []struct {
		name, args, in string // in: the file that is there first
		files, out     string // the files that are there then, standard output
	}{
		{"pz", "", "a", "a a.pz", ""},
		{"/usr/bin/unpz", "", "a.pz", "a a.pz", ""},
		{"unpz", "-f", "a.pz", "a a.pz", ""},
		{"unpz", "--rm", "a.gz", "a", ""},
		{"unpz", "-z", "a", "a a.pz", ""},
		{"unpz.exe", "", "a.pz", "a a.pz", ""},
		{"unpz2", "", "a", "a a.pz", ""},
		{"pzcat", "", "a.pz", "a.pz", "content"},
		{"pzcat", "--rm", "a.gz", "a.gz", "content"},
		{"gzip", "", "a", "a.gz", ""},
		{"/usr/bin/gzip", "-k9", "a", "a a.gz", ""},
		{"gzip", "-d", "a.gz", "a", ""},
		{"gzip", "-dc", "a.gz", "a.gz", "content"},
		{"gzip", "-t", "a.gz", "a.gz", ""},
		{"gunzip", "", "a.gz", "a", ""},
		{"pigz", "", "a", "a a.pz", ""},
		{"gunzip", "-k", "a.gz", "a a.gz", ""},
		{"zcat", "", "a.gz", "a.gz", "content"},
		{"gzcat", "", "a.gz", "a.gz", "content"},
		{"zstd", "", "a", "a a.zst", ""},
		{"zstd", "--rm", "a", "a.zst", ""},
		{"unzstd", "", "a.zst", "a a.zst", ""},
		{"zstdcat", "", "a.zst", "a.zst", "content"},
		{"zstdcat", "", "a", "a", "content"},
	} {
		dir := t.TempDir()
		content := "content"
		if _, suffix, ok := strings.Cut(c.in, "."); ok {
			content = packed[suffix]
		}
		in := write(t, content, dir, c.in)
		got := runAs(t, c.name, "", append(strings.Fields(c.args), in)...).want(t, exitOK)
		if got.out != c.out {
			t.Errorf("%s %s %s: standard output %q", c.name, c.args, c.in, got.out)
		}
		wantFiles(t, dir, strings.Fields(c.files)...)
		if exists(filepath.Join(dir, "a")) {
			wantFile(t, filepath.Join(dir, "a"), "content")
		}
	}
	// The format of standard output.
	for name, magic := range map[string]string{"gzip": gzMagic, "zstd": zstMagic, "pz": pzMagic} {
		if got := runAs(t, name, "content").want(t, exitOK).out; !strings.HasPrefix(got, magic) {
			t.Errorf("%s: % x", name, got)
		}
	}
	if got := runAs(t, "gunzip", packed["gz"]).want(t, exitOK).out; got != "content" {
		t.Errorf("gunzip: %q", got)
	}
}
