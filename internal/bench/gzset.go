package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// gzWriter is a program that writes .gz to standard output, with its options. The name of the file
// to compress follows them. Without args it is Go's compress/gzip.
type gzWriter struct {
	name string
	args []string
}

// pythonZlib compresses the file that its second argument names with zlib at the level that the
// first one names.
const pythonZlib = `import sys, zlib
c = zlib.compressobj(int(sys.argv[1]), zlib.DEFLATED, 31)
with open(sys.argv[2], "rb") as f:
    while p := f.read(1 << 20):
        sys.stdout.buffer.write(c.compress(p))
sys.stdout.buffer.write(c.flush())
`

// gzWriters in the order of the tables. zopfli takes a minute for each 20 MB.
var gzWriters = []gzWriter{
	{"gzip-1", []string{"gzip", "-c", "-1"}},
	{"gzip-6", []string{"gzip", "-c", "-6"}},
	{"gzip-9", []string{"gzip", "-c", "-9"}},
	{"pigz-6", []string{"pigz", "-c", "-6"}},
	{"libdeflate-1", []string{"libdeflate-gzip", "-c", "-1"}},
	{"libdeflate-6", []string{"libdeflate-gzip", "-c", "-6"}},
	{"libdeflate-12", []string{"libdeflate-gzip", "-c", "-12"}},
	{"zlib-1", []string{"python3", "-c", pythonZlib, "1"}},
	{"zlib-6", []string{"python3", "-c", pythonZlib, "6"}},
	{"zlib-9", []string{"python3", "-c", pythonZlib, "9"}},
	{"go-6", nil},
	{"7z-5", []string{"7z", "a", "-an", "-tgzip", "-mx=5", "-so", "-bso0", "-bsp0"}},
	{"igzip-1", []string{"igzip", "-c", "-1"}},
	{"igzip-3", []string{"igzip", "-c", "-3"}},
	{"bgzip", []string{"bgzip", "-c"}},
	{"zopfli", []string{"zopfli", "-c", "--i1"}},
}

// gzFile is a compressed file of the set.
type gzFile struct {
	name   string // of the content and the writer
	path   string
	size   int64 // of the content in bytes
	packed int64
}

// makeSet compresses every input with every writer into dir. It leaves out programs that are not
// installed, with a note, and keeps files that are there already.
func makeSet(ctx context.Context, dir string, inputs []*input, writers []gzWriter) (
	set []*gzFile, notes []string, err error) {
	writers = slices.DeleteFunc(slices.Clone(writers), func(w gzWriter) bool {
		if w.args == nil {
			return false
		}
		_, err := exec.LookPath(w.args[0])
		if err != nil {
			notes = append(notes, w.name+" is not installed: left out")
		}
		return err != nil
	})
	for _, in := range inputs {
		for _, w := range writers {
			name := strings.ReplaceAll(in.name, string(filepath.Separator), "_") + "." + w.name
			f := &gzFile{name: name, path: filepath.Join(dir, name+".gz"), size: in.size}
			if err := f.make(ctx, in, w); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			set = append(set, f)
		}
	}
	return set, notes, nil
}

// make makes the file, unless it exists. An interrupt leaves no incomplete file behind.
func (f *gzFile) make(ctx context.Context, in *input, w gzWriter) error {
	info, err := os.Stat(f.path)
	if err != nil {
		note("compressing %s", f.name)
		part := f.path + ".part"
		defer os.Remove(part)
		if err := writeFile(part, func(to io.Writer) error { return w.compress(ctx, in, to) }); err != nil {
			return err
		}
		if err := os.Rename(part, f.path); err != nil {
			return err
		}
		info, err = os.Stat(f.path)
		if err != nil {
			return err
		}
	}
	f.packed = info.Size()
	return nil
}

// compress compresses in to a file.
func (w *gzWriter) compress(ctx context.Context, in *input, to io.Writer) error {
	if w.args != nil {
		_, err := execute(ctx, w.args, in.path, to)
		return err
	}
	f, err := os.Open(in.path)
	if err != nil {
		return err
	}
	defer f.Close()
	z := gzip.NewWriter(to)
	if _, err := io.Copy(z, f); err != nil {
		return err
	}
	return z.Close()
}

// selectWriters returns the writers with the given names.
func selectWriters(names []string) (list []gzWriter, err error) {
	for _, name := range names {
		i := slices.IndexFunc(gzWriters, func(w gzWriter) bool { return w.name == name })
		if i < 0 {
			return nil, usageError("--writers: %q is none of %s", name, strings.Join(writerNames(), ","))
		}
		list = append(list, gzWriters[i])
	}
	return list, nil
}

func writerNames() (names []string) {
	for _, w := range gzWriters {
		names = append(names, w.name)
	}
	return names
}
