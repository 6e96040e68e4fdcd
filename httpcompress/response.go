package httpcompress

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gopz/compress"
)

// sniffSize is how many bytes tell the Content-Type.
const sniffSize = 512

// serverBuffer is the size in bytes of the largest body that net/http sends without chunks, as far
// as the handler neither flushes nor announces trailers. Such a response has no trailers.
const serverBuffer = 2048

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
	status   int         // of WriteHeader; 0 before
	header   http.Header // as of WriteHeader, while undecided, in room; else nil
	declared int64       // Content-Length; −1 if there is none
	written  int64       // bytes of body that were encoded
	tooMuch  bool        // the handler wrote more than declared
	silent   bool        // the handler wrote nothing, so who called it may send another status

	room *room  // of h.rooms; nil if there is none
	buf  []byte // the body so far, in room
	enc  *compress.Writer
}

// A room is memory for a response that is undecided.
type room struct {
	body   []byte
	header http.Header
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
	case z.state == ended || z.state == undecided && z.status != 0:
		return
	case z.state != undecided:
		z.w.WriteHeader(status) // the server logs that
		return
	case status < 200 && status != http.StatusSwitchingProtocols || status > 999:
		z.w.WriteHeader(status) // the server panics if it is no status
		return
	}
	z.status = status
	header := z.w.Header()
	if v := header.Get("Content-Length"); v != "" {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 {
			z.declared = n
		}
	}
	media, _ := mediaType(header, nil)
	switch {
	case z.choice < 0 || !hasBody(status) || untouchable(header),
		media != "" && !z.encodes(header, media, z.declared),
		z.r.Header.Get("Expect") != "": // the server must know now that 100 Continue is too late
		z.beginBody(nil, z.declared)
	default:
		z.makeRoom()
		z.header = z.room.header
		maps.Copy(z.header, header)
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
	late := z.undoLate(header)
	z.state = plain
	if (hasBody(z.status) || isPart(z.status)) && !untouchable(header) && !noTransform(z.r.Header) {
		media, sniffed := mediaType(header, start)
		if late.Get("Content-Type") != "" {
			media, _ = mediaType(late, nil) // the server sends another one, but this is what it is
		}
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
	if !z.silent {
		z.w.WriteHeader(z.status)
	}
	maps.Copy(header, late)
}

// undoLate makes header what it was at WriteHeader. It returns what the handler has set since: the
// server may use that for trailers.
func (z *response) undoLate(header http.Header) (late http.Header) {
	if z.header == nil {
		return nil
	}
	for name, values := range header {
		if !slices.Equal(values, z.header[name]) {
			if late == nil {
				late = http.Header{}
			}
			late[name] = values
		}
	}
	clear(header)
	maps.Copy(header, z.header)
	z.header = nil
	return late
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

// restoreTag gives a response without content the tag of the response that it stands for: the one
// that the client asked for. If it asked for none, that response counts as an encoded one, unless
// its type says otherwise.
func (z *response) restoreTag(header http.Header) {
	tag := header.Get("ETag")
	encoded := suffixed(tag, z.h.order[z.choice])
	asked := z.r.Header["If-None-Match"]
	media, _ := mediaType(header, nil)
	if encoded != tag && (hasTag(asked, encoded) ||
		!hasTag(asked, tag) && (media == "" || z.h.compressible(media))) {
		header.Set("ETag", encoded)
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
	if z.header.Get("Content-Type") == "" {
		least = max(least, sniffSize)
	}
	if z.declared >= 0 {
		least = int(min(int64(least), z.declared))
	}
	return max(0, least-len(z.buf))
}

// Write implements io.Writer.
func (z *response) Write(p []byte) (int, error) {
	if !z.awaits() {
		return z.pass(p)
	}
	if z.declared >= 0 && int64(len(z.buf)+len(p)) > z.declared {
		if err := z.beginBuffered(z.declared); err != nil {
			return 0, err
		}
		return z.pass(p) // which refuses all of p
	}
	missing := z.missing()
	if len(z.buf) == 0 && len(p) >= missing {
		z.beginBody(p, z.declared)
		return z.pass(p)
	}
	n := min(len(p), missing)
	z.buf = append(z.buf, p[:n]...)
	if n < missing {
		return n, nil
	}
	if err := z.beginBuffered(z.declared); err != nil {
		return 0, err
	}
	m, err := z.pass(p[n:])
	return n + m, err
}

// makeRoom makes room for the header and for as much of the body as the decision takes.
func (z *response) makeRoom() {
	z.room, _ = z.h.rooms.Get().(*room)
	if z.room == nil {
		z.room = &room{make([]byte, 0, max(z.h.minSize, sniffSize)), http.Header{}}
	}
	z.buf = z.room.body[:0]
}

// WriteString implements io.StringWriter, as the server's ResponseWriter does.
func (z *response) WriteString(s string) (int, error) {
	if !z.awaits() && z.state == plain {
		return io.WriteString(z.w, s)
	}
	return z.Write([]byte(s))
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
	z.tooMuch = z.tooMuch || z.declared >= 0 && int64(len(p)) > z.declared-z.written
	if z.tooMuch {
		return 0, http.ErrContentLength
	}
	n = len(p)
	if z.state == encoded {
		n, err = z.enc.Write(p)
	}
	z.written += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom. A plain response uses the one of the server, and so sendfile.
func (z *response) ReadFrom(r io.Reader) (n int64, err error) {
	for z.awaits() {
		missing := z.missing()
		at := len(z.buf)
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

// Hijack implements http.Hijacker. A status that was set is sent before, in front of a plain body.
func (z *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if z.state == undecided && z.status != 0 {
		z.choice = -1
		if err := z.beginBuffered(z.declared); err != nil {
			return nil, nil, err
		}
	}
	c, rw, err := http.NewResponseController(z.w).Hijack()
	if err == nil {
		z.state = plain // the server refuses what the handler writes
	}
	return c, rw, err
}

// finishBody completes the response after its handler has returned.
func (z *response) finishBody() error {
	z.silent = z.status == 0
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
		z.FlushError() // the client gets what there is
		return io.ErrUnexpectedEOF
	}
	if z.declared < 0 && z.written > serverBuffer && hasTrailers(z.w.Header()) {
		// If the body has become that small, the server would send it without chunks and trailers.
		if err := http.NewResponseController(z.w).Flush(); err != nil {
			return err
		}
	}
	return z.enc.Close()
}

// hasTrailers reports whether there are trailers that were not announced.
func hasTrailers(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			return true
		}
	}
	return false
}

// release ends the response, also if its handler panicked: then the encoding has no end.
func (z *response) release() {
	z.state = ended
	if z.enc != nil {
		z.h.putWriter(z.choice, z.enc)
		z.enc = nil
	}
	if z.room != nil {
		clear(z.room.header)
		z.h.rooms.Put(z.room)
		z.room, z.buf, z.header = nil, nil, nil
	}
}
