package httprange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// TestReadAt reads random places from many goroutines, with small and large caches and segments.
func TestReadAt(t *testing.T) {
	content := random(200_000)
	s := newServer(t, content)
	for _, opts := range [][]Option{
		nil,
		{WithCacheSize(0), WithMaxRequests(1)},
		{WithCacheSize(5 << 10), WithReadAhead(1 << 20), WithTail(3000)},
		{WithSegment(64 << 10), WithTail(10), WithReadAhead(1 << 20)},
		{WithSegment(4 << 20)},
	} {
		r := open(t, s, opts...)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(1, uint64(g)))
				for range 40 {
					off := rnd.IntN(len(content))
					n := rnd.IntN(min(len(content)-off, 1<<rnd.IntN(18)) + 1)
					p := make([]byte, n)
					m, err := r.ReadAt(p, int64(off))
					if m != n || err != nil || !bytes.Equal(p, content[off:off+n]) {
						t.Errorf("ReadAt of %d bytes at %d: %d, %v", n, off, m, err)
					}
				}
			})
		}
		wg.Wait()
		st := r.Stats()
		if st.Requests == 0 || st.Bytes == 0 || st.Misses == 0 && st.Hits == 0 {
			t.Errorf("statistics %+v", st)
		}
	}
}

// TestSizes opens files around the size of a segment, and reads them to the end.
func TestSizes(t *testing.T) {
	const segment = 1 << 10
	for _, size := range []int{0, 1, segment - 1, segment, segment + 1, 3*segment - 1, 3 * segment, 5000} {
		for _, tail := range []int64{0, 1, 2 * segment, 1 << 20} {
			content := random(size)
			s := newServer(t, content)
			r := open(t, s, WithTail(tail))
			if r.Size() != int64(size) || r.ETag() != `"v1"` || !r.LastModified().Equal(modified) {
				t.Errorf("%d bytes: size %d, ETag %s, time %v", size, r.Size(), r.ETag(), r.LastModified())
			}
			if err := iotest.TestReader(io.NewSectionReader(r, 0, r.Size()), content); err != nil {
				t.Errorf("%d bytes, tail %d: %v", size, tail, err)
			}
			p := make([]byte, 10)
			if n, err := r.ReadAt(p, int64(size)); n != 0 || err != io.EOF {
				t.Errorf("ReadAt at the end: %d, %v", n, err)
			}
			if n, err := r.ReadAt(p, int64(max(0, size-3))); n != min(size, 3) || err != io.EOF {
				t.Errorf("ReadAt over the end of %d bytes: %d, %v", size, n, err)
			}
			if n, err := r.ReadAt(p, -1); n != 0 || err == nil {
				t.Errorf("ReadAt at -1: %d, %v", n, err)
			}
		}
	}
}

// TestTail checks that Open gets head and tail by two requests, and that a reader of an index at
// the end makes no other one.
func TestTail(t *testing.T) {
	content := random(100_000)
	s := newServer(t, content)
	r := open(t, s, WithTail(3000))
	read(t, r, content, 0, 1024)
	read(t, r, content, len(content)-3000, 3000)
	if got := s.ranges(); len(got) != 2 {
		t.Errorf("requests %q", got)
	}
	// A server that does not know such ranges costs a request, and nothing else.
	s.setFault(func(n int, w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") == "bytes=-4024" {
			r.Header.Del("Range")
		}
		return false
	})
	r = open(t, s, WithTail(3000))
	read(t, r, content, len(content)-3000, 3000)
	if got := s.ranges(); len(got) != 3 {
		t.Errorf("requests %q", got)
	}
}

// TestEmpty opens an empty file on servers that answer in different ways.
func TestEmpty(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusRequestedRangeNotSatisfiable} {
		s := newServer(t, nil)
		s.setFault(func(n int, w http.ResponseWriter, r *http.Request) bool {
			if status != http.StatusOK {
				w.Header().Set("Content-Range", "bytes */0")
			}
			w.WriteHeader(status)
			return true
		})
		r := open(t, s, WithTail(100))
		if n, err := r.ReadAt(make([]byte, 1), 0); r.Size() != 0 || n != 0 || err != io.EOF {
			t.Errorf("status %d: size %d; ReadAt %d, %v", status, r.Size(), n, err)
		}
	}
}

