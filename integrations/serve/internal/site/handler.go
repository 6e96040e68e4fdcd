// Package site answers HTTP requests for the contents of sources, as http.FileServerFS does for
// files, and has pages for directories.
//
// An error while content is read never leads to wrong bytes: it becomes a response with an error
// status, or the connection is closed before the end of the body.
package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/httpcompress"
	"github.com/gopz/compress/httprange"
	"github.com/gopz/compress/integrations/serve/internal/source"
	"github.com/gopz/compress/integrations/serve/internal/stats"
	"golang.org/x/sync/semaphore"
)

// Config is what a Handler needs.
type Config struct {
	Set      *source.Set
	Counters *stats.Counters
	Log      *slog.Logger
	// WriteTimeout is how long a client may take for a write of at most 64 KiB.
	WriteTimeout time.Duration
	// Encoded has stored .gz and .zst files sent as they are to clients that accept them.
	Encoded bool
}

// Handler answers requests.
type Handler struct {
	Config
	packed  http.Handler        // sends a page compressed
	packs   *semaphore.Weighted // pages that are being compressed
	builds  *semaphore.Weighted // pages that are being made
	single  *source.Source      // the only source, whose files are at the root; else nil
	sources map[string]*source.Source
}

// Most pages that are made, and that are compressed, at the same time. Each may list a large
// directory.
const (
	maxBuilds = 4
	maxPacks  = 8
)

// New returns a Handler.
func New(c Config) *Handler {
	h := &Handler{
		Config: c, sources: map[string]*source.Source{},
		packed: httpcompress.Handler(http.HandlerFunc(sendPage)),
		packs:  semaphore.NewWeighted(maxPacks), builds: semaphore.NewWeighted(maxBuilds),
	}
	if len(c.Set.Sources) == 1 {
		h.single = c.Set.Sources[0]
	}
	for _, s := range c.Set.Sources {
		h.sources[s.Name] = s
	}
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	h.Counters.BeginRequest()
	x := newResponse(w, r, h.WriteTimeout)
	var failure error
	cut := true // a panic leaves it so
	defer func() {
		p := recover()
		done := &stats.Request{
			Method: r.Method, Path: r.URL.Path, Status: x.status, Bytes: x.bytes, Begin: begin,
			Took: time.Since(begin), Encoded: x.encoded >= 0 && x.status == http.StatusOK,
			Cut: cut, Err: failure, ClientGone: x.failed != nil || r.Context().Err() != nil,
		}
		h.Counters.EndRequest(done)
		h.log(done, p)
		switch {
		case p != nil:
			panic(p)
		case cut:
			panic(http.ErrAbortHandler) // closes the connection: the client sees that the end is missing
		}
	}()
	failure = h.serve(x, r)
	if failure != nil && x.reset() {
		h.fail(x, failure)
		cut = x.failed != nil
		if x.status < http.StatusInternalServerError {
			failure = nil // the client's
		}
		return
	}
	x.send()
	cut = failure != nil || x.failed != nil || x.short()
}

// log logs a request that failed.
func (h *Handler) log(r *stats.Request, p any) {
	switch {
	case p != nil && p != http.ErrAbortHandler:
		h.Log.Error("panic", "path", r.Path, "panic", p)
	case r.ClientGone:
		h.Log.Debug("client gone", "path", r.Path, "bytes", r.Bytes)
	case r.Err != nil:
		h.Log.Error("request failed", "path", r.Path, "status", r.Status, "cut", r.Cut,
			"reason", stats.Reason(r.Err), "err", r.Err)
	case r.Cut:
		h.Log.Error("file became shorter", "path", r.Path, "bytes", r.Bytes)
	}
}

// serve answers a request. If it returns an error, nothing or a part of the body was sent.
func (h *Handler) serve(x *response, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		x.Header().Set("Allow", "GET, HEAD")
		http.Error(x, "pzserve is read-only: only GET and HEAD are allowed", http.StatusMethodNotAllowed)
		return nil
	}
	upath := path.Clean("/" + r.URL.Path)
	isDir := strings.HasSuffix(r.URL.Path, "/")
	name := strings.TrimPrefix(upath, "/")
	if strings.HasSuffix(r.URL.Path, "/index.html") {
		return redirect(x, r, "./")
	}
	s := h.single
	if s == nil {
		if name == "" {
			return h.sourcesPage(x, r)
		}
		first, rest, _ := strings.Cut(name, "/")
		if s = h.sources[first]; s == nil {
			return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		name = rest
	}
	if name == "" {
		name = "."
	}
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	v, err := s.Acquire(r.Context())
	if err != nil {
		return err
	}
	defer v.Release()
	info, err := v.Lookup(name)
	switch {
	case err != nil:
		return err
	case info.IsDir() && !isDir:
		return redirect(x, r, path.Base(upath)+"/")
	case !info.IsDir() && isDir:
		return redirect(x, r, "../"+path.Base(upath))
	case info.IsDir():
		if i, err := v.Lookup(path.Join(name, "index.html")); err == nil && !i.IsDir() {
			return h.file(x, r, v, path.Join(name, "index.html"))
		}
		return h.directoryPage(x, r, v, name)
	}
	return h.file(x, r, v, name)
}

// redirect sends the client to a path relative to that of the request.
func redirect(x *response, r *http.Request, to string) error {
	location := url.URL{Path: to, RawQuery: r.URL.RawQuery}
	x.Header().Set("Location", location.String())
	x.WriteHeader(http.StatusMovedPermanently)
	return nil
}

// status returns the status that an error means, and what the client is told.
func status(err error) (code int, text string) {
	var remote *httprange.Error
	switch {
	case errors.Is(err, source.ErrChanged), errors.Is(err, httprange.ErrChanged),
		errors.Is(err, compress.ErrClosed):
		return http.StatusServiceUnavailable, "the file has changed; try again"
	case errors.Is(err, httprange.ErrStalled):
		return http.StatusGatewayTimeout, "the server that has the file does not answer"
	case errors.As(err, &remote):
		return http.StatusBadGateway, "the server that has the file does not send it"
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound, "404 page not found" // as net/http
	case errors.Is(err, fs.ErrPermission):
		return http.StatusForbidden, "403 Forbidden"
	case errors.Is(err, source.ErrBusy), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "the server is busy; try again"
	case errors.Is(err, compress.ErrMemory):
		return http.StatusInternalServerError, "the file takes more memory than the server has for it"
	}
	return http.StatusInternalServerError, "the file cannot be read; the log of the server says why"
}

// fail answers with an error.
func (h *Handler) fail(x *response, err error) {
	code, text := status(err)
	if code == http.StatusServiceUnavailable {
		x.Header().Set("Retry-After", "1")
	}
	if !strings.Contains(x.r.Header.Get("Accept"), "text/html") {
		http.Error(x, text, code)
		return
	}
	reason := strings.TrimPrefix(text, strconv.Itoa(code)+" ")
	p := &page{
		Title: text, Summary: fmt.Sprintf("Status %d: %s.", code, reason),
		Path: []crumb{{Name: "pzserve", Link: "/"}, {Name: http.StatusText(code)}},
	}
	body, err := p.render(x.Header())
	if err != nil {
		http.Error(x, text, code)
		return
	}
	x.WriteHeader(code)
	if x.r.Method != http.MethodHead {
		x.Write(body)
	}
}
