package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// program measures one that has a benchmark of its own, in memory and with one thread, in the manner of zstd -b. It times itself with the clock on the wall. Where it had to
// share a processor its speeds are scaled by its wall time over its processor time: nearly all of its run is what it times. On a machine with much to do that is rough, and in its
// favour: it says the best of several times, and short phases are not hit as the average is.
func program(name string) func(int) meter {
	return func(l int) meter {
		return func(ctx context.Context, file string, content []byte, seconds int) (s sample, err error) {
			args := []string{fmt.Sprint("-b", l), fmt.Sprint("-e", l), fmt.Sprint("-i", max(1, seconds))}
			if name == "zstd" {
				args = append(args, "--single-thread")
			}
			cmd := exec.CommandContext(ctx, name, append(args, file)...)
			start := time.Now()
			out, err := cmd.CombinedOutput()
			wall := time.Since(start)
			if err != nil {
				return s, fmt.Errorf("%w: %s", err, out)
			}
			if s, err = parseBench(out, len(content)); err != nil {
				return s, err
			}
			state := cmd.ProcessState
			if share := wall.Seconds() / (state.UserTime() + state.SystemTime()).Seconds(); share > 1 {
				s.encode *= share
				s.decode *= share
			}
			return s, nil
		}
	}
}

// benchLine matches what zstd and lz4 say last of a file: sizes, and speeds of compression and decompression in MB/s.
//
//	3#s4        :  59061735 ->  10700000 (x5.520),  420.1 MB/s, 1868.3 MB/s
var benchLine = regexp.MustCompile(`: *(\d+) -> *(\d+) \(x?[\d.]+\) *, *([\d.]+) MB/s *, *([\d.]+) MB/s`)

func parseBench(out []byte, content int) (s sample, err error) {
	all := benchLine.FindAllSubmatch(out, -1)
	if len(all) == 0 {
		return s, fmt.Errorf("no result in %q", out)
	}
	m := all[len(all)-1]
	if size, err := strconv.Atoi(string(m[1])); err != nil || size != content {
		return s, fmt.Errorf("measured %s bytes, not %d", m[1], content)
	}
	if s.size, err = strconv.Atoi(string(m[2])); err != nil {
		return s, err
	}
	if s.encode, err = strconv.ParseFloat(string(m[3]), 64); err != nil {
		return s, err
	}
	s.decode, err = strconv.ParseFloat(string(m[4]), 64)
	return s, err
}
