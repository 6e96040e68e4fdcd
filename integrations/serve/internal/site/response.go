package site

import (
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// response is an http.ResponseWriter that sends the header with the first byte of the body, so that
// an error before that can still become another response. It gives the client a limited time for
// each write. It is for one goroutine.
type response struct {
	w        http.ResponseWriter
	r        *http.Request
	timeout  time.Duration // for a write
	deadline time.Time

	base    http.Header // what the header was at first
	status  int         // 0 until WriteHeader
	sent    bool        // the header was sent
	bytes   int64       // of the body
	failed  error       // of a write
	encoded int64       // Content-Length of a response that is sent as it is stored; −1 for others
}

func newResponse(w http.ResponseWriter, r *http.Request, timeout time.Duration) *response {
	return &response{w: w, r: r, timeout: timeout, base: w.Header().Clone(), encoded: -1}
}

func (x *response) Header() http.Header { return x.w.Header() }

// WriteHeader sets the status. The first one counts.
func (x *response) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
}

// send sends the header.
func (x *response) send() {
	if x.sent {
		return
	}
	x.sent = true
	x.WriteHeader(http.StatusOK)
	if x.encoded >= 0 {
		// Ranges are those of the content.
		x.Header().Del("Accept-Ranges")
		if x.status == http.StatusOK {
			x.Header().Set("Content-Length", strconv.FormatInt(x.encoded, 10))
		}
	}
	x.w.WriteHeader(x.status)
}

// reset takes back the header and the status. ok is false if they were sent.
func (x *response) reset() (ok bool) {
	if x.sent {
		return false
	}
	clear(x.Header())
	maps.Copy(x.Header(), x.base)
	x.status, x.encoded = 0, -1
	return true
}

// Write writes a part of the body.
func (x *response) Write(p []byte) (int, error) {
	x.send()
	if now := time.Now(); x.deadline.Sub(now) < x.timeout*3/4 {
		x.deadline = now.Add(x.timeout)
		// A writer without deadlines is one of a test.
		http.NewResponseController(x.w).SetWriteDeadline(x.deadline)
	}
	n, err := x.w.Write(p)
	x.bytes += int64(n)
	if err != nil && x.failed == nil {
		x.failed = err
	}
	return n, err
}

// buffers has memory for ReadFrom, of copySize bytes.
var buffers = sync.Pool{New: func() any { return new([copySize]byte) }}

const copySize = 64 << 10

// ReadFrom writes what src has. The error is that of Write or of src.
func (x *response) ReadFrom(src io.Reader) (n int64, err error) {
	buf := buffers.Get().(*[copySize]byte)
	defer buffers.Put(buf)
	for {
		k, rerr := src.Read(buf[:])
		if k > 0 {
			m, err := x.Write(buf[:k])
			n += int64(m)
			if err != nil {
				return n, err
			}
		}
		switch {
		case rerr == io.EOF:
			return n, nil
		case rerr != nil:
			return n, rerr
		}
	}
}

// short reports whether the body is shorter than the header says.
func (x *response) short() bool {
	if x.r.Method == http.MethodHead {
		return false
	}
	n, err := strconv.ParseInt(x.Header().Get("Content-Length"), 10, 64)
	return err == nil && x.bytes < n
}
