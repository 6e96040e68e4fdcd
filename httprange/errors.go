package httprange

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Errors that an [Error] wraps. Test for them with [errors.Is].
var (
	// ErrChanged says that the file has changed since Open. The Reader is of no further use.
	ErrChanged = errors.New("the file changed while it was read")

	// ErrNoRanges says that the server does not send parts of the file.
	ErrNoRanges = errors.New("the server does not support ranges")

	// ErrAnswer says that an answer contradicts the request or itself.
	ErrAnswer = errors.New("the answer does not fit the request")

	// ErrStatus says that the answer has a status other than success. Error.Status has it.
	ErrStatus = errors.New("the server reports an error")

	// ErrStalled says that nothing was received for the time of [WithStallTimeout].
	ErrStalled = errors.New("the server stopped sending")

	// ErrClosed says that the Reader is closed.
	ErrClosed = fmt.Errorf("the reader is closed: %w", fs.ErrClosed)
)

// An Error is what Open and ReadAt return, except for io.EOF and errors of a context. It is also an
// [fs.ErrNotExist] after status 404 and 410, and an [fs.ErrPermission] after status 401 and 403.
type Error struct {
	URL      string // without user, query and fragment, which may hold secrets
	Status   int    // of the last answer; 0 if there was none
	Offset   int64  // of the first byte that is missing; -1 if the error is not about a place
	Attempts int    // requests for this byte
	Detail   string // what is wrong with the answer; may be empty
	Err      error  // one of the errors of this package, or one of the connection

	pause time.Duration // that the server asks for
	final bool          // another attempt would not help
}

func (e *Error) Error() string { return "httprange: " + e.URL + ": " + e.Reason() }

// Reason returns the text of the error without the URL.
func (e *Error) Reason() string {
	var b strings.Builder
	if e.Offset > 0 {
		fmt.Fprintf(&b, "byte %d: ", e.Offset)
	}
	if errors.Is(e.Err, ErrStatus) {
		fmt.Fprintf(&b, "the server reports status %d %s", e.Status, http.StatusText(e.Status))
	} else {
		b.WriteString(hideSecrets(e.Err.Error()))
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	return b.String()
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether the status has the meaning of an error of package fs.
func (e *Error) Is(target error) bool {
	switch e.Status {
	case http.StatusNotFound, http.StatusGone:
		return target == fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return target == fs.ErrPermission
	}
	return false
}

// publicURL returns u without the parts that may hold secrets.
func publicURL(u *url.URL) string {
	p := *u
	p.User, p.RawQuery, p.Fragment, p.RawFragment, p.ForceQuery = nil, "", "", "", false
	return p.String()
}

// withoutURL returns the cause of an error of http.Client, whose text has the URL with its query.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// hideSecrets cuts users and queries of URLs out of the text of an error: one about a redirect may
// have its target.
func hideSecrets(text string) string {
	var b strings.Builder
	for text != "" {
		end := strings.IndexAny(text, " \t\n\"'")
		if end < 0 {
			end = len(text)
		}
		word, _, found := strings.Cut(text[:end], "?")
		if scheme, rest, ok := strings.Cut(word, "://"); ok {
			host, _, _ := strings.Cut(rest, "/")
			word = scheme + "://" + rest[strings.LastIndexByte(host, '@')+1:]
		}
		b.WriteString(word)
		if found {
			b.WriteString("?...")
		}
		next := min(end+1, len(text))
		b.WriteString(text[end:next])
		text = text[next:]
	}
	return b.String()
}
