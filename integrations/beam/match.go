package pzbeam

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn4x1[context.Context, string, func(*file) bool, func(file), error](&uniqueFn{})
	register.Function3x1(matchAll)
	register.Iter1[file]()
	register.Emitter1[string]()
	register.Emitter1[file]()
	register.Emitter2[string, file]()
}

// Match returns the names of the files that match the patterns, a PCollection<string>. What a
// pattern means depends on the file system. It leaves out directories. A pattern that matches no
// file is an error.
func Match(s beam.Scope, patterns ...string) beam.PCollection {
	s = s.Scope("pzbeam.Match")
	return beam.ParDo(s, matchAll, beam.CreateList(s, patterns))
}

func matchAll(ctx context.Context, pattern string, emit func(string)) error {
	if isLocalFile(pattern) {
		if _, err := os.Lstat(pattern); err == nil { // also a name that would be a bad pattern
			emit(pattern)
			return nil
		}
	}
	fs, err := filesystem.New(ctx, pattern)
	if err != nil {
		return about(pattern, err)
	}
	defer fs.Close()
	names, err := fs.List(ctx, pattern)
	if err != nil {
		return about(pattern, err)
	}
	names = slices.DeleteFunc(names, isDirectory)
	if len(names) == 0 {
		return fmt.Errorf("pzbeam: %s: no such file", pattern)
	}
	for _, name := range names {
		emit(name)
	}
	return nil
}

// isDirectory reports whether a name is that of a directory, or of an object that stands for one.
func isDirectory(name string) bool {
	if isLocalFile(name) {
		info, err := os.Stat(name)
		return err == nil && info.IsDir()
	}
	return strings.HasSuffix(name, "/")
}

// unique makes PCollection<file> of PCollection<KV<string, file>> keyed by the names of files that
// are written, or only read. It lets workers that did not match the files work on them.
func unique(s beam.Scope, files beam.PCollection) beam.PCollection {
	return beam.ParDo(s, &uniqueFn{}, beam.GroupByKey(s, files))
}

// emitFile emits a file by its output, and its source as a file that is only read.
func emitFile(f file, emit func(string, file)) {
	emit(canonical(f.Output), f)
	emit(canonical(f.Source), file{Source: f.Source})
}

// uniqueFn fails if two sources have one output, or an output is a source.
type uniqueFn struct{}

// ProcessElement passes a file on.
func (*uniqueFn) ProcessElement(
	_ context.Context, _ string, files func(*file) bool, emit func(file),
) error {
	var f, written, read file
	for files(&f) {
		switch {
		case f.Output == "":
			read = f
		case written.Output != "" && f.Source != written.Source:
			return fmt.Errorf("pzbeam: %s and %s have the same output %s",
				min(f.Source, written.Source), max(f.Source, written.Source), f.Output)
		default:
			written = f
		}
		f = file{}
	}
	switch {
	case written.Output == "":
		return nil
	case read.Source != "":
		return fmt.Errorf("pzbeam: the output of %s is %s, which is a source",
			written.Source, written.Output)
	}
	emit(written)
	return nil
}
