package pzbeam

import (
	"context"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/gopz/compress"
)

// Metrics of package pzbeam are in this namespace. docs/CLUSTER.md lists them.
const namespace = "pzbeam"

var (
	filesDone    = beam.NewCounter(namespace, "files")
	filesSkipped = beam.NewCounter(namespace, "skipped_files")
	contentDone  = beam.NewCounter(namespace, "content_bytes")
	packedDone   = beam.NewCounter(namespace, "packed_bytes")
	lostBytes    = beam.NewCounter(namespace, "lost_bytes")
	findingCount = beam.NewCounter(namespace, "findings")
	groupsDone   = beam.NewCounter(namespace, "groups")
	groupTime    = beam.NewDistribution(namespace, "group_ms")
	groupContent = beam.NewDistribution(namespace, "group_bytes")
)

// count counts a file that is complete.
func count(ctx context.Context, r *Result) {
	filesDone.Inc(ctx, 1)
	contentDone.Inc(ctx, r.Content)
	packedDone.Inc(ctx, r.Packed)
	lostBytes.Inc(ctx, r.Lost)
}

// A meter measures the work for one group.
type meter struct {
	start  time.Time
	mu     sync.Mutex
	stages map[stage]*stageWork
}

// stage is a stage of compression or decompression. As text it is part of the names of metrics.
type stage struct{ op, name, backend string }

func (s stage) String() string { return strings.Join([]string{s.op, s.name, s.backend}, ".") }

// stageWork is what a stage did for the blocks of a group.
type stageWork struct {
	bytes, ns int64
	longest   int64     // ns
	buckets   [64]int64 // blocks that took less than 2^i ns, but not less than 2^(i−1)
}

func startMeter() *meter { return &meter{start: time.Now(), stages: map[stage]*stageWork{}} }

// trace notes what a stage did.
func (m *meter) trace(e compress.Stage) {
	key := stage{e.Op, e.Name, e.Backend.String()}
	took := max(0, e.Time.Nanoseconds()/int64(max(1, e.Batch)))
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.stages[key]
	if w == nil {
		w = new(stageWork)
		m.stages[key] = w
	}
	w.bytes += e.Bytes
	w.ns += took
	w.longest = max(w.longest, took)
	w.buckets[bits.Len64(uint64(took))]++
}

// countGroup counts a group with so many bytes of content.
func (m *meter) countGroup(ctx context.Context, content int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	groupsDone.Inc(ctx, 1)
	groupTime.Update(ctx, time.Since(m.start).Milliseconds())
	groupContent.Update(ctx, content)
	for s, w := range m.stages {
		beam.NewCounter(namespace, fmt.Sprint("stage_bytes.", s)).Inc(ctx, w.bytes)
		beam.NewCounter(namespace, fmt.Sprint("stage_ns.", s)).Inc(ctx, w.ns)
		beam.NewDistribution(namespace, fmt.Sprint("stage_longest_ns.", s)).Update(ctx, w.longest)
		for i, n := range w.buckets {
			if n > 0 {
				beam.NewCounter(namespace, fmt.Sprint("stage_blocks.", s, ".", i)).Inc(ctx, n)
			}
		}
	}
}
