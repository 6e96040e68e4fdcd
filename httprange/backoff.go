package httprange

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// firstDelay is the pause before the first repetition, without its random part.
const firstDelay = 200 * time.Millisecond

// backoff returns the pause before repetition n, from 0: between half and all of a time that
// doubles.
func backoff(n int, most time.Duration) time.Duration {
	d := min(firstDelay<<min(n, 20), most)
	if d <= 1 {
		return d
	}
	return d/2 + rand.N(d/2)
}

// retryAfter returns the pause that an answer asks for, 0 if it asks for none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	s := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// sleep waits. It returns an error if the context ends before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// mayPass reports whether a request that failed may succeed later.
func mayPass(e *Error) bool {
	if e.final || errors.Is(e.Err, ErrChanged) {
		return false
	}
	if errors.Is(e.Err, ErrStatus) {
		switch e.Status {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	var (
		redirect    *redirectError
		certificate *tls.CertificateVerificationError
		name        *net.DNSError
	)
	if errors.As(e.Err, &redirect) || errors.As(e.Err, &certificate) ||
		errors.As(e.Err, &name) && name.IsNotFound {
		return false
	}
	return true // connections, ErrStalled, and answers that a proxy may have mixed up
}
