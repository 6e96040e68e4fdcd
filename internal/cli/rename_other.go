//go:build !linux

package cli

import "os"

func renameNew(root *os.Root, from, to string) error { return linkNew(root, from, to) }
