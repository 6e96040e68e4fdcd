package cli

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/pipeline"
)

const (
	minLevel     = compress.MinLevel
	maxLevel     = compress.MaxLevel
	minBlockSize = compress.MinBlockSize
	maxBlockSize = compress.MaxBlockSize
	maxThreads   = pipeline.MaxWorkers
)

// levelFlag is the option that rewriteLevels produces.
const levelFlag = "level"

// flagSet returns the options of the command, bound to c. optionTable holds their one-letter names
// and descriptions.
func (c *config) flagSet() *pflag.FlagSet {
	fs := pflag.NewFlagSet("pz", pflag.ContinueOnError)
	fs.Usage = func() {}
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if long := gzipSynonyms[name]; long != "" {
			name = long
		}
		return pflag.NormalizedName(name)
	})
	c.actionFlags(fs)
	c.boolFlags(fs)
	if c.ofGzip {
		c.gzipFlags(fs)
	}

	for _, o := range []struct {
		p    *string
		name string
	}{
		{&c.output, "output"},
		{&c.ownSuffix, "suffix"},
		{&c.formatName, "format"},
		{&c.pipeline, "pipeline"},
		{&c.device, "gpu-device"},
		{&c.dictionary, "dictionary"},
		{&c.bench.picture, "svg"},
	} {
		fs.StringVarP(o.p, o.name, c.letter(o.name), "", "")
	}
	for _, o := range []struct {
		name string
		set  func(string) error
	}{
		{"exclude", c.addExclude},
		{"files-from", func(s string) error { return c.addList(s, '\n') }},
		{"files0-from", func(s string) error { return c.addList(s, 0) }},
		{"output-dir", c.setOutputDir},
		{levelFlag, c.setLevel},
		{"threads", c.setThreads},
		{"block-size", c.setBlockSize},
		{"memory", c.setMemory},
		{"backend", c.setBackend},
		{"maxdict", c.setMaxDict},
		{"dictID", c.setDictID},
		{"bench-to", c.setBenchLast},
		{"bench-time", c.setBenchTime},
		{"stream-size", c.setStreamSize},
		{"range", c.setRange},
		{"bench", c.setBench},
		{"long", c.setLong},
		{"seekable", c.setSeekable},
		{"parity", c.setParity},
		{"rm", c.setRemove},
		{"help", c.setHelp},
	} {
		fs.FuncP(o.name, c.letter(o.name), "", o.set)
	}
	for name, value := range map[string]string{ // of options that are given without one
		"bench":    benchOwnLevel,
		"long":     "27", // as zstd's
		"seekable": strconv.Itoa(seekableBlock),
		"rm":       removeVerified,
		"help":     helpBrief,
	} {
		fs.Lookup(name).NoOptDefVal = value
	}
	return fs
}

// actionFlags adds the options without a value of which the last one on the command line counts. So
// an option overrides the contrary option of an alias.
func (c *config) actionFlags(fs *pflag.FlagSet) {
	for _, o := range []struct {
		name string
		act  func()
	}{
		{"compress", func() { c.mode = modeCompress }},
		{"decompress", func() { c.readWith(modeDecompress) }},
		{"test", func() { c.readWith(modeTest) }},
		{"list", func() { c.readWith(modeList) }},
		{"extract", func() { c.readWith(modeExtract) }},
		{"recover", func() { c.mode = modeRecover }},
		{"repair", func() { c.mode = modeRepair }},
		{"merge", func() { c.mode = modeMerge }},
		{"index", func() { c.mode = modeIndex }},
		{"train", func() { c.mode = modeTrain }},
		{"keep", func() { c.remove = false }},
		{"sparse", func() { c.noSparse = false }},
		{"no-sparse", func() { c.noSparse = true }},
		{"check", func() { c.noCheck = false }},
		{"no-check", func() { c.noCheck = true }},
		{"synchronous", func() { c.noSync = false }},
		{"no-sync", func() { c.noSync = true }},
		{"long-help", func() { c.help = helpAll }},
		{"auto", func() { c.tuning = compress.TuneAuto }},
		{"trial", func() { c.tuning = compress.TuneTrial }},
		{"no-name", func() { c.names = namesDrop }},
		{"name", func() { c.names = namesUse }},
		{"quiet", func() { c.quiet, c.verbose = true, false }},
		{"verbose", func() { c.quiet, c.verbose = false, true }},
	} {
		fs.BoolFuncP(o.name, c.letter(o.name), "", func(s string) error {
			// pflag accepts --keep=false, which would have to undo another option.
			if on, err := strconv.ParseBool(s); err != nil || !on {
				return errors.New("this option takes no value")
			}
			o.act()
			return nil
		})
	}
}

