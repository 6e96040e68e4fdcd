package main

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// cpuWait is the time that threads of this process have been ready to run without a processor so far: those were busy with something
// else. It is what makes times of a shared machine doubtful. 0 where nobody tells.
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
		if f := bytes.Fields(text); len(f) == 3 { // on a processor, waiting, number of times
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			sum += time.Duration(n)
		}
	}
	return sum
}
