package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
)

// FS is an archive as a file system. Its files are also [io.Seeker] and [io.ReaderAt]; ReadAt may
// be called from several goroutines at the same time, as may all methods of an FS. It implements
// [fs.ReadDirFS], [fs.ReadFileFS], [fs.StatFS] and [fs.ReadLinkFS].
//
// The list takes 56 bytes for each entry, and its name: about 100 MB for a million, and twice as
// much while Open sorts it.
type FS struct {
	content io.ReaderAt
	size    int64              // of content
	reader  *compress.ReaderAt // content, if it is compressed
	limit   int64              // of the size of a file with holes; −1 for none
	table   table
	root    entry

	endError error
}

var (
	_ fs.ReadDirFS  = (*FS)(nil)
	_ fs.ReadFileFS = (*FS)(nil)
	_ fs.StatFS     = (*FS)(nil)
	_ fs.ReadLinkFS = (*FS)(nil)
)

// Open reads the headers of the tar file of size bytes that src holds. It may be compressed as .pz,
// .zst or .gz. What [compress.NewReaderAt] says about the formats and the options holds here too: a
// .zst file needs a seek table or sizes in its frames, and a .gz file is decompressed once.
//
// An archive of a [Writer] has a list of its entries, and Open reads that. Of other archives it
// reads all headers, and so those blocks that have any: all of them if the files are small. The FS
// then reads src whenever a file is read. Close frees its memory.
//
// Over HTTP, package httprange gets the list in one request with a tail of a MiB or so (WithTail).
//
// Errors are those of NewReaderAt, [tar.ErrHeader], [io.ErrUnexpectedEOF] if the archive is cut
// short, and [compress.ErrTooLarge] if the list of entries takes more than 512 MiB, or a name more
// than 1 MiB. [compress.WithMaxDecodedSize] also limits the size of each file with its holes. With
// [tar.ErrHeader] Open returns an FS too, as OpenTar does.
func Open(src io.ReaderAt, size int64, opts ...compress.ReaderOption) (*FS, error) {
	if isTar(src, size) {
		f, err := OpenTar(src, size)
		if err != nil && !errors.Is(err, tar.ErrHeader) {
			return nil, err
		}
		return f, err
	}
	r, err := compress.NewReaderAt(src, size, opts...)
	if err != nil {
		return nil, err
	}
	f := &FS{content: r, size: r.Size(), reader: r, limit: bridge.DecodedLimit(r), root: emptyRoot}
	err = f.load()
	if err == nil || errors.Is(err, tar.ErrHeader) && len(f.table.entries) > 0 {
		return f, err
	}
	r.Close()
	return nil, err
}

// OpenTar is Open for a tar file that is not compressed. It also reads those that Open does not
// recognize: old ones without a magic number, and empty ones. If a header is damaged or missing,
// OpenTar returns both an error and an FS of the entries that it has read. Behind a damaged header
// it goes on with the next block that is one.
func OpenTar(src io.ReaderAt, size int64) (*FS, error) {
	r := io.NewSectionReader(src, 0, size)
	f := &FS{content: r, size: size, limit: -1, root: emptyRoot}
	err := f.load()
	if err != nil && len(f.table.entries) == 0 {
		return nil, err
	}
	return f, err
}

// emptyRoot is the root of an archive that has no entry for it.
var emptyRoot = entry{mode: fs.ModeDir | 0o755}

// load reads the list of the archive, or else all headers.
func (f *FS) load() error {
	if ok, err := f.readList(); ok || err != nil {
		return err
	}
	return f.scan()
}

// errLoneBlock is the error of EndError.
var errLoneBlock = errors.New("data behind a single block of zeros is not read; an archive ends in two")

// EndError returns an error if data follows a single block of zeros, where an archive has two. Open
// does not read that data.
func (f *FS) EndError() error { return f.endError }

// isTar reports whether src holds a tar file that is not compressed.
func isTar(src io.ReaderAt, size int64) bool {
	const magicAt = 257
	magic := make([]byte, 5)
	if size < blockSize {
		return false
	}
	_, err := src.ReadAt(magic, magicAt)
	return err == nil && string(magic) == "ustar"
}

// Close frees the memory of the FS. Its files fail afterwards if the archive is compressed. Close
// does not close the underlying reader. It returns nil.
func (f *FS) Close() error {
	if f.reader != nil {
		return f.reader.Close()
	}
	return nil
}

// Open opens a file or directory. It follows symbolic links.
func (f *FS) Open(name string) (fs.File, error) {
	i, err := f.resolve("open", name, true)
	if err != nil {
		return nil, err
	}
	return f.open(name, i)
}

