package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gopz/compress/gpu"
)

// Files of --out.
const (
	summaryFile        = "summary.md"
	statsFile          = "stats.tsv"
	stagesFile         = "stages.csv"
	histogramFile      = "histogram.csv"
	slowestFile        = "slowest.csv"
	snapshotsFile      = "snapshots.csv"
	snapshotStagesFile = "snapshot-stages.csv"
	blocksFile         = "blocks.csv"
)

// outDir is the directory of --out. Results are written anew again and again, each file by a
// rename, so that a killed run leaves whole files. Snapshots and blocks are appended in whole rows.
type outDir struct {
	path      string
	mu        sync.Mutex
	snapshots *rowFile
	stages    *rowFile // of snapshots
	blocks    *blockFile
	done      bool // the last snapshot is written
	count     int
	lastAt    time.Duration
	lastBytes int64
}

// createDir makes a directory for output, which must not have any: files of two runs do not mix.
func createDir(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, name := range []string{statsFile, snapshotsFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s has the output of another run; name another directory", dir)
		}
	}
	return nil
}

// finalSnapshot is the kind of the last snapshot.
const finalSnapshot = "final"

// snapshotHead has the columns of snapshots.csv, before those of the scheduler.
var snapshotHead = []string{"snapshot", "kind", "elapsed_ns", "iteration", "blocks", "content_bytes",
	"mbps_since_last", "in_flight", "heap_bytes", "rss_bytes", "order_wait_ns", "order_wait_max_ns"}

// newOutDir creates the directory and its first files, so that even a run that is killed while it
// prepares leaves its settings.
func newOutDir(m *measurement) (*outDir, error) {
	if err := createDir(m.out); err != nil {
		return nil, err
	}
	o := &outDir{path: m.out}
	head := snapshotHead
	for _, c := range schedulerColumns {
		head = append(head[:len(head):len(head)], c.name)
	}
	var err error
	o.snapshots, err = newRowFile(o.file(snapshotsFile), head)
	if err != nil {
		return nil, err
	}
	o.stages, err = newRowFile(o.file(snapshotStagesFile), append([]string{"snapshot"}, stageHead...))
	if err == nil && m.full {
		o.blocks, err = newBlockFile(o.file(blocksFile))
		m.rec.blocks = o.blocks
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

func (o *outDir) file(name string) string { return filepath.Join(o.path, name) }

// save writes the results anew and all rows in memory. It adds a snapshot if kind is not "".
func (o *outDir) save(m *measurement, kind string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return nil
	}
	o.done = kind == finalSnapshot
	m.rec.flush()
	r := m.result()
	if kind != "" {
		if err := o.snapshot(kind, r, m.rec.state(time.Now())); err != nil {
			return err
		}
	}
	return r.write(o.path)
}

// snapshot appends the state of the run. The stages come first: a row of snapshots.csv means that
// those of its stages are complete.
func (o *outDir) snapshot(kind string, r *result, s *state) error {
	number := strconv.Itoa(o.count)
	for _, row := range r.stageRows()[1:] {
		o.stages.addRow(append([]string{number}, row...))
	}
	rss, _ := resident()
	row := []string{number, kind, itoa(s.elapsed), strconv.Itoa(s.iteration), itoa(s.passed),
		itoa(s.content), fmt.Sprintf("%.3f", mbps(s.content-o.lastBytes, s.elapsed-o.lastAt)),
		strconv.Itoa(s.inFlight), itoa(heapBytes()), itoa(rss), itoa(s.order.sum), itoa(s.order.max)}
	for i := range schedulerColumns {
		row = append(row, itoa(schedulerColumns[i].of(&r.stats)))
	}
	o.snapshots.addRow(row)
	o.count++
	o.lastAt, o.lastBytes = s.elapsed, s.content
	return errors.Join(o.stages.flush(), o.snapshots.flush())
}

// heapBytes returns the size of all objects on the Go heap, garbage included, in bytes.
func heapBytes() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// close closes the files. It may be called for a directory that newOutDir did not finish.
func (o *outDir) close() error {
	var errs []error
	for _, f := range []*rowFile{o.snapshots, o.stages} {
		if f != nil {
			errs = append(errs, f.close())
		}
	}
	if o.blocks != nil {
		errs = append(errs, o.blocks.close())
	}
	return errors.Join(errs...)
}

func itoa[T ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// rowFile is a CSV file that grows by whole rows. A write never ends within a row.
type rowFile struct {
	file *os.File
	buf  bytes.Buffer
	csv  *csv.Writer
}

func newRowFile(path string, head []string) (*rowFile, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	r := &rowFile{file: f}
	r.csv = csv.NewWriter(&r.buf)
	r.addRow(head)
	return r, r.flush()
}

// addRow appends a row in memory.
func (r *rowFile) addRow(row []string) {
	r.csv.Write(row) // into memory: no error
}

// flush writes the rows in memory.
func (r *rowFile) flush() error {
	r.csv.Flush()
	_, err := r.file.Write(r.buf.Bytes())
	r.buf.Reset()
	return err
}

func (r *rowFile) close() error { return errors.Join(r.flush(), r.file.Close()) }

// blockHead has the columns of a block.
var blockHead = []string{"iteration", "block", "op", "bytes", "start_ns", "span_ns", "compute_ns",
	"between_ns", "order_wait_ns", "stages"}

// row returns the values of the columns. start is the start of the measurement.
func (b *block) row(start time.Time) []string {
	var parts strings.Builder
	for i, p := range b.parts {
		if i > 0 {
			parts.WriteByte(' ')
		}
		on := "gpu"
		if p.backend != gpu.BackendGPU {
			on = "cpu"
			if p.worker >= 0 {
				on += strconv.Itoa(p.worker)
			}
		}
		fmt.Fprintf(&parts, "%s@%s=%d", p.stage, on, p.took)
	}
	return []string{strconv.Itoa(b.iteration), itoa(b.index), b.op, strconv.Itoa(b.bytes),
		itoa(b.first.Sub(start)), itoa(b.span()), itoa(b.compute), itoa(b.span() - b.compute),
		itoa(max(0, b.turn.Sub(b.last))), parts.String()}
}

// blockFile is a rowFile with a row for every block.
type blockFile struct{ *rowFile }

func newBlockFile(path string) (*blockFile, error) {
	f, err := newRowFile(path, blockHead)
	if err != nil {
		return nil, err
	}
	return &blockFile{f}, nil
}

// blockBuffer is how much blocks.csv holds in memory before it writes, in bytes.
const blockBuffer = 64 << 10

func (f *blockFile) write(b *block, start time.Time) error {
	f.addRow(b.row(start))
	f.csv.Flush()
	if f.buf.Len() < blockBuffer {
		return nil
	}
	return f.flush()
}
