package cli

import (
	"fmt"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/simd"
)

type mode int

const (
	modeCompress mode = iota
	modeDecompress
	modeTest
	modeList
	modeRecover
	modeRepair
	modeMerge
	modeIndex
	modeBench
	modeTrain
	modeExtract
)

// config holds the settings of one run, from the command line and the environment.
type config struct {
	mode   mode
	ofGzip bool // the program has one of gzip's names
	inputConfig
	outputConfig
	codingConfig
	runConfig
	bench benchConfig

	quiet    bool
	verbose  bool
	json     bool
	deep     bool   // -t with a second decoder
	help     string // "", helpBrief, helpAll or one of generatedHelp
	version  bool
	license  bool // -L of gzip
	ascii    bool // -a of gzip
	listGPUs bool

	envWarnings   []string // invalid variables that no option overrides
	kernelWarning string   // problem with PZ_SIMD; "" if there is none
	gzipWarnings  []string // about options that only gzip has
}

// inputConfig says which files to process.
type inputConfig struct {
	files     []string // operands; "-" is standard input
	lists     []fileList
	exclude   []string // patterns
	recursive bool
	tar       bool     // make an archive, or list one
	members   []string // of the archive, that -x extracts; none is for all
	copies    []string // of the first operand, which --merge merges with it
}

// outputConfig says where results go and what happens to existing files.
type outputConfig struct {
	toStdout   bool
	output     string // value of -o; "" if not given
	ownSuffix  string // value of -S; "" if not given
	force      bool
	remove     bool
	removeFast bool      // remove without restoring the result first
	outputDir  string    // value of --output-dir; "" if not given
	interval   *interval // value of --range; nil for all of the content
	noSparse   bool      // write zeros in place of holes
	noSync     bool      // do not wait until results are on disk
}

// codingConfig holds the settings of compression and decompression.
type codingConfig struct {
	level      int // 0 selects the library's default
	tuning     compress.Tuning
	formatName string          // value of --format; "" if not given
	format     compress.Format // set by chooseFormat
	pipeline   string          // value of -p; "" selects the format's default
	blockSize  int             // in bytes; 0 selects the level's size
	seekable   bool            // --seekable is on the command line
	rsyncable  bool
	window     int64 // of long-distance matches, in bytes; 0 is none
	parity     int   // percent; 0 is none
	sized      bool  // --stream-size is on the command line
	streamSize int64 // its value in bytes
	noCheck    bool
	zeroFill   bool
	maxDict    int    // size of the dictionary that --train makes, in bytes; 0 selects the default
	dictID     uint32 // of that dictionary; 0 selects one
	names      nameMode
	dictionary string // value of -D; "" for none
}

// runConfig says which processors and how much memory the run uses.
type runConfig struct {
	threads      int   // 0 selects all processors
	memory       int64 // limit in bytes; 0 selects the library's default
	tight        bool  // memory follows from a limit of the address space
	target       int64 // in bytes, set by setTarget; 0 is for none
	match        gpu.Backend
	entropy      gpu.Backend
	backendGiven bool   // --backend is on the command line
	device       string // value of --gpu-device; "" if not given
}

// parseFlags reads the environment and then the command line, which overrides it. ofGzip says that
// the program has one of gzip's names.
func parseFlags(args []string, getenv func(string) string, ofGzip bool) (config, error) {
	c := config{ofGzip: ofGzip, bench: benchConfig{least: benchTime}}
	invalid := c.readEnv(getenv)
	c.kernelWarning = checkKernels(getenv(kernelsVariable))
	fs := c.flagSet()
	names := optionNames{
		short: func(letter byte) bool {
			return letter < utf8.RuneSelf && takesValue(fs.ShorthandLookup(string(rune(letter))))
		},
		long: func(name string) bool { return takesValue(fs.Lookup(name)) },
		full: func(part string) string { return fullName(fs, part) },
		levels: func(letter byte) string {
			if !ofGzip && letter == shortName("bench")[0] {
				return "bench"
			}
			return ""
		},
		digits: ofGzip,
	}
	if ofGzip {
		err := c.parseGzipVariable(fs, names, getenv(gzipVariable))
		if err != nil {
			return c, err
		}
	}
	if err := fs.Parse(rewriteLevels(args, names)); err != nil {
		return c, usageError(fs, err)
	}
	if c.ascii && !c.quiet {
		c.gzipWarnings = append(c.gzipWarnings, "option --ascii ignored on this system")
	}
	c.files = fs.Args()
	if c.mode == modeExtract && len(c.files) > 0 {
		c.files, c.members = c.files[:1], c.files[1:]
	}
	if !shellExpands {
		c.files = expandWildcards(c.files)
	}
	if c.mode == modeMerge && len(c.files) > 0 {
		c.files, c.copies = c.files[:1], c.files[1:]
	}
	for _, v := range invalid {
		if !fs.Changed(v.flag) {
			c.envWarnings = append(c.envWarnings, v.text)
		}
	}
	if c.help != "" || c.version || c.license || c.listGPUs {
		// An invalid format does not keep the user from reading the help.
		if c.chooseFormat() != nil {
			c.pipeline, c.format = "", compress.PZ
		}
		return c, nil
	}
	return c, c.check(fs.Changed("output"), fs.Changed("suffix"))
}

func takesValue(f *pflag.Flag) bool { return f != nil && f.NoOptDefVal == "" }

// envError is an environment variable whose value is invalid.
type envError struct {
	flag string // the option that overrides the variable
	text string // warning
}

// readEnv takes defaults from the environment. An invalid value is a warning and no error, because
// the user who restores a file may not be the one who set the variable.
func (c *config) readEnv(getenv func(string) string) (invalid []envError) {
	for _, v := range []struct {
		name, flag string
		set        func(string) error
	}{
		{"PZ_LEVEL", levelFlag, c.setLevel},
		{"PZ_THREADS", "threads", c.setThreads},
	} {
		s := getenv(v.name)
		if s == "" {
			continue
		}
		if err := v.set(s); err != nil {
			invalid = append(invalid, envError{v.flag, fmt.Sprintf(
				"environment variable %s=%s -- ignored; %s", v.name, printable(s), err)})
		}
	}
	return invalid
}

// kernelsVariable is the environment variable that limits the kernels. The library reads it.
const kernelsVariable = "PZ_SIMD"

// checkKernels returns a warning if the library does not use the kernels that s names.
func checkKernels(s string) string {
	if s == "" || s == simd.Tier() {
		return ""
	}
	return fmt.Sprintf("environment variable %s=%s -- ignored, %s kernels run; "+
		"use portable, avx2, avx512 or neon, as far as build and processor have them",
		kernelsVariable, printable(s), simd.Tier())
}
