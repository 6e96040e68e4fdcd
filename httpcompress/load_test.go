package httpcompress

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/internal/testenv"
)

// TestConcurrent sends many requests of all kinds at once. No response may have bytes of another
// one.
func TestConcurrent(t *testing.T) {
	sizes := []int{0, 100, 2000, 70_000, 400_000}
	contents := make([][]byte, len(sizes))
	for i, n := range sizes {
		contents[i] = append(page(n), strconv.Itoa(i)...)
	}
	before := runtime.NumGoroutine()
	s := httptest.NewServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.URL.Query().Get("i"))
		p := contents[i]
		switch r.URL.Query().Get("how") {
		case "copy":
			io.Copy(w, bytes.NewReader(p))
		case "flush":
			w.Write(p[:len(p)/2])
			w.(http.Flusher).Flush()
			w.Write(p[len(p)/2:])
		case "panic":
			w.Write(p)
			panic(http.ErrAbortHandler)
		default:
			w.Write(p)
		}
	})))
	client := &http.Client{Transport: &http.Transport{DisableCompression: true,
		MaxIdleConnsPerHost: 20}}
	var wg sync.WaitGroup
	for c := range 20 {
		wg.Go(func() {
			for k := range 30 {
				i, how := (c+k)%len(sizes), []string{"write", "copy", "flush", "panic"}[(c+k/5)%4]
				r, err := http.NewRequest("GET", fmt.Sprintf("%s/?i=%d&how=%s", s.URL, i, how), nil)
				if err != nil {
					t.Error(err)
					return
				}
				encoding := []string{"zstd", "gzip"}[k%2]
				r.Header.Set("Accept-Encoding", encoding)
				resp, err := client.Do(r)
				if err != nil {
					if how != "panic" {
						t.Errorf("%s of %d bytes: %v", how, sizes[i], err)
					}
					continue
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if (err != nil) != (how == "panic") {
					t.Errorf("%s of %d bytes: %v", how, sizes[i], err)
				} else if err == nil {
					wantContent(t, how, resp.Header.Get("Content-Encoding"), body, contents[i])
				}
			}
		})
	}
	wg.Wait()
	client.CloseIdleConnections()
	s.Close()
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 1000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// none is a ResponseWriter that drops all.
type none struct{ header http.Header }

func (w *none) Header() http.Header         { return w.header }
func (w *none) Write(p []byte) (int, error) { return len(p), nil }
func (w *none) WriteHeader(int)             {}

// written returns a function that serves a request for content.
func written(content []byte, encoding string) func() {
	h := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = jsonType
		w.Write(content)
	}))
	r, w := request("GET", "Accept-Encoding: "+encoding), &none{http.Header{}}
	return func() {
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

var jsonType = []string{"application/json"}

// TestAllocations counts allocations of a request: the response, and values of headers.
func TestAllocations(t *testing.T) {
	testenv.Measures(t)
	for _, size := range []int{100, 5000, 60_000} {
		for _, encoding := range []string{"zstd", "gzip", "br"} {
			f := written(page(size), encoding)
			f()
			if n := testing.AllocsPerRun(100, f); n > 4 {
				t.Errorf("%d bytes, %s: %v allocations", size, encoding, n)
			}
		}
	}
}

// TestSmallStartsNothing checks that a small response is compressed without another goroutine.
func TestSmallStartsNothing(t *testing.T) {
	testenv.Measures(t)
	for _, encoding := range []string{"zstd", "gzip"} {
		f := written(page(60_000), encoding)
		f()
		runtime.GC()
		before := started()
		for range 100 {
			f()
		}
		if n := started() - before; n > 10 {
			t.Errorf("%s: %d goroutines for 100 requests", encoding, n)
		}
	}
}

// started returns how many goroutines the process has started so far.
func started() uint64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestCurl lets curl decompress.
func TestCurl(t *testing.T) {
	curl := testenv.Tool(t, "curl")
	content := page(300_000)
	encodings := []string{}
	s := serve(t, Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(content[:1000])
		w.(http.Flusher).Flush()
		encodings = append(encodings, w.Header().Get("Content-Encoding"))
		w.Write(content[1000:])
	})), false)
	// curl asks for what it has been built with.
	for _, args := range [][]string{{"--compressed"}, {"--compressed", "-H",
		"Accept-Encoding: gzip"}, {}} {
		got, err := exec.Command(curl, append(args, "-sS", s.URL)...).Output()
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%q: %d bytes, %v", args, len(got), err)
		}
	}
	if len(encodings) != 3 || encodings[0] == "" || encodings[1] != "gzip" || encodings[2] != "" {
		t.Errorf("Content-Encoding %q", encodings)
	}
}

func BenchmarkHandler(b *testing.B) {
	for _, size := range []int{2000, 20_000, 100_000, 1_000_000} {
		for _, encoding := range []string{"zstd", "gzip"} {
			b.Run(fmt.Sprintf("%s/%d", encoding, size), func(b *testing.B) {
				f := written(page(size), encoding)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
	}
}
