package httpcompress

import (
	"net/http"
	"strings"
)

// Preferred returns which of the encodings in order suits a request, as a [Handler] chooses it: by
// the client's preference, then by the order. It is "" for a plain response. A handler can use it
// to send files that are stored compressed. It panics if order has more than two encodings.
func Preferred(r *http.Request, order ...Encoding) Encoding {
	if i, _ := negotiate(r.Header.Values("Accept-Encoding"), order); i >= 0 {
		return order[i]
	}
	return ""
}

// A preference is what Accept-Encoding says of a coding, in thousandths; unlisted if it says
// nothing.
type preference int

const unlisted preference = -1

// negotiate chooses an encoding of order by the values of Accept-Encoding. It returns its index, or
// −1 for a plain response. plain says whether the client accepts that.
func negotiate(accept []string, order []Encoding) (choice int, plain bool) {
	var listed [maxEncodings]preference
	for i := range listed {
		listed[i] = unlisted
	}
	identity, others := unlisted, unlisted
	for _, list := range accept {
		for list != "" {
			var item string
			item, list, _ = strings.Cut(list, ",")
			name, q, ok := parseCoding(item)
			switch {
			case !ok:
			case name == "*":
				others = q
			case strings.EqualFold(name, "identity"):
				identity = q
			default:
				for i, e := range order {
					if e.is(name) {
						listed[i] = q
					}
				}
			}
		}
	}
	choice, best := -1, preference(0)
	for i := range order {
		q := listed[i]
		if q == unlisted {
			q = others
		}
		if q > best {
			choice, best = i, q
		}
	}
	if identity > best {
		choice = -1
	}
	return choice, identity > 0 || identity == unlisted && others != 0
}

// is reports whether name names the encoding (RFC 9110, section 8.4.1).
func (e Encoding) is(name string) bool {
	return strings.EqualFold(name, string(e)) || e == Gzip && strings.EqualFold(name, "x-gzip")
}

// parseCoding parses an item of Accept-Encoding.
func parseCoding(item string) (name string, q preference, ok bool) {
	name, params, _ := strings.Cut(item, ";")
	name = trim(name)
	q = 1000
	for params != "" {
		var param string
		param, params, _ = strings.Cut(params, ";")
		key, value, _ := strings.Cut(param, "=")
		if key = trim(key); key == "q" || key == "Q" {
			q, ok = parseQ(trim(value))
			if !ok {
				return "", 0, false
			}
		}
	}
	return name, q, name != ""
}

// parseQ parses a qvalue, 0 … 1 with at most three decimals (RFC 9110, section 12.4.2).
func parseQ(s string) (q preference, ok bool) {
	whole, decimals, _ := strings.Cut(s, ".")
	if whole != "0" && whole != "1" || len(decimals) > 3 {
		return 0, false
	}
	q = preference(whole[0] - '0')
	for i := range 3 {
		q *= 10
		if i < len(decimals) {
			d := decimals[i]
			if d < '0' || d > '9' {
				return 0, false
			}
			q += preference(d - '0')
		}
	}
	return q, q <= 1000
}

// trim removes the optional whitespace of HTTP.
func trim(s string) string { return strings.Trim(s, " \t") }

// hasToken reports whether a header whose values are lists has the token. Parameters and arguments
// of an item do not count.
func hasToken(values []string, token string) bool {
	for _, list := range values {
		for list != "" {
			var item string
			item, list, _ = strings.Cut(list, ",")
			if i := strings.IndexAny(item, ";="); i >= 0 {
				item = item[:i]
			}
			if strings.EqualFold(trim(item), token) {
				return true
			}
		}
	}
	return false
}
