package cli

import "os"

// writebackStep is how much is written to a file between two calls of startWriteback, in bytes.
const writebackStep = 8 << 20

// A writebackWriter writes to a new file. The system starts to bring content to disk while more is
// made, so that the sync at the end finds little to do.
type writebackWriter struct {
	f       *os.File
	size    int64 // of the file
	started int64 // end of what the system has started to bring to disk
}

func (w *writebackWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.size += int64(n)
	if fresh := w.size - w.started; fresh >= writebackStep {
		startWriteback(w.f, w.started, fresh)
		w.started = w.size
	}
	return n, err
}
