package cli

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestExpandWildcards(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "B.TXT", "c[1].log", "d", "-", tempName("a.txt")} {
		write(t, "content", dir, name)
	}
	t.Chdir(dir)
	for pattern, want := range map[string][]string{
		"*.txt":     {"B.TXT", "a.txt"},
		"?.Txt":     {"B.TXT", "a.txt"},
		"c[1].*":    {"c[1].log"},
		"[cd]*":     nil,
		"*.*":       {"./-", "B.TXT", "a.txt", "c[1].log", "d"},
		"d*":        {"d"},
		"d":         {"d"},
		"none*":     nil,
		"no/*":      nil,
		"*/a.txt":   nil,
		"./a*":      {"./a.txt"},
		dir + "/a*": {dir + "/a.txt"},
	} {
		if want == nil {
			want = []string{pattern}
		}
		if got := expandWildcards([]string{pattern}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

// TestWildcards checks that pz expands wildcards only where the shell does not.
func TestWildcards(t *testing.T) {
	dir := t.TempDir()
	write(t, "content", dir, "a.txt")
	write(t, "content", dir, "b.txt")
	all := filepath.Join(dir, "*.txt")
	if runtime.GOOS != "windows" {
		pz(t, "", all).want(t, exitError, "no such file")
		return
	}
	pz(t, "", all).want(t, exitOK)
	wantFiles(t, dir, "a.txt", "a.txt.pz", "b.txt", "b.txt.pz")
	pz(t, "", filepath.Join(dir, "*.none")).want(t, exitError, "*.none: no file has such a name")
	pz(t, "", "-o", filepath.Join(dir, "out"), all).want(t, exitError, "-o")
}
