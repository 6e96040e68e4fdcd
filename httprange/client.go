package httprange

import (
	"errors"
	"net/http"
	"sync"
)

// idleConnections is how many connections to a host the default client keeps for further requests.
const idleConnections = 2 * DefaultMaxRequests

// defaultClient returns the client of Readers without [WithClient]. They share its connections.
var defaultClient = sync.OnceValue(func() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = idleConnections
	return &http.Client{Transport: t, CheckRedirect: checkRedirect}
})

var (
	errRedirects = errors.New("more than 10 redirects")
	errDowngrade = errors.New("a redirect from https to http")
)

// redirectError is the error of a client that does not follow a redirect.
type redirectError struct{ error }

func (e *redirectError) Unwrap() error { return e.error }

// requestKey is the key of the *Reader in the context of its requests.
type requestKey struct{}

// checkRedirect decides on a redirect. net/http copies headers to the new request. It knows only
// the usual ones to be secrets; those of WithHeader may be too, and so may the old URL.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) >= 10:
		return errRedirects
	case first.URL.Scheme == "https" && req.URL.Scheme != "https":
		return errDowngrade
	}
	req.Header.Del("Referer")
	if r, ok := req.Context().Value(requestKey{}).(*Reader); ok && req.URL.Host != first.URL.Host {
		for name := range r.opt.header {
			req.Header.Del(name)
		}
	}
	return nil
}
