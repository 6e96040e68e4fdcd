package httprange

import (
	"fmt"
	"net/http"
	"time"
)

// Defaults of the options.
const (
	DefaultSegment     = 64 << 10
	DefaultCache       = 16 << 20
	DefaultReadAhead   = 8 << 20
	DefaultTail        = 64 << 10
	DefaultMaxRequests = 6 // what browsers open to one host with HTTP/1.1
	DefaultRetries     = 5
	DefaultMaxDelay    = 30 * time.Second
	DefaultStall       = 30 * time.Second
)

// mostInRequest is the largest range of one request in bytes. A request of 4 MiB takes longer than
// a round trip on most links, so that larger ones save nothing.
const mostInRequest = 4 << 20

// mostSize is the size of the largest file in bytes. The end of a segment or a request behind it
// still is an int64.
const mostSize = 1 << 62

// An Option sets up a [Reader].
type Option func(*options)

type options struct {
	client    *http.Client
	header    http.Header
	segment   int64
	cache     int64
	readAhead int64
	tail      int64
	whole     int64
	requests  int
	retries   int
	maxDelay  time.Duration
	stall     time.Duration
}

func newOptions(opts []Option) (options, error) {
	o := options{
		segment: DefaultSegment, cache: DefaultCache, readAhead: DefaultReadAhead, tail: DefaultTail,
		requests: DefaultMaxRequests, retries: DefaultRetries, maxDelay: DefaultMaxDelay,
		stall: DefaultStall,
	}
	for _, opt := range opts {
		opt(&o)
	}
	if o.client == nil {
		o.client = defaultClient()
	}
	switch {
	case o.segment < 1<<10 || o.segment > mostInRequest || o.segment&(o.segment-1) != 0:
		return o, fmt.Errorf("httprange: a segment of %d bytes, not a power of two from 1 KiB to 4 MiB",
			o.segment)
	case o.cache < 0 || o.readAhead < 0 || o.tail < 0 || o.whole < 0:
		return o, fmt.Errorf("httprange: a negative number of bytes")
	case o.requests < 1:
		return o, fmt.Errorf("httprange: at most %d requests at a time", o.requests)
	case o.retries < 0 || o.maxDelay < 0 || o.stall <= 0:
		return o, fmt.Errorf("httprange: a number of retries, a delay or a timeout out of range")
	}
	return o, nil
}

// WithClient sets the client that makes the requests. It should follow redirects and have no
// Timeout, which would end long answers. The default client follows up to 10 redirects, but none
// from https to http. To other hosts it passes neither the headers of [WithHeader] nor a Referer.
func WithClient(c *http.Client) Option { return func(o *options) { o.client = c } }

// WithHeader adds headers to each request, for instance Authorization. The Reader keeps a copy. It
// sets Range, If-Range, If-Unmodified-Since and Accept-Encoding itself.
func WithHeader(h http.Header) Option { return func(o *options) { o.header = h.Clone() } }

// WithSegment sets the size of a segment in bytes, a power of two from 1 KiB to 4 MiB. Ranges of
// requests are whole segments.
func WithSegment(bytes int64) Option { return func(o *options) { o.segment = bytes } }

// WithCacheSize sets how many bytes of segments the Reader keeps for later calls. At least one
// segment and what it reads ahead stay.
func WithCacheSize(bytes int64) Option { return func(o *options) { o.cache = bytes } }

// WithReadAhead sets how many bytes the Reader reads ahead at most behind calls that follow one
// another. It does not read ahead by more than half of its cache. 0 switches that off.
func WithReadAhead(bytes int64) Option { return func(o *options) { o.readAhead = bytes } }

// WithTail sets how many bytes at the end of the file Open fetches, in a request at the same time
// as the first one. Formats with an index at the end gain a round trip. 0 switches that off.
func WithTail(bytes int64) Option { return func(o *options) { o.tail = bytes } }

// WithReadWhole lets Open read a file of up to limit bytes to memory if the server does not support
// ranges. Without it such a server is an [ErrNoRanges], unless the file fits a segment.
func WithReadWhole(limit int64) Option { return func(o *options) { o.whole = limit } }

// WithMaxRequests sets the most requests in flight.
func WithMaxRequests(n int) Option { return func(o *options) { o.requests = n } }

// WithRetries sets how often a request is repeated at most without progress, and the longest pause
// before that. Pauses begin near 0.2 seconds and double. They have a random part, so that clients
// of one server do not return at the same time. A server that asks for a longer pause by
// Retry-After makes the request fail.
func WithRetries(n int, maxDelay time.Duration) Option {
	return func(o *options) { o.retries, o.maxDelay = n, maxDelay }
}

// WithStallTimeout sets how long a request may take without receiving anything. Then it counts as
// failed and is repeated.
func WithStallTimeout(d time.Duration) Option { return func(o *options) { o.stall = d } }
