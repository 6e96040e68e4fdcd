package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback makes the system start to bring n bytes of a file to disk. It does not wait, and
// ignores errors: the sync at the end meets them again.
func startWriteback(f *os.File, off, n int64) {
	unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}
