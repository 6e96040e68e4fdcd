package archive

import (
	"cmp"
	"io/fs"
	"iter"
	"slices"
)

// An Entry is an entry of an archive.
type Entry struct {
	// Name is the name as Open of the FS takes it, if it is UTF-8.
	Name string
	// Link is the target of a symbolic link, or, of a hard link, the name of the file that has the
	// content. It is "" for others.
	Link string
	// Info describes the entry itself, and never the target of a symbolic link. Info of a hard link
	// describes the file.
	Info fs.FileInfo

	fsys   *FS
	number int
}

// Open opens the entry. It differs from Open of the FS in that it follows no symbolic links, and
// also opens names that are not UTF-8.
func (e *Entry) Open() (fs.File, error) { return e.fsys.open(e.Name, e.number) }

// IsHardLink reports whether the entry is another name of the file Link.
func (e *Entry) IsHardLink() bool { return e.Link != "" && e.Info.Mode().Type() != fs.ModeSymlink }

// IsImplied reports whether the archive has no entry for this directory, which exists because
// something is in it.
func (e *Entry) IsImplied() bool { return e.fsys.entry(e.number).kind == implied }

// IsReplaced reports whether a later entry of the archive has the name. Only All has such entries.
func (e *Entry) IsReplaced() bool { return e.fsys.entry(e.number).state == replaced }

// Conflict returns what keeps tar from unpacking the entry: its own name, if earlier entries make
// that a directory with something in it, or a name above it that an earlier entry makes a file or
// link. For others, and so for all but some of All, it returns "".
func (e *Entry) Conflict() string {
	return e.Name[:e.fsys.entry(e.number).obstacle]
}

// Entries goes through the entries in the order of their contents, so that reading one after the
// other decompresses each block once. A hard link follows the file that it leads to. If the archive
// does not have that file, Open fails with [fs.ErrNotExist]. Entries leaves out the root, and
// directories that exist only because something is in them. It takes 4 bytes of memory for each
// entry.
func (f *FS) Entries() iter.Seq[Entry] { return f.sequence(len(f.table.entries)) }

// All is Entries with those that the file system does not show: see IsReplaced and Conflict. A hard
// link among those has no content.
func (f *FS) All() iter.Seq[Entry] {
	return f.sequence(len(f.table.entries) + len(f.table.hidden))
}

// sequence goes through the first n entries, of which the hidden ones come last.
func (f *FS) sequence(n int) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, i := range f.order(n) {
			if !yield(f.number(int(i))) {
				return
			}
		}
	}
}

// Entry returns the entry of a name. It follows no symbolic links. ok is false if there is none.
func (f *FS) Entry(name string) (e Entry, ok bool) {
	i, ok := f.table.find([]byte(name))
	if !ok {
		return e, false
	}
	return f.number(i), true
}

// number returns the entry of a number.
func (f *FS) number(i int) Entry {
	e := f.entry(i)
	x := Entry{Name: f.table.get(e.name), fsys: f, number: i}
	x.Info = f.info(x.Name, e)
	if e.kind != renamed {
		x.Link = f.table.get(e.link)
	}
	return x
}

// order returns the numbers of those of the first n entries that the archive has, in the order of
// their contents.
func (f *FS) order(n int) (list []uint32) {
	for i := range n {
		if f.entry(i).kind != implied {
			list = append(list, uint32(i))
		}
	}
	slices.SortFunc(list, func(i, j uint32) int {
		a, b := f.entry(int(i)), f.entry(int(j))
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.link.size, b.link.size),
			cmp.Compare(i, j))
	})
	return list
}
