package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// input is a file to measure: a copy under a plain name, for tools have opinions about names, links and permissions.
type input struct {
	name string
	path string
	size int64
}

// gather copies the files that the paths stand for to dir, which also brings them to the page cache.
func gather(ctx context.Context, dir string, paths []string, join bool) ([]input, error) {
	var inputs []input
	add := func(path, name string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if join && len(inputs) > 0 {
			in := &inputs[0]
			n, err := copyTo(in.path, path)
			in.size += n
			in.name += "+" + name
			return err
		}
		in := input{name: name, path: filepath.Join(dir, fmt.Sprintf("f%04d", len(inputs)))}
		var err error
		in.size, err = copyTo(in.path, path)
		inputs = append(inputs, in)
		return err
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			if err := add(path, filepath.Base(path)); err != nil {
				return nil, err
			}
			continue
		}
		root, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			return add(path, name)
		})
		if err != nil {
			return nil, err
		}
	}
	var total int64
	for _, in := range inputs {
		total += in.size
	}
	if total == 0 {
		return nil, fmt.Errorf("nothing to measure: %d files, all empty", len(inputs))
	}
	return inputs, nil
}

// copyTo appends the content of the file at path to the one at dst.
func copyTo(dst, path string) (n int64, err error) {
	from, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	to, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(to, from)
	if cerr := to.Close(); err == nil {
		err = cerr
	}
	return n, err
}
