// Package foreign decodes the compressed formats that the command pz reads and does not write: xz,
// bzip2, lz4, lzip, compress (.Z), snappy and S2, lzma, brotli. Well-kept libraries do the work, on
// one core. None of these files can be read at any place.
//
// Only the command imports the package, so importers of the library do not get those libraries.
package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
)

// Format is one of the formats.
type Format struct {
	Name string // for messages
	// Suffixes lists suffixes of file names, and what replaces each in the name of the content.
	Suffixes [][2]string
	// Unchecked says that the format has no checksum, so damage may go unseen.
	Unchecked bool
	// Endless says that the format has no end mark, so the loss of its last parts may go unseen.
	Endless bool
	// Behind says what the format's own program does with other data behind the end.
	Behind Behind

	magic []string
	// begins reports whether a file begins with head, which begins with a magic number. It looks at
	// the bytes behind a magic number that text or other data may have too. A matching
	// suffix of the name replaces this test. nil is for a magic number that suffices.
	begins func(head []byte) bool
	single bool // open reads all streams that may follow one another
	// open returns a reader of one stream, which takes no more than that from r. If it must, it has
	// the method unread.
	open func(r *bufio.Reader, maxMemory int64) (io.Reader, error)
	// broken returns an error if p, which stands behind the end, is rather damage than other data.
	// p has MagicSize bytes, or fewer if there are no more.
	broken func(p []byte) error
}

// Behind is what a program does with other data behind the end of compressed data.
type Behind int

const (
	Refused Behind = iota // an error
	Warned                // a warning
	Ignored               // nothing
)

// formats in the order of tests for their magic numbers.
var formats = []*Format{
	{Name: "xz", Suffixes: [][2]string{{".xz", ""}, {".txz", ".tar"}}, magic: []string{xzMagic},
		open: openXZ},
	{Name: "bzip2", Suffixes: [][2]string{{".bz2", ""}, {".bz", ""}, {".tbz", ".tar"}, {".tbz2", ".tar"},
		{".tb2", ".tar"}, {".tz2", ".tar"}},
		magic: []string{"BZh"}, begins: beginsBzip2, single: true, open: openBzip2, broken: brokenBzip2,
		Behind: Warned},
	{Name: "lz4", Suffixes: [][2]string{{".lz4", ""}, {".tlz4", ".tar"}},
		magic: []string{lz4Magic, lz4LegacyMagic}, open: openLZ4},
	{Name: "lzip", Suffixes: [][2]string{{".lz", ""}, {".tlz", ".tar"}}, magic: []string{lzipMagic},
		begins: beginsLzip, open: openLzip, broken: brokenLzip, Behind: Ignored},
	{Name: "compress", Suffixes: [][2]string{{".Z", ""}, {".taz", ".tar"}}, magic: []string{"\x1f\x9d"},
		begins: beginsLZW, Unchecked: true, Endless: true, open: openLZW},
	{Name: "snappy", Suffixes: [][2]string{{".sz", ""}, {".snappy", ""}, {".s2", ""}},
		magic: []string{snappyMagic, s2Magic}, begins: beginsS2, Endless: true, open: openS2},
	{Name: "lzma", Suffixes: [][2]string{{".lzma", ""}}, magic: []string{""}, begins: beginsLZMA,
		Unchecked: true, single: true, open: openLZMA},
	{Name: "brotli", Suffixes: [][2]string{{".br", ""}}, Unchecked: true, single: true, open: openBrotli},
}

// MagicSize is the number of bytes at the beginning of a file that Detect looks at.
const MagicSize = lzmaHead

// Detect returns the format of a file from its first MagicSize bytes, or fewer if it is shorter. It
// returns nil for other data. name is that of the file, or "". Brotli has no magic number: it
// counts as brotli only if the suffix of name says so and no other format is found.
func Detect(head []byte, name string) *Format {
	named, _, _ := BySuffix(name)
	for _, f := range formats {
		if f.hasMagic(head) && (f.begins == nil || f.begins(head) || f == named && f.MayFollow()) {
			return f
		}
	}
	if named != nil && len(named.magic) == 0 {
		return named
	}
	return nil
}

// MayFollow reports whether a file behind other data can be recognized: by a magic number.
func (f *Format) MayFollow() bool { return len(f.magic) > 0 && f.magic[0] != "" }

