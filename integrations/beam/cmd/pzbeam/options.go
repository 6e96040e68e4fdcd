package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	pzbeam "github.com/gopz/compress/integrations/beam"
)

const usage = `Usage: pzbeam COMMAND [OPTION]... FILE...

Compress, restore or verify files on an Apache Beam runner. Keep the sources.
FILE may be a pattern: quote it, and the workers look for the files.

  compress     Write FILE.pz, or as --format says.
  decompress   Restore .pz, .gz and .zst files.
  verify       Report damage; write no files.
  recover      Restore what is intact of damaged files, and report the damage.

      --out DIR            Write the results to DIR. Not for verify.
      --base PREFIX        Keep directories: remove only PREFIX from names of
                           sources, and not all directories.
  -f, --force              Replace results that exist.
      --skip-existing      Leave out sources whose result exists.
      --report FILE        Write the damage to FILE, a JSON object a line.
      --profile DIR        Write times of stages, for "profile aggregate DIR".
  -v, --verbose            Print what the runner logs.

  -1 ... -9, --level N     Set the level: 1 fastest to 9 densest; default 4, .gz
                           6.
      --format FORMAT      Write format pz (default), gz or zst.
      --block-size N       Cut content into blocks of N bytes, a power of two.
      --no-check           Write no checksums of the content.
      --no-name            Store no name and time in .gz files.
      --zero-fill          recover: write zeros in place of lost content.

      --group-size N       Bytes of content that a worker does at a time;
                           default 67108864.
      --max-memory N       Limit the memory for a group, in bytes.
      --runner NAME        prism (default, in this process), dataflow, flink,
                           spark or universal.

All other options are those of the runner, such as --endpoint and --project.

Examples:
  pzbeam compress 'logs/*.log' --out packed -7
  pzbeam verify 'packed/*.pz' --report damage.json
  pzbeam decompress 'packed/*.pz' --out logs2

Exit status: 0, or 1 after an error or damage, or 2 for wrong arguments.
More: docs/CLUSTER.md in the source.
`

// command is what a command line asks for.
type command struct {
	name     string
	patterns []string
	report   string
	profile  string
	verbose  bool
	levelErr error // of the option for the level
	pzbeam.Options
}

// finds reports whether the command looks for damage.
func (c *command) finds() bool { return c.name == "verify" || c.name == "recover" }

