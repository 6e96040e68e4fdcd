//go:build !linux

package cli

import "os"

// A renamer renames files.
type renamer struct{}

// renameNew renames a file unless the new name exists.
func (*renamer) renameNew(root *os.Root, from, to string) error { return linkNew(root, from, to) }

func (*renamer) close() {}
