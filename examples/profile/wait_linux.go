package main

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// cpuWait returns how long threads of this process have been ready to run without a processor so
// far, because other programs had it. It returns 0 if the kernel does not tell.
func cpuWait() (sum time.Duration) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	for _, t := range tasks {
		text, err := os.ReadFile("/proc/self/task/" + t.Name() + "/schedstat")
		if err != nil {
			continue // the thread has ended
		}
		if f := bytes.Fields(text); len(f) == 3 { // time on a processor, time waiting, number of slices
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			sum += time.Duration(n)
		}
	}
	return sum
}