func (f *Format) hasMagic(head []byte) bool {
	return slices.ContainsFunc(f.magic, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
}

// IgnoresCase reports whether file names that differ only in case name the same file.
const IgnoresCase = runtime.GOOS == "windows"

// CutSuffix returns a file name without suffix. ok is false if the name has another suffix or
// consists of this one alone. As in gzip case makes no difference.
func CutSuffix(name, suffix string) (stem string, ok bool) {
	n := len(name) - len(suffix)
	if n <= 0 || !strings.EqualFold(name[n:], suffix) {
		return "", false
	}
	return name[:n], true
}

// BySuffix returns the format that the suffix of a file name stands for, the name of the content
// and the suffix. The format is nil if the suffix is unknown or the whole name.
func BySuffix(name string) (f *Format, content, suffix string) {
	for _, f := range formats {
		for _, s := range f.Suffixes {
			if stem, ok := CutSuffix(name, s[0]); ok {
				return f, stem + s[1], s[0]
			}
		}
	}
	return nil, "", ""
}

// Suffixes returns all suffixes of the formats.
func Suffixes() (list []string) {
	for _, f := range formats {
		for _, s := range f.Suffixes {
			list = append(list, s[0])
		}
	}
	return list
}

// Errors of a Reader, wrapped with more detail.
var (
	ErrCorrupt = errors.New("damaged")
	ErrCut     = errors.New("cut off")
	ErrMemory  = errors.New("needs more memory")
	ErrFeature = errors.New("uses a feature that is not supported")
)

// TrailingError says that all content has been read, and that other data follows.
type TrailingError struct {
	Format *Format
	Offset int64 // of that data, in bytes from the beginning
}

func (e *TrailingError) Error() string {
	return fmt.Sprintf("%s data ends at byte %d, and other data follows", e.Format.Name, e.Offset)
}

// Reader restores one file or several that follow one another. It turns the errors and panics of a
// library into the errors of this package.
type Reader struct {
	f      *Format
	src    *source
	buf    *bufio.Reader // of src
	stream io.Reader     // nil before the first one
	max    int64
	taken  []byte // bytes behind the end that the last stream has taken from buf
	err    error
}

// source notes the errors of the reader below, which are not errors of the format, and counts.
type source struct {
	r   io.Reader
	n   int64
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// DefaultMemory is the bound on the memory of a window if none is given, in bytes. It suffices for
// xz -9.
const DefaultMemory = 64 << 20

// NewReader returns a reader of the content of r, which begins with a file of format f. Several
// files may follow one another where the format allows that. maxMemory bounds the memory of the
// window in bytes; 0 stands for DefaultMemory.
func (f *Format) NewReader(r io.Reader, maxMemory int64) *Reader {
	if maxMemory == 0 {
		maxMemory = DefaultMemory
	}
	src := &source{r: r}
	return &Reader{f: f, src: src, buf: bufio.NewReaderSize(src, 64<<10), max: maxMemory}
}

// Rest returns what follows the compressed data, after a TrailingError.
func (r *Reader) Rest() io.Reader { return io.MultiReader(bytes.NewReader(r.taken), r.buf) }

// offset returns how many bytes the streams so far have.
func (r *Reader) offset() int64 { return r.src.n - int64(r.buf.Buffered()+len(r.taken)) }

// Read returns content. An error of the underlying reader comes back as it is. All other errors
// wrap one of the errors above, or are a TrailingError.
func (r *Reader) Read(p []byte) (n int, err error) {
	if r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	defer func() {
		if x := recover(); x != nil {
			n, err = 0, fmt.Errorf("%s data %w: %v", r.f.Name, ErrCorrupt, x)
		}
		r.err = err
	}()
	if r.stream == nil {
		err = r.beginStream()
	}
	for tries := 0; n == 0 && err == nil; tries++ {
		n, err = r.stream.Read(p)
		if err == io.EOF && n == 0 {
			if err = r.finishStream(); err == io.EOF {
				return 0, err
			}
			tries = 0
		}
		if n == 0 && err == nil && tries == 100 {
			err = io.ErrNoProgress
		}
	}
	if err != nil && err != io.EOF {
		err = r.wrap(err)
	}
	if n > 0 && err == io.EOF {
		err = nil // the next call sees it again
	}
	return n, err
}

// beginStream opens the stream that buf stands at. There is one, so the end of the input is an
// error.
func (r *Reader) beginStream() (err error) {
	if s, ok := r.stream.(interface{ reset(r *bufio.Reader) error }); ok {
		err = s.reset(r.buf)
	} else {
		r.stream, err = r.f.open(r.buf, r.max)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// finishStream begins the next stream. It returns io.EOF if there is none, and a TrailingError if
// other data follows.
func (r *Reader) finishStream() error {
	if u, ok := r.stream.(interface{ unread() []byte }); ok {
		r.taken = u.unread()
	}
	head, err := r.buf.Peek(MagicSize - len(r.taken))
	if err != nil && err != io.EOF {
		return err
	}
	head = append(r.taken[:len(r.taken):len(r.taken)], head...)
	switch {
	case len(head) == 0:
		return io.EOF
	case r.f.single || !r.f.hasMagic(head):
		if r.f.broken != nil {
			if err := r.f.broken(head); err != nil {
				return err
			}
		}
		return &TrailingError{r.f, r.offset()}
	}
	return r.beginStream()
}

// wrap returns the error of this package for an error of a library.
func (r *Reader) wrap(err error) error {
	var trailing *TrailingError
	switch {
	case r.src.err != nil:
		return r.src.err
	case errors.As(err, &trailing):
		return err
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s data %w", r.f.Name, ErrCut)
	case errors.Is(err, ErrMemory), errors.Is(err, ErrFeature):
		return fmt.Errorf("%s data %w", r.f.Name, err)
	}
	return fmt.Errorf("%s data %w: %w", r.f.Name, ErrCorrupt, err)
}
