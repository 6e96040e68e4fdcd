package pzbeam

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/gopz/compress"
)

// Options say where files go, and how they are compressed. The zero value of each field but Output
// stands for a default.
type Options struct {
	// Output is the directory of the output files.
	Output string
	// Base is the beginning of the names of sources that their names below Output leave out, for
	// instance "gs://in/". If it is empty, the name below Output is the last element of the source.
	// Two sources with the same output are an error.
	Base string
	// Existing says what happens to a source whose output exists.
	Existing Existing

	Format    string // "pz" (default), "gz" or "zst"
	Level     int    // of compression; the default depends on the format
	BlockSize int    // bytes of content in a block; the default depends on the level
	NoCheck   bool   // write no checks
	NoName    bool   // leave name and time of the source out of .gz files

	// GroupSize is how many bytes of content a worker does at a time, at least one block; default
	// 64 MiB. A file has at most 9,999 groups: an object in object stores has at most 10,000 parts.
	GroupSize int64
	// MaxMemory limits the memory for one group, as compress.WithMaxMemory does.
	MaxMemory int64
	// ZeroFill makes Recover write zeros in place of lost content.
	ZeroFill bool
}

// Existing says what happens to a source whose output exists.
type Existing int

// What happens to a source whose output exists.
const (
	Refuse  Existing = iota // it is an error, before anything is written
	Skip                    // the source is left out: for going on after a failure
	Replace                 // the output is replaced
)

const (
	defaultGroupSize = 64 << 20 // bytes
	maxGroups        = 9_999    // of a file: an object has at most 10,000 parts, and one is the trailer
)

// check returns an error if the options cannot work.
func (o *Options) check() error {
	if o.Output == "" {
		return fmt.Errorf("pzbeam: Options.Output is empty")
	}
	if o.Existing < Refuse || o.Existing > Replace {
		return fmt.Errorf("pzbeam: Options.Existing is %d", o.Existing)
	}
	if o.GroupSize < 0 {
		return fmt.Errorf("pzbeam: the group size %d is negative", o.GroupSize)
	}
	if _, err := o.format(); err != nil {
		return err
	}
	_, err := o.plan(&file{Source: "name", Size: 1})
	return err
}

func (o *Options) format() (compress.Format, error) {
	for _, f := range []compress.Format{compress.PZ, compress.Gzip, compress.Zstd} {
		if o.Format == f.String() || o.Format == "" && f == compress.PZ {
			return f, nil
		}
	}
	return 0, fmt.Errorf("pzbeam: unknown format %q; valid formats: pz, gz, zst", o.Format)
}

// compression returns how a file is compressed.
func (o *Options) compression(f *file) ([]compress.WriterOption, error) {
	format, err := o.format()
	if err != nil {
		return nil, err
	}
	opts := []compress.WriterOption{compress.WithFormat(format), compress.WithMaxMemory(o.MaxMemory)}
	if o.NoCheck && format != compress.Gzip { // which always has checks
		opts = append(opts, compress.WithChecksum(false))
	}
	if o.Level != 0 {
		opts = append(opts, compress.WithLevel(o.Level))
	}
	blocks := compress.WithBlockSize
	if format == compress.Zstd { // a Plan has a frame for each block
		blocks = compress.WithSeekable
	}
	opts = append(opts, blocks(o.BlockSize))
	if !o.NoName && format == compress.Gzip {
		opts = append(opts, compress.WithName(path.Base(f.Source), f.time()))
	}
	return opts, nil
}

// plan returns the plan that compresses a file.
func (o *Options) plan(f *file, more ...compress.WriterOption) (*compress.Plan, error) {
	opts, err := o.compression(f)
	if err != nil {
		return nil, err
	}
	return compress.NewPlan(f.Size, append(opts, more...)...)
}

// groupBlocks returns how many blocks of blockSize bytes make a group of a file of size bytes.
func (o *Options) groupBlocks(size, blockSize int64) int64 {
	want := o.GroupSize
	if want == 0 {
		want = defaultGroupSize
	}
	want = max(want, (size+maxGroups-1)/maxGroups)
	return (max(1, want)-1)/blockSize + 1
}

// ErrExists: an output file exists, and Existing is [Refuse].
var ErrExists = errors.New("the output exists")

// target returns the name of the output file of a source, which rename makes of the source's name
// below Base. wanted is false if the output exists and is to stay.
func (o *Options) target(
	ctx context.Context, source string, rename func(string) string,
) (output string, wanted bool, err error) {
	output, err = o.output(source, rename)
	if err != nil {
		return "", false, err
	}
	there, err := exists(ctx, output)
	switch {
	case err != nil:
		return "", false, about(output, err)
	case there && o.Existing == Refuse:
		return "", false, fmt.Errorf("pzbeam: %s: %w", output, ErrExists)
	case there && o.Existing == Skip:
		filesSkipped.Inc(ctx, 1)
		return output, false, nil
	}
	return output, true, nil
}

// output returns the name of the output file of a source, which rename makes of the source's name
// below Base.
func (o *Options) output(source string, rename func(string) string) (string, error) {
	name := path.Base(source)
	if o.Base != "" {
		var ok bool
		name, ok = strings.CutPrefix(source, o.Base)
		if !ok {
			return "", fmt.Errorf("pzbeam: source %q does not begin with Options.Base %q", source, o.Base)
		}
		name = strings.TrimLeft(name, "/")
	}
	if name = rename(name); name == "" || !isLocal(name) {
		return "", fmt.Errorf("pzbeam: source %q has no name below %q", source, o.Output)
	}
	return strings.TrimRight(o.Output, "/") + "/" + name, nil
}

// isLocal reports whether a name stays below the directory that it is appended to.
func isLocal(name string) bool {
	for _, e := range strings.Split(name, "/") {
		if e == "" || e == "." || e == ".." {
			return false
		}
	}
	return true
}

// addExtension returns a function that appends the extension of the format.
func (o *Options) addExtension() func(string) string {
	f, _ := o.format()
	return func(name string) string { return name + "." + f.String() }
}

// cutExtension removes the extension of a compressed file. A name without one gets ".out".
func cutExtension(name string) string {
	for _, e := range [...][2]string{
		{".pz", ""}, {".gz", ""}, {".zst", ""}, {".tpz", ".tar"}, {".tgz", ".tar"}, {".tzst", ".tar"},
	} {
		if stem, ok := strings.CutSuffix(name, e[0]); ok && path.Base(name) != e[0] {
			return stem + e[1]
		}
	}
	return name + ".out"
}
