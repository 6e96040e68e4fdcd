package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/pipeline"
)

// outDir is the directory of --out while the work goes on: snapshots, and every block if that is wanted.
type outDir struct {
	rec  *recorder
	full *blockFile // nil: not wanted

	mu        sync.Mutex
	file      *os.File // of the snapshots
	csv       *csv.Writer
	count     int
	lastAt    time.Duration
	lastBytes int64
}

// Files of --out.
const (
	summaryFile   = "summary.md"
	statsFile     = "stats.tsv"
	stagesFile    = "stages.csv"
	histogramFile = "histogram.csv"
	slowestFile   = "slowest.csv"
	snapshotsFile = "snapshots.csv"
	blocksFile    = "blocks.csv"
)

// newOut makes a directory for output, which must not have any yet: files of two runs side by side would be a trap.
func newOut(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, name := range []string{statsFile, snapshotsFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s has the output of another run", dir)
		}
	}
	return nil
}

func openOut(c *config, rec *recorder) (*outDir, error) {
	if err := newOut(c.out); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(c.out, snapshotsFile))
	if err != nil {
		return nil, err
	}
	o := &outDir{rec: rec, file: f, csv: csv.NewWriter(f)}
	head := []string{"snapshot", "kind", "elapsed_ns", "iteration", "blocks", "bytes", "mbps_since_last", "in_flight",
		"order_wait_ns", "order_wait_max_ns", "stage_time_ns"}
	for _, x := range schedulerSums {
		head = append(head, x.key)
	}
	if err := o.csv.Write(head); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if c.full {
		if o.full, err = newBlockFile(filepath.Join(c.out, blocksFile)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		rec.full = o.full
	}
	return o, nil
}

// snapshot writes down how things stand. What is written is out of the program's hands, so that whatever comes after cannot lose it.
func (o *outDir) snapshot(kind string, s compress.SchedulerStats) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.rec.take(time.Now(), false)
	var spent time.Duration
	for i := range p.stages {
		spent += p.stages[i].times.sum
	}
	row := []string{strconv.Itoa(o.count), kind, itoa(p.elapsed), strconv.Itoa(p.iteration), itoa(p.passed), itoa(p.bytes),
		strconv.FormatFloat(mbps(p.bytes-o.lastBytes, p.elapsed-o.lastAt), 'f', 3, 64), strconv.Itoa(p.inFlight),
		itoa(p.order.sum), itoa(p.order.max), itoa(spent)}
	for _, x := range schedulerSums {
		row = append(row, itoa(*x.at(&s)))
	}
	o.count++
	o.lastAt, o.lastBytes = p.elapsed, p.bytes
	if err := o.csv.Write(row); err != nil {
		return err
	}
	o.csv.Flush()
	return o.csv.Error()
}

func (o *outDir) close() error {
	err := o.file.Close()
	if o.full != nil {
		err = errors.Join(err, o.full.finish())
	}
	return err
}

func itoa[T ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// blockHead are the columns of a block. Between stages, and before its turn, a block waits.
var blockHead = []string{"iteration", "block", "op", "bytes", "start_ns", "span_ns", "compute_ns", "between_ns", "order_wait_ns", "stages"}

// row has the block's values in these columns. start is the beginning of the measurement.
func (b *block) row(start time.Time) []string {
	var parts strings.Builder
	for i, p := range b.parts {
		if i > 0 {
			parts.WriteByte(' ')
		}
		where := "gpu"
		if p.backend != compress.GPU {
			where = "cpu"
			if p.worker >= 0 {
				where += strconv.Itoa(p.worker)
			}
		}
		fmt.Fprintf(&parts, "%s@%s=%d", p.stage, where, p.took)
	}
	return []string{strconv.Itoa(b.iteration), itoa(b.index), opName(b.op), strconv.Itoa(b.bytes), itoa(b.first.Sub(start)), itoa(b.span()),
		itoa(b.compute), itoa(b.span() - b.compute), itoa(max(0, b.turn.Sub(b.last))), parts.String()}
}

func opName(op pipeline.Op) string {
	if op == pipeline.Decompress {
		return "decompress"
	}
	return "compress"
}

// blockFile is a file with a row for every block.
type blockFile struct {
	file *os.File
	buf  *bufio.Writer
	csv  *csv.Writer
}

func newBlockFile(path string) (*blockFile, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	b := &blockFile{file: f, buf: bufio.NewWriterSize(f, 64<<10)}
	b.csv = csv.NewWriter(b.buf)
	return b, b.csv.Write(blockHead)
}

func (f *blockFile) write(b *block, start time.Time) error { return f.csv.Write(b.row(start)) }

func (f *blockFile) finish() error {
	f.csv.Flush()
	return errors.Join(f.csv.Error(), f.buf.Flush(), f.file.Close())
}
