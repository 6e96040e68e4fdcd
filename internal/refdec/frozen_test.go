package refdec

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
)

// TestGoldenFrozen compares the golden files and their content with a list. A line of it never
// changes: version 1 of the format is frozen. -update adds lines for new files.
func TestGoldenFrozen(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "golden", "frozen.tsv")
	list, err := os.ReadFile(path)
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && *update) {
		t.Fatal(err)
	}
	frozen := map[string]string{} // lines by name
	for line := range strings.Lines(string(list)) {
		name, _, _ := strings.Cut(line, "\t")
		frozen[name] = line
	}
	digest := func(p []byte) string { return fmt.Sprintf("%x", sha256.Sum256(p)) }
	found := map[string]string{}
	files := goldenFiles(t)
	for _, extension := range []string{".gz", ".zst"} {
		maps.Copy(files, filesOf(t, "golden", extension))
	}
	for name, file := range files {
		content, err := compress.AppendDecode(nil, file, options()...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		found[name] = fmt.Sprintf("%s\t%s\t%s\n", name, digest(file), digest(content))
	}
	for name, file := range filesIn(t, "golden/refused") {
		name = "refused/" + name
		found[name] = fmt.Sprintf("%s\t%s\t-\n", name, digest(file))
	}
	for name, line := range found {
		if frozen[name] == "" && *update {
			frozen[name] = line
		}
		if frozen[name] != line {
			t.Errorf("%s is\n%swant\n%s", name, line, frozen[name])
		}
	}
	for name := range frozen {
		if found[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	lines := slices.Sorted(maps.Values(frozen))
	if *update {
		text := strings.Join(lines, "")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
