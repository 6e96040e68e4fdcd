package httpcompress

import (
	"net/http"
	"strings"
)

// Compressible reports whether content of a media type usually becomes smaller by compression:
// text, JSON, XML, JavaScript, WebAssembly, SVG and fonts without compression of their own, among
// others. The media type is in lower case and has no parameters. Handlers use Compressible without
// [WithContentType].
func Compressible(mediaType string) bool {
	major, minor, _ := strings.Cut(mediaType, "/")
	switch major {
	case "text":
		return true
	case "application":
		if strings.HasSuffix(minor, "+json") || strings.HasSuffix(minor, "+xml") ||
			strings.HasSuffix(minor, "+yaml") {
			return true
		}
		switch minor {
		case "json", "xml", "javascript", "ecmascript", "x-javascript", "wasm", "yaml", "x-yaml",
			"toml",
			"x-ndjson", "ndjson", "jsonl", "json-seq", "jsonlines", "graphql", "sql", "xml-dtd",
			"rtf",
			"postscript", "x-sh", "x-tcl", "x-httpd-php", "x-tex", "vnd.ms-fontobject",
			"x-font-ttf",
			"x-font-otf", "x-font-opentype", "x-font-truetype", "vnd.apple.mpegurl",
			"x-mpegurl", "x-web-app-manifest":
			return true
		}
	case "image":
		switch minor {
		case "svg+xml", "bmp", "x-ms-bmp", "x-icon", "vnd.microsoft.icon", "x-portable-bitmap",
			"x-portable-graymap", "x-portable-pixmap", "x-portable-anymap":
			return true
		}
	case "font":
		return minor == "ttf" || minor == "otf" || minor == "sfnt" || minor == "collection"
	case "model":
		return strings.HasSuffix(minor, "+json") || strings.HasSuffix(minor, "+xml") ||
			minor == "obj" || minor == "mtl" || minor == "stl"
	case "message":
		return minor == "rfc822"
	}
	return false
}

// mediaType returns the media type of a response without parameters, in lower case: that of its
// Content-Type, or one sniffed from the start of the body. It is empty if there is neither. sniffed
// is the Content-Type to set, which is empty if the handler has set one, or "" or nil in place of
// one.
func mediaType(h http.Header, start []byte) (media, sniffed string) {
	_, set := h["Content-Type"]
	media = h.Get("Content-Type")
	switch {
	case media != "":
	case len(start) == 0:
		return "", ""
	default:
		media = http.DetectContentType(start)
		if !set {
			sniffed = media
		}
	}
	media, _, _ = strings.Cut(media, ";")
	return strings.ToLower(trim(media)), sniffed
}

// digests are headers that describe the bytes of a response.
var digests = [...]string{"Content-Digest", "Repr-Digest", "Digest", "Content-Md5"}

// untouchable reports whether headers of a response forbid to compress it.
func untouchable(h http.Header) bool {
	if h.Get("Content-Encoding") != "" || noTransform(h) {
		return true
	}
	for _, name := range digests {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// noTransform reports whether the headers of a request or a response forbid to change its content
// (RFC 9111, sections 5.2.1.6 and 5.2.2.6).
func noTransform(h http.Header) bool { return hasToken(h["Cache-Control"], "no-transform") }

// addVary makes Vary name Accept-Encoding.
func addVary(h http.Header) {
	if vary := h["Vary"]; !hasToken(vary, "Accept-Encoding") && !hasToken(vary, "*") {
		h["Vary"] = append(vary[:len(vary):len(vary)], "Accept-Encoding")
	}
}
