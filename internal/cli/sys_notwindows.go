//go:build !windows

package cli

import "os"

// openShared opens a file to read it. Other programs may remove or rename the file meanwhile.
func openShared(path string) (*os.File, error) { return os.Open(path) }

// renameOver renames a file. It replaces a file of the new name.
func renameOver(root *os.Root, from, to string) error { return root.Rename(from, to) }
