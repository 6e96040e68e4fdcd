package compress

import "sync/atomic"

// Progress says how far a Writer or Reader has come.
type Progress struct {
	Content    int64 // bytes of content that have passed
	Compressed int64 // bytes of compressed data that hold them, headers included
	Total      int64 // bytes of content there will be, −1 if unknown
	Blocks     int64 // blocks that have passed
}

// WithProgress has f called after every block written or returned, inside the caller's own calls
// and on its goroutine. f must not use the Writer or Reader except for Stats. A Reader knows
// Progress.Total only if the header states it.
func WithProgress(f func(Progress)) Option {
	return func(o *options) error {
		o.progress = f
		return nil
	}
}

// WithPosition has a Writer add to n how many bytes of content it has compressed. A large block
// counts part by part while it is compressed, so n grows evenly between two calls of [WithProgress]'s
// function. When a block is written, n counts all of it. The sum goes on after Reset. Any goroutines
// may read n. Blocks on a device count when they are done. Readers ignore this option.
func WithPosition(n *atomic.Int64) Option {
	return func(o *options) error {
		o.position = n
		return nil
	}
}
