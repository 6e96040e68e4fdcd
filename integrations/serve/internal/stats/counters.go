package stats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/httprange"
	"github.com/gopz/compress/integrations/serve/internal/source"
	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/simd"
)

// Mode says how much a server measures. Each mode has what those before it have.
type Mode int

// The modes.
const (
	Aggregate Mode = iota // counters
	TopN                  // the blocks and files that cost most
	Full                  // a row for each request and each block that is decompressed
)

var modes = [...]string{"counters", "top", "full"}

func (m Mode) String() string { return modes[m] }

// ParseMode returns the mode of a name.
func ParseMode(s string) (Mode, error) {
	for i, name := range modes {
		if s == name {
			return Mode(i), nil
		}
	}
	return 0, fmt.Errorf("%q: want counters, top or full", s)
}

// kept is how many keys a Top remembers for each one that it shows.
const kept = 8

// Counters counts. Its methods may be called from several goroutines at the same time.
type Counters struct {
	run   Run
	mode  Mode
	top   int
	cache func() (blockcache.Stats, int64) // and its limit; may be nil
	urls  func() httprange.Stats           // may be nil

	status  [600]atomic.Int64
	flight  atomic.Int64
	bytes   atomic.Int64
	encoded atomic.Int64
	cut     atomic.Int64
	slow    atomic.Int64
	buckets [len(Bounds) + 1]atomic.Int64
	took    atomic.Int64
	conns   atomic.Int64
	decode  work
	stored  work
	waits   work
	reopens [2]atomic.Int64 // done, failed

	mu     sync.Mutex
	errors map[string]int64

	blocks *Top[blockKey]
	files  *Top[string]
	log    *rowLog // nil unless the mode is Full
}

// blockKey names a block: the number is that in its stream.
type blockKey struct {
	source, file string
	number       int64 // −1: the first pass through a .gz file
}

func (k blockKey) String() string {
	name := k.source
	if k.file != "" {
		name += "/" + k.file
	}
	if k.number < 0 {
		return name + " (opening)"
	}
	return name + " block " + strconv.FormatInt(k.number, 10)
}

type work struct{ items, bytes, errors, ns atomic.Int64 }

func (w *work) addWork(items, bytes int64, took time.Duration) {
	w.items.Add(items)
	w.bytes.Add(bytes)
	w.ns.Add(int64(took))
}

func (w *work) load() Work {
	return Work{w.items.Load(), w.bytes.Load(), w.errors.Load(), time.Duration(w.ns.Load())}
}

// NewCounters returns Counters of a run that starts now. They show the top blocks and files.
func NewCounters(mode Mode, top int) *Counters {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	start := time.Now()
	c := &Counters{mode: mode, top: top, errors: map[string]int64{}}
	c.run = Run{
		ID:   fmt.Sprintf("%s-%s-%d", host, start.UTC().Format("20060102T150405.000Z"), os.Getpid()),
		Host: host, PID: os.Getpid(), Start: start.UTC(), Go: runtime.Version(),
		Kernels: simd.Tier(), Workers: runtime.GOMAXPROCS(0), Mode: mode.String(),
	}
	if mode >= TopN {
		c.blocks, c.files = NewTop[blockKey](kept*top), NewTop[string](kept*top)
	}
	return c
}

// Watch has snapshots include sources by name, the cache and the URLs. Call it before the first
// request.
func (c *Counters) Watch(
	sources []string, cache func() (blockcache.Stats, int64), urls func() httprange.Stats,
) {
	c.run.Sources, c.cache, c.urls = sources, cache, urls
}

// A Request is a request that has ended.
type Request struct {
	Method, Path string
	Status       int
	Bytes        int64 // of the body
	Begin        time.Time
	Took         time.Duration
	Encoded      bool  // it was sent as it is stored
	Cut          bool  // it ended early
	ClientGone   bool  // and that was the client's doing
	Err          error // nil if there was none
}

// BeginRequest counts a request that begins. The caller calls EndRequest.
func (c *Counters) BeginRequest() { c.flight.Add(1) }

// EndRequest counts a request that has ended.
func (c *Counters) EndRequest(r *Request) {
	c.flight.Add(-1)
	if r.Status > 0 && r.Status < len(c.status) {
		c.status[r.Status].Add(1)
	}
	c.bytes.Add(r.Bytes)
	for _, x := range []struct {
		is bool
		n  *atomic.Int64
	}{{r.Encoded, &c.encoded}, {r.Cut && !r.ClientGone, &c.cut}, {r.ClientGone, &c.slow}} {
		if x.is {
			x.n.Add(1)
		}
	}
	i := 0
	for i < len(Bounds) && r.Took > Bounds[i] {
		i++
	}
	c.buckets[i].Add(1)
	c.took.Add(int64(r.Took))
	if r.Err != nil && !r.ClientGone {
		c.mu.Lock()
		c.errors[Reason(r.Err)]++
		c.mu.Unlock()
	}
	if c.mode >= TopN && r.Status < 300 {
		c.files.AddCost(r.Path, 1, r.Bytes, r.Took)
	}
	if c.log != nil {
		c.log.request(r)
	}
}

