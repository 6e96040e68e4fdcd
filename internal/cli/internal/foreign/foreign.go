// Package foreign decodes the compressed formats that the command pz reads and does not write: xz,
// bzip2, lz4, compress (.Z), snappy and S2, brotli. Well-kept libraries do the work, on one core.
// None of these files can be read at any place.
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

	magic []string
	// open returns a reader of the content. It may read ahead in r.
	open func(r *bufio.Reader, maxMemory int64) (io.Reader, error)
}

// formats in the order of tests for their magic numbers.
var formats = []*Format{
	{Name: "xz", Suffixes: [][2]string{{".xz", ""}, {".txz", ".tar"}}, magic: []string{"\xfd7zXZ\x00"},
		open: openXZ},
	{Name: "bzip2", Suffixes: [][2]string{{".bz2", ""}, {".tbz", ".tar"}, {".tbz2", ".tar"}},
		magic: []string{"BZh"}, open: openBzip2},
	{Name: "lz4", Suffixes: [][2]string{{".lz4", ""}},
		magic: []string{"\x04\x22\x4d\x18", "\x02\x21\x4c\x18"},
		open:  openLZ4},
	{Name: "compress", Suffixes: [][2]string{{".Z", ""}, {".taz", ".tar"}}, magic: []string{"\x1f\x9d"},
		Unchecked: true, Endless: true, open: openLZW},
	{Name: "snappy", Suffixes: [][2]string{{".sz", ""}, {".snappy", ""}, {".s2", ""}},
		magic: []string{"\xff\x06\x00\x00sNaPpY", "\xff\x06\x00\x00S2sTwO"}, Endless: true, open: openS2},
	{Name: "brotli", Suffixes: [][2]string{{".br", ""}}, Unchecked: true, open: openBrotli},
}

// MagicSize is the number of bytes at the beginning of a file that Detect looks at.
const MagicSize = 10

// Detect returns the format of a file from its first MagicSize bytes, or fewer if it is shorter. It
// returns nil for other data. Brotli has no magic number: it counts as brotli only if the suffix of
// name says so and no other format is found.
func Detect(head []byte, name string) *Format {
	for _, f := range formats {
		for _, m := range f.magic {
			if bytes.HasPrefix(head, []byte(m)) {
				return f
			}
		}
	}
	if f, _, _ := BySuffix(name); f != nil && len(f.magic) == 0 {
		return f
	}
	return nil
}

// IgnoresCase reports whether file names that differ only in case name the same file.
const IgnoresCase = runtime.GOOS == "windows"

// CutSuffix returns a file name without suffix. ok is false if the name has another suffix or
// consists of this one alone. Case makes no difference where file names ignore it.
func CutSuffix(name, suffix string) (stem string, ok bool) {
	n := len(name) - len(suffix)
	if n <= 0 || name[n:] != suffix && !(IgnoresCase && strings.EqualFold(name[n:], suffix)) {
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

// reader turns the errors and panics of a library into the errors of this package.
type reader struct {
	f   *Format
	src *source
	r   io.Reader
	max int64
	err error
}

// source notes the errors of the reader below, which are not errors of the format.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// DefaultMemory is the bound on the memory of a window if none is given, in bytes. It suffices for
// xz -9.
const DefaultMemory = 64 << 20

// NewReader returns a reader of the content of r, which begins with a file of format f. It reads r
// to its end: several files may follow one another where the format allows that. maxMemory bounds
// the memory of the window in bytes; 0 stands for DefaultMemory.
func (f *Format) NewReader(r io.Reader, maxMemory int64) io.Reader {
	if maxMemory == 0 {
		maxMemory = DefaultMemory
	}
	return &reader{f: f, src: &source{r: r}, max: maxMemory}
}

// Read returns content. An error of the underlying reader comes back as it is. All other errors
// wrap one of the errors above.
func (r *reader) Read(p []byte) (n int, err error) {
	if r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	defer func() {
		if x := recover(); x != nil {
			n, err = 0, fmt.Errorf("%s data %w: %v", r.f.Name, ErrCorrupt, x)
		}
		r.err = err
	}()
	if r.r == nil {
		r.r, err = r.f.open(bufio.NewReaderSize(r.src, 64<<10), r.max)
		if err != nil {
			return 0, r.wrap(err)
		}
	}
	for tries := 0; n == 0 && err == nil; tries++ {
		if n, err = r.r.Read(p); n == 0 && err == nil && tries == 100 {
			err = io.ErrNoProgress
		}
	}
	if err != nil && err != io.EOF {
		err = r.wrap(err)
	}
	return n, err
}

// wrap returns the error of this package for an error of a library.
func (r *reader) wrap(err error) error {
	kind := ErrCorrupt
	switch {
	case r.src.err != nil:
		return r.src.err
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s data %w", r.f.Name, ErrCut)
	case errors.Is(err, ErrMemory), errors.Is(err, ErrFeature):
		return fmt.Errorf("%s data %w", r.f.Name, err)
	}
	return fmt.Errorf("%s data %w: %w", r.f.Name, kind, err)
}
