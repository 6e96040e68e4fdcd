package cli

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/gopz/compress/archive"
)

// selection says which entries of an archive to take.
type selection struct {
	all      bool
	wanted   []*member
	names    map[string]*member // of wanted, by name
	patterns []*member          // of wanted
	exclude  []string
}

// member is a PATH of the command line.
type member struct {
	arg   string
	name  string // in the archive, or a pattern
	found bool
}

// selectAll takes all that --exclude leaves.
func (a *app) selectAll() *selection { return &selection{all: true, exclude: a.cfg.exclude} }

// selectMembers takes the entries that the command line and lists name. What has no entry is a
// pattern if it looks like one.
func (a *app) selectMembers(f *archive.FS) *selection {
	s := &selection{exclude: a.cfg.exclude, names: map[string]*member{}}
	s.all = len(a.cfg.members) == 0 && len(a.cfg.lists) == 0
	add := func(arg string) {
		m := &member{arg: arg, name: path.Clean("/" + filepath.ToSlash(arg))[1:]}
		if s.names[m.name] != nil {
			return // named before
		}
		s.wanted = append(s.wanted, m)
		switch _, ok := f.Entry(m.name); {
		case m.name == "":
			s.all, m.found = true, true
		case !ok && strings.ContainsAny(m.name, "*?["):
			s.patterns = append(s.patterns, m)
		default:
			s.names[m.name] = m
		}
	}
	for _, arg := range a.cfg.members {
		add(arg)
	}
	for _, l := range a.cfg.lists {
		a.eachListed(l, add)
	}
	return s
}

// takes reports whether to take the entry of a name: it or a directory above it is wanted, and
// neither is excluded.
func (s *selection) takes(name string) bool {
	if s.all && len(s.exclude) == 0 && len(s.wanted) == 0 {
		return true
	}
	elements := strings.Split(name, "/")
	taken := s.all
	for n, end := 1, 0; n <= len(elements); n++ {
		end += len(elements[n-1])
		for _, pattern := range s.exclude {
			if matchesEnd(pattern, elements[:n]) {
				return false
			}
		}
		if m := s.names[name[:end]]; m != nil {
			m.found, taken = true, true
		}
		for _, m := range s.patterns {
			if matchesEnd(m.name, elements[:n]) {
				m.found, taken = true, true
			}
		}
		end++
	}
	return taken
}

// missing returns what the command line names and the archive does not have.
func (s *selection) missing() (args []string) {
	for _, m := range s.wanted {
		if !m.found {
			args = append(args, m.arg)
		}
	}
	return args
}
