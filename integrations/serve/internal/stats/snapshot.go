// Package stats counts what a server does. A Snapshot has the numbers at one time. It is plain
// data: the page /debug/stats, the metrics of Prometheus, the files of a profile and the sum over
// many servers are all made of it.
package stats

import (
	"time"
)

// Format is the version of the form of a Snapshot.
const Format = 1

// A Snapshot has what a server has done since it started, at one time.
type Snapshot struct {
	Format   int              `json:"format"`
	Run      Run              `json:"run"`
	Number   int              `json:"number"` // of the snapshots of a run, from 1; 0 if it is not in a file
	Kind     string           `json:"kind"`   // "live", "interval", "final" or "sum"
	Taken    time.Time        `json:"taken"`
	Uptime   time.Duration    `json:"uptime_ns"`
	Requests Requests         `json:"requests"`
	Errors   map[string]int64 `json:"errors"` // by reason
	Cache    Cache            `json:"cache"`
	Decode   Work             `json:"decode"` // by workers; items are blocks
	Stored   Work             `json:"stored"` // reads of stored bytes
	Remote   Remote           `json:"remote"`
	Waits    Wait             `json:"waits"` // of reads for memory
	Reopened Reopened         `json:"reopened"`
	Process  Process          `json:"process"`
	Blocks   []Cost           `json:"top_blocks,omitempty"`
	Files    []Cost           `json:"top_files,omitempty"`
	Log      Log              `json:"log"`
}

// Run names a run of a server.
type Run struct {
	ID      string    `json:"id"` // differs between all runs on all machines
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Start   time.Time `json:"start"`
	Go      string    `json:"go"`
	Kernels string    `json:"kernels"`
	Workers int       `json:"workers"`
	Mode    string    `json:"mode"` // of the profile
	Sources []string  `json:"sources"`
}

// Requests counts requests.
type Requests struct {
	ByStatus map[string]int64 `json:"by_status"`
	InFlight int64            `json:"in_flight"`
	Bytes    int64            `json:"bytes"`        // of bodies
	Encoded  int64            `json:"encoded"`      // responses that were sent as they are stored
	Cut      int64            `json:"cut"`          // responses that ended early by an error
	Slow     int64            `json:"clients_gone"` // responses that the client did not take, or too slowly
	Time     Histogram        `json:"time"`
}

// Total returns the number of all requests.
func (r *Requests) Total() (n int64) {
	for _, k := range r.ByStatus {
		n += k
	}
	return n
}

// Bounds of the buckets of a Histogram: a bucket has times up to and with its bound. The last
// bucket has all longer ones.
var Bounds = [...]time.Duration{
	time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond,
	100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second,
	30 * time.Second, 100 * time.Second,
}

// A Histogram counts times.
type Histogram struct {
	Counts [len(Bounds) + 1]int64 `json:"counts"`
	Sum    time.Duration          `json:"sum_ns"`
}

// Quantile returns the bound of the bucket with the quantile q, 0 … 1. ok is false if that is the
// last bucket, or if there are no times.
func (h *Histogram) Quantile(q float64) (bound time.Duration, ok bool) {
	total := int64(0)
	for _, n := range h.Counts {
		total += n
	}
	seen := int64(0)
	for i, n := range h.Counts[:len(Bounds)] {
		if seen += n; n > 0 && float64(seen) >= q*float64(total) {
			return Bounds[i], true
		}
	}
	return 0, false
}

// Cache counts requests for blocks. See blockcache.Stats.
type Cache struct {
	Hits      int64 `json:"hits"`
	Misses    int64 `json:"misses"`
	Waits     int64 `json:"waits"`
	Loads     int64 `json:"loads"`
	Loaded    int64 `json:"loaded_bytes"`
	Evictions int64 `json:"evictions"`
	Bytes     int64 `json:"bytes"`
	Limit     int64 `json:"limit_bytes"`
}

// Work counts items, their bytes, and the time that they took. Times of several goroutines add up.
type Work struct {
	Items  int64         `json:"items"`
	Bytes  int64         `json:"bytes"`
	Errors int64         `json:"errors"`
	Time   time.Duration `json:"ns"`
}

