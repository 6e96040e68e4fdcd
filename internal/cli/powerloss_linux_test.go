package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// The model of a disk that loses power. Of what a run has done until then, this is certain:
//
//   - the content of a file up to the last write that a later fsync of the file covers,
//   - a change of names (a file created, renamed, linked or removed, a directory created) that a
//     later fsync of its directory covers.
//
// All other content is taken as lost. Each other change of a name has happened or not, in any
// combination: file systems may write directories in any order. A rename within a directory happens
// as a whole. An fsync covers what had ended before it began. A call that is under way has the
// effect of one that is not synced.
//
// A promise depends on few names. So for each promise and for each moment of the run, the test
// tries all combinations of the changes that concern these names.

// A loss is a look at a history: what a promise needs of it, and what a loss of power leaves.
type loss struct {
	*history
	promise
	source, result string          // paths
	names          []string        // of source and result, and of the directories above them
	changes        []change        // of these names
	ignored        func(span) bool // syncs that count as none
}

// losses returns how a loss of power at any moment breaks the promise. Syncs that ignored reports
// count as none.
func (h *history) losses(p promise, ignored func(span) bool) (found []string) {
	l := &loss{history: h, promise: p, ignored: ignored}
	l.source, l.result = filepath.Join(h.dir, p.source), filepath.Join(h.dir, p.result)
	for _, path := range []string{l.source, l.result} {
		for ; path != h.dir; path = filepath.Dir(path) {
			l.names = append(l.names, path)
		}
	}
	for _, c := range h.changes {
		if slices.Contains(l.names, c.add) || slices.Contains(l.names, c.remove) {
			l.changes = append(l.changes, c)
		}
	}
	for _, at := range l.moments() {
		if text := l.lossAt(at); text != "" {
			found = append(found, text)
		}
	}
	return found
}

// moments returns the moments behind which something is new for the promise, and the end.
func (l *loss) moments() []int {
	at := []int{0, l.end}
	if n := l.final[l.result]; n != nil {
		for _, s := range n.syncs {
			at = append(at, s.end)
		}
	}
	for _, name := range l.names {
		for _, s := range l.syncs[filepath.Dir(name)] {
			at = append(at, s.end)
		}
	}
	for _, c := range l.changes {
		at = append(at, c.begin, c.end)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// lossAt describes a state that breaks the promise after a loss of power behind line at of the
// trace. It returns "" if there is none.
func (l *loss) lossAt(at int) string {
	var begun []change
	var open []int // indexes of those that may have happened or not
	for _, c := range l.changes {
		if c.begin > at {
			continue
		}
		if !l.covered(c.span, l.syncs[c.dir()], at) {
			open = append(open, len(begun))
		}
		begun = append(begun, c)
	}
	for some := range 1 << len(open) {
		tree := map[string]*node{}
		for _, name := range l.names {
			if n := l.initial[name]; n != nil {
				tree[name] = n
			}
		}
		text := ""
		for i, c := range begun {
			if bit := slices.Index(open, i); bit < 0 || some>>bit&1 != 0 {
				c.apply(tree)
				text += "\n\t" + l.log[c.begin-1]
			}
		}
		if broken := l.broken(l.find(tree, l.source), l.find(tree, l.result), at); broken != "" {
			return fmt.Sprintf("%s to %s: %s, if the power fails behind\n\t%s\n"+
				"and of the names this is on disk:%s",
				l.promise.source, l.promise.result, broken, l.log[max(at, 1)-1], text)
		}
	}
	return ""
}

// covered reports whether one of the syncs covers a call and has ended by the moment at.
func (l *loss) covered(call span, syncs []span, at int) bool {
	return slices.ContainsFunc(syncs, func(s span) bool {
		return call.end < s.begin && s.end <= at && !l.ignored(s)
	})
}

// find returns what has a path, or nil. Each directory above has to be there.
func (l *loss) find(tree map[string]*node, path string) *node {
	for dir := filepath.Dir(path); dir != l.dir; dir = filepath.Dir(dir) {
		if tree[dir] == nil {
			return nil
		}
	}
	return tree[path]
}

// broken returns how a state breaks the promise, or "" if it does not. The arguments source and
// result are what has these names.
func (l *loss) broken(source, result *node, at int) string {
	old := l.initial[l.result]
	complete := result != nil && result == l.final[l.result] && result != old &&
		!slices.ContainsFunc(result.writes, func(w span) bool { return !l.covered(w, result.syncs, at) })
	switch {
	case source != nil && source != l.initial[l.source]:
		return "another file has the name of the source"
	case result != nil && result != old && !complete:
		return "the result is not complete"
	case result == nil && old != nil:
		return "neither the old result nor the new one is there"
	case source == nil && !complete:
		return "neither the source nor the result is there"
	case source == nil && !l.removes:
		return "the source is gone"
	case at == l.end && !complete:
		return "the run has ended without the result"
	}
	return ""
}

// allSyncs takes no sync out.
func allSyncs(span) bool { return false }

// TestPowerLoss checks what a loss of power at any moment leaves of files and results.
func TestPowerLoss(t *testing.T) {
	perDir := 20
	if testenv.All() {
		perDir = 150 // so that a tree takes several batches
	}
	for _, r := range writingRuns(t, perDir) {
		t.Run(r.name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, r.before)
			h := trace(t, dir, r.args...)
			for _, p := range r.promises {
				if found := h.losses(p, allSyncs); len(found) > 0 {
					t.Fatalf("%q: %s", r.args, found[0])
				}
			}
			r.checkEnd(t, dir)
		})
	}
}

// TestPowerLossWithoutSync checks that the model finds what --no-sync loses, and that no sync of a
// run can be left out.
func TestPowerLossWithoutSync(t *testing.T) {
	p := promise{"in", "in.pz", true, ""}
	run := func(args ...string) *history {
		dir := t.TempDir()
		write(t, sample(100_000), dir, "in")
		return trace(t, dir, append(args, "in")...)
	}
	if found := run("--rm", "--no-sync").losses(p, allSyncs); len(found) == 0 {
		t.Error("--no-sync: nothing is lost")
	}
	h := run("--rm")
	var syncs []span
	for _, list := range h.syncs {
		syncs = append(syncs, list...)
	}
	if len(syncs) != 2 {
		t.Errorf("%d syncs, want those of the file and of the directory", len(syncs))
	}
	for _, left := range syncs {
		if len(h.losses(p, func(s span) bool { return s == left })) == 0 {
			t.Errorf("nothing is lost without %s", h.log[left.begin-1])
		}
	}
}
