// Package httpcompress compresses responses of net/http servers with zstd and gzip:
//
//	http.ListenAndServe(addr, httpcompress.Handler(mux))
//
// # What is compressed
//
// A response is compressed if the client accepts zstd or gzip, its Content-Type is [Compressible],
// and it has at least 1 KiB. Up to that size the handler's output is kept in memory. Status and
// header are sent after it, as they were at WriteHeader or at the first Write. The Content-Type is
// sniffed as by net/http if there is none, or an empty one. Options change all of that.
//
// Nothing but the encoding and its headers differs from what the handler sends without the package.
// That goes for trailers, informational responses and Hijack too. A status that was set before
// Hijack is sent, in front of a plain body.
//
// The package leaves a response alone if
//
//   - it has a Content-Encoding, a Content-Range, or the status 1xx, 204, 205, 206 or 304;
//   - its Cache-Control, or that of the request, has no-transform;
//   - it has a digest of its bytes: Content-Digest, Repr-Digest, Digest or Content-MD5.
//
// Responses that another Accept-Encoding would have changed get "Vary: Accept-Encoding".
//
// The client's preferences count first (RFC 9110, section 12.5.3), then the order of
// [WithEncodings]. A request without Accept-Encoding gets a plain response. If the client refuses
// plain responses, with "identity;q=0", Content-Type and size do not matter.
//
// # Streams
//
// Flush, by [http.Flusher] or [http.ResponseController], compresses what has been written and sends
// it, so server-sent events work. A response that is flushed keeps about 2 MB until it ends with
// zstd, and 0.7 MB with gzip. [WithSkip] or [WithContentType] can exclude such responses.
//
// A zstd response is one frame, since some clients stop behind the first one. So it needs neither
// [compress.WithSeekable] nor [compress.WithRsyncable], which make several. Its window is within
// the 8 MiB of RFC 9659.
//
// Some responses must not look complete: after a panic of the handler, after an error of the
// encoder, and if the handler writes fewer bytes than its Content-Length says. Then the encoding
// has no end, and the handler panics with [http.ErrAbortHandler], which closes the connection.
//
// # Entity tags
//
// A strong ETag of a compressed response gets a suffix: "v1" becomes "v1-zstd". For the handler the
// tag without the suffix is added to If-None-Match and If-Match, so that revalidation and
// conditional PUT requests work. In If-Match that goes for the tags of each encoding, whatever the
// client accepts for the response. A response 304 gets the tag that the client asked for. If it
// asked by time or with "*", the tag has the suffix, unless the Content-Type of the 304 is not
// compressed. Making tags weak would break conditional PUT requests. If-Range stays as it is:
// ranges are those of the plain content, and must not complete a compressed one. For that reason
// Accept-Ranges is removed too.
//
// # BREACH
//
// The size of a compressed response tells how much of it repeats. If a page has a secret, such as a
// CSRF token, and text that an attacker chooses, such as a query from the URL, the attacker can
// guess the secret bit by bit: the response is shorter where the text repeats a part of the secret.
// The attacker must see the sizes of encrypted responses and make the victim's browser send many
// requests. That attack is called BREACH. It works with every compression.
//
// So do not compress responses that have both. [WithSkip] excludes requests:
//
//	httpcompress.WithSkip(func(r *http.Request) bool {
//		return strings.HasPrefix(r.URL.Path, "/account/")
//	})
//
// A handler excludes one response by the header "Cache-Control: no-transform". Other remedies are
// secrets that change with each response, such as tokens masked by random bytes, and cookies with
// SameSite. The package pads nothing with random bytes: that only makes the attack take more
// requests.
package httpcompress
