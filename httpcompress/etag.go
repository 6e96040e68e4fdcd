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

// conditions are headers with lists of tags that the handler compares with its own.
var conditions = [...]string{"If-None-Match", "If-Match"}

// withPlainTags returns r with the tag without suffix added for each tag of an encoded response. If
// there is none, it returns r itself; else a copy, as handlers must not change a request.
func withPlainTags(r *http.Request, e Encoding) *http.Request {
	changed := false
	for _, name := range conditions {
		values := r.Header[name]
		if len(values) == 0 {
			continue
		}
		plain := plainTags(values, "-"+string(e))
		if plain == "" {
			continue
		}
		if !changed {
			changed = true
			r = r.WithContext(r.Context())
			r.Header = r.Header.Clone()
		}
		// http.ServeContent looks at the first value only.
		r.Header[name] = []string{strings.Join(values, ", ") + plain}
	}
	return r
}

// plainTags returns the tags that end with suffix, without it, each behind ", ".
func plainTags(values []string, suffix string) string {
	var plain strings.Builder
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
