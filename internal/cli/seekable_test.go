package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gopz/compress"
)

// TestSeekable checks that --seekable is a block size, and of .zst writes a frame for each block.
// It is ignored where nothing is compressed.
func TestSeekable(t *testing.T) {
	content := sample(300_000)
	in := write(t, content, t.TempDir(), "a")
	for _, format := range []string{"pz", "zst"} {
		for args, size := range map[string]string{
			"--seekable": "64K", "--seekable=16K": "16K",
			"--seekable -B128K": "128K", "-B8K --seekable": "64K",
		} {
			all := append(strings.Fields(args), "-c", "--format", format, in)
			option := "-B"
			if format == "zst" {
				option = "--seekable="
			}
			want := pz(t, "", "-c", "--format", format, option+size, in).want(t, exitOK).out
			if got := pz(t, "", all...).want(t, exitOK).out; got != want {
				t.Errorf("%s %s: %d bytes, want the %d of %s%s",
					format, args, len(got), len(want), option, size)
			}
			r, err := compress.NewReaderAt(strings.NewReader(want), int64(len(want)))
			if err != nil {
				t.Fatal(err)
			}
			if n := r.Block(0).Content; fmt.Sprint(n>>10, "K") != size {
				t.Errorf("%s %s: blocks of %d bytes", format, args, n)
			}
		}
	}
	file := pz(t, content, "-c", "--format", "gz").want(t, exitOK).out
	if got := pz(t, file, "-dc", "--seekable", "--format", "gz").want(t, exitOK).out; got != content {
		t.Errorf("-d --seekable: %d bytes", len(got))
	}
}
