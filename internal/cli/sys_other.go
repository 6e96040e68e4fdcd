//go:build !unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

var fatalSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

func linkCount(fs.FileInfo) uint64 { return 1 }

func keepOwner(_ *os.File, src fs.FileInfo) fs.FileMode { return src.Mode().Perm() }

func syncDir(*os.Root) error { return nil } // a directory cannot be synced there

func supportedSync(f *os.File) error { return f.Sync() }
