package httpcompress

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/gopz/compress"
)

// sniffSize is how many bytes tell the Content-Type.
const sniffSize = 512

// errEnded is the error of a response after its handler has returned.
var errEnded = errors.New("httpcompress: write after the handler has returned")

// state says where what the handler writes goes.
type state uint8

const (
	undecided state = iota // to response.buf: the header is not sent
	plain                  // to the server's ResponseWriter
	encoded                // through a compress.Writer
	discarded              // nowhere: the body of an encoded response to HEAD
	ended                  // an error: the handler has returned
)

// response is the ResponseWriter of a wrapped handler. It is not pooled, as a handler may keep it
// by mistake.
type response struct {
	w       http.ResponseWriter // of the server
	h       *handler
	r       *http.Request // as the server made it
	choice  int           // of h.order; −1 for a plain response
	plainOK bool          // the client accepts a plain response

	state    state
	status   int   // of WriteHeader; 0 before
	declared int64 // Content-Length; −1 if there is none
	written  int64 // bytes of body
	hijacked bool

	room *[]byte // of h.buffers; nil if there is none
	buf  []byte  // the body so far, in room
	enc  *compress.Writer
}

// Header implements http.ResponseWriter.
func (z *response) Header() http.Header { return z.w.Header() }

// Unwrap returns the server's ResponseWriter, for http.ResponseController.
func (z *response) Unwrap() http.ResponseWriter { return z.w }

// WriteHeader implements http.ResponseWriter. Except for informational responses the status is sent
// later, when the response is decided.
func (z *response) WriteHeader(status int) {
	switch {
	case z.state == ended:
		return
	case status >= 100 && status < 200 && status != http.StatusSwitchingProtocols:
		z.w.WriteHeader(status)
		return
	case z.state == undecided && z.status != 0:
		return
	case z.state != undecided:
		z.w.WriteHeader(status) // the server logs that
		return
	}
	z.status = status
	header := z.w.Header()
	if v := header.Get("Content-Length"); v != "" {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 {
			z.declared = n
		}
	}
	if z.choice < 0 || !hasBody(status) || len(header["Trailer"]) > 0 {
		// Values of trailers must not be in the header when it is sent.
		z.beginBody(nil, z.declared)
		return
	}
	media, _ := mediaType(header, nil)
	if untouchable(header) || media != "" && !z.encodes(header, media, z.declared) {
		z.beginBody(nil, z.declared)
	}
}

// hasBody reports whether a response with a status has a body that may be encoded.
func hasBody(status int) bool {
	switch status {
	case http.StatusNoContent, http.StatusResetContent:
		return false
	}
	return status >= 200 && !isPart(status)
}

// isPart reports whether a response with a status stands for a whole one that the client has, or
// has a part of.
func isPart(status int) bool {
	return status == http.StatusPartialContent || status == http.StatusNotModified
}

// encodes reports whether a response of a media type and size is encoded. The size is −1 if it is
// not known to be small.
func (z *response) encodes(header http.Header, media string, size int64) bool {
	switch {
	case z.choice < 0 || size == 0 || !hasBody(z.status) || len(header["Content-Range"]) > 0:
		return false
	case !z.plainOK:
		return true
	}
	return media != "" && (size < 0 || size >= int64(z.h.minSize)) && z.h.compressible(media)
}

// beginBody decides whether the response is encoded, and sends the header. start is the start of
// the body. size is that of the body, −1 if it is not known to be small.
func (z *response) beginBody(start []byte, size int64) {
	header := z.w.Header()
	z.state = plain
	if (hasBody(z.status) || isPart(z.status)) && !untouchable(header) && !noTransform(z.r.Header) {
		media, sniffed := mediaType(header, start)
		if z.encodes(header, media, size) {
			if sniffed != "" {
				header["Content-Type"] = []string{sniffed}
			}
			z.encode(header)
		}
		if media == "" || !z.plainOK || isPart(z.status) || z.h.compressible(media) {
			addVary(header)
		}
		if z.status == http.StatusNotModified && z.choice >= 0 {
			z.restoreTag(header)
		}
	}
	z.w.WriteHeader(z.status)
}

// encode makes the response an encoded one. It stays plain if there is no Writer.
func (z *response) encode(header http.Header) {
	z.state = discarded
	if z.r.Method != http.MethodHead {
		var err error
		z.enc, err = z.h.getWriter(z.choice, z.w)
		if err != nil {
			z.state = plain
			z.h.report(z.r, err)
			return
		}
		z.state = encoded
	}
	e := z.h.order[z.choice]
	header["Content-Encoding"] = []string{string(e)}
	header.Del("Content-Length")
	header.Del("Accept-Ranges")
	if tag := header.Get("ETag"); tag != "" {
		header.Set("ETag", suffixed(tag, e))
	}
}

