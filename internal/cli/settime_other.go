//go:build !linux && !windows

package cli

import (
	"os"
	"time"
)

// setTime sets the time of modification of the file called name in root. It leaves the time of
// access as it is.
func setTime(_ *os.File, root *os.Root, name string, modTime time.Time) error {
	return root.Chtimes(name, time.Time{}, modTime)
}

// setDirTime sets the time of modification of a directory.
func setDirTime(root *os.Root, modTime time.Time) error {
	return root.Chtimes(".", time.Time{}, modTime)
}

// setLinkTime does nothing: Go offers no call that sets the time of a symbolic link.
func setLinkTime(*os.Root, string, time.Time) {}
