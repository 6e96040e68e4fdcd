package httprange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// Open makes a Reader for the file behind an http or https URL. It fetches the first segment and
// the end of the file, and so learns the size and the version. If the context ends, all requests of
// the Reader do, later ones included. A server that cannot be reached is an error at once. The
// caller closes the Reader.
func Open(ctx context.Context, rawURL string, opts ...Option) (*Reader, error) {
	r, err := newReader(ctx, rawURL, opts)
	if err != nil {
		return nil, err
	}
	if err := r.open(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// newReader returns a Reader that has made no request yet.
func newReader(ctx context.Context, rawURL string, opts []Option) (*Reader, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("httprange: the URL is not valid") // err has all of it
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("httprange: %s is not a URL that begins with http:// or https:// and a host",
			publicURL(u))
	}
	r := &Reader{opt: o, url: u, name: publicURL(u), store: newStore(o.cache)}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	context.AfterFunc(r.ctx, r.cancelQueue)
	return r, nil
}

// open fetches the head and the tail.
func (r *Reader) open() error {
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	tails := make(chan *tail, 1)
	if r.opt.tail > 0 {
		r.wg.Go(func() { tails <- r.fetchTail(ctx) })
	} else {
		tails <- nil
	}
	var head []byte
	err := r.retry(r.ctx, func() (bool, *Error) {
		var e *Error
		head, e = r.fetchHead()
		return false, e
	})
	if err != nil || r.whole != nil {
		return err
	}
	r.place(0, head)
	if r.version.size <= r.opt.segment {
		return nil
	}
	if t := <-tails; t != nil && r.version.changed(t.version) == "" {
		r.place(t.first, t.data)
	}
	return nil
}

// fetchHead makes the first request. It sets the version, and returns the first segment if all of
// it arrives; if not, the file is read as if it were not to be cached.
func (r *Reader) fetchHead() ([]byte, *Error) {
	a, e := r.askFirst(fmt.Sprintf("0-%d", r.opt.segment-1))
	if e != nil {
		return nil, e
	}
	defer a.close()
	switch a.StatusCode {
	case http.StatusPartialContent:
		c, e := a.interval(0)
		switch {
		case e != nil:
		case c.size < 0:
			e = a.fault(ErrAnswer, "it does not state the size of the file")
		case c.size > mostSize:
			e = a.fault(ErrAnswer, "it states a size of %d bytes", c.size)
		}
		if e != nil {
			return nil, e
		}
		r.version = versionOf(a.Header, c.size)
		head := make([]byte, min(c.last+1, r.opt.segment))
		n, _ := io.ReadFull(a, head)
		return head[:n], nil
	case http.StatusOK:
		return nil, r.fetchWhole(a)
	case http.StatusRequestedRangeNotSatisfiable:
		// No range of an empty file is valid.
		if c, ok := parseContentRange(a.Header.Get("Content-Range")); ok && c.first < 0 && c.size == 0 {
			r.version, r.whole = versionOf(a.Header, 0), []byte{}
			return nil, nil
		}
	}
	return nil, a.fault(ErrStatus, "")
}

// askFirst makes a request of Open or Get. It does not wait for a server that cannot be reached:
// most often the URL is wrong.
func (r *Reader) askFirst(interval string) (*answer, *Error) {
	a, err := r.ask(r.ctx, interval, nil)
	if err != nil {
		e := r.fault(err, "")
		var op *net.OpError
		e.final = errors.As(err, &op) && op.Op == "dial"
		return nil, e
	}
	return a, nil
}

// fetchWhole reads all of the file from an answer that does not support ranges, within the limit.
func (r *Reader) fetchWhole(a *answer) *Error {
	if e := a.encoded(); e != nil {
		return e
	}
	limit := max(r.opt.whole, r.opt.segment)
	tooLarge := a.fault(ErrNoRanges, "")
	tooLarge.final = true
	if a.ContentLength > limit {
		return tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(a, limit+1))
	switch {
	case err != nil:
		return a.fault(err, "")
	case int64(len(data)) > limit:
		return tooLarge
	}
	r.version, r.whole = versionOf(a.Header, int64(len(data))), data
	return nil
}

// A tail is what the request for the end of the file has brought.
type tail struct {
	version version
	first   int64 // offset
	data    []byte
}

// fetchTail asks for the end of the file. It returns nil if the server does not send it. It asks
// for a segment more than the option says, because the first one is not all there.
func (r *Reader) fetchTail(ctx context.Context) *tail {
	n := r.opt.tail + r.opt.segment
	a, err := r.ask(ctx, fmt.Sprintf("-%d", n), nil)
	if err != nil {
		return nil
	}
	defer a.close()
	if a.StatusCode != http.StatusPartialContent {
		return nil
	}
	c, e := a.interval(-1)
	if e != nil || c.last != c.size-1 || c.last-c.first >= n {
		return nil
	}
	data := make([]byte, c.last-c.first+1)
	if _, err := io.ReadFull(a, data); err != nil {
		return nil
	}
	return &tail{version: versionOf(a.Header, c.size), first: c.first, data: data}
}
