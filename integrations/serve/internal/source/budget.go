package source

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrBusy says that a read has waited for memory for too long.
var ErrBusy = errors.New("waited too long for memory")

// Memory says how much memory the sources of a server may take, in bytes.
type Memory struct {
	Cache int64 // contents of blocks
	Loads int64 // blocks that are being read and decompressed, and indexes
}

// loadShare is the part of Memory.Loads that one file may take: an n-th.
const loadShare = 4

// A budget bounds the memory of reads in flight. Reads that do not fit wait.
type budget struct {
	sem     *semaphore.Weighted
	size    int64
	timeout time.Duration       // of a wait
	waited  func(time.Duration) // called with the time that a read has waited
}

func newBudget(size int64, timeout time.Duration, waited func(time.Duration)) *budget {
	return &budget{semaphore.NewWeighted(size), size, timeout, waited}
}

// file returns the memory limit of one file.
func (b *budget) file() int64 { return b.size / loadShare }

// Costs of a read: so many times the content of the file, and at least a buffer.
const (
	readCopies = 4
	readLeast  = 256 << 10
)

// weight returns the memory that a read of a file with so much content may take. The limit of a
// file bounds it, since a block has no more content than the file.
func (b *budget) weight(content int64) int64 {
	if content > b.file()/readCopies {
		return b.file()
	}
	return min(b.file(), readCopies*content+readLeast)
}

// acquire waits until there is room. The caller calls release with the same number.
func (b *budget) acquire(ctx context.Context, n int64) error {
	if b.sem.TryAcquire(n) {
		return nil
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, b.timeout, ErrBusy)
	defer cancel()
	err := b.sem.Acquire(ctx, n)
	b.waited(time.Since(begin))
	if err != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (b *budget) release(n int64) { b.sem.Release(n) }
