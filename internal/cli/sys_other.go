//go:build !unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

var fatalSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

func linkCount(fs.FileInfo) uint64 { return 1 }

func copyOwner(_ *os.File, src fs.FileInfo) fs.FileMode { return src.Mode().Perm() }

// syncDir does nothing: these systems cannot sync a directory.
func syncDir(*os.Root) error { return nil }

func syncFile(f *os.File) error { return f.Sync() }
