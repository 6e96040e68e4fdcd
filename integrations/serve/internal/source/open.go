package source

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/archive"
	"github.com/gopz/compress/httprange"
)

// An operand is what the user names.
type operand struct {
	name string // of the source; "" if the user gives none
	text string
	url  *url.URL // nil for a local file
	dir  bool
}

var named = regexp.MustCompile(`^([A-Za-z0-9._-]+)=(.+)$`)

// parseOperand parses DIR, ARCHIVE or URL, or NAME= and one of them.
func parseOperand(s string, allow AllowList) (operand, error) {
	o := operand{text: s}
	if m := named.FindStringSubmatch(s); m != nil {
		if _, err := os.Stat(s); err != nil {
			o.name, o.text = m[1], m[2]
		}
	}
	if o.name == "." || o.name == ".." {
		return o, fmt.Errorf("%s: the name cannot be %q", s, o.name)
	}
	if u, err := url.Parse(o.text); err == nil && isWeb(u) {
		o.url = u
		if !allow.Allows(u) {
			return o, fmt.Errorf("%s: %w; add --allow-url %s://%s", label(u), ErrNotAllowed, u.Scheme, u.Host)
		}
		return o, nil
	}
	info, err := os.Stat(o.text)
	if err != nil {
		return o, openError(o.text, err)
	}
	if o.dir = info.IsDir(); !o.dir && !info.Mode().IsRegular() {
		return o, fmt.Errorf("%s: not a regular file or directory", o.text)
	}
	return o, nil
}

