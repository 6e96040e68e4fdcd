package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gopz/compress/gpu"
)

// command is a compressor that runs as a program. It writes to standard output and reads the file
// whose name follows the options.
type command struct {
	setting
	suffix     string // of compressed files; most programs insist on their own
	compress   []string
	decompress []string
}

// pzCommand returns the command of a build of pz.
func pzCommand(name, path, pipeline string, level, threads int) command {
	t := fmt.Sprintf("-T%d", threads)
	return command{
		setting:    setting{name + "/" + pipeline, level, threads},
		suffix:     ".pz",
		compress:   []string{path, "-c", t, fmt.Sprintf("-%d", level), "-p", pipeline},
		decompress: []string{path, "-d", "-c", t},
	}
}

// useDevice adds the options for a device.
func (c *command) useDevice(device string, match, entropy gpu.Backend) {
	options := []string{"--backend", match.String() + "," + entropy.String()}
	if device != "gpu" {
		options = append(options, "--gpu-device", device)
	}
	c.tool += " on " + device
	c.compress = append(c.compress, options...)
	c.decompress = append(c.decompress, options...)
}

// newEntry compresses in once, checks that the result decompresses to the same content, and returns
// an entry for it. The compressed file stays in dir. Every sample is the fastest of the runs that
// take at least that long.
func (c *command) newEntry(ctx context.Context, dir string, in *input, least time.Duration) (
	*entry, error) {
	packed, err := os.CreateTemp(dir, "packed-*"+c.suffix)
	if err != nil {
		return nil, err
	}
	_, err = execute(ctx, c.compress, in.path, packed)
	cerr := packed.Close()
	if err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	if err := c.check(ctx, packed.Name(), in.path); err != nil {
		return nil, fmt.Errorf("%v: %s: %w", c.setting, in.name, err)
	}
	info, err := os.Stat(packed.Name())
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context) (t trial, err error) {
		t.packed = info.Size()
		t.compress, err = fastest(ctx, least, func() (sample, error) {
			return discard(ctx, c.compress, in.path)
		})
		if err == nil {
			t.decompress, err = fastest(ctx, least, func() (sample, error) {
				return discard(ctx, c.decompress, packed.Name())
			})
		}
		return t, err
	}
	r := result{setting: c.setting, file: in.name, size: in.size, packed: info.Size()}
	return &entry{r, run}, nil
}

var errRoundTrip = errors.New("decompresses to other content")

// check compares the decompressed content of packed with the file original.
func (c *command) check(ctx context.Context, packed, original string) error {
	got, want := sha256.New(), sha256.New()
	if _, err := execute(ctx, c.decompress, packed, got); err != nil {
		return err
	}
	f, err := os.Open(original)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(want, f); err != nil {
		return err
	}
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		return errRoundTrip
	}
	return nil
}

// discard runs a program with its output to the null device.
func discard(ctx context.Context, args []string, file string) (sample, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return sample{}, err
	}
	defer null.Close()
	return execute(ctx, args, file, null)
}

// execute runs a program on a file and returns its times. If stdout is an *os.File, the program
// writes to it directly, without a pipe.
func execute(ctx context.Context, args []string, file string, stdout io.Writer) (sample, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], append(args[1:len(args):len(args)], file)...)
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if ctx.Err() != nil {
		return sample{}, ctx.Err()
	}
	if err != nil {
		args := append([]string{filepath.Base(args[0])}, cmd.Args[1:]...)
		return sample{}, fmt.Errorf("%v: %w: %s", args, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return sample{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}
