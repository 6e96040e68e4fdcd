package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gopz/compress"
)

const (
	minLevel     = compress.MinLevel
	maxLevel     = compress.MaxLevel
	minBlockSize = compress.MinBlockSize
	maxBlockSize = compress.MaxBlockSize
	maxThreads   = compress.MaxConcurrency
)

// levelFlag is the option that a number stands for, as in -9.
const levelFlag = "level"

// flags returns the options of the command, bound to c. optionTable holds their one-letter names and
// descriptions.
func (c *config) flags() (fs flagSet) {
	add := func(name string, rule valueRule, set func(string) error) {
		fs = append(fs, &flag{long: name, short: shortName(name), rule: rule, set: set})
	}
	c.actionFlags(func(name string, act func()) {
		add(name, noValue, func(string) error { act(); return nil })
	})
	str := func(p *string, name string) {
		add(name, needsValue, func(s string) error { *p = s; return nil })
	}
	str(&c.output, "output")
	str(&c.ownSuffix, "suffix")
	str(&c.formatName, "format")
	str(&c.pipeline, "pipeline")
	str(&c.device, "gpu-device")

	add(levelFlag, needsValue, c.setLevel)
	level := fs.lookup(levelFlag)
	add("fast", noValue, func(string) error { return level.apply(strconv.Itoa(minLevel)) })
	add("best", noValue, func(string) error { return level.apply(strconv.Itoa(maxLevel)) })
	add("threads", needsValue, c.setThreads)
	add("block-size", needsValue, c.setBlockSize)
	add("memory", needsValue, c.setMemory)
	add("backend", needsValue, c.setBackend)
	add("help", optionalValue, c.setHelp)
	return fs
}

// actionFlags adds the options without a value. Where several set the same field the last one on the
// command line counts. So an option overrides the contrary option of an alias.
func (c *config) actionFlags(action func(name string, act func())) {
	action("compress", func() { c.mode = modeCompress })
	action("decompress", func() { c.mode = modeDecompress })
	action("test", func() { c.mode = modeTest })
	action("list", func() { c.mode = modeList })
	action("recover", func() { c.mode = modeRecover })
	action("index", func() { c.mode = modeIndex })
	action("keep", func() { c.remove = false })
	action("rm", func() { c.remove = true })
	action("auto", func() { c.tuning = compress.TuneAuto })
	action("trial", func() { c.tuning = compress.TuneTrial })
	action("no-name", func() { c.names = namesDrop })
	action("name", func() { c.names = namesUse })

	on := func(p *bool, name string) { action(name, func() { *p = true }) }
	on(&c.toStdout, "stdout")
	on(&c.force, "force")
	on(&c.recursive, "recursive")
	on(&c.quiet, "quiet")
	on(&c.verbose, "verbose")
	on(&c.version, "version")
	on(&c.json, "json")
	on(&c.noCheck, "no-check")
	on(&c.rsyncable, "rsyncable")
	on(&c.zeroFill, "zero-fill")
	on(&c.listGPUs, "list-gpus")
}

func (c *config) setLevel(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < minLevel || n > maxLevel {
		return fmt.Errorf("the level must be a number from %d to %d", minLevel, maxLevel)
	}
	c.level = n
	return nil
}

func (c *config) setThreads(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxThreads {
		return fmt.Errorf("the number of threads must be from 0 (all processors) to %d", maxThreads)
	}
	c.threads = n
	return nil
}

func (c *config) setBlockSize(s string) error {
	n, err := parseSize(s)
	if err != nil {
		return err
	}
	if n < minBlockSize || n > maxBlockSize || n&(n-1) != 0 {
		return fmt.Errorf("the block size must be a power of two from %s to %s",
			formatSize(minBlockSize), formatSize(maxBlockSize))
	}
	c.blockSize = int(n)
	return nil
}

func (c *config) setMemory(s string) error {
	n, err := parseSize(s)
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("the memory limit must be greater than 0")
	}
	c.memory = n
	return nil
}

// backends lists the values of --backend.
var backends = map[string]compress.Backend{
	"auto": compress.BackendAuto, "cpu": compress.BackendCPU,
	"gpu": compress.BackendGPU, "fused": compress.BackendFused,
}

// setBackend sets one backend for both stages, or one for matching and one for entropy coding.
func (c *config) setBackend(s string) error {
	c.backendGiven = true
	match, entropy, two := strings.Cut(s, ",")
	if !two {
		entropy = match
	}
	var ok1, ok2 bool
	c.match, ok1 = backends[match]
	c.entropy, ok2 = backends[entropy]
	switch {
	case !ok1 || !ok2:
		return errors.New("the backend must be auto, cpu, gpu or fused; " +
			"two backends, as in cpu,gpu, are for matching and for entropy coding")
	case (c.match == compress.BackendFused) != (c.entropy == compress.BackendFused):
		return errors.New("fused runs matching and entropy coding together; use it alone")
	}
	return nil
}

// Values of --help.
const (
	helpBrief = "brief"
	helpAll   = "all"
)

func (c *config) setHelp(s string) error {
	if s == absent {
		s = helpBrief
	}
	if s != helpBrief && s != helpAll {
		return errors.New("use --help, or --help=all for all options")
	}
	c.help = s
	return nil
}
