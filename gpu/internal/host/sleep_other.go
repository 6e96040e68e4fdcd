//go:build !linux

package host

import "time"

func sleep(d time.Duration) { time.Sleep(d) }
