package archive

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"sort"
)

// A table holds the entries of an archive, sorted by name. A directory comes directly before all
// that is below it. Names are parts of one buffer, so that an entry takes entryMemory bytes and its
// name.
type table struct {
	names   []byte
	entries []entry
	hidden  []entry // replaced and blocked entries of the archive
}

// entry describes a file, a directory or a link.
type entry struct {
	name text
	link text // target of a symbolic link; of another name of a file, the name of the file

	offset      int64 // of the content, or of the header of a sparse file
	size        int64 // of the content in bytes; of kind hard, the number of the entry it leads to
	seconds     int64 // since 1970: the time of modification
	nanoseconds uint32
	mode        fs.FileMode
	gap         uint16 // blocks from the header to the content, if the header has yet to be compared, else 0
	kind        kind
	state       state
	obstacle    uint32 // if the state is blocked, the bytes of the name that blocks the entry
}

// state says whether the table shows an entry, or why not.
type state uint8

const (
	shown    state = iota
	replaced       // a later entry has its name
	blocked        // an earlier entry is in the way: see obstacle
)

// kind says how the content of an entry is read.
type kind uint8

const (
	plain     kind = iota // as it is, or none
	sparse                // by a map of its pieces; offset is that of the header
	hard                  // a hard link: the content of another entry. None is left in a complete table
	missing               // a hard link to a name that no file has
	implied               // a directory without an entry
	renamed               // as it is; its header has the name that link is
	continued             // not at all: another volume has the beginning
)

// text is a part of table.names.
type text struct{ at, size uint32 }

// Limits of a table, in bytes.
const (
	entryMemory = 56 // of an entry, without its name
	maxMemory   = 512 << 20
)

// memory returns the memory that the table takes, in bytes.
func (t *table) memory() int {
	return len(t.names) + entryMemory*(len(t.entries)+len(t.hidden))
}

func (t *table) text(s string) text {
	at := len(t.names)
	t.names = append(t.names, s...)
	return text{uint32(at), uint32(len(s))}
}

// get returns a text, which stays valid.
func (t *table) get(x text) string { return string(t.names[x.at : x.at+x.size]) }

// view returns a text without a copy. It must not be changed.
func (t *table) view(x text) []byte { return t.names[x.at : x.at+x.size] }

// compare orders names so that a directory comes before what is below it, and that before all
// others.
func compare(a, b []byte) int {
	i := commonPrefix(a, b)
	switch {
	case i == len(a) || i == len(b):
		return len(a) - len(b)
	case a[i] == '/':
		return -1
	case b[i] == '/':
		return 1
	}
	return int(a[i]) - int(b[i])
}

// isBelow reports whether a name is below the directory dir.
func isBelow(name, dir []byte) bool {
	return len(name) > len(dir) && name[len(dir)] == '/' && string(name[:len(dir)]) == string(dir)
}

// complete sorts the entries, which are in the order of the archive. It hides those that others
// replace or block, adds directories that have no entry, and resolves hard links.
func (t *table) complete() error {
	slices.SortStableFunc(t.entries, func(a, b entry) int { return compare(t.view(a.name), t.view(b.name)) })
	list := t.entries
	for i := range list {
		if list[i].kind == hard {
			list[i].size = t.findTarget(i)
		}
	}
	t.hide(list)
	first := map[int64]text{}
	t.entries = t.entries[:0:0]
	for i := range list {
		e := list[i]
		if e.state != shown {
			if e.kind == hard {
				e.kind, e.size = missing, 0
			}
			t.hidden = append(t.hidden, e)
			continue
		}
		if err := t.addParents(e.name); err != nil {
			return err
		}
		if e.kind == hard {
			e = t.resolveHard(list, e, first)
		}
		t.entries = append(t.entries, e)
	}
	return nil
}

// hide finds out which entries of a sorted list tar does not leave behind if it unpacks the archive
// into an empty directory: a later entry replaces one of the same name, but neither a directory
// that has something in it, nor a file or link by a directory for a name below it.
func (t *table) hide(list []entry) {
	for len(list) > 0 {
		name := t.view(list[0].name)
		same := 1
		for same < len(list) && compare(t.view(list[same].name), name) == 0 {
			same++
		}
		end := t.endOf(list, same-1)
		if !slices.ContainsFunc(list[:same], isBlockingFile) {
			end = same // nothing conflicts with what is below
		}
		if end > 1 {
			hideConflict(list[:same], list[same:end])
		}
		list = list[same:]
	}
}

func isBlockingFile(e entry) bool { return !e.mode.IsDir() && e.state != blocked }

