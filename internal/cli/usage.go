package cli

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// usageError says in the words of this command what the option parser did not like.
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
		f := invalid.GetFlag()
		switch {
		case f.NoOptDefVal != "": // it takes none; what the parser of booleans says about it helps nobody
			return fmt.Errorf("%s takes no value", optionName(f))
		case f.Name == levelFlag: // it may have been -19, or --level=19
			return fmt.Errorf("level %s: %w", printable(invalid.GetValue()), invalid.Unwrap())
		}
		return fmt.Errorf("%s %s: %w", optionName(f), printable(invalid.GetValue()), invalid.Unwrap())
	case errors.As(err, &syntax):
		return fmt.Errorf("%s is not an option", printable(syntax.GetSpecifiedFlag()))
	}
	return err
}

const levelFlag = "level"

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
		return fmt.Errorf("--%s takes no value", name) // with one it is not rewritten to --level
	case cluster == "":
		return fmt.Errorf("there is no option --%s%s", printable(name), suggest(fs, name))
	}
	// The parser goes byte by byte, which cuts letters in pieces.
	if at := strings.IndexByte(cluster, name[0]); at >= 0 {
		r, size := utf8.DecodeRuneInString(cluster[at:])
		if name = cluster[at : at+size]; r == utf8.RuneError {
			name = cluster
		}
	}
	word, _, _ := strings.Cut(cluster, "=")
	switch {
	case name == "-" || name == "=":
		return fmt.Errorf("there is no option %q", name) // behind letters that are options, as in -k-9
	case name == cluster:
		return fmt.Errorf("there is no option -%s", printable(name))
	}
	return fmt.Errorf("there is no option -%s, as in -%s%s", printable(name), printable(cluster), suggest(fs, word))
}

// elsewhere has the names that other compressors give to options of pz.
var elsewhere = map[string]string{
	"uncompress": "decompress", "to-stdout": "stdout", "remove": "rm", "ultra": "best",
	"blocksize": "block-size", "memlimit": "memory", "processes": "threads",
	"gz": "format gz", "gzip": "format gz", "zst": "format zst", "zstd": "format zst",
}

// suggest names the option that was probably meant by a long one that there is not.
func suggest(fs *pflag.FlagSet, name string) string {
	found := elsewhere[name]
	most := min(2, len(name)/2) // typing errors
	try := func(option string) {
		d := distance(name, option)
		if len(name) > 2 && strings.HasPrefix(option, name) {
			d = 0
		}
		if d < most || d == most && found == "" {
			found, most = option, d
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

// distance is how many bytes have to be put in, left out or replaced to make one word of the other.
func distance(a, b string) int {
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
