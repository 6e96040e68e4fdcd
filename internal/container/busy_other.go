//go:build !linux

package container

import "time"

// threadTime returns 0: the processor time of a thread is unknown.
func threadTime() time.Duration { return 0 }
