package httpcompress

import (
	"net/http"
	"strings"
)

// suffixed returns an ETag for the encoded response. Weak tags stay as they are: they may stand for
// several encodings of a content (RFC 9110, section 8.8.1). So do malformed ones.
func suffixed(tag string, e Encoding) string {
	n := len(tag)
	if n < 2 || tag[0] != '"' || tag[n-1] != '"' {
		return tag
	}
	return tag[:n-1] + "-" + string(e) + `"`
}

// withPlainTags returns r with the tag without suffix added for each tag of an encoded response, as
// the handler compares tags with its own. If there is none, it returns r itself; else a copy, as
// handlers must not change a request. In If-None-Match only tags of the encoding e count, "" for
// none: a response 304 must not stand for one with another encoding. In If-Match all tags count.
func withPlainTags(r *http.Request, e Encoding) *http.Request {
	var none, match string
	if e != "" {
		none = plainTags(r.Header["If-None-Match"], e)
	}
	match = plainTags(r.Header["If-Match"], Zstd) + plainTags(r.Header["If-Match"], Gzip)
	if none == "" && match == "" {
		return r
	}
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	addTags(r.Header, "If-None-Match", none)
	addTags(r.Header, "If-Match", match)
	return r
}

// addTags adds tags to a header, as one value: http.ServeContent looks at the first one only.
func addTags(h http.Header, name, tags string) {
	if tags != "" {
		h[name] = []string{strings.Join(h[name], ", ") + tags}
	}
}

// plainTags returns the tags of responses with an encoding, without the suffix, each behind ", ".
func plainTags(values []string, e Encoding) string {
	var plain strings.Builder
	suffix := "-" + string(e)
	for _, list := range values {
		for {
			before, rest, ok := strings.Cut(list, `"`)
			if !ok {
				break
			}
			tag, rest, ok := strings.Cut(rest, `"`)
			if !ok {
				break
			}
			tag, ok = strings.CutSuffix(tag, suffix)
			if ok {
				plain.WriteString(", ")
				if strings.HasSuffix(before, "W/") {
					plain.WriteString("W/")
				}
				plain.WriteString(`"` + tag + `"`)
			}
			list = rest
		}
	}
	return plain.String()
}

// hasTag reports whether lists of tags have tag, by weak comparison.
func hasTag(values []string, tag string) bool {
	for _, list := range values {
		if strings.Contains(list, tag) {
			return true
		}
	}
	return false
}