// parse parses arguments. Options may stand between the files. The options of runners are already
// in fs.
func parse(args []string, fs *flag.FlagSet) (*command, error) {
	c := new(command)
	c.define(fs)
	var rest []string // behind "--"
	if i := slices.Index(args, "--"); i >= 0 {
		args, rest = args[:i], args[i+1:]
	}
	var words []string
	for len(args) > 0 {
		if err := checkFlags(args, fs); err != nil {
			return nil, err
		}
		err := fs.Parse(args)
		switch {
		case c.levelErr != nil:
			return nil, c.levelErr
		case err != nil:
			return nil, plain(err)
		}
		if args = fs.Args(); len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	words = append(words, rest...)
	if f := fs.Lookup("worker"); f != nil && f.Value.String() == "true" {
		return c, nil // beam.Init does the work
	}
	if len(words) == 0 {
		return nil, errors.New("a command is missing: compress, decompress, verify or recover")
	}
	c.name, c.patterns = words[0], words[1:]
	return c, c.check(fs)
}

// define defines the options.
func (c *command) define(fs *flag.FlagSet) {
	fs.Init("pzbeam", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.StringVar(&c.Output, "out", "", "")
	fs.StringVar(&c.Base, "base", "", "")
	fs.StringVar(&c.Format, "format", "", "")
	fs.IntVar(&c.BlockSize, "block-size", 0, "")
	fs.BoolVar(&c.NoCheck, "no-check", false, "")
	fs.BoolVar(&c.NoName, "no-name", false, "")
	fs.Int64Var(&c.GroupSize, "group-size", 0, "")
	fs.Int64Var(&c.MaxMemory, "max-memory", 0, "")
	fs.StringVar(&c.report, "report", "", "")
	fs.StringVar(&c.profile, "profile", "", "")
	fs.BoolVar(&c.ZeroFill, "zero-fill", false, "")
	fs.BoolVar(&c.verbose, "v", false, "")
	fs.BoolVar(&c.verbose, "verbose", false, "")
	existing := func(e pzbeam.Existing) func(string) error {
		return func(string) error {
			c.Existing = e
			return nil
		}
	}
	fs.BoolFunc("f", "", existing(pzbeam.Replace))
	fs.BoolFunc("force", "", existing(pzbeam.Replace))
	fs.BoolFunc("skip-existing", "", existing(pzbeam.Skip))
	setLevel := func(text string) error {
		if len(text) != 1 || text < "1" || text > "9" {
			c.levelErr = fmt.Errorf("level %s: a level is a number from 1 to 9", text)
			return c.levelErr
		}
		c.Level = int(text[0] - '0')
		return nil
	}
	fs.Func("level", "", setLevel)
	for level := range 100 {
		name := fmt.Sprint(level)
		fs.BoolFunc(name, "", func(string) error { return setLevel(name) })
	}
}

// runners are the names of Beam's runners.
var runners = []string{"prism", "dataflow", "flink", "spark", "universal"}

// check checks what the options are together.
func (c *command) check(fs *flag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case !slices.Contains([]string{"compress", "decompress", "verify", "recover"}, c.name):
		return fmt.Errorf("unknown command %q: it is compress, decompress, verify or recover", c.name)
	case len(c.patterns) == 0:
		return fmt.Errorf("%s: no files named", c.name)
	case c.Output == "" && c.name != "verify":
		return fmt.Errorf("%s: --out DIR is missing", c.name)
	case c.finds() && c.report == "" && (given["async"] || given["execute_async"]):
		return fmt.Errorf("%s: with --async there is no exit status: --report FILE is needed", c.name)
	}
	if c.profile != "" {
		if _, err := os.Lstat(filepath.Join(c.profile, "stats.tsv")); err == nil {
			return fmt.Errorf("--profile: %s has the profile of another run", c.profile)
		}
	}
	if f := fs.Lookup("runner"); given["runner"] && !slices.Contains(runners, f.Value.String()) {
		return fmt.Errorf("unknown runner %q: it is %s", f.Value, strings.Join(runners, ", "))
	}
	for _, x := range []struct{ option, commands string }{
		{"out", "compress decompress recover"}, {"base", "compress decompress recover"},
		{"force", "compress decompress recover"}, {"f", "compress decompress recover"},
		{"skip-existing", "compress decompress recover"}, {"report", "verify recover"},
		{"zero-fill", "recover"}, {"level", "compress"}, {"format", "compress"},
		{"block-size", "compress"}, {"no-check", "compress"}, {"no-name", "compress"},
	} {
		if given[x.option] && !slices.Contains(strings.Fields(x.commands), c.name) {
			return fmt.Errorf("%s: option %s is for %s only", c.name, dashed(x.option),
				strings.ReplaceAll(x.commands, " ", ", "))
		}
	}
	return nil
}

// dashed returns an option as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// checkFlags returns an error if the options in front of the first word are unknown, or if the last
// one lacks its value. Package flag has no error values for these.
func checkFlags(args []string, fs *flag.FlagSet) error {
	for len(args) > 0 {
		name, dash := strings.CutPrefix(args[0], "-")
		name = strings.TrimPrefix(name, "-")
		name, _, assigned := strings.Cut(name, "=")
		if !dash || name == "" || name[0] == '-' || name == "h" || name == "help" {
			return nil // a word, or for package flag
		}
		f := fs.Lookup(name)
		if f == nil {
			return fmt.Errorf("unknown option %s", dashed(name))
		}
		args = args[1:]
		if value, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && value.IsBoolFlag() || assigned {
			continue
		}
		if len(args) == 0 {
			return fmt.Errorf("option %s needs a value", dashed(name))
		}
		args = args[1:]
	}
	return nil
}

// plain writes options in an error of package flag as this command does.
func plain(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), "flag -", "option --"))
}
