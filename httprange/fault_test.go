package httprange

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A fault is what a server does in place of the right answer.
type fault struct {
	name   string
	answer func(s *testServer, w http.ResponseWriter, r *http.Request)
	err    error // if it lasts
	passes bool  // a Reader repeats the request
}

var faults = []fault{
	{"status 500", status(500), ErrStatus, true},
	{"status 429", status(429), ErrStatus, true},
	{"status 404", status(404), fs.ErrNotExist, false},
	{"status 403", status(403), fs.ErrPermission, false},
	{"status 204", status(204), ErrStatus, false},
	{"reset at once", reset(0), nil, true},
	{"reset in the body", reset(700), nil, true},
	{"no answer", func(s *testServer, w http.ResponseWriter, r *http.Request) {
		panic(http.ErrAbortHandler)
	}, nil, true},
	{"wrong Content-Range", edit(func(h http.Header) {
		h.Set("Content-Range", "bytes 5-1028/100000")
	}), ErrAnswer, true},
	{"no Content-Range", edit(func(h http.Header) { h.Del("Content-Range") }), ErrAnswer, true},
	{"other length", edit(func(h http.Header) {
		h.Set("Content-Range", strings.Replace(h.Get("Content-Range"), "/", "0/", 1)+"0")
	}), ErrAnswer, true},
	{"gzip", func(s *testServer, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Range", fmt.Sprintf("%s/%d",
			strings.Replace(r.Header.Get("Range"), "=", " ", 1), len(s.content)))
		w.WriteHeader(206)
		z := gzip.NewWriter(w)
		z.Write(s.content[:1000])
		z.Close()
	}, ErrAnswer, true},
	{"whole file", func(s *testServer, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Write(s.content)
	}, ErrNoRanges, true},
}

func status(code int) func(*testServer, http.ResponseWriter, *http.Request) {
	return func(_ *testServer, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func reset(n int) func(*testServer, http.ResponseWriter, *http.Request) {
	return func(s *testServer, w http.ResponseWriter, r *http.Request) { s.reset(w, r, n) }
}

// edit changes the header of the right answer.
func edit(f func(http.Header)) func(*testServer, http.ResponseWriter, *http.Request) {
	return func(s *testServer, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", s.etag)
		http.ServeContent(editor{w, f}, r, "", modified, bytes.NewReader(s.content))
	}
}

type editor struct {
	http.ResponseWriter
	f func(http.Header)
}

func (e editor) WriteHeader(status int) {
	e.f(e.Header())
	e.ResponseWriter.WriteHeader(status)
}

// TestFaults lets each fault happen once and for ever, in the first request and in later ones.
func TestFaults(t *testing.T) {
	content := random(100_000)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			s := newServer(t, content)
			r := open(t, s)
			s.setFault(func(n int, w http.ResponseWriter, req *http.Request) bool {
				if n == 0 {
					f.answer(s, w, req)
				}
				return n == 0
			})
			p := make([]byte, 5000)
			if n, err := r.ReadAt(p, 20_000); f.passes != (err == nil) {
				t.Errorf("once: %d, %v", n, err)
			}
			if f.passes {
				read(t, r, content, 18_000, 9000)
				// net/http itself repeats a request on a connection that was idle.
				if st := r.Stats(); st.Retries != 1 && f.name != "no answer" {
					t.Errorf("once: statistics %+v", st)
				}
			}
			s.setFault(func(n int, w http.ResponseWriter, req *http.Request) bool {
				f.answer(s, w, req)
				return true
			})
			n, err := r.ReadAt(p, 50_000)
			var e *Error
			if f.name == "reset in the body" {
				if err != nil && !errors.As(err, &e) { // it goes on a little each time
					t.Errorf("for ever: %d, %v", n, err)
				}
			} else if n != 0 || !errors.As(err, &e) || f.err != nil && !errors.Is(err, f.err) {
				t.Errorf("for ever: %d, %v", n, err)
			} else if e.Attempts != map[bool]int{true: 4, false: 1}[f.passes] || e.Offset != 49_152 {
				t.Errorf("for ever: %d attempts at %d", e.Attempts, e.Offset)
			}
			s.setFault(nil)
			read(t, r, content, 50_000, 5000) // the Reader is still of use
		})
	}
}

// TestFaultsAtOpen lets faults happen in the first requests.
func TestFaultsAtOpen(t *testing.T) {
	content := random(100_000)
	for _, f := range faults {
		s := newServer(t, content)
		for _, last := range []int{1, 1000} {
			s.setFault(func(n int, w http.ResponseWriter, req *http.Request) bool {
				if n < last {
					f.answer(s, w, req)
				}
				return n < last
			})
			r, err := Open(context.Background(), s.URL, WithSegment(1<<10), WithTail(0), quick(2))
			whole := f.name == "whole file"
			lasting := last > 1 && f.err != nil && f.name != "short" && f.name != "wrong Content-Range"
			if f.name == "wrong Content-Range" && last > 1 && !errors.Is(err, ErrAnswer) {
				t.Errorf("%s: %v", f.name, err)
			}
			fails := whole || lasting || !f.passes
			if fails && (err == nil || f.err != nil && !errors.Is(err, f.err)) {
				t.Errorf("%s, %d times: %v", f.name, last, err)
			} else if !fails && last == 1 && err != nil {
				t.Errorf("%s once: %v", f.name, err)
			}
			if err == nil {
				s.setFault(nil)
				read(t, r, content, 0, 3000)
				r.Close()
			}
		}
	}
}

