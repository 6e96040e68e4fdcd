package httpcompress

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
)

// Encoding is a content coding (RFC 9110, section 8.4.1) that a [Handler] can use.
type Encoding string

// The encodings.
const (
	Zstd Encoding = "zstd" // RFC 8878 and 9659
	Gzip Encoding = "gzip" // RFC 1952
)

const maxEncodings = 2

// DefaultMinSize is the size in bytes from which a [Handler] compresses responses, without
// [WithMinSize]. Most smaller ones fit a network packet as they are.
const DefaultMinSize = 1024

const (
	// zstdBlock is the size in bytes of the blocks that share a zstd frame. Its window is twice as
	// large.
	zstdBlock = 128 << 10
	// gzipBlock is the block size of gzip. A part of a response waits for its block to be full.
	gzipBlock = 128 << 10
	// responseMemory is what a response should take at most, in bytes. With many cores one response
	// would take more without a gain for the server.
	responseMemory = 8 << 20

	// Levels are those whose time is about that of the defaults of other servers.
	zstdLevel = 2
	gzipLevel = 3
)

// An Option changes how a [Handler] works.
type Option func(*handler) error

// WithEncodings sets the encodings that the handler uses, the preferred one first. The order counts
// where the client accepts both equally. The default is Zstd, Gzip.
func WithEncodings(order ...Encoding) Option {
	return func(h *handler) error {
		if len(order) == 0 {
			return errors.New("no encodings: want Zstd and Gzip, or one of them")
		}
		for i, e := range order {
			if e != Zstd && e != Gzip || slices.Contains(order[:i], e) {
				return fmt.Errorf("encodings %q: want Zstd and Gzip, or one of them", order)
			}
		}
		h.order = slices.Clone(order)
		return nil
	}
}

// WithWriterOptions sets options of the [compress.Writer] of an encoding, such as
// [compress.WithLevel] or [compress.WithScheduler], besides those that the package sets itself. The
// default level is 3 for Gzip and 2 for Zstd.
func WithWriterOptions(e Encoding, opts ...compress.WriterOption) Option {
	return func(h *handler) error {
		if e != Zstd && e != Gzip {
			return fmt.Errorf("encoding %q: want Zstd or Gzip", e)
		}
		h.writerOptions[e] = append(h.writerOptions[e], opts...)
		return nil
	}
}

// WithMinSize sets the size in bytes from which responses are compressed. The handler's output up
// to that size is kept in memory. The default is [DefaultMinSize].
func WithMinSize(size int) Option {
	return func(h *handler) error {
		if size < 0 || size > 1<<20 {
			return fmt.Errorf("least size of %d bytes is not in 0 … 1 MiB", size)
		}
		h.minSize = size
		return nil
	}
}

// WithContentType sets which media types are compressed. f gets the media type of the response in
// lower case, without parameters. The default is [Compressible], which f may call. Nil is the
// default.
func WithContentType(f func(mediaType string) bool) Option {
	return func(h *handler) error {
		h.compressible = f
		if f == nil {
			h.compressible = Compressible
		}
		return nil
	}
}

// WithSkip excludes the requests for which skip returns true: for them the wrapped handler is
// called as if there were no compression. See the package on BREACH.
func WithSkip(skip func(*http.Request) bool) Option {
	return func(h *handler) error {
		h.skip = skip
		return nil
	}
}

// WithErrorFunc has f called if a response cannot be completed: with the error of the server's
// ResponseWriter, often that the client has gone away; with that of the encoder; or with
// [io.ErrUnexpectedEOF] if the wrapped handler wrote less than its Content-Length.
func WithErrorFunc(f func(*http.Request, error)) Option {
	return func(h *handler) error {
		h.onError = f
		return nil
	}
}

// handler is what Handler returns.
type handler struct {
	next          http.Handler
	order         []Encoding
	writerOptions map[Encoding][]compress.WriterOption
	minSize       int
	compressible  func(mediaType string) bool
	skip          func(*http.Request) bool
	onError       func(*http.Request, error)

	writers [maxEncodings]sync.Pool // of *compress.Writer, by the index in order
	rooms   sync.Pool               // of *room
}

// Handler returns a handler that calls h and compresses its responses. It panics if an option is
// out of its range.
//
// The ResponseWriter that h gets has the methods Flush, FlushError, Hijack, ReadFrom and Unwrap.
// The other methods of a [http.ResponseController] work through Unwrap.
func Handler(h http.Handler, opts ...Option) http.Handler {
	z := &handler{
		next: h, order: []Encoding{Zstd, Gzip}, writerOptions: map[Encoding][]compress.WriterOption{},
		minSize: DefaultMinSize, compressible: Compressible,
	}
	for _, o := range opts {
		if err := o(z); err != nil {
			panic("httpcompress: " + err.Error())
		}
	}
	for i, e := range z.order {
		w, err := z.newWriter(e)
		if err != nil {
			panic(fmt.Sprintf("httpcompress: %s: %v", e, err))
		}
		z.writers[i].Put(w)
	}
	return z
}

// newWriter returns a Writer of an encoding.
func (h *handler) newWriter(e Encoding) (*compress.Writer, error) {
	opts := []compress.WriterOption{
		bridge.MemoryTarget(responseMemory), compress.WithLevel(gzipLevel), compress.WithBlockSize(gzipBlock),
	}
	format := compress.WithFormat(compress.Gzip)
	if e == Zstd {
		opts = append(opts[:1], compress.WithLevel(zstdLevel), compress.WithBlockSize(zstdBlock),
			compress.WithChecksum(false))
		format = compress.WithFormat(compress.Zstd)
	}
	opts = append(opts, h.writerOptions[e]...)
	return compress.NewWriter(nil, append(opts, format)...)
}

// getWriter returns a Writer of h.order[i] that writes to w.
func (h *handler) getWriter(i int, w http.ResponseWriter) (*compress.Writer, error) {
	z, _ := h.writers[i].Get().(*compress.Writer)
	if z == nil {
		var err error
		z, err = h.newWriter(h.order[i])
		if err != nil {
			return nil, err
		}
	}
	z.Reset(w)
	return z, nil
}

// putWriter takes a Writer back, whatever its state.
func (h *handler) putWriter(i int, z *compress.Writer) {
	z.Reset(nil)
	h.writers[i].Put(z)
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.skip != nil && h.skip(r) {
		h.next.ServeHTTP(w, r)
		return
	}
	z := &response{w: w, h: h, r: r, declared: -1}
	z.choice, z.plainOK = negotiate(r.Header["Accept-Encoding"], h.order)
	if noTransform(r.Header) {
		z.choice = -1
	}
	var e Encoding
	if z.choice >= 0 {
		e = h.order[z.choice]
	}
	r = withPlainTags(r, e)
	defer z.release()
	h.next.ServeHTTP(z, r)
	if err := z.finishBody(); err != nil {
		h.report(z.r, err)
		panic(http.ErrAbortHandler) // or else what has been sent would look complete
	}
}

// report passes an error on.
func (h *handler) report(r *http.Request, err error) {
	if h.onError != nil {
		h.onError(r, err)
	}
}
