// Package host is the CPU's part of the work of devices that run the kernels of package kernels. It
// packs batches of requests into submissions, and unpacks what the kernels return into results.
// Submissions are plain data, and a [Driver] runs them.
//
// A call of Device.Run takes a slot, of which there are two: the host packs or unpacks the batch of
// one while the kernels work on the other. A slot has a [Queue] with buffers that grow as needed
// and are reused from batch to batch. A batch is one submission where it fits: an upload, kernels,
// downloads. Everything that kernels need to find their data is at the front of the upload, in
// units of 32 bits.
package host

import "time"

// Driver runs kernels on one open device. Its methods may be called from any goroutine.
type Driver interface {
	// MaxBuffer returns the greatest size of a buffer in bytes, a multiple of 256.
	MaxBuffer() uint64
	// Queue returns a queue for the submissions of one batch at a time.
	Queue() (Queue, error)
	// Stop makes calls in flight return soon with [ErrClosed], and later calls at once.
	Stop()
	// Close waits until the device has finished all submissions, however long that takes, and frees
	// all resources, those of the queues too. It is called once, after Stop and after all calls of
	// queues have returned.
	Close()
	// Held returns how many objects of the system the driver and its queues hold, mostly buffers.
	Held() int
}

// Queue runs submissions one after the other. Its buffers keep their content from one submission to
// the next. Only one goroutine at a time uses it.
type Queue interface {
	// Upload returns n bytes of memory for the next submission to upload. n is a multiple of 16.
	// The memory has any content.
	Upload(n uint64) ([]byte, error)
	// Submit runs a submission and returns when it is done. If a buffer does not fit into the
	// device's memory, the error wraps [ErrMemory], and Shrink must come before the next call. The
	// same holds for Upload.
	Submit(s *Submission) error
	// Downloaded calls f with the ranges that the last submission has downloaded, one behind the
	// other. The memory may be slow to read, so f reads it once.
	Downloaded(f func(p []byte)) error
	// Shrink frees all buffers. They grow again as needed. No submission may be in flight.
	Shrink() error
}

// Submission is an upload, then kernels one after the other, then downloads.
type Submission struct {
	UploadSize uint64       // bytes, a multiple of 16; 0 for none
	UploadTo   Buffer       // target of the upload
	Reserve    []BufferSize // least sizes of buffers that the kernels use
	Kernels    []Dispatch
	Downloads  []Range
	// Times, if set, is where the queue stores the times of the submission. A queue without a clock
	// of the device leaves it unchanged.
	Times *Times
}

// Times are the times of the parts of a submission by the device's clock.
type Times struct {
	Set      bool // the queue has stored the times
	Up, Down time.Duration
	Kernels  []time.Duration // of each Dispatch
}

// SetMarks sets the times from moments in nanoseconds: before the upload, before and after each
// dispatch, and after the downloads.
func (t *Times) SetMarks(marks []float64) {
	if len(marks) < 2 {
		return
	}
	span := func(from, to int) time.Duration { return time.Duration(max(0, marks[to]-marks[from])) }
	last := len(marks) - 1
	t.Set, t.Up, t.Down, t.Kernels = true, span(0, 1), span(last-1, last), t.Kernels[:0]
	if last == 1 { // no kernels: either of them
		t.Up = 0
	}
	for i := 1; i < last-1; i += 2 {
		t.Kernels = append(t.Kernels, span(i, i+1))
	}
}

// Buffer is one of the buffers of a queue.
type Buffer uint8

const (
	In Buffer = iota
	Out
	Keys
	Positions
	NewKeys
	NewPositions
	State

	NumBuffers

	// Shifts is a read-only buffer that all queues share. It contains ShiftBytes.
	Shifts = NumBuffers
	// Plan is the second input of rans_encode, which needs no keys.
	Plan = Keys
)

// BufferSize is the least size of a buffer in bytes. A buffer that grows loses its content.
type BufferSize struct {
	Buffer Buffer
	Size   uint64
}

// Dispatch runs a kernel Times times, each time on at least Groups workgroups.
type Dispatch struct {
	Kernel string
	Groups int
	Times  int
	Bind   []Binding // by binding number
	// Long says that a run of the kernel may take a third of a second. The host splits submissions
	// with many such runs, because some drivers reset a GPU after two seconds. Queues ignore it.
	Long bool
	// More says that the dispatch continues one of the submission before. For the sums of a Trace.
	More bool
}

// Binding is Size bytes of a buffer from Offset on, a multiple of 256. Size 0 stands for the rest
// of the buffer.
type Binding struct {
	Buffer       Buffer
	Offset, Size uint64
}

// Range is a part of a buffer. From and Size are bytes and multiples of 4.
type Range struct {
	Buffer     Buffer
	From, Size uint64
}

// DownloadSize returns the bytes of all downloads.
func (s *Submission) DownloadSize() (n uint64) {
	for _, f := range s.Downloads {
		n += f.Size
	}
	return n
}

// A dispatch has up to maxGroups workgroups along x, and up to maxRows rows of them along y.
const (
	maxGroups = 32768
	maxRows   = 65535
)

// Grid returns the workgroups along x and y. There may be more than Groups in all; kernels ignore
// the surplus.
func (d *Dispatch) Grid() (x, y uint32) {
	n := min(d.Groups, maxGroups)
	return uint32(n), uint32((d.Groups + n - 1) / n)
}

// Grow returns the size for a new buffer that must hold n bytes: a quarter more, so that it does
// not grow with every batch, and at most most.
func Grow(n, most uint64) uint64 { return min((n+n/4+255)&^255, most) }

// align rounds a size up to a multiple of 16, as copies and maps need it.
func align(n uint64) uint64 { return (n + 15) &^ 15 }
