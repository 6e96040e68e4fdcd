//go:build !linux

package pipeline

import "time"

var threadTimeBegin = time.Now()

// threadTime returns the time since the program began: there is no better clock.
func threadTime() time.Duration { return time.Since(threadTimeBegin) }
