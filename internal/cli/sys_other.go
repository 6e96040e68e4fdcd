//go:build !unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

var fatalSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

const openRegular = 0

func dieBy(os.Signal) { os.Exit(exitError) }

func dieByBrokenPipe(*os.File) {}

func crashBySignal() {}

func linkCount(fs.FileInfo) uint64 { return 1 }

// fileID identifies a file with all of its hard links.
type fileID struct{}

func idOf(fs.FileInfo) (id fileID, ok bool) { return id, false }

func copyAccess(f, _ *os.File, info fs.FileInfo) error { return f.Chmod(info.Mode().Perm()) }

func changeTime(*os.File) time.Time { return time.Time{} }

// openFileLimit returns how many files the program may have open.
func openFileLimit() int { return 1 << 20 }

// syncDir does nothing: these systems cannot sync a directory.
func syncDir(*os.Root) error { return nil }

func syncFile(f *os.File) error { return f.Sync() }

// stopWaiting does nothing: files of these systems have all of their content.
func stopWaiting(*os.File) {}
