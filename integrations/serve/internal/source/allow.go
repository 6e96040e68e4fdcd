package source

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// ErrNotAllowed says that no prefix of the allow-list covers a URL.
var ErrNotAllowed = errors.New("no --allow-url covers the URL")

// An AllowList is a list of URLs. It allows these, and all below them.
type AllowList []*url.URL

// ParseAllowList makes an AllowList of prefixes of http and https URLs. A prefix ends at the end of
// an element of the path: https://a/b allows https://a/b and https://a/b/c, but not https://a/bc.
func ParseAllowList(prefixes []string) (AllowList, error) {
	var list AllowList
	for _, p := range prefixes {
		u, err := url.Parse(p)
		if err != nil {
			return nil, fmt.Errorf("URL prefix %q: %w", p, err)
		}
		if !isWeb(u) || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("URL prefix %q: want http://HOST/PATH or https://HOST/PATH", p)
		}
		list = append(list, u)
	}
	return list, nil
}

func isWeb(u *url.URL) bool { return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" }

// Allows reports whether a prefix of the list covers u. A path with "." or ".." elements is covered
// by none, since servers differ in what they make of it.
func (l AllowList) Allows(u *url.URL) bool {
	if !isWeb(u) || u.Path != "" && path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") && u.Path != "/" {
		return false
	}
	for _, p := range l {
		if u.Scheme != p.Scheme || !strings.EqualFold(u.Host, p.Host) {
			continue
		}
		below := strings.TrimSuffix(p.Path, "/")
		if rest, ok := strings.CutPrefix(u.Path, below); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// maxRedirects is the most redirects that a request follows.
const maxRedirects = 10

// client returns a client that follows redirects to allowed URLs only.
func (l AllowList) client() *http.Client {
	return &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= maxRedirects:
			return fmt.Errorf("more than %d redirects", maxRedirects)
		case !l.Allows(r.URL):
			return fmt.Errorf("redirect to %s://%s: %w", r.URL.Scheme, r.URL.Host, ErrNotAllowed)
		}
		r.Header.Del("Referer") // may hold a signature of the first URL
		return nil
	}}
}