// readWith sets the mode, which is one that reads compressed data. As in gzip -l outranks -t, and
// both outrank what writes files, in any order: "pz -td FILE" writes nothing.
func (c *config) readWith(m mode) {
	if c.mode != modeList && (c.mode != modeTest || m == modeList) {
		c.mode = m
	}
}

// boolFlags adds the options without a value that stand for themselves.
func (c *config) boolFlags(fs *pflag.FlagSet) {
	for _, o := range []struct {
		p    *bool
		name string
	}{
		{&c.toStdout, "stdout"},
		{&c.force, "force"},
		{&c.recursive, "recursive"},
		{&c.tar, "tar"},
		{&c.version, "version"},
		{&c.json, "json"},
		{&c.deep, "deep"},
		{&c.rsyncable, "rsyncable"},
		{&c.zeroFill, "zero-fill"},
		{&c.listGPUs, "list-gpus"},
	} {
		fs.BoolVarP(o.p, o.name, c.letter(o.name), false, "")
	}
}

// gzipSynonyms maps second names that options have in gzip to the first ones.
var gzipSynonyms = map[string]string{"uncompress": "decompress", "to-stdout": "stdout"}

func (c *config) setLevel(s string) (err error) {
	c.level, err = parseLevel(s)
	c.bench.levels = nil
	return err
}

func parseLevel(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < minLevel || n > maxLevel {
		return 0, fmt.Errorf("the level must be a number from %d to %d", minLevel, maxLevel)
	}
	return n, nil
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

// seekableBlock is the block size of --seekable in bytes. docs/TUNING.md compares sizes.
const seekableBlock = 64 << 10

// setSeekable sets the block size for random access.
func (c *config) setSeekable(s string) error {
	c.seekable = true
	return c.setBlockSize(s)
}

func (c *config) setParity(s string) error {
	n, err := strconv.Atoi(strings.TrimSuffix(s, "%"))
	if err != nil || n < 1 || n > 100 {
		return errors.New("the parity must be a number from 1 to 100, in percent")
	}
	c.parity = n
	return nil
}

// Values of --rm.
const (
	removeVerified = "verified"
	removeFast     = "fast"
)

func (c *config) setRemove(s string) error {
	if s != removeVerified && s != removeFast {
		return errors.New("the only value is fast")
	}
	c.remove, c.removeFast = true, s == removeFast
	return nil
}

// setLong sets the window of long-distance matches by its log2, as zstd does, or by its size.
func (c *config) setLong(s string) error {
	least, most := bits.TrailingZeros(compress.MinWindow), bits.Len64(compress.MaxWindow)-1
	size, err := parseSize(s)
	if n, nerr := strconv.Atoi(s); nerr == nil && n >= 0 && n <= most {
		size = 1 << n
	}
	if err != nil || size < compress.MinWindow || size > compress.MaxWindow || size&(size-1) != 0 {
		return fmt.Errorf("the window must be a number from %d (%s) to %d (%s), "+
			"or such a size: a power of two, as in 128M",
			least, formatSize(compress.MinWindow), most, formatSize(compress.MaxWindow))
	}
	c.window = size
	return nil
}

func (c *config) setStreamSize(s string) (err error) {
	c.streamSize, err = parseSize(s)
	c.sized = true
	return err
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
var backends = map[string]gpu.Backend{
	"auto": gpu.BackendAuto, "cpu": gpu.BackendCPU,
	"gpu": gpu.BackendGPU, "fused": gpu.BackendFused,
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
	case (c.match == gpu.BackendFused) != (c.entropy == gpu.BackendFused):
		return errors.New("fused runs matching and entropy coding together; use it alone")
	}
	return nil
}

// Values of --help, beside generatedHelp.
const (
	helpBrief = "brief"
	helpAll   = "all"
)

func (c *config) setHelp(s string) error {
	if s != helpBrief && s != helpAll && !slices.Contains(generatedHelp, s) {
		return errors.New("use --help, or --help=all for all options")
	}
	c.help = s
	return nil
}
