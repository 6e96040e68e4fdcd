package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// A Remote is a file behind a URL. Read reads it from the beginning, and is independent of ReadAt.
// Its errors may have a method Reason, which returns the text without the URL.
type Remote interface {
	io.ReadCloser
	io.ReaderAt
	Size() int64                               // -1 if the file can only be read in order; ReadAt then fails
	LastModified() time.Time                   // zero if it is not known
	Traffic() (requests, retries, bytes int64) // so far
}

// OpenURL opens the file behind an http or https URL. tail is how many bytes at its end are wanted
// first, where formats have their index; 0 is for a file that is read in order. The package has no
// implementation: net/http makes the program start later, and only main packages choose to link it.
type OpenURL func(ctx context.Context, url string, tail int64) (Remote, error)

// Values of tail, in bytes. An archive ends in a list of its entries, and then the index: 0.8 MB of
// an archive of 100,000 files.
const (
	tailOfFile    = 64 << 10
	tailOfArchive = 1 << 20
)

// tail returns how much of the end of a remote file the mode reads first.
func (c *config) tail() int64 {
	switch {
	case c.readsArchives():
		return tailOfArchive
	case c.mode == modeList || c.ranged():
		return tailOfFile
	}
	return 0
}

// isURL reports whether an operand looks like a URL.
func isURL(operand string) bool {
	scheme, rest, ok := strings.Cut(operand, "://")
	return ok && rest != "" && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// urlName returns a URL for messages. It leaves out what may be secret: user, query and fragment.
func urlName(url string) string {
	url, _, _ = strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	scheme, rest, _ := strings.Cut(url, "://")
	host, file, slash := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if slash {
		file = "/" + file
	}
	return scheme + "://" + host + file
}

// readsURLs reports whether the mode reads URLs.
func (c *config) readsURLs() bool {
	return c.mode == modeList || c.mode == modeTest || c.mode == modeDecompress || c.mode == modeExtract
}

// operandURL processes an operand that is a URL.
func (a *app) operandURL(url string, do func(entry)) {
	c, name := &a.cfg, urlName(url)
	switch {
	case !c.readsURLs():
		a.fail(name, "is a URL, which only -d, -t, -l and -x read; use curl to fetch it")
	case a.writesBeside():
		a.fail(name, "is a URL, which has no directory for the result; use -c or -o FILE")
	case c.remove:
		a.fail(name, "is a URL, which --rm cannot remove")
	case a.openURL == nil:
		a.fail(name, "is a URL, which this build of pz does not read")
	default:
		do(entry{path: name, base: path.Base(name), url: url})
	}
}

// openRemote opens an entry that is a URL. It returns nil, with a message, if that fails.
func (a *app) openRemote(e entry) *source {
	c := &a.cfg
	r, err := a.openURL(context.Background(), e.url, c.tail())
	if err != nil {
		a.fail(e.path, "%s", reason(err))
		return nil
	}
	s := &source{app: a, name: e.path, remote: r}
	switch {
	case r.Size() >= 0:
		s.info = remoteInfo{e.base, r}
	case c.needsRandomAccess():
		r.Close()
		a.fail(e.path, "lies on a server without ranges, which -l needs; store the file first")
		return nil
	}
	a.setTarget(s.size())
	return s
}

// noteTraffic reports with -v what a remote file took.
func (a *app) noteTraffic(s *source) {
	requests, retries, bytes := s.remote.Traffic()
	text := fmt.Sprintf("%d %s, %d bytes received", requests, plural(requests, "request"), bytes)
	if retries > 0 {
		text += fmt.Sprintf(", %d repeated", retries)
	}
	a.note(s.name, "%s", text)
}

// remoteInfo describes a remote file as the system describes a file.
type remoteInfo struct {
	name string
	r    Remote
}

func (i remoteInfo) Name() string       { return i.name }
func (i remoteInfo) Size() int64        { return i.r.Size() }
func (i remoteInfo) Mode() fs.FileMode  { return 0o444 }
func (i remoteInfo) ModTime() time.Time { return i.r.LastModified() }
func (i remoteInfo) IsDir() bool        { return false }
func (i remoteInfo) Sys() any           { return nil }

// reasoner is an error that names its file in its text, and can leave it out.
type reasoner interface{ Reason() string }

// urlReason returns the cause of an error of a Remote, or "".
func urlReason(err error) string {
	var r reasoner
	if errors.As(err, &r) {
		return r.Reason()
	}
	return ""
}