// TestNoRanges opens files on a server without ranges: small ones are read as a whole.
func TestNoRanges(t *testing.T) {
	for _, c := range []struct {
		size  int
		limit int64
		sized bool
		ok    bool
	}{
		{1000, 0, true, true}, {1024, 0, false, true}, {1025, 0, true, false}, {1025, 0, false, false},
		{5000, 5000, true, true}, {5000, 5000, false, true},
		{5001, 5000, true, false}, {5001, 5000, false, false},
	} {
		content := random(c.size)
		s := newServer(t, content)
		s.setFault(func(n int, w http.ResponseWriter, r *http.Request) bool {
			if c.sized {
				w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			} else {
				w.(http.Flusher).Flush()
			}
			w.Write(content)
			return true
		})
		opts := []Option{WithSegment(1 << 10), WithReadWhole(c.limit), quick(0)}
		r, err := Open(context.Background(), s.URL, opts...)
		if c.ok != (err == nil) || err != nil && !errors.Is(err, ErrNoRanges) {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil {
			read(t, r, content, 0, c.size)
			r.Close()
		}
	}
}

// TestSingleFlight lets many goroutines read the same places at the same time.
func TestSingleFlight(t *testing.T) {
	content := random(100 << 10)
	s := newServer(t, content)
	s.latency = 50 * time.Millisecond
	r := open(t, s)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { read(t, r, content, 50_000, 10_000) })
	}
	wg.Wait()
	if got := s.ranges(); len(got) != 2 {
		t.Errorf("requests %q", got)
	}
	// The bytes from 50,000 to 60,000 lie in segments 48 to 58.
	if st := r.Stats(); st.Misses != 11 || st.Joined+st.Hits != 19*11 {
		t.Errorf("statistics %+v", st)
	}
}

// TestMerge checks that ranges which wait for their turn are fetched together if they lie near each
// other, and only then.
func TestMerge(t *testing.T) {
	content := random(2 << 20)
	s := newServer(t, content)
	r := open(t, s, WithMaxRequests(1))
	release := make(chan struct{})
	s.setFault(func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 0 {
			<-release
		}
		return false
	})
	var wg sync.WaitGroup
	places := []int{1 << 20, 100 << 10, 110 << 10, 101 << 10, 104 << 10, 1900 << 10}
	for i, off := range places {
		wg.Go(func() { read(t, r, content, off, 1000) })
		for waiting := -1; waiting != max(0, i); time.Sleep(time.Millisecond) {
			r.mu.Lock()
			waiting = 0
			if r.queue.active == 1 {
				for _, f := range r.queue.waiting {
					waiting += len(f.segments)
				}
			} else {
				waiting = -1
			}
			r.mu.Unlock()
		}
	}
	close(release)
	wg.Wait()
	want := []string{"bytes=1048576-1049599", "bytes=102400-113663", "bytes=1945600-1946623"}
	if got := s.ranges(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	requests := r.Stats().Requests
	read(t, r, content, 105<<10, 4<<10) // the gap
	if st := r.Stats(); st.Requests != requests || st.Merged != 3 {
		t.Errorf("statistics %+v", st)
	}
}

// TestReadAhead reads a file from the front, and at random places.
func TestReadAhead(t *testing.T) {
	content := random(8 << 20)
	s := newServer(t, content)
	r := open(t, s, WithReadAhead(1<<20), WithCacheSize(4<<20))
	for off := 0; off < len(content); off += 8 << 10 {
		read(t, r, content, off, 8<<10)
	}
	// Windows are 2, 4 ... 512 KiB and then 1 MiB, asked for by halves.
	if st := r.Stats(); st.Requests > 50 || st.Ahead < 7<<10 {
		t.Errorf("read from the front: statistics %+v", st)
	}
	r = open(t, s, WithReadAhead(1<<20), WithCacheSize(4<<20))
	for i := range 100 {
		read(t, r, content, i*7919%4000*2000, 100)
	}
	if st := r.Stats(); st.Ahead != 0 {
		t.Errorf("read at random places: statistics %+v", st)
	}
}

// TestReadAheadCache lets several sequences share a cache that is smaller than their windows would
// be. Nothing may be fetched twice.
func TestReadAheadCache(t *testing.T) {
	content := random(6 << 20)
	s := newServer(t, content)
	r := open(t, s, WithReadAhead(1<<20), WithCacheSize(256<<10))
	const readers = 6
	for off := 0; off < 500<<10; off += 5000 {
		for i := range readers {
			read(t, r, content, i*(600<<10)+off, 5000)
		}
	}
	// Each sequence has some segments in front of it at the end.
	if st := r.Stats(); st.Ahead == 0 || st.Bytes > readers*(500<<10)+600<<10 || st.Requests > 600 {
		t.Errorf("statistics %+v", st)
	}
	big := make([]byte, len(content))
	before := r.Stats().Bytes
	if _, err := r.ReadAt(big, 0); err != nil || !bytes.Equal(big, content) {
		t.Errorf("ReadAt of the whole file: %v", err)
	}
	// What is in the cache may lie in gaps between ranges.
	if n := r.Stats().Bytes - before; n > int64(len(content))+256<<10 {
		t.Errorf("ReadAt of the whole file received %d bytes", n)
	}
}

