package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/pipeline"
)

// formats lists the formats that pz reads and writes, the default first. Their names are the
// suffixes of files.
var formats = []compress.Format{compress.PZ, compress.Gzip, compress.Zstd}

// formatAliases has further values of --format.
var formatAliases = map[string]compress.Format{"gzip": compress.Gzip, "zstd": compress.Zstd}

// parseFormat returns the format that a value of --format means. The value may begin with a dot.
func parseFormat(name string) (f compress.Format, ok bool) {
	name = strings.TrimPrefix(name, ".")
	for _, f := range formats {
		if f.String() == name {
			return f, true
		}
	}
	f, ok = formatAliases[name]
	return f, ok
}

// format returns the format of the source. ok is false for other data.
func (s *source) format() (f compress.Format, ok bool) { return compress.DetectFormat(s.head()) }

// is reports whether the source has a format.
func (s *source) is(want compress.Format) bool {
	f, ok := s.format()
	return ok && f == want
}

// isStandard reports whether the source is a .gz or .zst file.
func (s *source) isStandard() bool { return s.is(compress.Gzip) || s.is(compress.Zstd) }

// probeZstd reports whether the source is a .zst file that ends in a seek table, and whether its
// first frame states the size of its content. A pipe is neither.
func (s *source) probeZstd() (table, sized bool) {
	if !s.regular() || !s.is(compress.Zstd) {
		return false, false
	}
	size := s.length() - s.start
	return bridge.ProbeZstd(io.NewSectionReader(s.readerAt(), s.start, size), size)
}

// chooseFormat sets the format from --format, -p and the suffix of -o.
func (c *config) chooseFormat() error {
	if c.formatName != "" {
		f, ok := parseFormat(c.formatName)
		if !ok {
			hint := ""
			if _, ok := parseFormat(strings.ToLower(c.formatName)); ok {
				hint = ", in lower case"
			}
			return fmt.Errorf("--format %s: the format must be pz, gz (gzip) or zst (zstd)%s",
				printable(c.formatName), hint)
		}
		c.format = f
	}
	if c.pipeline != "" {
		return c.checkPipeline()
	}
	if c.formatName != "" || !c.compresses() {
		return nil
	}
	base := filepath.Base(c.output)
	c.format = suffixFormat(base)
	if c.misnames(base) {
		return fmt.Errorf("-o %s: pz writes .pz, .gz and .zst files, not %s; "+
			"add --format pz, gz or zst to use this name", printable(c.output), filepath.Ext(base))
	}
	return nil
}

// checkPipeline checks -p and sets the format of the pipeline.
func (c *config) checkPipeline() error {
	pipelines := bridge.Pipelines()
	at := slices.IndexFunc(pipelines, func(p pipeline.Pipeline) bool {
		return p.Name == c.pipeline
	})
	if at < 0 {
		var names []string
		for _, p := range pipelines {
			names = append(names, p.Name)
		}
		hint := ""
		if f, ok := parseFormat(c.pipeline); ok {
			hint = "; did you mean --format " + f.String() + "?"
		} else if new(config).setThreads(c.pipeline) == nil { // -p of pigz
			hint = "; did you mean -T " + c.pipeline + "?"
		}
		return fmt.Errorf("-p %s: the pipelines are %s%s",
			printable(c.pipeline), strings.Join(names, ", "), hint)
	}
	if f := pipelines[at].Format; c.formatName != "" && c.format != f {
		return fmt.Errorf("-p %s writes .%v files; use it without --format %v",
			c.pipeline, f, c.format)
	}
	c.format = pipelines[at].Format
	return nil
}

// writerFormat returns the library option for the format or the pipeline.
func (c *config) writerFormat() compress.WriterOption {
	if c.pipeline != "" {
		return bridge.Pipeline(c.pipeline)
	}
	return compress.WithFormat(c.format)
}

// checkLong rejects --long for formats without it, and windows that a block does not fit in.
func (c *config) checkLong() error {
	switch {
	case c.window == 0:
		return nil
	case c.format == compress.Gzip:
		return errors.New("--long is for .pz and .zst files; those of .gz reach back 32K at most")
	case c.format == compress.Zstd && c.seekable:
		return errors.New("--long does not go with --seekable for .zst: its frames repeat no others")
	case c.format == compress.Zstd && c.tar:
		return errors.New("--long does not go with --tar for .zst: its frames repeat no others")
	case c.dictionary != "":
		return errors.New("--long does not go with -D: blocks repeat earlier ones or the dictionary")
	case c.rsyncable:
		return errors.New("--long does not go with --rsyncable: blocks that repeat others change with them")
	}
	for _, level := range c.levels() {
		_, err := compress.WriterMemory(c.writerFormat(), compress.WithBlockSize(c.blockSize),
			compress.WithLongDistance(c.window), compress.WithLevel(level))
		if err != nil {
			return fmt.Errorf("--long: %s; -B sets the block size", libraryReason(err))
		}
	}
	return nil
}

// checkBlockSize rejects a block size that the format does not allow.
func (c *config) checkBlockSize() error {
	switch {
	case c.blockSize == 0:
		return nil
	case c.seekable && c.format == compress.Gzip:
		return errors.New("--seekable is for .pz and .zst files; --index makes an index of a .gz file")
	}
	_, err := compress.WriterMemory(c.writerFormat(), compress.WithBlockSize(c.blockSize))
	if err != nil {
		return fmt.Errorf("-B: %s", libraryReason(err))
	}
	return nil
}
