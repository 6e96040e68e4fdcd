package archive

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress"
)

var errTooMany = fmt.Errorf("%w: the entries of the archive take more than %d MiB",
	compress.ErrTooLarge, maxMemory>>20)

// scan reads the headers of a tar file. Behind a damaged one it goes on at the next one, as tar
// does, and returns the first error. The table then has the entries that it has read.
func (f *FS) scan() error {
	r := newHeaderReader(f.content, f.size, 0)
	var first error
	for {
		begin := r.at
		h, err := r.next()
		if h != nil {
			f.addEntry(h, 0)
		}
		if f.table.memory() > maxMemory {
			f.table = table{}
			return errTooMany
		}
		switch err {
		case nil:
			continue
		case io.EOF:
			if r.lone {
				f.endError = fmt.Errorf("archive: at byte %d of the tar file: %w", begin, errLoneBlock)
			}
			return cmp.Or(f.table.complete(), first)
		case io.ErrUnexpectedEOF:
			begin = r.at
		}
		if first == nil {
			first = fmt.Errorf("archive: at byte %d of the tar file: %w", begin, err)
		}
		isOther := begin == 0 && !isTar(f.content, f.size)
		if isOther || !errors.Is(err, tar.ErrHeader) || !r.findHeader(begin) {
			return cmp.Or(f.table.complete(), first)
		}
	}
}

// addEntry adds an entry by its header. gap is what there is between header and content, in blocks,
// if the header has yet to be compared.
func (f *FS) addEntry(h *header, gap uint16) {
	e := entry{
		offset: h.content, size: max(h.Size, 0), mode: h.FileInfo().Mode(), gap: gap,
		seconds: h.ModTime.Unix(), nanoseconds: uint32(h.ModTime.Nanosecond()),
	}
	link := ""
	switch h.Typeflag {
	case tar.TypeXGlobalHeader, typeLabel:
		return
	case tar.TypeLink:
		e.kind, link = hard, clean(h.Linkname)
	case tar.TypeSymlink:
		link = h.Linkname
	case typeContinued:
		e.kind = continued
	default:
		if h.sparse {
			e.kind, e.offset = sparse, h.begin
		}
	}
	if !e.mode.IsRegular() {
		e.size = 0
	}
	name := clean(h.Name)
	if name == "." {
		if e.mode.IsDir() {
			f.root.mode, f.root.seconds, f.root.nanoseconds = e.mode, e.seconds, e.nanoseconds
		}
		return
	}
	e.name = f.table.text(name)
	if link != "" {
		e.link = f.table.text(link)
	}
	f.table.entries = append(f.table.entries, e)
}

// headerAt reads the header that begins at an offset.
func (f *FS) headerAt(begin int64) (*header, error) {
	h, err := newHeaderReader(f.content, f.size, begin).next()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return h, err
}