// TestCache checks that the cache stays within its limit and that segments used last stay.
func TestCache(t *testing.T) {
	content := random(100 << 10)
	s := newServer(t, content)
	r := open(t, s, WithCacheSize(10<<10))
	for i := range 100 {
		read(t, r, content, i<<10, 1<<10)
		if i%5 == 0 {
			read(t, r, content, 0, 10)
		}
		r.mu.Lock()
		bytes, segments := r.store.bytes, len(r.store.segments)
		r.mu.Unlock()
		if bytes > 10<<10 || segments > 10 {
			t.Fatalf("%d bytes in %d segments are cached", bytes, segments)
		}
	}
	if st := r.Stats(); st.Requests != 100 || st.Evicted != 90 {
		t.Errorf("statistics %+v", st)
	}
}

// TestClose checks that calls end when the Reader is closed or its context ends, and that no
// goroutine stays.
func TestClose(t *testing.T) {
	content := random(100 << 10)
	s := newServer(t, content)
	own := errors.New("test: end")
	for _, byContext := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(context.Background())
		r, err := Open(ctx, s.URL, WithSegment(1<<10), WithTail(0), WithMaxRequests(2))
		if err != nil {
			t.Fatal(err)
		}
		s.setFault(func(n int, w http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		})
		errs := make(chan error)
		const calls = 10
		for i := range calls {
			go func() {
				_, err := r.ReadAt(make([]byte, 10), int64(i)*10<<10)
				errs <- err
			}()
		}
		if _, err := r.ReadAt(make([]byte, 10), 0); err != nil {
			t.Errorf("a cached segment: %v", err)
		}
		for len(s.ranges()) < 2 {
			time.Sleep(time.Millisecond)
		}
		want := ErrClosed
		if byContext {
			want = own
			cancel(own)
		} else {
			r.Close()
		}
		for range calls {
			if err := <-errs; !errors.Is(err, want) && err != nil {
				t.Errorf("by context %v: %v", byContext, err)
			}
		}
		if _, err := r.ReadAt(make([]byte, 10), 0); !errors.Is(err, want) {
			t.Errorf("ReadAt after the end: %v", err)
		}
		r.Close()
		r.Close()
		r.wg.Wait()
		cancel(nil)
		s.setFault(nil)
	}
	if !errors.Is(ErrClosed, fs.ErrClosed) {
		t.Error("ErrClosed is not an fs.ErrClosed")
	}
}

// TestLeave ends the contexts of single calls.
func TestLeave(t *testing.T) {
	content := random(100 << 10)
	s := newServer(t, content)
	r := open(t, s)
	started, ended, release := make(chan int, 10), make(chan int, 10), make(chan struct{})
	s.setFault(func(n int, w http.ResponseWriter, r *http.Request) bool {
		started <- n
		select {
		case <-r.Context().Done():
			ended <- n
			return true
		case <-release:
			return false
		}
	})
	call := func(off int64) (cancel context.CancelFunc, result chan error) {
		ctx, cancel := context.WithCancel(context.Background())
		result = make(chan error, 1)
		go func() {
			_, err := r.WithContext(ctx).ReadAt(make([]byte, 3000), off)
			result <- err
		}()
		return cancel, result
	}
	leave1, result1 := call(50 << 10)
	<-started
	leave2, result2 := call(50 << 10)
	for r.Stats().Joined < 3 {
		time.Sleep(time.Millisecond)
	}
	leave1()
	if err := <-result1; err != context.Canceled {
		t.Errorf("a call that left: %v", err)
	}
	select {
	case <-ended:
		t.Error("the request ended though a call waits for it")
	case <-time.After(20 * time.Millisecond):
	}
	leave2()
	if err := <-result2; err != context.Canceled {
		t.Errorf("a call that left: %v", err)
	}
	<-ended // the request
	close(release)
	read(t, r, content, 50<<10, 3000)
}
