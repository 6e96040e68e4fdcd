package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// input is a file to measure.
type input struct {
	name    string
	path    string
	size    int64
	content []byte // set for measurements in memory
}

// readInput reads a file for measurements in memory.
func readInput(path string) (*input, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(content) == 0 {
		return nil, fmt.Errorf("%s is empty", path)
	}
	return &input{filepath.Base(path), path, int64(len(content)), content}, nil
}

// copyInputs copies files, and all files below directories, to dir. The copies have plain names,
// because programs treat some names, links and permissions differently. Copying also brings the
// content into the page cache. With join all files become one.
func copyInputs(ctx context.Context, dir string, paths []string, join bool) ([]*input, error) {
	c := copier{ctx: ctx, dir: dir, join: join}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			err = c.addFile(path, filepath.Base(path))
		} else {
			err = c.addTree(path)
		}
		if err != nil {
			return nil, err
		}
	}
	var total int64
	for _, in := range c.inputs {
		total += in.size
	}
	if total == 0 {
		return nil, fmt.Errorf("nothing to measure: %d files, all empty", len(c.inputs))
	}
	return c.inputs, nil
}

type copier struct {
	ctx    context.Context
	dir    string
	join   bool
	inputs []*input
}

func (c *copier) addFile(path, name string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.join && len(c.inputs) > 0 {
		in := c.inputs[0]
		n, err := appendFile(in.path, path)
		in.size += n
		in.name += "+" + name
		return err
	}
	in := &input{name: name, path: filepath.Join(c.dir, fmt.Sprintf("f%04d", len(c.inputs)))}
	var err error
	in.size, err = appendFile(in.path, path)
	c.inputs = append(c.inputs, in)
	return err
}

func (c *copier) addTree(path string) error {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return c.addFile(path, name)
	})
}

// appendFile appends the content of the file at path to the file at dst and returns its size.
func appendFile(dst, path string) (n int64, err error) {
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
	cerr := to.Close()
	if err == nil {
		err = cerr
	}
	return n, err
}