// TestFaultsAtRandom reads from many goroutines while a third of the answers is faulty.
func TestFaultsAtRandom(t *testing.T) {
	content := random(300_000)
	s := newServer(t, content)
	r := open(t, s, WithCacheSize(20<<10), WithReadAhead(10<<10), quick(40))
	passing := slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !f.passes })
	s.setFault(func(n int, w http.ResponseWriter, req *http.Request) bool {
		rnd := rand.New(rand.NewPCG(7, uint64(n)))
		if rnd.IntN(3) > 0 {
			return false
		}
		passing[rnd.IntN(len(passing))].answer(s, w, req)
		return true
	})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(g)))
			for range 30 {
				n := 1 + rnd.IntN(10_000)
				read(t, r, content, rnd.IntN(len(content)-n), n)
			}
		})
	}
	wg.Wait()
	if st := r.Stats(); st.Retries < 20 {
		t.Errorf("statistics %+v", st)
	}
}

// TestChanged replaces the file by one with other bytes, on servers that tell versions apart in
// different ways. No call may return bytes of both, and none those of the new one.
func TestChanged(t *testing.T) {
	before, after := bytes.Repeat([]byte("a"), 50_000), bytes.Repeat([]byte("b"), 50_000)
	for _, c := range []struct {
		name    string
		etag    string // of the old file
		newTag  string
		undated bool
		ignore  string // condition that the server does not know
		size    int    // of the new file
		header  string // that requests have
	}{
		{name: "strong", etag: `"1"`, newTag: `"2"`, size: 50_000, header: "If-Range"},
		{name: "strong, ignored", etag: `"1"`, newTag: `"2"`, ignore: "If-Range", size: 50_000,
			header: "If-Range"},
		{name: "weak", etag: `W/"1"`, newTag: `W/"2"`, undated: true, size: 50_000},
		{name: "dated", size: 50_000, header: "If-Unmodified-Since"},
		{name: "dated, ignored", ignore: "If-Unmodified-Since", size: 50_000, header: "If-Unmodified-Since"},
		{name: "longer", undated: true, size: 50_001},
		{name: "shorter", undated: true, size: 49_999},
		{name: "much shorter", undated: true, size: 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, before)
			s.etag, s.undated = c.etag, c.undated
			r := open(t, s)
			read(t, r, before, 10_000, 2000)
			var headers http.Header
			s.setFault(func(n int, w http.ResponseWriter, req *http.Request) bool {
				headers = req.Header.Clone()
				if c.ignore != "" {
					req.Header.Del(c.ignore)
				}
				if c.newTag != "" {
					w.Header().Set("ETag", c.newTag)
				}
				at := modified.Add(time.Hour)
				if c.undated {
					at = time.Time{}
				}
				http.ServeContent(w, req, "", at, bytes.NewReader(after[:min(c.size, len(after))]))
				return true
			})
			if c.size > len(after) {
				after = append(after, 'b')
			}
			p := make([]byte, 3000)
			n, err := r.ReadAt(p, 11_000)
			if !errors.Is(err, ErrChanged) || bytes.Contains(p[:n], []byte("b")) {
				t.Errorf("ReadAt over old and new segments: %d, %v", n, err)
			}
			if c.header != "" && headers.Get(c.header) == "" {
				t.Errorf("the request lacks %s", c.header)
			}
			if st := r.Stats(); st.Retries != 0 {
				t.Errorf("the request was repeated: %+v", st)
			}
			if n, err := r.ReadAt(p, 10_000); n != 0 || !errors.Is(err, ErrChanged) {
				t.Errorf("ReadAt after the change: %d, %v", n, err)
			}
		})
	}
}

// TestChangedMidway changes the file between a reset and the request for the rest.
func TestChangedMidway(t *testing.T) {
	before, after := bytes.Repeat([]byte("a"), 50_000), bytes.Repeat([]byte("b"), 50_000)
	s := newServer(t, before)
	r := open(t, s)
	s.setFault(func(n int, w http.ResponseWriter, req *http.Request) bool {
		if n > 0 {
			return false
		}
		s.reset(w, req, 1500)
		s.change(after, `"v2"`)
		return true
	})
	p := make([]byte, 4<<10)
	n, err := r.ReadAt(p, 20<<10)
	if !errors.Is(err, ErrChanged) || n != 1<<10 || bytes.Contains(p, []byte("b")) {
		t.Errorf("%d, %v", n, err)
	}
}

