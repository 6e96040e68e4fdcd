package archive

import (
	"cmp"
	"io/fs"
	"iter"
	"slices"
)

// An Entry is an entry of an archive.
type Entry struct {
	// Name is the name as Open takes it.
	Name string
	// Link is the target of a symbolic link, or, of a hard link, the name of the file that has the
	// content. It is "" for others.
	Link string
	// Info describes the entry itself, and never the target of a symbolic link. Info of a hard link
	// describes the file.
	Info fs.FileInfo
}

// IsHardLink reports whether the entry is another name of the file Link.
func (e *Entry) IsHardLink() bool { return e.Link != "" && e.Info.Mode().Type() != fs.ModeSymlink }

// Entries goes through the entries in the order of their contents, so that reading one after the other
// decompresses each block once. A hard link follows the file that it leads to. If the archive does not
// have that file, Open fails with [fs.ErrNotExist]. Entries leaves out the root, and directories that
// have no entry. It takes 4 bytes of memory for each entry.
func (f *FS) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, i := range f.order() {
			e := &f.table.entries[i]
			name := f.table.get(e.name)
			if !yield(Entry{Name: name, Link: f.table.get(e.link), Info: f.info(name, e)}) {
				return
			}
		}
	}
}

// order returns the numbers of the entries that the archive has, in the order of their contents.
func (f *FS) order() (list []uint32) {
	entries := f.table.entries
	for i := range entries {
		if entries[i].kind != implied {
			list = append(list, uint32(i))
		}
	}
	slices.SortFunc(list, func(i, j uint32) int {
		a, b := &entries[i], &entries[j]
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.link.size, b.link.size),
			cmp.Compare(i, j))
	})
	return list
}
