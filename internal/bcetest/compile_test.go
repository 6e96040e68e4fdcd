package bcetest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// target is what to compile for. Marked functions may live in files for one processor, or be the portable twins of assembly.
type target struct{ arch, tags string }

func (t target) String() string { return strings.TrimSuffix(t.arch+" "+t.tags, " ") }

// found is a bounds check that the compiler left in, by its place in the source. A check in an inlined function counts at the
// line of the call: the compiler reports the outermost position, which is what we want.
type found struct {
	file string
	line int
	what string
}

var foundLine = regexp.MustCompile(`^(.+\.go):(\d+):\d+: (Found Is\w*InBounds)$`)

// compile compiles the packages in the given directories and returns the checks left in them, and the files that took part.
func compile(root string, dirs []string, t target) ([]found, []string, error) {
	env := append(os.Environ(), "GOOS=linux", "GOARCH="+t.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	run := func(args ...string) (string, string, error) {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = root, env, &stdout, &stderr
		err := cmd.Run()
		if err != nil && stderr.Len() > 0 {
			err = fmt.Errorf("go %s: %w\n%s", args[0], err, &stderr)
		}
		return stdout.String(), stderr.String(), err
	}
	var patterns []string
	for _, dir := range dirs {
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, nil, err
		}
		patterns = append(patterns, "./"+filepath.ToSlash(rel))
	}
	const format = `{{$d := .Dir}}{{range .GoFiles}}{{$d}}{{"\x00"}}{{.}}{{"\n"}}{{end}}`
	list, _, err := run(slices.Concat([]string{"list", "-e", "-tags=" + t.tags, "-f", format}, patterns)...)
	if err != nil {
		return nil, nil, err
	}
	var files, build []string
	for line := range strings.Lines(list) {
		dir, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		files = append(files, filepath.Join(dir, name))
		if !slices.Contains(build, dir) {
			build = append(build, dir)
		}
	}
	if len(build) == 0 {
		return nil, nil, nil // nothing of it is for this target
	}
	// Without a pattern in front, -gcflags speaks of the packages named here alone. What the compiler said is replayed when the
	// build cache has the package. -trimpath=false keeps the paths in it absolute or relative to the root.
	args := slices.Concat([]string{"build", "-trimpath=false", "-tags=" + t.tags, "-gcflags=-d=ssa/check_bce"}, build)
	if len(build) == 1 {
		args = slices.Insert(args, 1, "-o", os.DevNull) // or else a program would be left in the directory
	}
	_, output, err := run(args...)
	if err != nil {
		return nil, nil, err
	}
	var checks []found
	for line := range strings.Lines(output) {
		m := foundLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "go: downloading ") {
				continue // the package that follows; the go command at work
			}
			return nil, nil, errors.New("the compiler says something unexpected: " + line)
		}
		file := m[1]
		if !filepath.IsAbs(file) {
			file = filepath.Join(root, file)
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, nil, err
		}
		checks = append(checks, found{file, n, m[3]})
	}
	return checks, files, nil
}

// verify compiles all that has marks for every target. It returns one line for every bounds check within a mark, and one for
// every mark in a file that no target compiles.
func verify(root string, marks []mark, targets []target) ([]string, error) {
	var dirs []string
	unseen := map[string]bool{}
	for _, m := range marks {
		unseen[m.file] = true
		if dir := filepath.Dir(m.file); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(marks) == 0 {
		return nil, nil
	}
	var wrong []string
	for _, t := range targets {
		checks, files, err := compile(root, dirs, t)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", t, err)
		}
		for _, file := range files {
			delete(unseen, file)
		}
		for _, c := range checks {
			for _, m := range marks {
				if m.file == c.file && m.start <= c.line && c.line <= m.end {
					wrong = append(wrong, fmt.Sprintf("%s:%d: %s in %s on %v", c.file, c.line, c.what, m.name, t))
				}
			}
		}
	}
	for file := range unseen {
		wrong = append(wrong, fmt.Sprintf("%s: has marks, but no target compiles it", file))
	}
	slices.Sort(wrong)
	return slices.Compact(wrong), nil
}
