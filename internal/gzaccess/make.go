package gzaccess

import (
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
)

// Make makes the Map of the .gz file of size bytes that src holds. It decodes the file, which it
// verifies on the way, unless it is a BGZF file. Errors are those of a Reader of the file. A crew
// of nil works on the caller's goroutine. The Map does not depend on the crew.
func Make(src io.ReaderAt, size int64, limits *container.Limits, crew Crew) (*Map, error) {
	return makeSpaced(src, size, limits, crew, spacing)
}

// makeSpaced is Make with another distance of checkpoints, in bytes of content.
func makeSpaced(
	src io.ReaderAt, size int64, limits *container.Limits, crew Crew, spacing int64,
) (*Map, error) {
	if err := checkMemory(limits); err != nil {
		return nil, err
	}
	if m, err := makeBGZF(src, size, limits); m != nil || err != nil {
		return m, err
	}
	m := maker{hasSums: true, spacing: spacing, most: pointsLimit(limits)}
	if err := m.pass(src, size, limits, crew, nil, nil); err != nil {
		return nil, err
	}
	m.closeInterval()
	x, err := newMap(size, m.content, m.points, m.sums)
	if x != nil {
		x.thin = m.thinned
	}
	return x, err
}

func checkMemory(limits *container.Limits) error {
	if limit := limits.Memory(); limit < makerMemory {
		return errs.OutOfMemory(makerMemory,
			"random access to a .gz file takes %d bytes of memory, more than the limit of %d",
			makerMemory, limit)
	}
	return nil
}

// A maker collects checkpoints.
//
// Of the places where decoding can start, it keeps the first one at or behind each multiple of the
// spacing. The spacing is multiplied by powers of two only. So what is kept does not depend on when
// places were dropped.
type maker struct {
	points  []gzindex.Checkpoint
	hasSums bool     // intervals get sums
	sums    []uint32 // of the intervals before the last one
	sum     uint32   // of the last interval so far
	content int64    // bytes of content so far
	spacing int64    // content between checkpoints, in bytes
	memory  int64    // of checkpoints, in bytes
	most    int64    // limit of memory
	thinned bool     // checkpoints have been dropped
}

// grow adds size bytes of content to the last interval. sum is their checksum.
func (m *maker) grow(size int64, sum uint32) {
	if m.hasSums {
		m.sum = gzfile.Combine(m.sum, sum, size)
	}
	m.content += size
}

// addCheckpoint adds a checkpoint behind the content so far, unless it is too near to the last one.
func (m *maker) addCheckpoint(c gzindex.Checkpoint) {
	if n := len(m.points); n > 0 {
		if c.Content/m.spacing == m.points[n-1].Content/m.spacing {
			return
		}
		m.closeInterval()
	}
	m.insert(c)
}

// closeInterval ends the interval behind the last checkpoint.
func (m *maker) closeInterval() {
	if m.hasSums {
		m.sums = append(m.sums, m.sum)
		m.sum = 0
	}
}

// insert adds a checkpoint behind the last one. If the checkpoints take too much memory, it drops
// some.
func (m *maker) insert(c gzindex.Checkpoint) {
	m.points = append(m.points, c)
	m.memory += pointMemory + int64(c.Window.Size())
	for m.memory > m.most && len(m.points) > 1 {
		m.dropCheckpoints()
	}
}

// dropCheckpoints doubles the spacing at least, and drops about every second checkpoint or more.
func (m *maker) dropCheckpoints() {
	n := len(m.points)
	last := m.points[n-1].Content
	for m.spacing *= 2; m.spacing < 2*last/int64(n); {
		m.spacing *= 2
	}
	m.memory, m.thinned = 0, true
	if m.hasSums {
		m.sums = append(m.sums, m.sum)
	}
	kept := 0
	for i, c := range m.points {
		if i > 0 && c.Content/m.spacing == m.points[kept-1].Content/m.spacing {
			if m.hasSums {
				size := m.intervalEnd(i) - c.Content
				m.sums[kept-1] = gzfile.Combine(m.sums[kept-1], m.sums[i], size)
			}
			continue
		}
		m.points[kept] = c
		if m.hasSums {
			m.sums[kept] = m.sums[i]
		}
		m.memory += pointMemory + int64(c.Window.Size())
		kept++
	}
	clear(m.points[kept:])
	m.points = m.points[:kept]
	if m.hasSums {
		m.sum, m.sums = m.sums[kept-1], m.sums[:kept-1]
	}
}

// intervalEnd returns where the content of interval i ends. No interval before i+1 has been moved.
func (m *maker) intervalEnd(i int) int64 {
	if i+1 < len(m.points) {
		return m.points[i+1].Content
	}
	return m.content
}
