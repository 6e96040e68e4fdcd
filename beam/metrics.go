package pzbeam

import (
	"context"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/gopz/compress"
)

// Metrics of package pzbeam are in this namespace. docs/CLUSTER.md lists them.
const namespace = "pzbeam"

var (
	filesDone    = beam.NewCounter(namespace, "files")
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
	stages map[string]time.Duration
}

func startMeter() *meter {
	return &meter{start: time.Now(), stages: map[string]time.Duration{}}
}

// options returns what makes the scheduler tell the meter of each stage.
func (m *meter) options() []compress.Option {
	return []compress.Option{compress.WithTrace(func(e compress.StageEvent) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.stages[e.Stage] += e.Took
	})}
}

// end counts a group with so many bytes of content.
func (m *meter) end(ctx context.Context, content int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	groupsDone.Inc(ctx, 1)
	groupTime.Update(ctx, time.Since(m.start).Milliseconds())
	groupContent.Update(ctx, content)
	for stage, d := range m.stages {
		beam.NewDistribution(namespace, "stage_us_"+stage).Update(ctx, d.Microseconds())
	}
}
