package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/gopz/compress"
)

type mode int

const (
	modeCompress mode = iota
	modeDecompress
	modeTest
	modeList
	modeRecover
)

// config is what the command line and the environment ask for.
type config struct {
	mode      mode
	toStdout  bool
	output    string // of -o; "" without
	ownSuffix string // of -S; "" without
	names     names
	force     bool
	remove    bool
	recursive bool
	quiet     bool
	verbose   bool
	json      bool
	help      bool
	version   bool
	listGPUs  bool

	level     int // 0: the library's default
	tuning    compress.Tuning
	pipeline  string // once the options are checked, never ""
	format    string // of the pipeline: "pz", "gz" or "zst"
	threads   int    // 0: all
	blockSize int    // 0: the level's
	memory    int64
	noCheck   bool
	zeroFill  bool
	match     compress.Backend
	entropy   compress.Backend
	chosen    bool   // somebody has thought about backends
	device    string // "" without

	files []string

	ignored []string // what is wrong with the environment, where no option overrides it
	kernels string   // the same of PZ_SIMD, which the library has read; "" if nothing is
}

// parseFlags reads the environment first, so that the command line overrides it.
func parseFlags(args []string, getenv func(string) string) (config, error) {
	var c config
	bad := c.readEnv(getenv)
	c.kernels = badKernels(getenv(kernelsVariable))
	fs := c.flagSet()
	args = rewriteLevels(args,
		func(short byte) bool {
			return short < utf8.RuneSelf && takesValue(fs.ShorthandLookup(string(rune(short))))
		},
		func(long string) bool { return takesValue(fs.Lookup(long)) })
	if err := fs.Parse(args); err != nil {
		return c, usageError(fs, err)
	}
	c.files = fs.Args()
	for _, b := range bad {
		if !fs.Changed(b.flag) {
			c.ignored = append(c.ignored, b.text)
		}
	}
	if c.help || c.version || c.listGPUs {
		if c.chooseFormat() != nil {
			c.pipeline = "" // help is given all the same
		}
		return c, nil
	}
	return c, c.check(fs.Changed("output"), fs.Changed("suffix"))
}

func takesValue(f *pflag.Flag) bool { return f != nil && f.NoOptDefVal == "" }

// badEnv is a variable that cannot be used in place of an option.
type badEnv struct{ flag, text string }

// readEnv takes the defaults from the environment. What is wrong with them is no reason not to work: somebody who wants
// to restore a file may not know who set them.
func (c *config) readEnv(getenv func(string) string) (bad []badEnv) {
	for _, e := range []struct {
		name, flag string
		set        func(string) error
	}{{"PZ_LEVEL", levelFlag, c.setLevel}, {"PZ_THREADS", "threads", c.setThreads}} {
		s := getenv(e.name)
		if s == "" {
			continue
		}
		if err := e.set(s); err != nil {
			bad = append(bad, badEnv{e.flag, fmt.Sprintf("%s=%s in the environment is ignored: %s", e.name, printable(s), err)})
		}
	}
	return bad
}

// kernelsVariable is read by the library, before main begins.
const kernelsVariable = "PZ_SIMD"

// badKernels says what is wrong with that variable: whoever has set it wants to know what ran.
func badKernels(s string) string {
	if s == "" || s == compress.Kernels() {
		return ""
	}
	return fmt.Sprintf("%s=%s in the environment is ignored, %s kernels are used: it is portable, avx2, avx512 or neon, if build and processor have that",
		kernelsVariable, printable(s), compress.Kernels())
}

func (c *config) flagSet() *pflag.FlagSet {
	fs := pflag.NewFlagSet("pz", pflag.ContinueOnError)
	fs.Usage = func() {}

	// Where two options contradict each other the last one wins, so that an alias with options stays usable.
	modeFlag := func(name, short string, m mode) {
		fs.BoolFuncP(name, short, "", switchOn(func() { c.mode = m }))
	}
	modeFlag("compress", "z", modeCompress)
	modeFlag("decompress", "d", modeDecompress)
	modeFlag("test", "t", modeTest)
	modeFlag("list", "l", modeList)
	modeFlag("recover", "", modeRecover)
	fs.BoolFuncP("keep", "k", "", switchOn(func() { c.remove = false }))
	fs.BoolFuncP("auto", "a", "", switchOn(func() { c.tuning = compress.TuneAuto }))
	fs.BoolFunc("trial", "", switchOn(func() { c.tuning = compress.TuneTrial }))
	fs.BoolFunc("rm", "", switchOn(func() { c.remove = true }))
	fs.BoolFuncP("no-name", "n", "", switchOn(func() { c.names = namesDrop }))
	fs.BoolFuncP("name", "N", "", switchOn(func() { c.names = namesKeep }))

	fs.BoolVarP(&c.toStdout, "stdout", "c", false, "")
	fs.BoolVarP(&c.force, "force", "f", false, "")
	fs.BoolVarP(&c.recursive, "recursive", "r", false, "")
	fs.BoolVarP(&c.quiet, "quiet", "q", false, "")
	fs.BoolVarP(&c.verbose, "verbose", "v", false, "")
	fs.BoolVarP(&c.version, "version", "V", false, "")
	fs.BoolVarP(&c.help, "help", "h", false, "")
	fs.BoolVar(&c.json, "json", false, "")
	fs.BoolVar(&c.noCheck, "no-check", false, "")
	fs.BoolVar(&c.zeroFill, "zero-fill", false, "")

	fs.StringVarP(&c.output, "output", "o", "", "")
	fs.StringVarP(&c.ownSuffix, "suffix", "S", "", "")
	fs.StringVar(&c.format, "format", "", "")
	fs.StringVarP(&c.pipeline, "pipeline", "p", "", "")
	fs.Func(levelFlag, "", c.setLevel)
	fs.FuncP("threads", "T", "", c.setThreads)
	fs.FuncP("block-size", "B", "", c.setBlockSize)
	fs.FuncP("memory", "M", "", c.setMemory)
	fs.Func("backend", "", c.setBackend)
	fs.StringVar(&c.device, "gpu-device", "", "")
	fs.BoolVar(&c.listGPUs, "list-gpus", false, "")
	return fs
}

