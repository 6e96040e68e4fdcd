//go:build !linux

package main

import "os"

func renameNew(root *os.Root, from, to string) error { return linkNew(root, from, to) }