// label returns a URL without user, query and fragment, which may hold secrets.
func label(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Open opens all operands. If ctx ends, reads of URLs fail.
func Open(ctx context.Context, operands []string, cfg Config) (*Set, error) {
	t := &Set{cfg: cfg, ctx: ctx, cache: compress.NewCache(cfg.Memory.Cache)}
	var list []operand
	dirs := 0
	for _, s := range operands {
		o, err := parseOperand(s, cfg.Allow)
		if err != nil {
			return nil, err
		}
		if o.dir {
			dirs++
		}
		list = append(list, o)
	}
	loads := cfg.Memory.Loads
	if files := len(list) - dirs; dirs > 0 && files > 0 {
		loads /= 2
	}
	shared := newBudget(loads, cfg.WaitTimeout, cfg.Observer.Waited)
	for _, o := range list {
		s := o.source(t)
		s.limit = loads / int64(max(1, len(list)-dirs))
		if o.dir {
			s.limit, s.budget = shared.file(), shared
		}
		for _, other := range t.Sources {
			if other.Name == s.Name {
				t.Close()
				return nil, fmt.Errorf("%s and %s are both called %s: name one of them NAME=OPERAND",
					other.Label, s.Label, s.Name)
			}
		}
		begin := time.Now()
		current, err := s.open(s)
		if err != nil {
			t.Close()
			return nil, openError(s.Label, err)
		}
		s.current, s.checked = current, time.Now()
		t.Sources = append(t.Sources, s)
		cfg.Log.Info("opened", "source", s.Label, "kind", s.Kind, "name", s.Name,
			"ms", time.Since(begin).Milliseconds())
	}
	return t, nil
}

// source returns the source of an operand, which is still to be opened.
func (o operand) source(t *Set) *Source {
	s := &Source{Name: o.name, Label: o.text, set: t}
	base := filepath.Base(o.text)
	switch {
	case o.url != nil:
		s.Label, base = label(o.url), path.Base("/"+o.url.Path)
		s.open = func(s *Source) (*opened, error) { return s.openURL(o.url.String(), base) }
	case o.dir:
		if abs, err := filepath.Abs(o.text); err == nil {
			base = filepath.Base(abs)
		}
		s.Kind = "directory"
		s.open = func(s *Source) (*opened, error) { return s.openDir(o.text) }
	default:
		s.open = func(s *Source) (*opened, error) { return s.openFile(o.text, base) }
		s.fresh = func(old *opened) bool {
			info, err := os.Stat(o.text)
			// A file that was removed stays open.
			return err != nil || os.SameFile(info, old.info) && same(info, old.info)
		}
	}
	if s.Name == "" {
		s.Name = sourceName(base)
	}
	return s
}

// archiveSuffix matches the end of the name of an archive.
var archiveSuffix = regexp.MustCompile(`(?i)\.(tar(\.(pz|zst|gz))?|tgz|tpz|tzst)$`)

// sourceName makes the name of a source of the last element of a path.
func sourceName(base string) string {
	if s := archiveSuffix.ReplaceAllString(base, ""); s != "" {
		base = s
	}
	if strings.Trim(base, "/.") == "" {
		return "root"
	}
	return base
}

// options returns the options of ReaderAts for a file of the source.
func (s *Source) options(file string) []compress.ReaderOption {
	return []compress.ReaderOption{
		compress.WithCache(s.set.cache),
		compress.WithMaxMemory(s.limit),
		compress.WithTrace(func(e compress.Stage) { s.set.cfg.Observer.Decoded(s.Name, file, &e) }),
	}
}

// openDir opens a directory. Symbolic links cannot leave it.
func (s *Source) openDir(dir string) (*opened, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	stored := &rooted{root.FS().(rootFS), s.set.cfg.Observer}
	tree := archive.Contents(stored, s.options("")[:2]...)
	tree.FileOptions(func(name string) []compress.ReaderOption { return s.options(name)[2:] })
	return &opened{
		fileSystem: tree, tree: tree, stored: stored, users: 1,
		close: func() { tree.Close(); root.Close() },
	}, nil
}

// openFile opens a local archive or file.
func (s *Source) openFile(name, base string) (*opened, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	o := &opened{info: info, users: 1}
	if err == nil {
		o.version = fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size())
		src := &watched{osFile: osFile{f, s.set.cfg.Observer}, info: info}
		err = s.show(o, src, info.Size(), base, info.ModTime(), func() { f.Close() })
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return o, nil
}

// remoteTail is how much of the end of a URL is fetched at once, in bytes: lists of archives are
// there.
const remoteTail = 1 << 20

// openURL opens an archive or file behind a URL.
func (s *Source) openURL(rawURL, base string) (*opened, error) {
	r, err := httprange.Open(s.set.ctx, rawURL, httprange.WithClient(s.set.cfg.Allow.client()),
		httprange.WithTail(remoteTail), httprange.WithCacheSize(min(httprange.DefaultCache, s.limit/4)))
	if err != nil {
		return nil, err
	}
	o := &opened{remote: r, users: 1, version: remoteVersion(r)}
	src := &observedReader{r, s.set.cfg.Observer}
	if err := s.show(o, src, r.Size(), base, r.LastModified(), func() { r.Close() }); err != nil {
		r.Close()
		return nil, err
	}
	return o, nil
}

// remoteVersion returns the version of the file behind a URL. One that the server does not tell
// changes with every opening.
func remoteVersion(r *httprange.Reader) string {
	tag := r.ETag()
	switch {
	case tag != "" && !strings.HasPrefix(tag, "W/"):
		return tag + strconv.FormatInt(r.Size(), 16)
	case !r.LastModified().IsZero():
		return fmt.Sprintf("%x-%x", r.LastModified().Unix(), r.Size())
	}
	return fmt.Sprintf("opened-%x-%x", time.Now().UnixNano(), r.Size())
}

// setKind sets the Kind when the source is opened first.
func (s *Source) setKind(kind string) {
	if s.Kind == "" {
		s.Kind = kind
	}
}

// show makes the file system of a file, which is an archive or not.
func (s *Source) show(
	o *opened, src io.ReaderAt, size int64, base string, modTime time.Time, close func(),
) error {
	a, err := archive.Open(src, size, s.options("")...)
	if err == nil {
		s.setKind("archive")
		o.fileSystem = a
		o.close = func() { a.Close(); close() }
		return nil
	}
	if archiveSuffix.MatchString(base) ||
		!errors.Is(err, tar.ErrHeader) && !errors.Is(err, io.ErrUnexpectedEOF) &&
			!errors.Is(err, compress.ErrFormat) && !errors.Is(err, compress.ErrNoIndex) {
		return err
	}
	if base == "/" || !fs.ValidPath(base) {
		base = "file"
	}
	f := archive.Contents(&single{base, src, size, modTime}, s.options("")...)
	name := "."
	if list, err := f.ReadDir("."); err == nil && len(list) == 1 {
		name = list[0].Name()
	}
	// Opening it now shows damage to its index before the first request.
	if _, err := f.Stat(name); err != nil {
		f.Close()
		return err
	}
	s.setKind("file")
	o.fileSystem = f
	o.close = func() { f.Close(); close() }
	return nil
}
