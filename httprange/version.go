package httprange

import (
	"net/http"
	"strconv"
	"strings"
)

// A version is what tells one version of the file from another.
type version struct {
	etag     string // "" for none
	modified string // Last-Modified as sent; "" for none
	size     int64
}

// versionOf returns the version that an answer is of.
func versionOf(h http.Header, size int64) version {
	return version{etag: h.Get("ETag"), modified: h.Get("Last-Modified"), size: size}
}

// strong reports whether equal ETags mean equal bytes.
func (v *version) strong() bool { return strings.HasPrefix(v.etag, `"`) }

// conditions adds to a request that it is about this version.
func (v *version) conditions(h http.Header) {
	switch {
	case v.strong():
		h.Set("If-Range", v.etag)
	case v.modified != "":
		h.Set("If-Unmodified-Since", v.modified)
	}
}

// changed compares with the version of another answer. It returns what differs, or "". An answer
// may lack a header that the first one had: a proxy may have made it from what it has cached.
func (v *version) changed(w version) string {
	switch {
	case w.size >= 0 && w.size != v.size:
		return "its size was " + strconv.FormatInt(v.size, 10) + " and is " + strconv.FormatInt(w.size, 10)
	case w.etag != "" && v.etag != "" && w.etag != v.etag:
		return "its ETag was " + v.etag + " and is " + w.etag
	case v.strong() && w.etag == v.etag: // servers that share a file may give it different times
	case w.modified != "" && v.modified != "" && w.modified != v.modified:
		return "its time was " + v.modified + " and is " + w.modified
	}
	return ""
}

// A contentRange is the content of a Content-Range header. first is -1 where the header has a size
// only, and size is -1 where the server does not know it.
type contentRange struct{ first, last, size int64 }

// parseContentRange parses a Content-Range header. ok is false if it is not a valid one for bytes.
func parseContentRange(s string) (r contentRange, ok bool) {
	unit, rest, _ := strings.Cut(s, " ")
	interval, size, found := strings.Cut(strings.TrimSpace(rest), "/")
	if !strings.EqualFold(unit, "bytes") || !found {
		return r, false
	}
	r = contentRange{-1, -1, -1}
	if size != "*" {
		r.size, ok = parseNumber(size)
		if !ok {
			return r, false
		}
	}
	if interval == "*" {
		return r, r.size >= 0
	}
	first, last, _ := strings.Cut(interval, "-")
	var ok1, ok2 bool
	r.first, ok1 = parseNumber(first)
	r.last, ok2 = parseNumber(last)
	return r, ok1 && ok2 && r.first <= r.last && (r.size < 0 || r.last < r.size)
}

// parseNumber parses digits without a sign.
func parseNumber(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err == nil
}
