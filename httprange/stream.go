package httprange

import (
	"context"
	"io"
	"net/http"
	"time"
)

// A Stream reads a file behind a URL from the front, by one request. It needs no support for
// ranges. Make one with [Get]. It is for one goroutine.
type Stream struct {
	r   *Reader
	a   *answer
	off int64
}

// Get asks for the file behind an http or https URL. It repeats the request as Open does. Options
// about segments have no effect. The caller closes the Stream.
func Get(ctx context.Context, rawURL string, opts ...Option) (*Stream, error) {
	r, err := newReader(ctx, rawURL, opts)
	if err != nil {
		return nil, err
	}
	s := &Stream{r: r}
	err = r.retry(r.ctx, func() (bool, *Error) {
		a, e := r.askFirst("")
		if e != nil {
			return false, e
		}
		e = a.encoded()
		if a.StatusCode != http.StatusOK {
			e = a.fault(ErrStatus, "")
		}
		if e != nil {
			a.close()
			return false, e
		}
		s.a = a
		return false, nil
	})
	if err != nil {
		r.Close()
		return nil, err
	}
	return s, nil
}

// Read reads the next bytes. It does not repeat requests: a connection that breaks is an [*Error].
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := s.a.Read(p)
	s.off += int64(n)
	if err == nil || err == io.EOF {
		return n, err
	}
	if err := context.Cause(s.r.ctx); err != nil {
		return n, err
	}
	e := s.a.broken(err)
	e.Offset = s.off
	return n, e
}

// LastModified returns when the file was changed last, or the zero time if the server does not say.
func (s *Stream) LastModified() time.Time { return parseTime(s.a.Header.Get("Last-Modified")) }

// Stats returns what the Stream has done so far.
func (s *Stream) Stats() Stats { return s.r.Stats() }

// Close ends the request. It returns nil.
func (s *Stream) Close() error {
	s.r.Close()
	s.a.close()
	return nil
}
