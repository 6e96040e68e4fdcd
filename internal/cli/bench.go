package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
)

// benchConfig holds the settings of -b.
type benchConfig struct {
	levels  []int         // several levels to measure, ascending; nil selects that of --level
	last    int           // value of -e; 0 if not given
	least   time.Duration // time that the rounds take in each direction, at least one round
	timed   bool          // -i is on the command line
	picture string        // value of --svg; "" if not given
}

// benchTime is the default of -i. zstd and lz4 have the same.
const benchTime = 3 * time.Second

// benchOwnLevel is the value of --bench if none is given.
const benchOwnLevel = "level"

// setBench takes the value of --bench. A single level is that of --level, so the last one counts.
func (c *config) setBench(s string) error {
	c.mode, c.bench.levels = modeBench, nil
	if s == benchOwnLevel {
		return nil
	}
	levels, err := parseLevels(s)
	if err != nil {
		return err
	}
	if len(levels) == 1 {
		c.level = levels[0]
	} else {
		c.bench.levels = levels
	}
	return nil
}

// parseLevels parses a list of levels such as 3, 1-9 or 1,3,5-7.
func parseLevels(s string) (levels []int, err error) {
	for item := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(item, "-")
		if !isRange {
			last = first
		}
		lo, err1 := strconv.Atoi(first)
		hi, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || lo < minLevel || hi < lo || hi > maxLevel {
			return nil, fmt.Errorf("levels must be a list such as 3, 1-9 or 1,3,5-7, from %d to %d",
				minLevel, maxLevel)
		}
		for level := lo; level <= hi; level++ {
			levels = append(levels, level)
		}
	}
	slices.Sort(levels)
	return slices.Compact(levels), nil
}

func (c *config) setBenchLast(s string) (err error) {
	c.bench.last, err = parseLevel(s)
	if err != nil {
		// In xz -e makes a level slower and denser.
		return errors.New("-e is the last level of -b, from 1 to 9; without -b the densest level is -9")
	}
	return nil
}

func (c *config) setBenchTime(s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 0 && n <= 3600) {
		return errors.New("the time must be a number of seconds from 0 to 3600")
	}
	c.bench.least, c.bench.timed = time.Duration(n*float64(time.Second)), true
	return nil
}

// checkBench checks the options of -b. The format is known.
func (c *config) checkBench() error {
	b := &c.bench
	switch {
	case c.mode != modeBench && (b.last != 0 || b.timed || b.picture != ""):
		return errors.New("-e, -i and --svg go with -b only")
	case b.last != 0 && b.levels != nil:
		return errors.New("-e does not go with a list of levels; use -b1 -e9, or -b1-9")
	case b.last != 0 && b.last < c.chosenLevel():
		return fmt.Errorf("-e %d: the last level is below level %d of -b", b.last, c.chosenLevel())
	}
	return nil
}

// chosenLevel returns the level of the options, or else the default of the format.
func (c *config) chosenLevel() int {
	switch {
	case c.level != 0:
		return c.level
	case c.format == compress.Gzip:
		return compress.DefaultGzipLevel
	}
	return compress.DefaultLevel
}

// levels returns the levels that the run writes.
func (c *config) levels() (list []int) {
	if c.bench.levels != nil {
		return c.bench.levels
	}
	first := c.chosenLevel()
	for level := first; level <= max(first, c.bench.last); level++ {
		list = append(list, level)
	}
	return list
}

// bench measures levels in memory. Its buffers serve all levels and files, so that their pages
// exist before a round is timed.
type bench struct {
	app      *app
	status   statusLine
	out      *benchWriter
	content  []byte
	packed   []byte
	restored []byte
}

// runBench measures all files.
func (a *app) runBench() {
	if !a.canWritePicture() {
		return
	}
	b := newBench(a)
	a.runFiles(b.file)
	b.out.finishTable()
}

func newBench(a *app) *bench {
	return &bench{app: a, status: statusLine{app: a}, out: newBenchWriter(a)}
}

// file measures the levels on one entry.
func (b *bench) file(e entry) {
	a := b.app
	in := a.openSource(e)
	if in == nil {
		return
	}
	if in.f != a.stdin {
		defer in.close()
	} else if !a.cfg.force && a.isTerminal(a.stdin) {
		a.fail("", "content is not read from a terminal; name a FILE or redirect, "+
			"or use -f to read it anyway")
		return
	}
	if err := b.read(in); err != nil {
		a.fail(in.name, "%s", reason(err))
		return
	}
	if len(b.content) == 0 {
		a.warn(in.name, "is empty -- ignored; there is nothing to measure")
		return
	}
	b.out.beginFile()
	for _, level := range a.cfg.levels() {
		if a.stopped {
			return
		}
		row, err := b.measure(in, level)
		b.status.clear()
		if err != nil {
			a.fail(in.name, "level %d: %s", level, b.explain(in, err))
			continue
		}
		b.out.addRow(row)
		a.note(in.name, "level %d: rounds: %d compressing, %d restoring", level, row.packRounds,
			row.unpackRounds)
	}
}

