//go:build !linux

package cli

import "os"

// renameNew renames a file unless the new name exists.
func renameNew(root *os.Root, from, to string) error { return linkNew(root, from, to) }
