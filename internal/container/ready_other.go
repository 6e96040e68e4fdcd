//go:build !unix

package container

import "io"

// Readiness returns nil: the system has no way to ask whether a read would wait.
func Readiness(io.Reader) func() bool { return nil }