// Reason returns a word for what kind of error it is.
func Reason(err error) string {
	var remote *httprange.Error
	switch {
	case errors.Is(err, source.ErrBusy), errors.Is(err, context.Canceled):
		return "busy"
	case errors.Is(err, source.ErrChanged), errors.Is(err, httprange.ErrChanged),
		errors.Is(err, compress.ErrClosed):
		return "changed"
	case errors.As(err, &remote):
		return "remote"
	case errors.Is(err, compress.ErrMemory), errors.Is(err, compress.ErrTooLarge):
		return "memory"
	case errors.Is(err, compress.ErrCorrupt), errors.Is(err, compress.ErrTruncated),
		errors.Is(err, compress.ErrFormat), errors.Is(err, compress.ErrVersion):
		return "damaged"
	}
	return "other"
}

// Connection counts a connection that opens, 1, or closes, −1.
func (c *Counters) Connection(n int64) { c.conns.Add(n) }

// Stored implements source.Observer.
func (c *Counters) Stored(n int, took time.Duration, err error) {
	c.stored.addWork(1, int64(n), took)
	if err != nil {
		c.stored.errors.Add(1)
	}
}

// Decoded implements source.Observer.
func (c *Counters) Decoded(source, file string, e *compress.Stage) {
	blocks, bytes := int64(0), int64(0)
	if e.First {
		blocks, bytes = 1, e.Bytes
	}
	c.decode.addWork(blocks, bytes, e.Time)
	if c.mode >= TopN {
		c.blocks.AddCost(blockKey{source, file, e.Block}, blocks, bytes, e.Time)
	}
	if c.log != nil {
		c.log.block(source, file, e)
	}
}

// Waited implements source.Observer.
func (c *Counters) Waited(d time.Duration) { c.waits.addWork(1, 0, d) }

// Reopened implements source.Observer.
func (c *Counters) Reopened(err error) {
	if err != nil {
		c.reopens[1].Add(1)
		return
	}
	c.reopens[0].Add(1)
}

// Snapshot returns the numbers at this time.
func (c *Counters) Snapshot(kind string) *Snapshot {
	now := time.Now()
	s := &Snapshot{
		Format: Format, Run: c.run, Kind: kind, Taken: now.UTC(), Uptime: now.Sub(c.run.Start),
		Errors: map[string]int64{},
		Requests: Requests{ByStatus: map[string]int64{}, InFlight: c.flight.Load(), Bytes: c.bytes.Load(),
			Encoded: c.encoded.Load(), Cut: c.cut.Load(), Slow: c.slow.Load()},
		Decode: c.decode.load(), Stored: c.stored.load(),
		Waits:    Wait{c.waits.items.Load(), time.Duration(c.waits.ns.Load())},
		Reopened: Reopened{c.reopens[0].Load(), c.reopens[1].Load()},
		Process:  process(),
	}
	s.Process.Connections = c.conns.Load()
	for code := range c.status {
		if n := c.status[code].Load(); n > 0 {
			s.Requests.ByStatus[strconv.Itoa(code)] = n
		}
	}
	for i := range c.buckets {
		s.Requests.Time.Counts[i] = c.buckets[i].Load()
	}
	s.Requests.Time.Sum = time.Duration(c.took.Load())
	c.mu.Lock()
	for reason, n := range c.errors {
		s.Errors[reason] = n
	}
	c.mu.Unlock()
	if c.cache != nil {
		st, limit := c.cache()
		s.Cache = Cache{st.Hits, st.Misses, st.Waits, st.Loads, st.LoadedBytes, st.Evictions, st.Bytes, limit}
	}
	if c.urls != nil {
		st := c.urls()
		s.Remote = Remote{st.Requests, st.Retries, st.Bytes}
	}
	if c.mode >= TopN {
		s.Blocks = c.blocks.Costs(c.top, blockKey.String)
		s.Files = c.files.Costs(c.top, func(path string) string { return path })
	}
	if c.log != nil {
		s.Log = Log{c.log.rows.Load(), c.log.dropped.Load()}
	}
	return s
}

// process describes the process.
func process() Process {
	m := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(m)
	return Process{
		Memory:      int64(m[0].Value.Uint64() - m[1].Value.Uint64()),
		MemoryLimit: debug.SetMemoryLimit(-1),
		Goroutines:  int64(runtime.NumGoroutine()),
	}
}
