package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestListWindow checks what -l says of files of --long: their window, and a limit for -M that
// suffices while one unit less does not.
func TestListWindow(t *testing.T) {
	dir := t.TempDir()
	content := sample(300_000)
	small := write(t, pz(t, "", "-B4K", "-c", "--long=20", write(t, content, dir, "in")).out, dir, "small.pz")
	stream := runProcess(t, strings.NewReader(content), "-B4K", "-p", "lzr", "--long=4M").out
	piped := write(t, stream, dir, "piped.pz")
	both := write(t, pz(t, content).out+stream+pz(t, "", "-c", small, "--long=22").out, dir, "both.pz")
	plain := write(t, pz(t, content, "-B4K").out, dir, "plain.pz")
	for path, window := range map[string]string{small: "1M", piped: "4M", both: "4M", plain: "-"} {
		out := pz(t, "", "-lv", path).out
		out = out[strings.LastIndex(out[:len(out)-1], "\n")+1:]
		if f := strings.Fields(out); len(f) < 9 || f[8] != window {
			t.Errorf("%s has window %q, want %s", path, out, window)
		}
		var got []struct {
			Window int64
			Memory int64 `json:"restore_memory"`
		}
		out = pz(t, "", "-l", "--json", path).want(t, exitOK).out
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if window == "-" {
			if got[0].Memory != 0 || strings.Contains(out, "window") {
				t.Errorf("without a window: %s", out)
			}
			continue
		}
		if want, _ := parseSize(window); got[0].Window != want {
			t.Errorf("%s has window %d, want %s", path, got[0].Window, window)
		}
		pz(t, "", "-t", "-M", fmt.Sprint(got[0].Memory), path).want(t, exitOK)
		pz(t, "", "-t", "-M", fmt.Sprint(got[0].Memory-1), path).want(t, exitError, "more than the limit")
		pz(t, "", "-lv", path).want(t, exitOK,
			path+": restoring takes at least "+formatSize(got[0].Memory)+" of memory\n")
	}
}

// TestLongHints checks what is said of files that are restored only with -M.
func TestLongHints(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.pz")
	const hint = "out.pz: restoring needs -M "
	content := sample(9000)
	r := runProcess(t, strings.NewReader(content), "-vB4K", "--long=30", "-o", path).want(t, exitOK, hint)
	_, limit, _ := strings.Cut(strings.TrimSuffix(r.err, " or more\n"), hint)
	pz(t, "", "-l", path).want(t, exitOK, "pz: "+path+": restoring needs -M "+limit+" or more\n")
	pz(t, "", "-lq", path).want(t, exitOK)
	pz(t, "", "-t", path).want(t, exitError, "more than the default limit of 1 GiB; use -M "+limit+" or more")
	// Without -v, and with a window that restoring has the memory for, there is no such hint.
	runProcess(t, strings.NewReader(content), "-fB4K", "--long=30", "-o", path).want(t, exitOK)
	r = runProcess(t, strings.NewReader(content), "-fvB4K", "--long", "-o", path).want(t, exitOK,
		"out.pz: restoring takes at least ")
	if strings.Contains(r.err, "needs -M") {
		t.Errorf("--long: %s", r.err)
	}
	r = pz(t, "", "-vcB4K", write(t, content, dir, "in")).want(t, exitOK, "in: ")
	if strings.Count(r.err, "\n") != 1 {
		t.Errorf("without --long: %s", r.err)
	}
}
