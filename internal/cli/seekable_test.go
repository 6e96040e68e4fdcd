package cli

import (
	"strings"
	"testing"
)

// TestSeekable checks that --seekable is a block size, and that it is ignored where nothing is
// compressed.
func TestSeekable(t *testing.T) {
	content := sample(300_000)
	in := write(t, content, t.TempDir(), "a")
	for _, format := range []string{"pz", "zst"} {
		for args, size := range map[string]string{
			"--seekable": "64K", "--seekable=16K": "16K",
			"--seekable -B128K": "128K", "-B8K --seekable": "64K",
		} {
			all := append(strings.Fields(args), "-c", "--format", format, in)
			want := pz(t, "", "-c", "--format", format, "-B", size, in).want(t, exitOK).out
			if got := pz(t, "", all...).want(t, exitOK).out; got != want {
				t.Errorf("%s %s: %d bytes, want the %d of -B %s", format, args, len(got), len(want), size)
			}
		}
	}
	file := pz(t, content, "-c", "--format", "gz").want(t, exitOK).out
	if got := pz(t, file, "-dc", "--seekable", "--format", "gz").want(t, exitOK).out; got != content {
		t.Errorf("-d --seekable: %d bytes", len(got))
	}
}
