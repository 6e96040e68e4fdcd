package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// selfTimed returns a runner for zstd or lz4, which measure themselves in memory with one thread
// (option -b) and report the fastest of several tries. They report wall time. The runner scales
// it by the part of a processor that the whole process had. On a busy machine that favours them:
// other programs disturb the fastest try less than the average one.
func selfTimed(program string, level int, in *input, least time.Duration) runner {
	return func(ctx context.Context) (trial, error) {
		args := []string{fmt.Sprint("-b", level), fmt.Sprint("-e", level),
			fmt.Sprint("-i", max(1, int(least.Seconds())))}
		if program == "zstd" {
			args = append(args, "--single-thread")
		}
		cmd := exec.CommandContext(ctx, program, append(args, in.path)...)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		wall := time.Since(start)
		if err != nil {
			return trial{}, fmt.Errorf("%w: %s", err, out)
		}
		cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		return parseSelfTimed(out, in.size, min(1, cpu.Seconds()/wall.Seconds()))
	}
}

// selfTimedLine matches sizes and both speeds in MB/s, such as
//
//	3#s4        :  59061735 ->  10700000 (x5.520),  420.1 MB/s, 1868.3 MB/s
var selfTimedLine = regexp.MustCompile(
	`: *(\d+) -> *(\d+) \(x?[\d.]+\) *, *([\d.]+) MB/s *, *([\d.]+) MB/s`)

// parseSelfTimed returns the last figures in the output of zstd -b or lz4 -b for size bytes of
// content. busy is the part of a processor that the process had, at most 1.
func parseSelfTimed(out []byte, size int64, busy float64) (t trial, err error) {
	all := selfTimedLine.FindAllSubmatch(out, -1)
	if len(all) == 0 {
		return t, fmt.Errorf("no figures in %q", out)
	}
	var v [4]float64
	for i := range v {
		v[i], err = strconv.ParseFloat(string(all[len(all)-1][i+1]), 64)
		if err != nil {
			return t, err
		}
	}
	if int64(v[0]) != size {
		return t, fmt.Errorf("measured %.0f bytes, not %d", v[0], size)
	}
	timeAt := func(speed float64) sample {
		wall := float64(size) / 1e6 / speed * float64(time.Second)
		return sample{time.Duration(wall), time.Duration(wall * busy)}
	}
	return trial{int64(v[1]), timeAt(v[2]), timeAt(v[3])}, nil
}