// open opens the entry of a number.
func (f *FS) open(name string, i int) (fs.File, error) {
	e := f.entry(i)
	info := f.info(name, e)
	switch {
	case e.mode.IsDir():
		list := func() ([]fs.DirEntry, error) { return f.list(f.table.children(i)), nil }
		return &dir{info: info, list: list}, nil
	case e.kind == missing:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case e.kind == continued:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errContinued}
	case e.kind == sparse:
		return f.openSparse(name, e)
	case e.size > f.size-e.offset:
		return nil, &fs.PathError{Op: "open", Path: name, Err: io.ErrUnexpectedEOF}
	case e.gap > 0 && e.mode.IsRegular():
		if err := f.verify(e); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return &file{info: info, content: io.NewSectionReader(f.content, e.offset, e.size)}, nil
}

var errContinued = errors.New("is the rest of a file that another volume begins")

// openSparse opens a file with holes.
func (f *FS) openSparse(name string, e *entry) (fs.File, error) {
	h, err := f.headerAt(e.offset)
	switch {
	case err != nil:
	case h.badMap != nil:
		err = h.badMap
	case f.limit >= 0 && e.size > f.limit:
		err = fmt.Errorf("%w: it has %d bytes with its holes", compress.ErrTooLarge, e.size)
	default:
		c := &sparseContent{f.content, h.pieces, e.size}
		return &sparseFile{file{f.info(name, e), io.NewSectionReader(c, 0, e.size)}, c}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: err}
}

// sparseFile is an open file with holes.
type sparseFile struct {
	file
	*sparseContent
}

// ReadAt implements [io.ReaderAt].
func (f *sparseFile) ReadAt(p []byte, off int64) (int, error) { return f.file.ReadAt(p, off) }

// Stat describes a file or directory. It follows symbolic links.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	i, err := f.resolve("stat", name, true)
	if err != nil {
		return nil, err
	}
	return f.info(name, f.entry(i)), nil
}

// Lstat describes a file, directory or symbolic link.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	i, err := f.resolve("lstat", name, false)
	if err != nil {
		return nil, err
	}
	return f.info(name, f.entry(i)), nil
}

// ReadLink returns the target of a symbolic link, as the archive has it.
func (f *FS) ReadLink(name string) (string, error) {
	i, err := f.resolve("readlink", name, false)
	if err != nil {
		return "", err
	}
	e := f.entry(i)
	if e.mode.Type() != fs.ModeSymlink {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return f.table.get(e.link), nil
}

// ReadDir returns the entries of a directory, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	i, err := f.resolve("readdir", name, true)
	if err != nil {
		return nil, err
	}
	if !f.entry(i).mode.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	return f.list(f.table.children(i)), nil
}

// ReadFile returns the content of a file.
func (f *FS) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, _ := file.Stat()
	if _, ok := file.(SparseFile); ok && info.Size() > maxMemory {
		err := fmt.Errorf("%w: it has %d bytes with its holes", compress.ErrTooLarge, info.Size())
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	// A header may state any size, so memory grows with what there is.
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), maxGrow)) + bytes.MinRead)
	if _, err := b.ReadFrom(file); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// maxGrow is the memory in bytes that ReadFile allocates for a file of which it has read nothing.
const maxGrow = 1 << 20

// rootNumber is the number of the root, which is not in the table.
const rootNumber = -1

// entry returns the entry of a number. Those of hidden entries follow all others.
func (f *FS) entry(i int) *entry {
	shown := len(f.table.entries)
	switch {
	case i == rootNumber:
		return &f.root
	case i < shown:
		return &f.table.entries[i]
	}
	return &f.table.hidden[i-shown]
}

// resolve returns the number of the entry that a name stands for. follow says whether to follow a
// symbolic link at its end.
func (f *FS) resolve(op, name string, follow bool) (int, error) {
	fail := func(err error) (int, error) { return 0, &fs.PathError{Op: op, Path: name, Err: err} }
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	at := name
	for links := 0; ; links++ {
		if at == "." {
			return rootNumber, nil
		}
		i, ok := f.table.find([]byte(at))
		if ok && !(follow && f.isLink(i)) {
			return i, nil
		}
		next, ok := f.followFirst(at)
		if !ok || links == maxLinks {
			return fail(fs.ErrNotExist)
		}
		at = next
	}
}

func (f *FS) isLink(i int) bool { return f.table.entries[i].mode.Type() == fs.ModeSymlink }

// followFirst replaces the first symbolic link of a path by its target. ok is false if there is
// none, or if it leads out of the archive.
func (f *FS) followFirst(name string) (next string, ok bool) {
	for n := 0; n < len(name); n++ {
		if k := strings.IndexByte(name[n:], '/'); k >= 0 {
			n += k
		} else {
			n = len(name)
		}
		i, ok := f.table.find([]byte(name[:n]))
		if !ok {
			return "", false
		}
		if !f.isLink(i) {
			continue
		}
		target := f.table.get(f.table.entries[i].link)
		if path.IsAbs(target) {
			return "", false
		}
		next = path.Join(path.Dir(name[:n]), target, name[n:])
		return next, fs.ValidPath(next)
	}
	return "", false
}
