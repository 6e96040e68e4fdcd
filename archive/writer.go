package archive

import (
	"archive/tar"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
)

// Writer writes a compressed tar archive. Every program for tar reads it. Behind its entries it has
// a list of them, so that [Open] reads only the last blocks, and a file of it only its own blocks.
// The list takes about 60 bytes for each entry before compression.
//
// Methods are for one goroutine at a time.
type Writer struct {
	z    *compress.Writer
	tar  *tar.Writer
	at   int64 // bytes of the tar file
	list []byte
	n    int // entries

	closed bool
	err    error // of Close
}

// NewWriter returns a Writer to w. The options are those of [compress.NewWriter]. Smaller blocks
// make reading a single small file faster: it takes a block or two. In .zst each block is a frame,
// as with [compress.WithSeekable].
func NewWriter(w io.Writer, opts ...compress.WriterOption) (*Writer, error) {
	z, err := compress.NewWriter(w, append([]compress.WriterOption{bridge.Frames()}, opts...)...)
	if err != nil {
		return nil, err
	}
	a := &Writer{z: z, list: []byte(listMagic)}
	a.tar = tar.NewWriter((*counter)(a))
	return a, nil
}

// counter is the Writer as the destination of its tar.Writer.
type counter Writer

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.z.Write(p)
	c.at += int64(n)
	return n, err
}

// WriteHeader begins an entry, as [tar.Writer.WriteHeader] does. The content of the entry before
// must be complete.
func (w *Writer) WriteHeader(h *tar.Header) error {
	if err := w.tar.Flush(); err != nil { // fills the last block
		return err
	}
	bridge.KeepTogether(w.z, blockSize+h.Size) // or more, if the header takes several blocks
	begin := w.at
	if err := w.tar.WriteHeader(h); err != nil {
		return err
	}
	if flag := typeOf(h.Typeflag, h.Name); flag != tar.TypeXGlobalHeader && flag != typeLabel {
		w.list = appendLine(w.list, h, begin, w.at)
		w.n++
	}
	return nil
}

// Write writes content of the current entry.
func (w *Writer) Write(p []byte) (int, error) { return w.tar.Write(p) }

// AddFS adds all files and directories of fsys, as [tar.Writer.AddFS] does.
func (w *Writer) AddFS(fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		return w.addFile(fsys, name, d)
	})
}

func (w *Writer) addFile(fsys fs.FS, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	target := ""
	switch t := info.Mode().Type(); t {
	case 0, fs.ModeDir:
	case fs.ModeSymlink:
		target, err = fs.ReadLink(fsys, name)
		if err != nil {
			return err
		}
	default:
		return fmt.Errorf("archive: %s: neither file, directory nor symbolic link", name)
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	h.Name = name
	if info.IsDir() {
		h.Name += "/"
	}
	if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// Close writes the list and the end of the archive. It does not close the underlying writer. An
// archive of which a call has failed gets no end. Further calls return the same error.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	if w.err = w.finishArchive(); w.err == nil {
		w.err = w.z.Close()
	}
	return w.err
}

func (w *Writer) finishArchive() error {
	if err := w.tar.Close(); err != nil {
		return err
	}
	end := len(fmt.Sprintf(listEnding, w.n, 0, w.at))
	for (w.at+int64(len(w.list)+end))%recordSize != 0 {
		w.list = append(w.list, '\n')
	}
	w.list = fmt.Appendf(w.list, listEnding, w.n, crc32.Checksum(w.list, castagnoli()), w.at)
	_, err := w.z.Write(w.list)
	return err
}