// TestBackoff measures pauses, in virtual time.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		content := random(10_000)
		var at []time.Duration
		var start time.Time
		after := ""
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			if start.IsZero() {
				return serve(content, r), nil
			}
			at = append(at, time.Since(start))
			h := http.Header{}
			if after != "" {
				h.Set("Retry-After", after)
			}
			return &http.Response{StatusCode: 503, Header: h, Body: http.NoBody, Request: r}, nil
		})}
		r, err := Open(t.Context(), "http://host/", WithClient(client), WithSegment(1<<10), WithTail(0),
			WithRetries(5, 2*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, c := range []struct {
			after string
			least []time.Duration // of the pauses
			most  []time.Duration
		}{
			{"", []time.Duration{100, 200, 400, 800, 1000}, []time.Duration{200, 400, 800, 1600, 2000}},
			{"1", slices.Repeat([]time.Duration{1000}, 5), []time.Duration{1000, 1000, 1000, 1600, 2000}},
			{"3", nil, nil}, // longer than the longest pause
		} {
			at, after, start = nil, c.after, time.Now()
			_, err := r.ReadAt(make([]byte, 10), 5000)
			if !errors.Is(err, ErrStatus) || len(at) != len(c.least)+1 {
				t.Fatalf("Retry-After %q: requests at %v, %v", c.after, at, err)
			}
			for i := range c.least {
				pause := at[i+1] - at[i]
				if pause < c.least[i]*time.Millisecond || pause > c.most[i]*time.Millisecond {
					t.Errorf("Retry-After %q: pause %d takes %v", c.after, i, pause)
				}
			}
		}
		h := http.Header{"Retry-After": {time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)}}
		if d := retryAfter(h, time.Now()); d < 89*time.Second || d > 90*time.Second {
			t.Errorf("pause until a date: %v", d)
		}
	})
}

// TestStall lets a server send nothing, in virtual time: before the header and within the body.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		content := random(10_000)
		requests := 0
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			requests++
			switch requests {
			case 2, 4, 5:
				<-r.Context().Done()
				return nil, r.Context().Err()
			case 3:
				resp := serve(content, r)
				resp.Body = &stalling{ctx: r.Context(), left: content[5<<10:][:100]}
				return resp, nil
			}
			return serve(content, r), nil
		})}
		r, err := Open(t.Context(), "http://host/", WithClient(client), WithSegment(1<<10), WithTail(0),
			WithStallTimeout(10*time.Second), WithRetries(1, time.Second))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		start := time.Now()
		_, err = r.ReadAt(make([]byte, 10), 5<<10)
		if d := time.Since(start).Round(time.Second); !errors.Is(err, ErrStalled) || d != 30*time.Second {
			// Request 3 makes progress, so 4 is repetition 1.
			t.Errorf("%v after %v", err, d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start = time.Now()
		_, err = r.WithContext(ctx).ReadAt(make([]byte, 10), 5<<10)
		if d := time.Since(start); err != context.DeadlineExceeded || d != 3*time.Second {
			t.Errorf("with a deadline: %v after %v", err, d)
		}
	})
}

// stalling is a body that stops.
type stalling struct {
	ctx  context.Context
	left []byte
}

func (s *stalling) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

func (s *stalling) Close() error { return nil }

// TestProgress lets each answer have a few bytes only, by its range or because the connection
// breaks. A Reader that gets further with each request does not give up.
func TestProgress(t *testing.T) {
	content := random(3000)
	for name, c := range map[string]struct {
		answer func(s *testServer, w http.ResponseWriter, r *http.Request)
		step   int64
	}{
		"short range": {func(s *testServer, w http.ResponseWriter, r *http.Request) {
			c, _ := parseContentRange(strings.Replace(r.Header.Get("Range"), "=", " ", 1) + "/*")
			r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", c.first, c.first+10))
			w.Header().Set("ETag", s.etag)
			http.ServeContent(w, r, "", modified, bytes.NewReader(s.content))
		}, 11},
		"broken connection": {reset(100), 100},
	} {
		for _, retries := range []int{0, 2} {
			s := newServer(t, content)
			r, err := Open(t.Context(), s.URL, WithSegment(1<<10), WithTail(0), WithReadAhead(0),
				WithRetries(retries, time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.Header.Get("Range"), "bytes=20") {
					return false // less than c.step is missing
				}
				c.answer(s, w, r)
				return true
			}
			s.mu.Unlock()
			got := make([]byte, 1024)
			if n, err := r.ReadAt(got, 1024); err != nil || !bytes.Equal(got, content[1024:2048]) {
				t.Errorf("%s, %d retries: %d bytes, %v", name, retries, n, err)
			}
			if n := int64(len(s.log)) - 1; n > 1024/c.step+1 {
				t.Errorf("%s, %d retries: %d requests", name, retries, n)
			}
			r.Close()
		}
	}
}
