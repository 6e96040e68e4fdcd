package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestListManyBlocks checks that memory does not grow with the number of frames.
func TestListManyBlocks(t *testing.T) {
	testenv.Measures(t)
	const frame = "\x28\xb5\x2f\xfd\x20\x01\x09\x00\x00x" // a raw block of one byte
	dir := t.TempDir()
	many := write(t, strings.Repeat(frame, 300_000), dir, "many.zst")
	out, err := os.Create(dir + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for _, args := range [][]string{{"-lv"}, {"-lv", "--json"}} {
		// The collector leaves garbage up to about 28 MB, for 3 million frames too.
		if took := peak(t, 1, nil, append(args, many)...); took > 40<<20 {
			t.Errorf("%q: %d bytes for 300,000 frames", args, took)
		}
		cmd := command(append(args, many)...)
		cmd.Stdout = out
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(io.NewSectionReader(out, 0, 1<<30))
		if err != nil || strings.Count(string(text), "frame") != 300_000 {
			t.Errorf("%q: %d frames, %v", args, strings.Count(string(text), "frame"), err)
		}
		out.Truncate(0)
		out.Seek(0, io.SeekStart)
	}
}
