package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/gopz/compress"
	pzbeam "github.com/gopz/compress/integrations/beam"
)

func TestMain(m *testing.M) { os.Exit(ptest.MainRet(m)) }

// store is an object store with as much of the protocol of S3 as Beam uses.
type store struct {
	mu      sync.Mutex
	objects map[string][]byte         // by bucket and key
	uploads map[string]map[int][]byte // parts by upload
	cut     int                       // bytes that reading an object leaves out
	aborted int                       // requests whose body did not arrive
}

// ServeHTTP implements http.Handler.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.aborted++
		return
	}
	name, q := strings.TrimPrefix(r.URL.Path, "/"), r.URL.Query()
	w.Header().Set("ETag", `"1"`)
	id := q.Get("uploadId")
	switch {
	case r.Method == "GET" && q.Has("list-type"):
		type object struct{ Key string }
		var list struct {
			XMLName  xml.Name `xml:"ListBucketResult"`
			Contents []object
		}
		for n := range s.objects {
			if key, ok := strings.CutPrefix(n, name+"/"); ok && strings.HasPrefix(key, q.Get("prefix")) {
				list.Contents = append(list.Contents, object{key})
			}
		}
		xml.NewEncoder(w).Encode(list)
	case r.Method == "POST" && q.Has("uploads"):
		id = strconv.Itoa(len(s.uploads))
		s.uploads[id] = map[int][]byte{}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId>"+
			"</InitiateMultipartUploadResult>", id)
	case r.Method == "PUT" && id != "":
		n, _ := strconv.Atoi(q.Get("partNumber"))
		s.uploads[id][n] = body
	case r.Method == "POST" && id != "":
		var all []byte
		for n := 1; n <= len(s.uploads[id]); n++ {
			all = append(all, s.uploads[id][n]...)
		}
		s.objects[name] = all
		fmt.Fprint(w, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
	case r.Method == "PUT":
		s.objects[name] = body
	case r.Method == "DELETE":
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	default:
		p, ok := s.objects[name]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.Method == "GET" {
			p = p[:max(0, len(p)-s.cut)]
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(p)))
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Write(p)
	}
}

// TestS3 compresses and restores objects of several parts through Beam's file system for S3. Then a
// source ends early: no object may appear, and no goroutine may be left.
func TestS3(t *testing.T) {
	s := &store{objects: map[string][]byte{}, uploads: map[string]map[int][]byte{}}
	server := httptest.NewServer(s)
	defer server.Close()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "x",
		"AWS_SECRET_ACCESS_KEY": "x", "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
	content := make([]byte, 12<<20)
	for i := range content {
		content[i] = byte(i>>3) ^ byte(i*i>>11)
	}
	s.objects["in/logs/a"] = content
	run := func(do func(scope beam.Scope)) error {
		p, scope := beam.NewPipelineWithRoot()
		do(scope)
		return ptest.Run(p)
	}
	o := pzbeam.Options{Output: "s3://out/x", Base: "s3://in/", Format: "zst", Level: 1}
	compressed := func(scope beam.Scope) {
		pzbeam.Compress(scope, pzbeam.Match(scope, "s3://in/logs/*"), o)
	}
	if err := run(compressed); err != nil {
		t.Fatal(err)
	}
	opts := []compress.WriterOption{
		compress.WithFormat(compress.Zstd), compress.WithLevel(1), compress.WithSeekable(0),
	}
	packed, err := compress.AppendEncode(nil, content, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.objects["out/x/logs/a.zst"]; !bytes.Equal(got, packed) {
		t.Errorf("%d bytes that differ from the %d wanted", len(got), len(packed))
	}
	if err := run(compressed); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("an output that exists: error %v", err)
	}
	if err := run(func(scope beam.Scope) {
		files := pzbeam.Match(scope, "s3://out/x/logs/a.zst")
		pzbeam.Decompress(scope, files, pzbeam.Options{Output: "s3://back"})
	}); err != nil {
		t.Fatal(err)
	}
	if got := s.objects["back/a"]; !bytes.Equal(got, content) {
		t.Errorf("%d bytes that differ from the %d of the content", len(got), len(content))
	}
	delete(s.objects, "out/x/logs/a.zst")
	s.cut = 1
	if err := run(compressed); err == nil {
		t.Error("a source that ends early is no error")
	}
	s.mu.Lock()
	if p, ok := s.objects["out/x/logs/a.zst"]; ok {
		t.Errorf("an object of %d bytes after an error", len(p))
	}
	s.mu.Unlock()
	for try := 0; ; try++ {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if !bytes.Contains(stacks, []byte("s3.(*writer)")) {
			break
		}
		if try == 100 {
			t.Fatalf("a writer is left:\n%s", stacks)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
