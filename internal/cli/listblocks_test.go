package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// listed is an object of -l -v --json.
type listed struct {
	Blocks, Compressed, Uncompressed int64
	Damaged                          bool
	BlockList                        []struct {
		Stream                           int
		Number                           int64
		Kind                             string
		Offset, Compressed, Uncompressed int64
		ContentOffset                    int64 `json:"content_offset"`
		Ratio                            float64
	} `json:"block_list"`
}

// listBlocks returns what -l -v --json says about files, and checks that the table says the same.
func listBlocks(t *testing.T, code int, message string, paths ...string) (files []listed) {
	t.Helper()
	out := pz(t, "", append([]string{"-lv", "--json"}, paths...)...).want(t, code, message).out
	if err := json.Unmarshal([]byte(out), &files); err != nil {
		t.Fatal(err, out)
	}
	var want []string
	for _, f := range files {
		for _, b := range f.BlockList {
			want = append(want, fmt.Sprintf("%d %d %s %d %d %d %d %.3f", b.Stream, b.Number, b.Kind,
				b.Offset, b.Compressed, b.ContentOffset, b.Uncompressed, b.Ratio))
		}
	}
	var got []string
	table := pz(t, "", append([]string{"-lv"}, paths...)...).want(t, code, message).out
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) == 8 && f[0] != "stream" {
			got = append(got, strings.Join(f, " "))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("table:\n%s\nJSON:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return files
}

// TestListBlocks lists blocks of each kind and checks that they cover the content, and that those
// of a file without an index can be restored alone.
func TestListBlocks(t *testing.T) {
	dir := t.TempDir()
	text := sample(50_000)
	packed := func(args ...string) string { return pz(t, text, args...).want(t, exitOK).out }
	gz := packed("--format=gz") + packed("--format=gz", "-1")
	zst := packed("--format=zst", "--seekable=16K") + runTool(t, text, "zstd", "-c")
	content := write(t, noise(4096)+strings.Repeat("x", 4096)+text[:4096], dir, "in")
	kinds := pz(t, "", "-c", "-B4K", content).want(t, exitOK).out
	for _, c := range []struct {
		name, file, kinds string
	}{
		{"a.pz", kinds, "stored fill coded"},
		{"two.pz", kinds + kinds, "stored fill coded stored fill coded"},
		{"a.gz", gz, "member member"},
		{"a.zst", zst, "frame frame frame frame frame"},
		{"empty.pz", pz(t, "", "-1").out, ""},
	} {
		path := write(t, c.file, dir, c.name)
		f := listBlocks(t, exitOK, "", path)[0]
		var names []string
		var offset, at int64
		for _, b := range f.BlockList {
			names = append(names, b.Kind)
			if b.Offset < offset || b.ContentOffset != at {
				t.Errorf("%s: a block at %d and %d of the content, want %d and %d",
					c.name, b.Offset, b.ContentOffset, offset, at)
			}
			offset, at = b.Offset+b.Compressed, at+b.Uncompressed
			if b.Kind == "member" || b.Kind == "frame" {
				alone := unpz(t, write(t, c.file[b.Offset:offset], dir, "part"))
				if int64(len(alone)) != b.Uncompressed {
					t.Errorf("%s: a part has %d bytes, want %d", c.name, len(alone), b.Uncompressed)
				}
			}
		}
		if got := strings.Join(names, " "); got != c.kinds {
			t.Errorf("%s: kinds %q, want %q", c.name, got, c.kinds)
		}
		if at != f.Uncompressed || int64(len(f.BlockList)) != f.Blocks || offset > f.Compressed {
			t.Errorf("%s: blocks end at %d and %d of the content: %+v", c.name, offset, at, f)
		}
		if f.BlockList == nil || f.Damaged {
			t.Errorf("%s: %+v, want a list without damage", c.name, f)
		}
	}
	// An index of a .gz file gives intervals.
	path := write(t, gz, dir, "a.gz")
	pz(t, "", "--index", path).want(t, exitOK)
	if f := listBlocks(t, exitOK, "", path)[0]; f.BlockList[0].Kind != "interval" {
		t.Errorf("with an index: %+v", f.BlockList)
	}
}

// TestListBlocksOfDamage checks what is listed of a file whose second member is cut, in front of
// another file.
func TestListBlocksOfDamage(t *testing.T) {
	dir := t.TempDir()
	gz := pz(t, sample(5000), "--format=gz").out
	bad, good := write(t, gz+gz[:len(gz)-9], dir, "bad.gz"), write(t, gz, dir, "good.gz")
	files := listBlocks(t, exitError, "bad.gz: is cut short", bad, good)
	if len(files) != 2 || !files[0].Damaged || files[1].Damaged || len(files[0].BlockList) != 1 ||
		files[0].Blocks != 1 || files[0].Uncompressed != 5000 {
		t.Errorf("%+v", files)
	}
	// Without -v a damaged file is not listed.
	if out := pz(t, "", "-l", "--json", bad).want(t, exitError, "is cut short").out; out != "[]\n" {
		t.Errorf("without -v: %s", out)
	}
}

// TestListBlocksFull checks that a full device ends the list with one message.
func TestListBlocksFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err == nil && runtime.GOOS == "windows" { // under Wine
		full.Close()
		t.Skip("Windows has another text")
	}
	if err != nil {
		testenv.Missing(t, err.Error())
	}
	defer full.Close()
	path := write(t, strings.Repeat(pz(t, "x").out, 3000), t.TempDir(), "a.pz")
	for _, args := range [][]string{{"-lv", path, path}, {"-lv", "--json", path, path}} {
		cmd := command(args...)
		var errs strings.Builder
		cmd.Stdout, cmd.Stderr = full, &errs
		err := cmd.Run()
		const want = "pz: standard output: no space left on device\n"
		if cmd.ProcessState.ExitCode() != exitError || errs.String() != want {
			t.Errorf("%q: %v: %s", args, err, errs.String())
		}
	}
}
