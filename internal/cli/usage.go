package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// unknownName returns the error for a long option that does not exist.
func (fs flagSet) unknownName(name string) error {
	return fmt.Errorf("unknown option --%s%s", printable(name), fs.suggest(name))
}

// unknownLetter returns the error for the first letter of arg, the rest of an argument.
func (fs flagSet) unknownLetter(arg string) error {
	r, size := utf8.DecodeRuneInString(arg)
	letter := arg[:size]
	switch {
	case letter == "-" || letter == "=":
		return fmt.Errorf("unknown option %q", letter) // after valid letters, as in -k-9
	case r == utf8.RuneError || letter == arg:
		return fmt.Errorf("unknown option -%s", printable(arg))
	}
	word, _, _ := strings.Cut(arg, "=")
	return fmt.Errorf("unknown option -%s in -%s%s", printable(letter), printable(arg), fs.suggest(word))
}

// synonyms maps options of other compressors to those of pz.
var synonyms = map[string]string{
	"uncompress": "decompress", "to-stdout": "stdout", "remove": "rm", "ultra": "best",
	"blocksize": "block-size", "memlimit": "memory", "processes": "threads",
	"gz": "format gz", "gzip": "format gz", "zst": "format zst", "zstd": "format zst",
}

// suggest returns a hint at the option that the user probably meant by an unknown long name.
func (fs flagSet) suggest(name string) string {
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
		for _, f := range fs {
			try(f.long)
		}
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
