package stats

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collector makes metrics of Prometheus of a Snapshot.
type collector struct{ c *Counters }

// Collector returns a collector of the metrics of c.
func (c *Counters) Collector() prometheus.Collector { return collector{c} }

// Describe implements prometheus.Collector. It sends nothing: which labels there are is known
// later.
func (collector) Describe(chan<- *prometheus.Desc) {}

// A metric is a row of the table of metrics.
type metric struct {
	name, help string
	gauge      bool
	value      func(*Snapshot) float64
}

func seconds(d time.Duration) float64 { return d.Seconds() }

var metricTable = []metric{
	{"uptime_seconds", "Time since the start.", true,
		func(s *Snapshot) float64 { return seconds(s.Uptime) }},
	{"requests_in_flight", "Requests that are being answered.", true,
		func(s *Snapshot) float64 { return float64(s.Requests.InFlight) }},
	{"connections", "Open connections.", true,
		func(s *Snapshot) float64 { return float64(s.Process.Connections) }},
	{"response_bytes_total", "Bytes of bodies sent.", false,
		func(s *Snapshot) float64 { return float64(s.Requests.Bytes) }},
	{"responses_encoded_total", "Responses sent as they are stored, with a Content-Encoding.", false,
		func(s *Snapshot) float64 { return float64(s.Requests.Encoded) }},
	{"responses_cut_total", "Responses that an error of the server ended early.", false,
		func(s *Snapshot) float64 { return float64(s.Requests.Cut) }},
	{"clients_gone_total", "Responses that clients did not take, or too slowly.", false,
		func(s *Snapshot) float64 { return float64(s.Requests.Slow) }},
	{"cache_hits_total", "Requests for blocks that were in the cache or being loaded.", false,
		func(s *Snapshot) float64 { return float64(s.Cache.Hits) }},
	{"cache_misses_total", "Requests for blocks that began to load them.", false,
		func(s *Snapshot) float64 { return float64(s.Cache.Misses) }},
	{"cache_loads_total", "Blocks that began to load, read-ahead included.", false,
		func(s *Snapshot) float64 { return float64(s.Cache.Loads) }},
	{"cache_evictions_total", "Blocks that made room for others.", false,
		func(s *Snapshot) float64 { return float64(s.Cache.Evictions) }},
	{"cache_bytes", "Content in the cache.", true,
		func(s *Snapshot) float64 { return float64(s.Cache.Bytes) }},
	{"cache_limit_bytes", "Most content in the cache.", true,
		func(s *Snapshot) float64 { return float64(s.Cache.Limit) }},
	{"decoded_blocks_total", "Blocks decompressed.", false,
		func(s *Snapshot) float64 { return float64(s.Decode.Items) }},
	{"decoded_bytes_total", "Content of the blocks decompressed.", false,
		func(s *Snapshot) float64 { return float64(s.Decode.Bytes) }},
	{"decode_seconds_total", "Time of workers in decompression.", false,
		func(s *Snapshot) float64 { return seconds(s.Decode.Time) }},
	{"stored_reads_total", "Reads of stored files.", false,
		func(s *Snapshot) float64 { return float64(s.Stored.Items) }},
	{"stored_read_bytes_total", "Bytes read of stored files.", false,
		func(s *Snapshot) float64 { return float64(s.Stored.Bytes) }},
	{"stored_read_errors_total", "Reads of stored files that failed.", false,
		func(s *Snapshot) float64 { return float64(s.Stored.Errors) }},
	{"stored_read_seconds_total", "Time of reads of stored files.", false,
		func(s *Snapshot) float64 { return seconds(s.Stored.Time) }},
	{"memory_waits_total", "Reads that waited for memory.", false,
		func(s *Snapshot) float64 { return float64(s.Waits.Count) }},
	{"memory_wait_seconds_total", "Time that reads waited for memory.", false,
		func(s *Snapshot) float64 { return seconds(s.Waits.Time) }},
	{"sources_reopened_total", "Sources opened again because they had changed.", false,
		func(s *Snapshot) float64 { return float64(s.Reopened.Done) }},
	{"sources_reopen_failures_total", "Sources that could not be opened again.", false,
		func(s *Snapshot) float64 { return float64(s.Reopened.Failed) }},
	{"memory_bytes", "Memory of the Go runtime.", true,
		func(s *Snapshot) float64 { return float64(s.Process.Memory) }},
}

// namespace is the first part of the names of all metrics.
const namespace = "pzserve_"

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	s := c.c.Snapshot("live")
	for i := range metricTable {
		m := &metricTable[i]
		kind := prometheus.CounterValue
		if m.gauge {
			kind = prometheus.GaugeValue
		}
		desc := prometheus.NewDesc(namespace+m.name, m.help, nil, nil)
		out <- prometheus.MustNewConstMetric(desc, kind, m.value(s))
	}
	labelled := func(name, help, label string, values map[string]int64) {
		desc := prometheus.NewDesc(namespace+name, help, []string{label}, nil)
		for value, n := range values {
			out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), value)
		}
	}
	labelled("requests_total", "Requests answered.", "status", s.Requests.ByStatus)
	labelled("errors_total", "Requests that failed, by reason.", "reason", s.Errors)
	buckets, sum := map[float64]uint64{}, uint64(0)
	for i, n := range s.Requests.Time.Counts {
		sum += uint64(n)
		if i < len(Bounds) {
			buckets[seconds(Bounds[i])] = sum
		}
	}
	desc := prometheus.NewDesc(namespace+"request_seconds", "Time of requests.", nil, nil)
	out <- prometheus.MustNewConstHistogram(desc, sum, seconds(s.Requests.Time.Sum), buckets)
}
