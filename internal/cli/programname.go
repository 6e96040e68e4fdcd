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
}{
	{[]string{"unpz"}, []string{"-d"}},
	{[]string{"pzcat"}, []string{"-dc"}},
	{[]string{"gzip"}, []string{"--format=gz", "--rm"}},
	{[]string{"gunzip"}, []string{"-d", "--rm"}},
	{[]string{"zcat", "gzcat"}, []string{"-dc"}},
	{[]string{"zstd"}, []string{"--format=zst"}},
	{[]string{"unzstd"}, []string{"-d"}},
	{[]string{"zstdcat"}, []string{"-dcf"}},
}

// withNameOptions replaces the name of the program, the first of args, by the options that it
// stands for. Options of the user follow and override them.
func withNameOptions(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	name := filepath.Base(args[0])
	if foreign.IgnoresCase {
		name = strings.ToLower(name)
	}
	name = strings.TrimSuffix(name, ".exe")
	for _, row := range nameOptions {
		for _, n := range row.names {
			if n == name {
				return append(row.options[:len(row.options):len(row.options)], args[1:]...)
			}
		}
	}
	return args[1:]
}
