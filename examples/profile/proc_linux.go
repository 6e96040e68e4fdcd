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

// resident returns the memory of this process that is in use, and the most since resetPeak, in
// bytes.
func resident() (now, peak int64) {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(string(f[1]), 10, 64)
		switch string(f[0]) {
		case "VmRSS:":
			now = kib << 10
		case "VmHWM:":
			peak = kib << 10
		}
	}
	return now, peak
}

// resetPeak makes the memory in use now the peak.
func resetPeak() {
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // without it the peak is that of the process
}
