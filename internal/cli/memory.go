package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
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

// Limits of what is left of the address space at the start, in bytes. Below leastSpace the runtime
// would crash during a run. Below tightSpace the run has a limit of memory.
const (
	leastSpace = 96 << 20
	tightSpace = 4 << 30
)

// followSpace makes the limit of memory follow that of the address space. It returns false, with a
// message, if too little is left. The runtime takes address space in steps of 64 MiB, and more of
// it than memory, so half is for blocks and workers.
func (a *app) followSpace() bool {
	left := a.spaceLeft()
	if left < leastSpace {
		a.fail("", "the limit of the address space (ulimit -v) leaves %s, and pz needs %s; raise it by %s",
			formatSize(left), formatSize(leastSpace), formatSize(leastSpace-left))
		return false
	}
	if limit := left/2 - programMemory; left < tightSpace && (a.cfg.memory == 0 || limit < a.cfg.memory) {
		a.cfg.memory, a.cfg.tight = limit, true
	}
	return true
}

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
		writer := text(c.writerMemory(level, threads))
		reader := text(c.readerMemory(level, threads))
		row(strconv.Itoa(level), writer, reader)
	}
	return b.String()
}

// writerMemory returns the memory that compressing at a level takes.
func (c *config) writerMemory(level, threads int) (int64, error) {
	opts := append(c.fileOptions(), asWriter(c.memoryOptions(threads))...)
	return compress.WriterMemory(append(opts, compress.WithLevel(level))...)
}

// readerMemory returns the memory that restoring a file of a level takes.
func (c *config) readerMemory(level, threads int) (int64, error) {
	file := append(c.fileOptions(), compress.WithLevel(level))
	return compress.ReaderMemory(file, asReader(c.memoryOptions(threads))...)
}

// memoryOptions returns the options that bound the memory.
func (c *config) memoryOptions(threads int) []compress.Option {
	return []compress.Option{
		compress.WithConcurrency(threads), compress.WithMaxMemory(c.memory), bridge.MemoryTarget(c.target),
	}
}

// fileOptions returns the options for a kind of file.
func (c *config) fileOptions() []compress.WriterOption {
	blocks := compress.WithBlockSize
	if c.seekable {
		blocks = compress.WithSeekable
	}
	return []compress.WriterOption{
		c.writerFormat(), blocks(c.blockSize), compress.WithRsyncable(c.rsyncable),
		compress.WithTuning(c.tuning), compress.WithLongDistance(c.window),
	}
}

// asWriter returns options as those of a Writer.
func asWriter(opts []compress.Option) (list []compress.WriterOption) {
	for _, o := range opts {
		list = append(list, o)
	}
	return list
}

// asReader returns options as those of a Reader.
func asReader(opts []compress.Option) (list []compress.ReaderOption) {
	for _, o := range opts {
		list = append(list, o)
	}
	return list
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

// writeOptions returns the library options for every file that the run writes.
func (a *app) writeOptions() []compress.WriterOption {
	c := &a.cfg
	opts := append(asWriter(a.options()), c.fileOptions()...)
	if c.level != 0 {
		opts = append(opts, compress.WithLevel(c.level))
	}
	if c.noCheck && c.format != compress.Gzip { // which always has checks
		opts = append(opts, compress.WithChecksum(false))
	}
	return opts
}

// readOptions returns the library options for every file that the run reads.
func (a *app) readOptions() []compress.ReaderOption {
	opts := asReader(a.options())
	if a.cfg.noCheck {
		opts = append(opts, compress.WithChecksum(false))
	}
	return opts
}

// options returns the library options for both directions.
func (a *app) options() []compress.Option {
	c := &a.cfg
	limit := c.memory
	if a.held != nil && limit == 0 && c.mode != modeCompress {
		limit = jobMemory
	}
	return []compress.Option{
		compress.WithScheduler(a.sched), compress.WithMaxMemory(limit), bridge.MemoryTarget(c.target),
		compress.WithDevice(a.device, c.match, c.entropy), compress.WithDictionary(a.dictionary),
	}
}