// read reads the whole content of a source.
func (b *bench) read(in *source) error {
	limit := b.largest()
	if in.size() > limit {
		return tooLarge(limit)
	}
	content := bytes.NewBuffer(b.content[:0])
	content.Grow(int(max(in.size(), 0)) + bytes.MinRead)
	n, err := content.ReadFrom(io.LimitReader(in.f, limit+1))
	b.content = content.Bytes()
	if err == nil && n > limit {
		err = tooLarge(limit)
	}
	return err
}

// largest returns the size in bytes of the largest content to measure. Content, compressed and
// restored form take three times as much; the rest of the memory is that of blocks and workers.
func (b *bench) largest() int64 {
	if memory := b.app.machineMemory(); memory > 0 {
		return min((memory-memory/memoryShare)/3, math.MaxInt/4)
	}
	return math.MaxInt / 4
}

func tooLarge(limit int64) error {
	return fmt.Errorf("does not fit into memory three times; measure a part: head -c %d FILE | pz -b",
		limit)
}

// explain returns a message about an error of measure. Only limits and devices are explained:
// advice about damaged files does not fit.
func (b *bench) explain(in *source, err error) string {
	if errors.Is(err, compress.ErrMemory) || errors.Is(err, gpu.ErrDevice) {
		return b.app.explain(in, err)
	}
	return libraryReason(err)
}

var errRestored = errors.New("internal error: the restored content differs")

// stopwatch adds up the time of rounds and notes the best one.
type stopwatch struct {
	now       func() time.Time
	start     time.Time // of the current round
	sum, best time.Duration
}

// round does a round.
func (s *stopwatch) round(f func() error) error {
	s.start = s.now()
	if err := f(); err != nil {
		return err
	}
	// A clock may have a resolution of a millisecond.
	d := max(s.now().Sub(s.start), time.Microsecond)
	s.sum += d
	if s.best == 0 || d < s.best {
		s.best = d
	}
	return nil
}

// measure compresses and restores the content at a level, again and again. The time is that on the
// clock, which all threads share.
func (b *bench) measure(in *source, level int) (row benchRow, err error) {
	a := b.app
	runtime.GC() // frees what other levels have left
	b.room()
	row = benchRow{name: in.name, level: level, content: int64(len(b.content)), files: 1}
	pack, unpack := stopwatch{now: a.now}, stopwatch{now: a.now}
	progress := func(what string, s *stopwatch) compress.Option {
		return compress.WithProgress(func(p compress.Progress) {
			b.status.show(func() string {
				if a.now().Sub(s.start) < barPeriod {
					return row.status() // the round is soon over
				}
				return fmt.Sprintf("%s, %s %d%%", row.status(), what, 100*p.Content/row.content)
			})
		})
	}
	packOptions := append(a.writeOptions(), a.nameOptions(in)...)
	packOptions = append(packOptions, compress.WithLevel(level), progress("compressing", &pack))
	unpackOptions := append(a.readOptions(), progress("restoring", &unpack))
	b.status.show(row.status)
	for {
		if row.packRounds == 0 || pack.sum < a.cfg.bench.least {
			err := pack.round(func() (err error) {
				b.packed, err = compress.AppendEncode(b.packed[:0], b.content, packOptions...)
				return err
			})
			if err != nil {
				return row, err
			}
			row.packed, row.packTime = int64(len(b.packed)), pack.best
			row.packRounds++
		}
		err := unpack.round(func() (err error) {
			b.restored, err = compress.AppendDecode(b.restored[:0], b.packed, unpackOptions...)
			return err
		})
		if err != nil {
			return row, err
		}
		a.step("restored")
		if !bytes.Equal(b.restored, b.content) {
			return row, errRestored
		}
		row.unpackTime = unpack.best
		row.unpackRounds++
		if min(pack.sum, unpack.sum) >= a.cfg.bench.least {
			return row, nil
		}
	}
}

// room makes room for the compressed and the restored form.
func (b *bench) room() {
	n := len(b.content)
	for _, buffer := range []struct {
		p    *[]byte
		size int
	}{{&b.packed, n + n/64 + 64<<10}, {&b.restored, n}} {
		if cap(*buffer.p) < buffer.size {
			*buffer.p = nil // before the next one is allocated
			*buffer.p = bytes.Repeat([]byte{1}, buffer.size)
		}
	}
}
