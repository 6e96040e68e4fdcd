package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/gopz/compress/internal/train"
)

// readsContent reports whether the mode reads files that are not compressed.
func (c *config) readsContent() bool { return c.compresses() || c.mode == modeTrain }

func (c *config) setMaxDict(s string) error {
	n, err := parseSize(s)
	if err != nil {
		return err
	}
	if n < train.MinSize || n > maxDictionary {
		return fmt.Errorf("the size of a dictionary must be from %s to %s",
			formatSize(train.MinSize), formatSize(maxDictionary))
	}
	c.maxDict = int(n)
	return nil
}

func (c *config) setDictID(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 {
		return errors.New("the ID of a dictionary must be a number from 1 to 4294967295")
	}
	c.dictID = uint32(n)
	return nil
}

// train makes a dictionary from all files.
func (a *app) train() {
	var samples [][]byte
	left := train.MaxSamples
	a.each(func(e entry) {
		if left == 0 {
			return
		}
		in := a.openSource(e)
		if in == nil {
			return
		}
		if in.f != a.stdin {
			defer in.close()
		}
		p, err := io.ReadAll(io.LimitReader(in.f, int64(min(left, train.MaxSample))))
		if err != nil {
			a.fail(in.name, "%s", reason(err))
			return
		}
		samples = append(samples, p)
		left -= len(p)
	})
	size := a.cfg.maxDict
	if size == 0 {
		size = train.DefaultSize
	}
	dict, err := train.Build(samples, size, a.cfg.dictID)
	if errors.Is(err, train.ErrSamples) {
		a.fail("", "--train: %s; name hundreds of small files of one kind", err)
		return
	}
	if err != nil {
		a.fail("", "--train: %s", err)
		return
	}
	a.writeDictionary(dict)
}

// writeDictionary writes a dictionary to -o or standard output.
func (a *app) writeDictionary(dict []byte) {
	in := &source{app: a, f: a.stdin, name: "standard input"} // the file has no mode or time to keep
	j := &job{app: a, in: in}
	defer j.close()
	var release func()
	j.out, release = a.openOutput(entry{path: "-"}, in)
	j.release = append(j.release, release)
	if j.out == nil {
		return
	}
	_, err := j.out.f.Write(dict)
	switch {
	case err != nil && j.out.f == a.stdout:
		a.failStdout(err)
		return
	case err == nil && j.out.temp != "":
		err = j.out.complete(in)
	}
	if err != nil {
		a.fail(j.out.name, "%s", reason(err))
		return
	}
	a.note(j.out.name, "dictionary of %d bytes", len(dict))
	if j.out.temp != "" {
		j.ready = true
		a.commit([]*job{j})
	}
}
