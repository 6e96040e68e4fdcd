package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gopz/compress"
)

// programMemory is the memory of the program besides the blocks and workers that the library
// counts: code, stacks and the reserve of the Go runtime. It is the measured peak of small runs,
// rounded up.
const programMemory = 32 << 20

// memoryShare is the part of the memory of the machine, one in so many, that blocks and workers
// take without -M. The rest is for the cache of files, for other programs and for other runs of pz.
const memoryShare = 4

// A source below smallSource bytes has smallTarget as the target of its memory, in bytes: to ask
// the system how much memory there is takes longer than most of these files. Few of them have
// content for more, and a block that takes more is worked on alone.
const (
	smallSource = 64 << 10
	smallTarget = 64 << 20
)

// setTarget sets the memory that the run takes without -M for a source of size bytes, -1 if that is
// unknown.
func (a *app) setTarget(size int64) {
	switch {
	case a.cfg.memory != 0:
		a.cfg.target = 0
		a.limitMemory(a.cfg.memory + programMemory)
	case 0 <= size && size < smallSource:
		a.cfg.target = smallTarget
	default:
		a.cfg.target = a.machineMemory() / memoryShare
	}
}

// memoryTable returns the memory that each level takes to compress, and to restore the result.
func (c *config) memoryTable(threads int) string {
	var b strings.Builder
	row := func(level, writer, reader string) { fmt.Fprintf(&b, "%7s%16s%16s\n", level, writer, reader) }
	row("level", "to compress", "to restore")
	text := func(n int64, err error) string {
		if err != nil {
			return "over the limit"
		}
		return formatSize(n + programMemory)
	}
	for level := minLevel; level <= maxLevel; level++ {
		opts := c.memoryOptions(level, threads)
		writer := text(compress.WriterMemory(opts...))
		reader := text(compress.ReaderMemory(c.blockSize, opts...)) // size 0: the level's
		row(strconv.Itoa(level), writer, reader)
	}
	return b.String()
}

func (c *config) memoryOptions(level, threads int) []compress.Option {
	return []compress.Option{
		compress.WithLevel(level), compress.WithConcurrency(threads),
		compress.WithMaxMemory(c.memory), compress.WithMemoryTarget(c.target),
		compress.WithBlockSize(c.blockSize), compress.WithRsyncable(c.rsyncable),
		compress.WithTuning(c.tuning), c.writerFormat(),
		compress.WithLongDistance(c.window),
	}
}

// restoreMemory returns the least -M with which the stream that begins in r can be restored, or 0
// if it is not known.
func (a *app) restoreMemory(r io.Reader) int64 {
	zr, err := compress.NewReader(r, compress.WithConcurrency(a.cfg.threads), compress.WithMaxMemory(1))
	if err != nil {
		return 0
	}
	defer zr.Close()
	var e *compress.Error
	if _, err = zr.Read(make([]byte, 1)); errors.As(err, &e) {
		return e.Memory
	}
	return 0
}

// hintMemory prints how much memory restoring a file takes at least: if it fails without -M and
// always is set, and with -v.
func (a *app) hintMemory(name string, need int64, always bool) {
	switch {
	case need > compress.DefaultReaderMemory && (always || a.cfg.verbose):
		a.print(name, "restoring needs -M %s or more", sizeOption(need))
	case need > 0:
		a.note(name, "restoring takes at least %s of memory", formatSize(need))
	}
}

// options returns the library options for every file of the run.
func (a *app) options() []compress.Option {
	opts := a.readOptions()
	if c := &a.cfg; c.compresses() {
		opts = append(opts, c.writerFormat(), compress.WithBlockSize(c.blockSize),
			compress.WithRsyncable(c.rsyncable), compress.WithTuning(c.tuning),
			compress.WithLongDistance(c.window))
	}
	return opts
}

// readOptions returns the options that a Reader takes too.
func (a *app) readOptions() []compress.Option {
	c := &a.cfg
	limit := c.memory
	if a.held != nil && limit == 0 && c.mode != modeCompress {
		limit = jobMemory
	}
	opts := []compress.Option{
		compress.WithScheduler(a.sched), compress.WithMaxMemory(limit),
		compress.WithMemoryTarget(c.target), compress.WithBackend(c.match, c.entropy),
		compress.WithDictionary(a.dictionary),
	}
	if c.level != 0 {
		opts = append(opts, compress.WithLevel(c.level))
	}
	if c.noCheck {
		opts = append(opts, compress.WithChecksum(false))
	}
	return opts
}
