package cli

import (
	"path/filepath"
	"strings"

	"github.com/gopz/compress/internal/cli/internal/foreign"
)

// nameOptions has the options that names of the program stand for, such as those of links to it. As
// with the program zstd, a link that takes the place of gzip removes its sources. pigz is not among
// the names, because -p is another option there.
var nameOptions = []struct {
	names   []string
	options []string
	ofGzip  bool // pz finds files and prints -l and -v as gzip does
}{
	{[]string{"unpz"}, []string{"-d"}, false},
	{[]string{"pzcat"}, []string{"-dc"}, false},
	{[]string{"gzip"}, []string{"--format=gz", "--rm"}, true},
	{[]string{"gunzip"}, []string{"-d", "--rm"}, true},
	{[]string{"zcat", "gzcat"}, []string{"-dc"}, true},
	{[]string{"zstd"}, []string{"--format=zst"}, false},
	{[]string{"unzstd"}, []string{"-d"}, false},
	{[]string{"zstdcat"}, []string{"-dcf"}, false},
}

// withNameOptions replaces the name of the program, the first of args, by the options that it
// stands for. Options of the user follow and override them. ofGzip reports whether the name is one
// of gzip's.
func withNameOptions(args []string) (all []string, ofGzip bool) {
	if len(args) == 0 {
		return nil, false
	}
	name := filepath.Base(args[0])
	if foreign.IgnoresCase {
		name = strings.ToLower(name)
	}
	name = strings.TrimSuffix(name, ".exe")
	for _, row := range nameOptions {
		for _, n := range row.names {
			if n == name {
				return append(row.options[:len(row.options):len(row.options)], args[1:]...), row.ofGzip
			}
		}
	}
	return args[1:], false
}