// hideConflict decides between the entries of a name and those below it, in the order of the
// archive.
func hideConflict(same, below []entry) {
	// follows returns how many entries of the name are in front of an entry below.
	follows := func(e *entry) int {
		return sort.Search(len(same), func(i int) bool { return same[i].offset >= e.offset })
	}
	parents := make([]*entry, len(same)+1) // the entry that those below have then; nil for none
	used := make([]bool, len(same)+1)
	for i := range below {
		if below[i].state != blocked {
			used[follows(&below[i])] = true
		}
	}
	var last *entry // that has the name
	filled := used[0]
	for i := range same {
		e := &same[i]
		switch {
		case e.state == blocked:
		case filled && !e.mode.IsDir():
			e.state, e.obstacle = blocked, e.name.size
		default:
			if last != nil {
				last.state = replaced
			}
			last = e
		}
		parents[i+1] = last
		filled = filled || used[i+1] && (last == nil || last.mode.IsDir())
	}
	for i := range below {
		e := &below[i]
		if up := parents[follows(e)]; e.state != blocked && up != nil && !up.mode.IsDir() {
			e.state, e.obstacle = blocked, up.name.size
		}
	}
}

// addParents adds the directories above a name that are not in the list.
func (t *table) addParents(name text) error {
	full, last := t.view(name), []byte(nil)
	if n := len(t.entries); n > 0 {
		last = t.view(t.entries[n-1].name)
	}
	known := commonPrefix(full, last) // directories of fewer bytes are in the list
	for n := known; ; n++ {
		i := slices.Index(full[n:], '/')
		if i < 0 {
			return nil
		}
		n += i
		if n == len(last) && n == known && n > 0 {
			continue
		}
		dir := text{name.at, uint32(n)}
		t.entries = append(t.entries, entry{name: dir, mode: fs.ModeDir | 0o755, kind: implied})
		if t.memory() > maxMemory {
			return errTooMany
		}
	}
}

// commonPrefix returns how many bytes a and b have in common from the front.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// maxLinks is the most links that lead to one file.
const maxLinks = 40

// findTarget returns the number of the entry that a hard link leads to: of those with its name the
// last one in front of the link, else the last one, or −1. The entries are sorted, and those of one
// name are in the order of the archive.
func (t *table) findTarget(i int) int64 {
	e := &t.entries[i]
	name := t.view(e.link)
	isName := func(k int) bool { return k >= 0 && compare(t.view(t.entries[k].name), name) == 0 }
	k := sort.Search(len(t.entries), func(k int) bool {
		c := compare(t.view(t.entries[k].name), name)
		return c > 0 || c == 0 && t.entries[k].offset >= e.offset
	}) - 1
	if isName(k) {
		return int64(k)
	}
	k = sort.Search(len(t.entries), func(k int) bool {
		return compare(t.view(t.entries[k].name), name) > 0
	}) - 1
	if isName(k) && k != i {
		return int64(k)
	}
	return -1
}

// resolveHard returns a hard link with the content of the file that it leads to, by way of size. If
// that file is hidden, the first link is the file, and first has its name.
func (t *table) resolveHard(list []entry, e entry, first map[int64]text) entry {
	target, number := &e, int64(-1)
	for range maxLinks {
		if target.size < 0 {
			break
		}
		number = target.size
		if target = &list[number]; target.kind != hard {
			break
		}
	}
	if target.kind == hard || target.mode.IsDir() {
		return entry{name: e.name, offset: e.offset, seconds: e.seconds, nanoseconds: e.nanoseconds,
			mode: e.mode, gap: e.gap, kind: missing}
	}
	link := *target
	link.name, link.state = e.name, shown
	switch before, ok := first[number]; {
	case link.link.size > 0: // a symbolic link
	case target.state == shown:
		link.link = target.name
	case ok:
		link.link = before
	default:
		first[number] = e.name
		if link.kind == plain {
			link.kind, link.link = renamed, target.name
		}
	}
	return link
}

// find returns the number of the entry of a name.
func (t *table) find(name []byte) (i int, ok bool) {
	return sort.Find(len(t.entries), func(i int) int { return compare(name, t.view(t.entries[i].name)) })
}

// children returns the numbers of the entries in a directory, sorted by name. dir is its number, −1
// for the root.
func (t *table) children(dir int) (list []int) {
	end := len(t.entries)
	if dir >= 0 {
		end = t.endOf(t.entries, dir)
	}
	for i := dir + 1; i < end; i = t.endOf(t.entries, i) {
		list = append(list, i)
	}
	return list
}

// endOf returns the number of the first entry of a sorted list behind entry i and all below it.
func (t *table) endOf(list []entry, i int) int {
	dir := t.view(list[i].name)
	// Directories are small as a rule: look at the next entries first.
	step, at := 1, i+1
	for at < len(list) && isBelow(t.view(list[at].name), dir) {
		at += step
		step *= 2
	}
	from := max(at-step/2, i+1)
	return from + sort.Search(min(at, len(list))-from, func(k int) bool {
		return !isBelow(t.view(list[from+k].name), dir)
	})
}

// clean returns the name by which the archive shows the entry with a name, "." for the root.
func clean(name string) string { return cmp.Or(path.Clean("/" + name)[1:], ".") }
