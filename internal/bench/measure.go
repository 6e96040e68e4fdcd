package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// sample is one run of one program on one file.
type sample struct{ wall, cpu time.Duration }

// result is what there is to say of a contestant on a file.
type result struct {
	contestant
	file       string
	size       int64 // of the content
	packed     int64
	compress   []sample // one for each round
	decompress []sample
}

// measure returns the results, for every contestant all files in order.
func measure(ctx context.Context, dir string, cs []contestant, inputs []input, repeats int) ([]result, error) {
	results := make([]result, 0, len(cs)*len(inputs))
	files := make([]string, 0, cap(results)) // compressed
	for _, in := range inputs {
		fmt.Fprintf(os.Stderr, "bench: %s, %d bytes\n", in.name, in.size)
	}
	for i, c := range cs {
		fmt.Fprintf(os.Stderr, "bench: checking %v\n", c)
		for j, in := range inputs {
			path := filepath.Join(dir, fmt.Sprintf("c%d-%d%s", i, j, c.suffix))
			size, err := roundTrip(ctx, c, in, path)
			if err != nil {
				return nil, err
			}
			results = append(results, result{contestant: c, file: in.name, size: in.size, packed: size})
			files = append(files, path)
		}
	}
	for r := range repeats {
		fmt.Fprintf(os.Stderr, "bench: round %d of %d\n", r+1, repeats)
		for i := range cs {
			i = (i + r) % len(cs)
			c := cs[i]
			for j, in := range inputs {
				k := i*len(inputs) + j
				s, err := timed(ctx, c.compress, in.path)
				if err != nil {
					return nil, err
				}
				results[k].compress = append(results[k].compress, s)
				if s, err = timed(ctx, c.decompress, files[k]); err != nil {
					return nil, err
				}
				results[k].decompress = append(results[k].decompress, s)
			}
		}
	}
	return results, nil
}

// roundTrip compresses a file to path, checks that it comes back, and returns the size at path. It also warms the caches.
func roundTrip(ctx context.Context, c contestant, in input, path string) (int64, error) {
	out, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	_, err = execute(ctx, c.compress, in.path, out)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return 0, err
	}
	got := sha256.New()
	if _, err := execute(ctx, c.decompress, path, got); err != nil {
		return 0, err
	}
	want := sha256.New()
	original, err := os.Open(in.path)
	if err != nil {
		return 0, err
	}
	defer original.Close()
	if _, err := io.Copy(want, original); err != nil {
		return 0, err
	}
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		return 0, fmt.Errorf("%v: %s does not come back as it was", c, in.name)
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// timed runs a program with its output to nowhere.
func timed(ctx context.Context, command []string, file string) (sample, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return sample{}, err
	}
	defer null.Close()
	return execute(ctx, command, file, null)
}

// execute runs a program on a file. Where stdout is a file the program writes to it directly, without a pipe.
func execute(ctx context.Context, command []string, file string, stdout io.Writer) (sample, error) {
	var stderr bytes.Buffer
	args := append(command[1:len(command):len(command)], file)
	cmd := exec.CommandContext(ctx, command[0], args...)
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		if ctx.Err() != nil {
			return sample{}, ctx.Err()
		}
		return sample{}, fmt.Errorf("%v: %w: %s", cmd.Args, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return sample{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}
