package stats

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/httprange"
	"github.com/gopz/compress/integrations/serve/internal/source"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestTop checks the promises of Top on keys with skewed costs.
func TestTop(t *testing.T) {
	const keys, limit = 5000, 100
	top := NewTop[int](limit)
	exact := make([]time.Duration, keys)
	var total time.Duration
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.2, 1, keys-1)
	for range 200_000 {
		k, took := int(z.Uint64()), time.Duration(1+r.IntN(100))
		exact[k] += took
		total += took
		top.AddCost(k, 1, 10, took)
	}
	if len(top.keys) != limit || len(top.heap) != limit {
		t.Fatalf("%d keys", len(top.keys))
	}
	seen := map[int]bool{}
	for _, e := range top.heap {
		seen[e.key] = true
		if e.cost.Time < exact[e.key] || e.cost.Time-e.cost.Over > exact[e.key] {
			t.Errorf("key %d: %v over %v, exact %v", e.key, e.cost.Time, e.cost.Over, exact[e.key])
		}
	}
	for k, d := range exact {
		if d > total/limit && !seen[k] {
			t.Errorf("key %d with %v of %v is missing", k, d, total)
		}
	}
	list := top.Costs(10, func(k int) string { return string(rune('a' + k)) })
	if len(list) != 10 || list[0].Key != "a" {
		t.Errorf("%v", list)
	}
}

func TestReason(t *testing.T) {
	for want, err := range map[string]error{
		"damaged": compress.ErrChecksum, "memory": compress.ErrMemory, "busy": source.ErrBusy,
		"changed": source.ErrChanged, "remote": &httprange.Error{Err: httprange.ErrStatus, Status: 404},
		"other": errors.New("?"),
	} {
		if got := Reason(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	h := Histogram{}
	if _, ok := h.Quantile(0.5); ok {
		t.Error("a quantile of nothing")
	}
	h.Counts[1], h.Counts[4], h.Counts[len(Bounds)] = 50, 49, 1
	for q, want := range map[float64]time.Duration{
		0: Bounds[1], 0.5: Bounds[1], 0.51: Bounds[4], 0.99: Bounds[4],
	} {
		if got, ok := h.Quantile(q); !ok || got != want {
			t.Errorf("%v: %v", q, got)
		}
	}
	if got, ok := h.Quantile(1); ok {
		t.Errorf("1: %v", got)
	}
}

// fill makes requests and blocks.
func fill(c *Counters) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 100 {
				c.BeginRequest()
				took := time.Millisecond * time.Duration(i+1)
				c.EndRequest(&Request{Method: "GET", Path: "/a\n,\"", Status: 200, Bytes: 5, Took: took})
				c.Decoded("s", "f", &compress.Stage{Name: "check", First: true, Bytes: 7, Time: 3})
				c.Decoded("s", "f", &compress.Stage{Name: "rans", Bytes: 7, Time: 4})
				c.Stored(9, 2, nil)
			}
		})
	}
	wg.Wait()
	c.BeginRequest()
	c.EndRequest(&Request{Status: 500, Err: compress.ErrCorrupt})
}

// TestCounters checks a snapshot of concurrent work, and the metrics made of it.
func TestCounters(t *testing.T) {
	c := NewCounters(TopN, 5)
	fill(c)
	s := c.Snapshot("live")
	if s.Requests.Total() != 801 || s.Requests.ByStatus["200"] != 800 || s.Requests.Bytes != 4000 ||
		s.Requests.InFlight != 0 || s.Errors["damaged"] != 1 || s.Decode != (Work{800, 5600, 0, 5600}) ||
		s.Stored != (Work{800, 7200, 0, 1600}) || len(s.Blocks) != 1 || s.Blocks[0].Count != 800 {
		t.Errorf("%+v", s)
	}
	problems, err := testutil.CollectAndLint(c.Collector())
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	want := "# HELP pzserve_requests_total Requests answered.\n# TYPE pzserve_requests_total counter\n" +
		"pzserve_requests_total{status=\"200\"} 800\npzserve_requests_total{status=\"500\"} 1\n"
	err = testutil.CollectAndCompare(c.Collector(), strings.NewReader(want), "pzserve_requests_total")
	if err != nil {
		t.Error(err)
	}
}

// TestLogLimit checks that the full log stays within its size, and has one line for each row.
func TestLogLimit(t *testing.T) {
	dir := t.TempDir()
	c := NewCounters(Full, 5)
	const limit = 50_000
	p, err := NewProfile(dir, c, 2, limit)
	if err != nil {
		t.Fatal(err)
	}
	fill(c)
	for _, kind := range []string{"interval", "interval", "final", "interval"} {
		if err := p.Write(kind); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	runs, err := ReadRuns([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	s := runs[0]
	if len(runs) != 1 || s.Kind != "final" || s.Number != 3 || s.Log.Rows == 0 ||
		s.Log.Rows+s.Log.Dropped != 2401 {
		t.Errorf("%+v", s)
	}
	size, lines := 0, int64(0)
	for _, suffix := range []string{requestsSuffix, blocksSuffix} {
		text, err := os.ReadFile(filepath.Join(dir, c.run.ID+suffix))
		if err != nil {
			t.Fatal(err)
		}
		size += len(text)
		lines += int64(strings.Count(string(text), "\n")) - 1
	}
	if size > limit*3/2 || lines != s.Log.Rows {
		t.Errorf("%d bytes, %d lines of %d rows", size, lines, s.Log.Rows)
	}
	if sum := Add(runs, 3).Summary(); !strings.Contains(sum, "lack") {
		t.Error("the summary says nothing of rows that are missing")
	}
}

// TestAggregate adds up runs, of which several files are there, and refuses other files.
func TestAggregate(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		c := NewCounters(TopN, 5)
		c.run.ID += string(rune('a' + i)) // they start in the same millisecond
		p, err := NewProfile(filepath.Join(dir, "host"), c, 9, 0)
		if err != nil {
			t.Fatal(err)
		}
		fill(c)
		for range 2 {
			if err := p.Write("interval"); err != nil {
				t.Fatal(err)
			}
		}
	}
	runs, err := ReadRuns([]string{dir, filepath.Join(dir, "host")})
	if err != nil {
		t.Fatal(err)
	}
	sum := Add(runs, 5)
	if err := sum.Write(dir); err != nil { // its files are no snapshots
		t.Fatal(err)
	}
	if len(runs) != 3 || sum.Total.Requests.Total() != 3*801 || sum.Total.Blocks[0].Count != 2400 ||
		sum.Total.Requests.Time.Counts[0] != 300+3 || sum.Total.Errors["damaged"] != 3 {
		t.Errorf("%+v", sum.Total)
	}
	for text, want := range map[string]string{
		"": "not a snapshot", "{}": "not a snapshot", `{"format":99,"run":{"id":"x"}}`: "version 99",
	} {
		file := filepath.Join(dir, "bad.000001.json")
		os.WriteFile(file, []byte(text), 0o644)
		if _, err := ReadRuns([]string{dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadRuns([]string{t.TempDir()}); err == nil {
		t.Error("no snapshots, but no error")
	}
}
