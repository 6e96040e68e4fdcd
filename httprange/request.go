package httprange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// drainTime is how long a request waits for the end of a body that it does not need. With the end
// the connection can be used again, which saves a round trip or more.
const drainTime = 100 * time.Millisecond

// drainSize is the most of such a body that is read, in bytes.
const drainSize = 4 << 10

// An answer is a response whose body is to be read. The request ends if nothing arrives for the
// time of the option.
type answer struct {
	*http.Response
	r      *Reader
	ctx    context.Context
	cancel context.CancelCauseFunc
	stall  *time.Timer
}

// ask makes one request for a range, "" for all of the file. v is the version that it has to be of,
// nil for any.
func (r *Reader) ask(ctx context.Context, interval string, v *version) (*answer, error) {
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, requestKey{}, r))
	a := &answer{r: r, ctx: ctx, cancel: cancel}
	a.stall = time.AfterFunc(r.opt.stall, func() { cancel(ErrStalled) })
	req := (&http.Request{Method: http.MethodGet, URL: r.url, Host: r.url.Host}).WithContext(ctx)
	if req.Header = r.opt.header.Clone(); req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Accept-Encoding", "identity")
	if interval != "" {
		req.Header.Set("Range", "bytes="+interval)
	}
	if v != nil {
		v.conditions(req.Header)
	}
	r.count(func(s *Stats) { s.Requests++ })
	resp, err := r.opt.client.Do(req)
	if err != nil {
		err = a.cause(withoutURL(err))
		if resp != nil {
			err = &redirectError{err} // nothing else makes a client return both
		}
		a.close()
		return nil, err
	}
	a.Response = resp
	return a, nil
}

// cause returns why the request was canceled, or err if it was not.
func (a *answer) cause(err error) error {
	if why := context.Cause(a.ctx); why != nil {
		return why
	}
	return err
}

// Read reads from the body.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.Body.Read(p)
	if n > 0 {
		a.stall.Reset(a.r.opt.stall)
		a.r.count(func(s *Stats) { s.Bytes += int64(n) })
	}
	if err != nil && err != io.EOF {
		err = a.cause(err)
	}
	return n, err
}

// close ends the request.
func (a *answer) close() {
	if a.Response != nil {
		a.stall.Reset(drainTime)
		io.CopyN(io.Discard, a.Body, drainSize)
		a.Body.Close()
	}
	a.stall.Stop()
	a.cancel(nil)
}

// fault returns an error about the answer.
func (a *answer) fault(kind error, format string, args ...any) *Error {
	e := a.r.fault(kind, format, args...)
	e.Status = a.StatusCode
	if kind == ErrStatus {
		e.pause = retryAfter(a.Header, time.Now())
	}
	return e
}

// broken returns the error of a body that has not come to its end.
func (a *answer) broken(err error) *Error {
	if err == io.ErrUnexpectedEOF {
		return a.fault(err, "the answer is cut short")
	}
	return a.fault(err, "")
}

// fault returns an error about the file.
func (r *Reader) fault(err error, format string, args ...any) *Error {
	return &Error{URL: r.name, Offset: -1, Detail: fmt.Sprintf(format, args...), Err: err}
}

// encoded returns an error if the body is not the bytes of the file.
func (a *answer) encoded() *Error {
	if e := a.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return a.fault(ErrAnswer, "it has Content-Encoding %s, though the request excludes it", e)
	}
	return nil
}

// interval returns the range of an answer with status 206, which has to begin at first, or anywhere
// if first is negative.
func (a *answer) interval(first int64) (contentRange, *Error) {
	if e := a.encoded(); e != nil {
		return contentRange{}, e
	}
	text := a.Header.Get("Content-Range")
	c, ok := parseContentRange(text)
	switch {
	case !ok || c.first < 0 || first >= 0 && c.first != first:
		return c, a.fault(ErrAnswer, "it has Content-Range %q", text)
	case a.ContentLength >= 0 && a.ContentLength != c.last-c.first+1:
		return c, a.fault(ErrAnswer, "it has Content-Range %q and Content-Length %d", text, a.ContentLength)
	}
	return c, nil
}

// part checks an answer to a request for the bytes from first on. It returns the end of what it
// has.
func (a *answer) part(first int64) (end int64, e *Error) {
	v := &a.r.version
	switch a.StatusCode {
	case http.StatusPartialContent:
		c, e := a.interval(first)
		if e != nil {
			return 0, e
		}
		if what := v.changed(versionOf(a.Header, c.size)); what != "" {
			return 0, a.fault(ErrChanged, "%s", what)
		}
		return c.last + 1, nil
	case http.StatusOK:
		if e := a.encoded(); e != nil {
			return 0, e
		}
		if what := v.changed(versionOf(a.Header, a.ContentLength)); what != "" {
			return 0, a.fault(ErrChanged, "%s", what)
		}
		return 0, a.fault(ErrNoRanges, "it did before")
	case http.StatusPreconditionFailed:
		return 0, a.fault(ErrChanged, "it is newer than %s", v.modified)
	case http.StatusRequestedRangeNotSatisfiable:
		return 0, a.fault(ErrChanged, "it has become shorter")
	}
	return 0, a.fault(ErrStatus, "")
}

// A sink receives bytes in order.
type sink interface {
	buffer() []byte // memory for the next bytes; not empty
	filled(n int)   // the first n bytes of buffer are there
}

// download fetches the bytes from first to end.
func (r *Reader) download(ctx context.Context, first, end int64, to sink) error {
	at := first
	for at < end {
		err := r.retry(ctx, func() (progress bool, e *Error) {
			from := at
			e = r.attempt(ctx, &at, end, to)
			if e != nil {
				e.Offset = at
			}
			return at > from, e
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// attempt makes one request for the bytes from *at to end, and moves *at over those that arrive.
func (r *Reader) attempt(ctx context.Context, at *int64, end int64, to sink) *Error {
	a, err := r.ask(ctx, fmt.Sprintf("%d-%d", *at, end-1), &r.version)
	if err != nil {
		return r.fault(err, "")
	}
	defer a.close()
	last, e := a.part(*at)
	if e != nil {
		return e
	}
	// An answer may have less than the request asks for: download asks for the rest.
	for last = min(last, end); *at < last; {
		p := to.buffer()
		n, err := a.Read(p[:min(int64(len(p)), last-*at)])
		to.filled(n)
		*at += int64(n)
		if err != nil && *at < last {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return a.broken(err)
		}
	}
	return nil
}

// retry calls attempt until it succeeds, or until it fails for good. attempt reports whether it has
// received a part of what is missing.
func (r *Reader) retry(ctx context.Context, attempt func() (progress bool, e *Error)) error {
	for failures := 0; ; {
		progress, e := attempt()
		if e == nil {
			return nil
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if progress {
			failures = 0
		}
		e.Attempts = failures + 1
		if !progress && failures >= r.opt.retries || e.pause > r.opt.maxDelay || !mayPass(e) {
			if errors.Is(e, ErrChanged) {
				r.fail(e)
			}
			return e
		}
		r.count(func(s *Stats) { s.Retries++ })
		if err := sleep(ctx, max(e.pause, backoff(failures, r.opt.maxDelay))); err != nil {
			return err
		}
		failures++
	}
}
