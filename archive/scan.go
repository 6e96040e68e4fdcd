package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/gopz/compress"
)

var errTooMany = fmt.Errorf("%w: the entries of the archive take more than %d MiB",
	compress.ErrTooLarge, maxMemory>>20)

// A position is a reader that knows where it is, and where it read the header of an entry.
type position struct {
	r      io.ReadSeeker
	at     int64
	header int64 // of the first block of a header since it was −1
}

const blockSize = 512 // of tar

func (p *position) Read(b []byte) (int, error) {
	if p.header < 0 && len(b) == blockSize {
		p.header = p.at // package tar reads padding and content in other sizes
	}
	n, err := p.r.Read(b)
	p.at += int64(n)
	return n, err
}

func (p *position) Seek(offset int64, whence int) (int64, error) {
	at, err := p.r.Seek(offset, whence)
	if err == nil {
		p.at = at
	}
	return at, err
}

// scan reads the headers of a tar file. It passes over the contents.
func (f *FS) scan(r io.ReadSeeker) error {
	p := &position{r: r}
	tr := tar.NewReader(p)
	for {
		p.header = -1
		h, err := tr.Next()
		switch {
		case err == io.EOF && p.header < 0:
			// Package tar takes an end within the padding of a content for that of the archive.
			return fmt.Errorf("archive: at byte %d of the tar file: %w", p.at, io.ErrUnexpectedEOF)
		case err == io.EOF:
			return f.table.complete()
		case errors.Is(err, tar.ErrInsecurePath):
			// The name is cleaned below.
		case err != nil:
			at := p.header
			if at < 0 {
				at = p.at
			}
			return fmt.Errorf("archive: at byte %d of the tar file: %w", at, err)
		}
		f.addEntry(h, p.header, p.at, 0)
		if f.table.memory() > maxMemory {
			return errTooMany
		}
	}
}

// addEntry adds an entry by its header. header and content are where these begin. gap is what there
// is between, in blocks, if the header has yet to be compared.
func (f *FS) addEntry(h *tar.Header, header, content int64, gap uint16) {
	e := entry{
		offset: content, size: max(h.Size, 0), modTime: nanoseconds(h.ModTime), mode: h.FileInfo().Mode(),
		gap: gap,
	}
	link := ""
	switch h.Typeflag {
	case tar.TypeXGlobalHeader:
		return
	case tar.TypeLink:
		e.kind, link = hard, clean(h.Linkname)
	case tar.TypeSymlink:
		link = h.Linkname
	default:
		if isSparse(h) {
			e.kind, e.offset = sparse, header
		}
	}
	if !e.mode.IsRegular() {
		e.size = 0
	}
	name := clean(h.Name)
	if name == "." {
		if e.mode.IsDir() {
			f.root.mode, f.root.modTime = e.mode, e.modTime
		}
		return
	}
	e.name = f.table.text(name)
	if link != "" {
		e.link = f.table.text(link)
	}
	f.table.entries = append(f.table.entries, e)
}

// isSparse reports whether an entry leaves out ranges of zeros.
func isSparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// nanoseconds returns the nanoseconds from 1970 to t, or the nearest that an int64 has.
func nanoseconds(t time.Time) int64 {
	switch s := t.Unix(); {
	case s > math.MaxInt64/int64(time.Second)-1:
		return math.MaxInt64
	case s < math.MinInt64/int64(time.Second)+1:
		return math.MinInt64
	}
	return t.UnixNano()
}

// expand returns a reader of the content of a sparse file.
func (f *FS) expand(e *entry) (io.Reader, error) {
	tr := tar.NewReader(io.NewSectionReader(f.content, e.offset, math.MaxInt64-e.offset))
	h, err := tr.Next()
	switch {
	case err != nil && !errors.Is(err, tar.ErrInsecurePath):
		return nil, err
	case h.Size != e.size:
		return nil, fs.ErrInvalid
	}
	return tr, nil
}
