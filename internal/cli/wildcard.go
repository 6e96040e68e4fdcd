package cli

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// shellExpands reports whether the shell replaces wildcards by the names of files. On Windows each
// program does that for itself, and file names contain no wildcards.
const shellExpands = runtime.GOOS != "windows"

func hasWildcard(name string) bool { return strings.ContainsAny(name, "*?") }

// expandWildcards replaces operands with * or ? in their last element by the files of such names,
// as programs for Windows do: case makes no difference, and *.* matches all names. Names come in
// the order of their bytes. It leaves out temporary files of pz. An operand that matches no file
// stays.
func expandWildcards(operands []string) (expanded []string) {
	for _, operand := range operands {
		dir, last := filepath.Split(operand)
		names := []string{operand}
		volume := filepath.VolumeName(dir) // may have a ?
		if hasWildcard(last) && !hasWildcard(dir[len(volume):]) {
			if matches := matchNames(dir, last); len(matches) > 0 {
				names = matches
			}
		}
		expanded = append(expanded, names...)
	}
	return expanded
}

// matchNames returns the paths of the files in a directory whose names match a pattern.
func matchNames(dir, pattern string) (paths []string) {
	if pattern == "*.*" {
		pattern = "*"
	}
	// [ and \ are special to path.Match alone.
	pattern = strings.NewReplacer("[", `\[`, `\`, `\\`).Replace(strings.ToLower(pattern))
	list, err := os.ReadDir(filepath.Clean(dir)) // "." for ""
	if err != nil {
		return nil
	}
	for _, e := range list {
		ok, err := path.Match(pattern, strings.ToLower(e.Name()))
		if ok && err == nil && !isTempName(e.Name()) {
			name := dir + e.Name()
			if name == "-" {
				name = "./-" // - alone is standard input
			}
			paths = append(paths, name)
		}
	}
	return paths
}