// Remote counts requests to the servers of URLs, of those that are open.
type Remote struct {
	Requests int64 `json:"requests"`
	Retries  int64 `json:"retries"`
	Bytes    int64 `json:"bytes"`
}

// Wait counts waits.
type Wait struct {
	Count int64         `json:"count"`
	Time  time.Duration `json:"ns"`
}

// Reopened counts sources that were opened again because they had changed.
type Reopened struct {
	Done   int64 `json:"done"`
	Failed int64 `json:"failed"`
}

// Process describes the process.
type Process struct {
	Memory      int64 `json:"memory_bytes"` // that Go's runtime has from the system and not given back
	MemoryLimit int64 `json:"memory_limit_bytes"`
	Goroutines  int64 `json:"goroutines"`
	Connections int64 `json:"connections"`
}

// Log says how many rows the full log has, and how many it has left out because it was full.
type Log struct {
	Rows    int64 `json:"rows"`
	Dropped int64 `json:"dropped"`
}

// addSnapshot adds the numbers of another run. Sizes of caches and processes add up to those of the
// cluster.
func (s *Snapshot) addSnapshot(o *Snapshot) {
	addMap(&s.Requests.ByStatus, o.Requests.ByStatus)
	addMap(&s.Errors, o.Errors)
	for i, n := range o.Requests.Time.Counts {
		s.Requests.Time.Counts[i] += n
	}
	s.Uptime += o.Uptime
	s.Requests.Time.Sum += o.Requests.Time.Sum
	addAll(
		[]*int64{&s.Requests.InFlight, &s.Requests.Bytes, &s.Requests.Encoded, &s.Requests.Cut,
			&s.Requests.Slow, &s.Cache.Hits, &s.Cache.Misses, &s.Cache.Waits, &s.Cache.Loads, &s.Cache.Loaded,
			&s.Cache.Evictions, &s.Cache.Bytes, &s.Cache.Limit, &s.Remote.Requests, &s.Remote.Retries,
			&s.Remote.Bytes, &s.Reopened.Done, &s.Reopened.Failed, &s.Process.Memory,
			&s.Process.MemoryLimit, &s.Process.Goroutines, &s.Process.Connections, &s.Log.Rows,
			&s.Log.Dropped},
		[]int64{o.Requests.InFlight, o.Requests.Bytes, o.Requests.Encoded, o.Requests.Cut,
			o.Requests.Slow, o.Cache.Hits, o.Cache.Misses, o.Cache.Waits, o.Cache.Loads, o.Cache.Loaded,
			o.Cache.Evictions, o.Cache.Bytes, o.Cache.Limit, o.Remote.Requests, o.Remote.Retries,
			o.Remote.Bytes, o.Reopened.Done, o.Reopened.Failed, o.Process.Memory,
			o.Process.MemoryLimit, o.Process.Goroutines, o.Process.Connections, o.Log.Rows, o.Log.Dropped})
	s.Decode.addWork(o.Decode)
	s.Stored.addWork(o.Stored)
	s.Waits.Count += o.Waits.Count
	s.Waits.Time += o.Waits.Time
	s.Blocks = append(s.Blocks, o.Blocks...)
	s.Files = append(s.Files, o.Files...)
}

func (w *Work) addWork(o Work) {
	w.Items += o.Items
	w.Bytes += o.Bytes
	w.Errors += o.Errors
	w.Time += o.Time
}

func addAll(to []*int64, from []int64) {
	for i, n := range from {
		*to[i] += n
	}
}

func addMap(to *map[string]int64, from map[string]int64) {
	if *to == nil {
		*to = map[string]int64{}
	}
	for k, n := range from {
		(*to)[k] += n
	}
}

// merge adds up costs of the same key, and returns the n highest.
func merge(list []Cost, n int) []Cost {
	sums := map[string]Cost{}
	for _, c := range list {
		s := sums[c.Key]
		s.Key = c.Key
		s.Count += c.Count
		s.Bytes += c.Bytes
		s.Time += c.Time
		s.Over += c.Over
		sums[c.Key] = s
	}
	all := make([]Cost, 0, len(sums))
	for _, c := range sums {
		all = append(all, c)
	}
	return highest(all, n)
}
