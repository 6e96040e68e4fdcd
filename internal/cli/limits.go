package cli

import "github.com/gopz/compress"

const (
	minLevel     = compress.MinLevel
	maxLevel     = compress.MaxLevel
	minBlockSize = compress.MinBlockSize
	maxBlockSize = compress.MaxBlockSize

	// maxThreads is far above any machine of today; it catches the number that was meant for another option.
	maxThreads = compress.MaxConcurrency
)

// options are what the library is told for every file.
func (a *app) options() []compress.Option {
	c := &a.cfg
	opts := []compress.Option{compress.WithScheduler(a.sched), compress.WithMaxMemory(c.memory), compress.WithBackend(c.match, c.entropy)}
	if c.level != 0 {
		opts = append(opts, compress.WithLevel(c.level))
	}
	if c.mode == modeCompress {
		opts = append(opts, compress.WithPipeline(c.pipeline), compress.WithBlockSize(c.blockSize), compress.WithTuning(c.tuning))
	}
	if c.noCheck {
		opts = append(opts, compress.WithChecksum(false))
	}
	return opts
}
