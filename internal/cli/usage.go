package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// usageError replaces an error of the option parser by one in the words of this command.
func usageError(fs *pflag.FlagSet, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		syntax  *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown):
		return unknownOption(fs, unknown)
	case errors.As(err, &missing):
		return fmt.Errorf("%s needs a value", optionName(missing.GetFlag()))
	case errors.As(err, &invalid):
		f, value := invalid.GetFlag(), printable(invalid.GetValue())
		switch {
		case f.Name == "help":
			return fmt.Errorf("--help=%s: %w", value, invalid.Unwrap())
		case f.Name == "long" || f.Name == "seekable" || f.Name == "bench" || f.Name == "rm":
			return fmt.Errorf("--%s=%s: %w", f.Name, value, invalid.Unwrap())
		case f.Name == "bench-to" && value == "st":
			return errors.New("-e st: the level must be a number; did you mean --best?") // -best
		case f.NoOptDefVal != "":
			return fmt.Errorf("%s takes no value", optionName(f))
		case f.Name == levelFlag: // the argument was -19 or --level=19
			return fmt.Errorf("level %s: %w", value, invalid.Unwrap())
		}
		return fmt.Errorf("%s %s: %w", optionName(f), value, invalid.Unwrap())
	case errors.As(err, &syntax):
		return fmt.Errorf("invalid option %s", printable(syntax.GetSpecifiedFlag()))
	}
	return err
}

// optionName returns the short name of an option if it has one, and else the long one.
func optionName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

func unknownOption(fs *pflag.FlagSet, e *pflag.NotExistError) error {
	name, cluster := e.GetSpecifiedName(), e.GetSpecifiedShortnames()
	switch {
	case cluster == "" && (name == "fast" || name == "best"):
		return fmt.Errorf("--%s takes no value", name) // rewriteLevels rewrites it only without one
	case cluster == "" && len(abbreviated(fs, name)) > 1:
		list := abbreviated(fs, name)
		last := len(list) - 1
		return fmt.Errorf("--%s is ambiguous: %s or %s", name, strings.Join(list[:last], ", "), list[last])
	case cluster == "":
		return fmt.Errorf("unknown option --%s%s", printable(name), suggest(fs, name))
	}
	// The parser works on bytes. Restore the whole letter.
	if at := strings.IndexByte(cluster, name[0]); at >= 0 {
		r, size := utf8.DecodeRuneInString(cluster[at:])
		name = cluster[at : at+size]
		if r == utf8.RuneError {
			name = cluster
		}
	}
	word, _, _ := strings.Cut(cluster, "=")
	switch {
	case name == "-" || name == "=":
		return fmt.Errorf("unknown option %q", name) // after valid letters, as in -k-9
	case name == "C": // of tar, as in -xC or -xvC
		return errors.New("unknown option -C; did you mean --output-dir?")
	case name == cluster:
		return fmt.Errorf("unknown option -%s", printable(name))
	}
	return fmt.Errorf("unknown option -%s in -%s%s",
		printable(name), printable(cluster), suggest(fs, word))
}

// abbreviated returns the long options that a part of a name abbreviates, in order and with their
// dashes: all that begin with it, or only the one that is called so.
func abbreviated(fs *pflag.FlagSet, part string) (list []string) {
	names := []string{"fast", "best"} // rewriteLevels handles them
	for name := range gzipSynonyms {
		names = append(names, name)
	}
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, name := range names {
		if name == part {
			return []string{"--" + name}
		}
		if strings.HasPrefix(name, part) {
			list = append(list, "--"+name)
		}
	}
	slices.Sort(list)
	return list
}

// fullName returns the long option that part abbreviates, as in GNU programs, or part itself if
// there is none or more than one.
func fullName(fs *pflag.FlagSet, part string) string {
	if list := abbreviated(fs, part); len(list) == 1 {
		return list[0][2:]
	}
	return part
}

// synonyms maps options of other compressors to those of pz.
var synonyms = map[string]string{
	"remove": "rm", "ultra": "best",
	"benchmark": "bench", "blocksize": "block-size", "memlimit": "memory", "processes": "threads",
	"gz": "format gz", "gzip": "format gz", "zst": "format zst", "zstd": "format zst",
	"silent": "quiet", "no-progress": "quiet", "filelist": "files-from",
	"single-thread": "threads 1", "output-dir-mirror": "output-dir", "output-dir-flat": "output-dir",
	"patch-from": "dictionary", "extreme": "best", "ignore-check": "no-check", "pass-through": "force",
	"train-cover": "train", "train-fastcover": "train", "train-legacy": "train",
	"memlimit-compress": "memory", "memlimit-decompress": "memory",
	"directory": "output-dir",
}

// suggest returns a hint at the option that the user probably meant by an unknown long name.
func suggest(fs *pflag.FlagSet, name string) string {
	found := synonyms[name]
	limit := min(2, len(name)/2) // accepted edit distance
	try := func(option string) {
		d := editDistance(name, option)
		if len(name) > 2 && strings.HasPrefix(option, name) {
			d = 0
		}
		if d < limit || d == limit && found == "" {
			found, limit = option, d
		}
	}
	if found == "" {
		fs.VisitAll(func(f *pflag.Flag) { try(f.Name) })
		try("fast")
		try("best")
	}
	if found == "" {
		return ""
	}
	return "; did you mean --" + found + "?"
}

// editDistance returns the Levenshtein distance of a and b in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