// restoreTag gives a response without content the tag that the client asked for.
func (z *response) restoreTag(header http.Header) {
	tag := suffixed(header.Get("ETag"), z.h.order[z.choice])
	if tag != "" && hasTag(z.r.Header["If-None-Match"], tag) {
		header.Set("ETag", tag)
	}
}

// awaits reports whether the response is still undecided once it has a status.
func (z *response) awaits() bool {
	if z.state == undecided && z.status == 0 {
		z.WriteHeader(http.StatusOK)
	}
	return z.state == undecided
}

// missing returns how many more bytes of body the decision takes.
func (z *response) missing() int {
	least := 1
	if z.declared < 0 {
		least = max(least, z.h.minSize)
	}
	if len(z.w.Header()["Content-Type"]) == 0 {
		least = max(least, sniffSize)
	}
	return max(0, least-len(z.buf))
}

// Write implements io.Writer.
func (z *response) Write(p []byte) (int, error) {
	if !z.awaits() {
		return z.pass(p)
	}
	missing := z.missing()
	if len(z.buf) == 0 && len(p) >= missing {
		z.beginBody(p, z.declared)
		return z.pass(p)
	}
	n := min(len(p), missing)
	z.buf = append(z.makeRoom(), p[:n]...)
	if n < missing {
		return n, nil
	}
	if err := z.beginBuffered(z.declared); err != nil {
		return 0, err
	}
	m, err := z.pass(p[n:])
	return n + m, err
}

// makeRoom returns z.buf with room for what the decision takes.
func (z *response) makeRoom() []byte {
	if z.room == nil {
		z.room, _ = z.h.buffers.Get().(*[]byte)
		if z.room == nil {
			p := make([]byte, 0, max(z.h.minSize, sniffSize))
			z.room = &p
		}
		z.buf = (*z.room)[:0]
	}
	return z.buf
}

// beginBuffered begins with the buffer and passes it on.
func (z *response) beginBuffered(size int64) error {
	z.beginBody(z.buf, size)
	if len(z.buf) == 0 {
		return nil
	}
	_, err := z.pass(z.buf)
	z.buf = z.buf[:0]
	return err
}

// pass passes p on to where the state says.
func (z *response) pass(p []byte) (n int, err error) {
	switch z.state {
	case plain:
		return z.w.Write(p)
	case ended:
		return 0, errEnded
	}
	rest := int64(len(p))
	if z.declared >= 0 {
		rest = min(rest, z.declared-z.written)
	}
	n = int(rest)
	if z.state == encoded {
		n, err = z.enc.Write(p[:rest])
	}
	z.written += int64(n)
	if err == nil && n < len(p) {
		err = http.ErrContentLength
	}
	return n, err
}

// ReadFrom implements io.ReaderFrom. A plain response uses the one of the server, and so sendfile.
func (z *response) ReadFrom(r io.Reader) (n int64, err error) {
	for z.awaits() {
		missing := z.missing()
		at := len(z.makeRoom())
		m, err := r.Read(z.buf[at : at+missing])
		z.buf = z.buf[:at+m]
		n += int64(m)
		if m == missing {
			if err := z.beginBuffered(z.declared); err != nil {
				return n, err
			}
		}
		if err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
	var m int64
	switch {
	case z.state == plain:
		m, err = io.Copy(z.w, r)
	case z.state == encoded && z.declared < 0:
		m, err = z.enc.ReadFrom(r)
		z.written += m
	default:
		m, err = io.Copy(onlyWriter{z}, r)
	}
	return n + m, err
}

// onlyWriter hides the method ReadFrom.
type onlyWriter struct{ io.Writer }

// Flush implements http.Flusher.
func (z *response) Flush() { z.FlushError() }

// FlushError compresses what has been written and sends it.
func (z *response) FlushError() error {
	if z.awaits() {
		if err := z.beginBuffered(z.declared); err != nil {
			return err
		}
	}
	switch z.state {
	case ended:
		return errEnded
	case encoded:
		if err := z.enc.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(z.w).Flush()
}

// Hijack implements http.Hijacker.
func (z *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(z.w).Hijack()
	if err == nil {
		z.hijacked = true
	}
	return c, rw, err
}

// finishBody completes the response after its handler has returned.
func (z *response) finishBody() error {
	if z.hijacked {
		return nil
	}
	if z.awaits() {
		size := int64(len(z.buf))
		if z.declared >= 0 || z.r.Method == http.MethodHead && size == 0 {
			size = max(z.declared, 0)
		}
		if err := z.beginBuffered(size); err != nil {
			return err
		}
	}
	if z.state != encoded {
		return nil
	}
	if z.declared >= 0 && z.written < z.declared {
		return io.ErrUnexpectedEOF
	}
	return z.enc.Close()
}

// release ends the response, also if its handler panicked: then the encoding has no end.
func (z *response) release() {
	z.state = ended
	if z.enc != nil {
		z.h.putWriter(z.choice, z.enc)
		z.enc = nil
	}
	if z.room != nil {
		z.h.buffers.Put(z.room)
		z.room, z.buf = nil, nil
	}
}
