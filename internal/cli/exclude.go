package cli

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

func (c *config) addExclude(pattern string) error {
	pattern = strings.TrimSuffix(pattern, "/")
	if pattern == "" {
		return errors.New("the pattern is empty")
	}
	if first, _, _ := strings.Cut(pattern, "/"); first == "." || first == ".." {
		return fmt.Errorf("the pattern is for the end of a path; leave %s/ out", first)
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return errors.New("the pattern is malformed; it may have *, ?, [a-z] and \\ in front of these")
	}
	c.exclude = append(c.exclude, pattern)
	return nil
}

// excluded reports whether --exclude leaves out a file or directory, and prints a note. As in grep,
// a pattern has to match the name, or as many elements at the end of the path as the pattern has.
func (a *app) excluded(name string) bool {
	if len(a.cfg.exclude) == 0 {
		return false
	}
	if isURL(name) {
		name = urlName(name) // its query is neither for patterns nor for the note
	}
	elements := strings.Split(filepath.ToSlash(filepath.Clean(name)), "/")
	for _, pattern := range a.cfg.exclude {
		if matchesEnd(pattern, elements) {
			a.note(name, "matches --exclude %s -- ignored", printable(pattern))
			return true
		}
	}
	return false
}

// matchesEnd reports whether a pattern matches as many elements at the end of a path as it has.
func matchesEnd(pattern string, elements []string) bool {
	n := strings.Count(pattern, "/") + 1
	if n > len(elements) {
		return false
	}
	ok, _ := path.Match(pattern, strings.Join(elements[len(elements)-n:], "/"))
	return ok
}
