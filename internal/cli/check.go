package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// check rejects combinations of options that contradict each other, and completes c.
func (c *config) check(outputGiven, suffixGiven bool) error {
	if err := c.checkOutput(outputGiven, suffixGiven); err != nil {
		return err
	}
	if err := c.checkOutputDir(outputGiven); err != nil {
		return err
	}
	if c.output == "-" {
		c.output, c.toStdout = "", true
	}
	if err := c.checkMode(); err != nil {
		return err
	}
	if err := c.checkArchive(); err != nil {
		return err
	}
	if len(c.files) == 0 && len(c.lists) == 0 {
		c.files = []string{"-"}
	}
	if err := c.chooseFormat(); err != nil {
		return err
	}
	if err := c.checkBench(); err != nil || !c.compresses() {
		return err
	}
	if err := c.checkParity(); err != nil {
		return err
	}
	if err := c.checkBlockSize(); err != nil {
		return err
	}
	if err := c.checkDictionary(); err != nil {
		return err
	}
	return c.checkLong()
}

// compresses reports whether the run compresses its sources.
func (c *config) compresses() bool { return c.mode == modeCompress || c.mode == modeBench }

// writesNothing reports whether the run writes no file for a source.
func (c *config) writesNothing() bool {
	return c.mode == modeTest || c.mode == modeList || c.mode == modeBench
}

// checkOutput checks -o and -S.
func (c *config) checkOutput(outputGiven, suffixGiven bool) error {
	if suffixGiven && !validSuffix(c.ownSuffix) {
		return fmt.Errorf("-S %s: a suffix must not be empty or contain a path separator",
			printable(c.ownSuffix))
	}
	if !outputGiven {
		return nil
	}
	switch {
	case c.output == "":
		return errors.New("-o: the file name is empty")
	case os.IsPathSeparator(c.output[len(c.output)-1]):
		return fmt.Errorf("-o %s: it is a directory; add a file name", printable(c.output))
	case c.writesNothing():
		return errors.New("-o does not go with -t, -l and -b, which write no file")
	case c.toStdout:
		return errors.New("-o does not go with -c; use one of them")
	case c.mode == modeExtract:
		return errors.New("-o does not go with -x; use -c, or --output-dir DIR")
	case c.mode == modeTrain, c.tar:
	case c.recursive:
		return errors.New("-o does not go with -r, which writes many files")
	case len(c.lists) > 0:
		return errors.New("-o does not go with --files-from, which may name many files")
	case len(c.files) > 1:
		return fmt.Errorf("-o takes one input file, not %d; use -c to write several to one output",
			len(c.files))
	}
	return nil
}

func (c *config) checkOutputDir(outputGiven bool) error {
	switch {
	case c.outputDir == "":
		return nil
	case outputGiven, c.toStdout:
		return errors.New("--output-dir does not go with -o and -c; use one of them")
	case c.mode == modeTrain:
		return errors.New("--output-dir does not go with --train; use -o")
	case c.writesNothing():
		return errors.New("--output-dir does not go with -t, -l and -b, which write no file")
	}
	return nil
}

func validSuffix(s string) bool {
	return s != "" && !strings.ContainsAny(s, "/\x00") && !strings.ContainsRune(s, os.PathSeparator)
}

// checkMode checks the options that depend on the mode.
func (c *config) checkMode() error {
	switch {
	case c.json && c.mode != modeList && c.mode != modeBench:
		return errors.New("--json goes with -l and -b only")
	case c.deep && c.mode != modeTest:
		return errors.New("--deep goes with -t only")
	case c.zeroFill && c.mode != modeRecover:
		return errors.New("--zero-fill goes with --recover only")
	case c.ranged() && (c.mode != modeDecompress || !c.toStdout && c.output == ""):
		return errors.New("--range goes with -d and -c, or with -d and -o FILE")
	case c.ranged() && c.remove:
		return errors.New("--rm does not go with --range, which restores a part")
	case c.mode == modeDecompress && c.noCheck && c.remove:
		return errors.New("--rm does not go with -d --no-check, which does not verify the result")
	case c.mode == modeMerge:
		return c.checkMerge()
	case c.mode == modeRepair && c.remove:
		return errors.New("--rm does not go with --repair; keep the damaged file")
	case c.mode == modeRepair && !c.toStdout && c.output == "":
		return errors.New("--repair needs -o FILE or -c")
	case c.mode == modeRecover && c.remove:
		return errors.New("--rm does not go with --recover; keep the damaged file")
	case c.remove && (c.mode == modeExtract || c.tar):
		return errors.New("--rm does not go with --tar and -x")
	case c.mode == modeIndex && (c.remove || c.recursive):
		return errors.New("--index does not go with --rm and -r")
	case c.mode == modeTrain && c.remove:
		return errors.New("--rm does not go with --train, which keeps the files")
	case c.mode == modeTrain && !c.toStdout && c.output == "":
		return errors.New("--train needs -o FILE or -c, for the dictionary")
	case c.mode == modeRecover && !c.toStdout && c.output == "":
		return errors.New("--recover needs -o FILE or -c, because the result may be incomplete")
	}
	return nil
}

// checkMerge checks the options of --merge.
func (c *config) checkMerge() error {
	switch {
	case c.remove:
		return errors.New("--rm does not go with --merge; keep the damaged files")
	case c.recursive, len(c.lists) > 0:
		return errors.New("--merge does not go with -r and --files-from; name the copies")
	case c.noCheck:
		return errors.New("--merge does not go with --no-check, for checks tell which copy is right")
	case len(c.copies) == 0:
		return errors.New("--merge needs two copies of a file, or more")
	case slices.ContainsFunc(append([]string{c.files[0]}, c.copies...), func(name string) bool {
		return name == "-" || isURL(name)
	}):
		return errors.New("standard input and URLs cannot be merged; store the copy in a file")
	case !c.toStdout && c.output == "":
		return errors.New("--merge needs -o FILE or -c")
	}
	return nil
}
