package httprange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// A Reader reads a file behind a URL at any place. Make one with [Open]. All methods may be called
// from several goroutines at the same time.
type Reader struct {
	opt    options
	url    *url.URL
	name   string // the URL without secrets
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // of goroutines

	version version
	whole   []byte // all of a file that is small or comes without ranges; nil for others

	mu        sync.Mutex
	store     store
	queue     queue
	sequences sequences
	failed    error // for all calls to come
	stats     Stats
}

// Stats counts what a Reader has done.
type Stats struct {
	Requests int64 // sent, repetitions included
	Retries  int64 // requests that were repeated
	Bytes    int64 // received in bodies
	Hits     int64 // segments that calls have found in the cache
	Joined   int64 // segments that calls have found queued or in flight
	Misses   int64 // segments that calls have asked for
	Ahead    int64 // segments that were asked for by reading ahead
	Merged   int64 // requests saved, as another one took their range along
	Evicted  int64 // segments that had to go from the cache
}

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 { return r.version.size }

// ETag returns the ETag of the file, or "".
func (r *Reader) ETag() string { return r.version.etag }

// LastModified returns when the file was changed last, or the zero time if the server does not say.
func (r *Reader) LastModified() time.Time { return parseTime(r.version.modified) }

// parseTime returns the time that a header states, or the zero time.
func parseTime(s string) time.Time {
	t, err := http.ParseTime(s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// URL returns the URL without user, query and fragment, which may hold secrets.
func (r *Reader) URL() string { return r.name }

// Stats returns what the Reader has done so far.
func (r *Reader) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

func (r *Reader) count(f func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.stats)
}

// fail makes all later calls fail.
func (r *Reader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = err
}

// ReadAt reads len(p) bytes from offset off, as [io.ReaderAt] says. An error is an [*Error], one of
// the context of Open, [ErrClosed], or io.EOF at the end of the file. With an error it returns the
// number of bytes in front of the place.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) { return r.readAt(r.ctx, p, off) }

// WithContext returns a view of the Reader whose calls also end when ctx does. Requests that other
// calls wait for go on.
func (r *Reader) WithContext(ctx context.Context) io.ReaderAt { return view{r, ctx} }

type view struct {
	r   *Reader
	ctx context.Context
}

func (v view) ReadAt(p []byte, off int64) (int, error) { return v.r.readAt(v.ctx, p, off) }

var errNegative = errors.New("httprange: negative offset")

func (r *Reader) readAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errNegative
	}
	if err := r.ready(ctx); err != nil {
		return 0, err
	}
	rest := r.version.size - off
	if rest <= 0 {
		return 0, io.EOF
	}
	var eof error
	if int64(len(p)) > rest {
		p, eof = p[:rest], io.EOF
	}
	if r.whole != nil {
		return copy(p, r.whole[off:]), eof
	}
	r.readAhead(off, off+int64(len(p)))
	for n < len(p) {
		m, err := r.readPart(ctx, p[n:], off+int64(n))
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, eof
}

// ready returns an error if a call cannot read.
func (r *Reader) ready(ctx context.Context) error {
	for _, c := range []context.Context{r.ctx, ctx} {
		if err := context.Cause(c); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// readPart reads as much of p as one request brings.
func (r *Reader) readPart(ctx context.Context, p []byte, off int64) (n int, err error) {
	size := r.opt.segment
	first := off / size
	end := min(off+int64(len(p)), first*size+mostInRequest)
	last := min(off+int64(len(p)), end+min(mostInRequest, r.opt.cache/2))
	r.mu.Lock()
	segments := r.acquire(first, r.segmentsTo(end))
	r.prefetch(r.segmentsTo(end), r.segmentsTo(last)) // the next part of p
	r.dispatch()
	r.mu.Unlock()
	for i, s := range segments {
		select {
		case <-s.done:
		case <-ctx.Done():
			r.leaveSegments(segments[i:])
			return n, context.Cause(ctx)
		}
		if s.err != nil {
			r.leaveSegments(segments[i+1:])
			return n, s.err
		}
		at := off + int64(n)
		n += copy(p[n:end-off], s.data[at-s.number*size:])
		segments[i] = nil // it may leave the cache
	}
	return n, nil
}

// segmentsTo returns the number of segments in front of an offset.
func (r *Reader) segmentsTo(off int64) int64 { return (off + r.opt.segment - 1) / r.opt.segment }

// Close ends all requests and frees the memory. Calls under way return [ErrClosed] or complete, and
// later ones return it. Close returns nil.
func (r *Reader) Close() error {
	r.mu.Lock() // dispatch starts no goroutine behind this
	r.cancel(ErrClosed)
	r.mu.Unlock()
	r.wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.store = newStore(0)
	return nil
}
