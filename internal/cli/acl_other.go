//go:build unix && !linux

package cli

import (
	"io/fs"
	"os"
)

// copyAccessList does nothing: only Linux keeps the rights of access lists in modes in a way that
// copying the mode could widen them, and has one interface for all file systems.
func copyAccessList(_, _ *os.File, _ bool) (copied bool, least fs.FileMode) { return false, 0o777 }
