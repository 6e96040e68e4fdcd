package stats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress"
)

// Names of the files of a run in the directory of a profile. The ID of the run comes first.
const (
	snapshotSuffix = ".json"
	requestsSuffix = ".requests.csv"
	blocksSuffix   = ".blocks.csv"
)

// A Profile writes the files of a run. Its methods are for one goroutine at a time.
type Profile struct {
	dir    string
	keep   int
	c      *Counters
	number int
	done   bool
}

// NewProfile returns a Profile that writes to dir, which it makes if it is not there. It keeps the
// last snapshots, keep of them. In mode Full it begins a log of at most logBytes; call it before
// the first request then.
func NewProfile(dir string, c *Counters, keep int, logBytes int64) (*Profile, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	p := &Profile{dir: dir, keep: keep, c: c}
	if c.mode == Full {
		var err error
		c.log, err = newRowLog(filepath.Join(dir, c.run.ID), logBytes)
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Write writes a snapshot of a kind. After one of the kind "final" it writes no more.
func (p *Profile) Write(kind string) error {
	if p.done {
		return nil
	}
	var errs []error
	if p.c.log != nil {
		errs = append(errs, p.c.log.flush())
	}
	s := p.c.Snapshot(kind)
	p.number++
	s.Number = p.number
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	if err := replaceFile(p.name(p.number), append(text, '\n')); err != nil {
		return errors.Join(append(errs, err)...)
	}
	if old := p.number - p.keep; old > 0 {
		if err := os.Remove(p.name(old)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	p.done = kind == "final"
	return errors.Join(errs...)
}

func (p *Profile) name(number int) string {
	return filepath.Join(p.dir, fmt.Sprintf("%s.%06d%s", p.c.run.ID, number, snapshotSuffix))
}

// Close closes the log.
func (p *Profile) Close() error {
	if p.c.log == nil {
		return nil
	}
	return p.c.log.close()
}

// replaceFile writes a file so that a reader finds the whole text or nothing, also after a crash.
func replaceFile(path string, text []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".pzserve-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(text); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir writes a directory to disk. Windows has no way to, and needs none.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// readSnapshot reads a file of a Profile.
func readSnapshot(path string) (*Snapshot, error) {
	const largest = 64 << 20
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > largest {
		return nil, fmt.Errorf("%s: %d bytes are too many for a snapshot", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: not a snapshot of pzserve: %w", path, err)
	}
	switch {
	case s.Format == 0 || s.Run.ID == "":
		return nil, fmt.Errorf("%s: not a snapshot of pzserve", path)
	case s.Format != Format:
		return nil, fmt.Errorf("%s: a snapshot of version %d; this pzserve reads version %d", path, s.Format,
			Format)
	}
	return s, nil
}

// rowLog is the full log: a CSV file of requests and one of blocks. Its methods may be called from
// several goroutines at the same time.
type rowLog struct {
	mu       sync.Mutex
	requests rowFile
	blocks   rowFile
	left     int64 // bytes that may still be written
	failed   error

	rows, dropped atomic.Int64
}

// logBuffer is how much of each file is in memory before it is written, in bytes.
const logBuffer = 64 << 10

// Columns of the files.
var (
	requestHead = []string{"start", "method", "path", "status", "bytes", "ns", "encoded", "cut", "error"}
	blockHead   = []string{"start", "source", "file", "block", "stage", "bytes", "ns", "worker"}
)

func newRowLog(path string, limit int64) (*rowLog, error) {
	l := &rowLog{left: limit}
	for _, x := range []struct {
		f      *rowFile
		suffix string
		head   []string
	}{{&l.requests, requestsSuffix, requestHead}, {&l.blocks, blocksSuffix, blockHead}} {
		file, err := os.OpenFile(path+x.suffix, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		x.f.file = file
		x.f.csv = csv.NewWriter(&x.f.buf)
		x.f.csv.Write(x.head) // to memory: no error
	}
	return l, l.flush()
}

const logTime = "2006-01-02T15:04:05.000000Z"

func (l *rowLog) request(r *Request) {
	text := ""
	if r.Err != nil {
		text = r.Err.Error()
	}
	l.addRow(&l.requests, r.Begin.UTC().Format(logTime), r.Method, r.Path, strconv.Itoa(r.Status),
		strconv.FormatInt(r.Bytes, 10), strconv.FormatInt(int64(r.Took), 10),
		strconv.FormatBool(r.Encoded), strconv.FormatBool(r.Cut), text)
}

func (l *rowLog) block(source, file string, e *compress.Stage) {
	l.addRow(&l.blocks, e.Start.UTC().Format(logTime), source, file, strconv.FormatInt(e.Block, 10), e.Name,
		strconv.FormatInt(e.Bytes, 10), strconv.FormatInt(int64(e.Time), 10), strconv.Itoa(e.Worker))
}

func (l *rowLog) addRow(f *rowFile, row ...string) {
	size := int64(len(row))
	for i, s := range row {
		// A row stays one line, also for programs that do not know CSV.
		row[i] = strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, s)
		size += int64(len(s))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left -= size; l.left < 0 || l.failed != nil {
		l.dropped.Add(1)
		return
	}
	l.rows.Add(1)
	f.csv.Write(row) // to memory: no error
	f.csv.Flush()
	if f.buf.Len() >= logBuffer {
		l.failed = f.flush()
	}
}

// flush writes the rows in memory. It returns the first error of all writes.
func (l *rowLog) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = errors.Join(l.requests.flush(), l.blocks.flush())
	}
	return l.failed
}

func (l *rowLog) close() error {
	return errors.Join(l.flush(), l.requests.file.Close(), l.blocks.file.Close())
}

// rowFile is a CSV file that grows by whole rows.
type rowFile struct {
	file *os.File
	buf  bytes.Buffer
	csv  *csv.Writer
}

func (f *rowFile) flush() error {
	f.csv.Flush()
	_, err := f.file.Write(f.buf.Bytes())
	f.buf.Reset()
	return err
}

// Every calls Write(kind "interval") in each interval until stop is closed, and f with errors.
func (p *Profile) Every(interval time.Duration, stop <-chan struct{}, f func(error)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := p.Write("interval"); err != nil {
				f(err)
			}
		case <-stop:
			return
		}
	}
}