// switchOn makes a flag without a value of an action. pflag would take --keep=false; as that cannot undo another
// option it is refused.
func switchOn(action func()) func(string) error {
	return func(s string) error {
		if on, err := strconv.ParseBool(s); err != nil || !on {
			return errors.New("this option takes no value")
		}
		action()
		return nil
	}
}

func (c *config) setLevel(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < minLevel || n > maxLevel {
		return fmt.Errorf("a level is a number from %d to %d", minLevel, maxLevel)
	}
	c.level = n
	return nil
}

func (c *config) setThreads(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxThreads {
		return fmt.Errorf("threads are a number from 0 (all) to %d", maxThreads)
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
		return fmt.Errorf("a block size is a power of two from %s to %s",
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
		return errors.New("a memory limit is more than 0")
	}
	c.memory = n
	return nil
}

// setBackend takes one backend for both stages that a device can do, or one for each.
func (c *config) setBackend(s string) error {
	c.chosen = true
	match, entropy, two := strings.Cut(s, ",")
	if !two {
		entropy = match
	}
	var ok [2]bool
	for i, b := range map[string]compress.Backend{"auto": compress.Auto, "cpu": compress.CPU, "gpu": compress.GPU, "fused": compress.Fused} {
		if i == match {
			c.match, ok[0] = b, true
		}
		if i == entropy {
			c.entropy, ok[1] = b, true
		}
	}
	switch {
	case !ok[0] || !ok[1]:
		return errors.New("a backend is auto, cpu or gpu, or two of them for matching and entropy coding, as in cpu,gpu; or fused, which is both")
	case (c.match == compress.Fused) != (c.entropy == compress.Fused):
		return errors.New("backend fused is matching and entropy coding together")
	}
	return nil
}

// check refuses combinations that could only be meant otherwise.
func (c *config) check(outputGiven, suffixGiven bool) error {
	switch {
	case suffixGiven && c.ownSuffix == "" || strings.ContainsAny(c.ownSuffix, "/\x00") || strings.ContainsRune(c.ownSuffix, os.PathSeparator):
		return fmt.Errorf("suffix %q: it must not be empty or have a path separator in it", c.ownSuffix)
	case c.json && c.mode != modeList:
		return errors.New("--json goes with -l only")
	case outputGiven && c.output == "":
		return errors.New("-o: the name is empty")
	case outputGiven && os.IsPathSeparator(c.output[len(c.output)-1]):
		return fmt.Errorf("-o %s: that is a directory; the result needs a name in it", printable(c.output))
	case outputGiven && (c.mode == modeTest || c.mode == modeList):
		return errors.New("-o does not go with -t or -l, which write no file")
	case outputGiven && c.toStdout:
		return errors.New("-o and -c exclude each other")
	case outputGiven && c.recursive:
		return errors.New("-o does not go with -r, which writes many files")
	case outputGiven && len(c.files) > 1:
		return fmt.Errorf("-o takes one input file, not %d (use -c and redirect to put several into one)", len(c.files))
	}
	if c.output == "-" {
		c.output, c.toStdout = "", true
	}
	switch {
	case c.mode != modeRecover && c.zeroFill:
		return errors.New("--zero-fill goes with --recover only")
	case c.mode == modeDecompress && c.noCheck && c.remove:
		return errors.New("--rm does not go with -d --no-check: what is restored without being checked may be wrong")
	case c.mode == modeRecover && c.remove:
		return errors.New("--rm does not go with --recover: the damaged file may be needed again")
	case c.mode == modeRecover && !c.toStdout && c.output == "":
		return errors.New("--recover needs -o FILE or -c: what is saved may be incomplete and gets no name by itself")
	}
	if len(c.files) == 0 {
		c.files = []string{"-"}
	}
	if err := c.chooseFormat(); err != nil || c.mode != modeCompress {
		return err
	}
	return c.checkBlockSize()
}
