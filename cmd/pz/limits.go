package main

import (
	"fmt"
	"strings"

	"github.com/gopz/compress"
)

const (
	minLevel     = compress.MinLevel
	maxLevel     = compress.MaxLevel
	minBlockSize = compress.MinBlockSize
	maxBlockSize = compress.MaxBlockSize

	// maxThreads is far above any machine of today; it catches the number that was meant for another option.
	maxThreads = compress.MaxConcurrency
)

// checkPipeline tells of a mistyped name before any file is touched.
func (c *config) checkPipeline() error {
	if c.pipeline == "" {
		return nil
	}
	var names []string
	for _, p := range compress.Pipelines() {
		if p.Name == c.pipeline {
			return nil
		}
		names = append(names, p.Name)
	}
	return fmt.Errorf("no pipeline is called %q; there are %s", c.pipeline, strings.Join(names, ", "))
}

// options are what the library is told for every file.
func (a *app) options() []compress.Option {
	c := &a.cfg
	opts := []compress.Option{compress.WithScheduler(a.sched), compress.WithMaxMemory(c.memory), compress.WithBackend(c.match, c.entropy)}
	if c.level != 0 {
		opts = append(opts, compress.WithLevel(c.level))
	}
	if c.pipeline != "" {
		opts = append(opts, compress.WithPipeline(c.pipeline))
	}
	if c.blockSize != 0 {
		opts = append(opts, compress.WithBlockSize(c.blockSize))
	}
	if c.noCheck {
		opts = append(opts, compress.WithChecksum(false))
	}
	return opts
}
