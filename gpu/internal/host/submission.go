// Package host is the host's part of what kernels do, for all devices that run those of package kernels: it packs batches of requests into submissions, and makes results of what comes
// back. What is left to a device is to run submissions, which are plain data: a [Driver].
//
// See docs/exec-plans/active/webgpu.md for what goes to the device and what comes back.
package host

// Driver is a way to run kernels, with one device of it open. Its methods may be called from any goroutine.
type Driver interface {
	// Binding is the most bytes that a buffer can have, a multiple of 256.
	MaxBuffer() uint64
	// Queue makes what one batch has to itself.
	Queue() (Queue, error)
	// Stop has calls that are under way end soon with [ErrClosed], and later ones at once.
	Stop()
	// Close frees everything, after all queues have been closed. It is called once.
	Close()
	// Held is how many objects of the system the driver and its queues hold, buffers above all.
	Held() int
}

// Queue has buffers of its own, which are kept from submission to submission. Only one goroutine at a time uses it.
type Queue interface {
	// Upload returns n bytes of memory, n a multiple of 16, of which the next submission sends as many as it says. What is in it is anything.
	Upload(n uint64) ([]byte, error)
	// Submit does a submission, and returns when that is done.
	Submit(s *Submission) error
	// Fetched calls f with what the last submission has fetched, the stretches one behind the other. It may be slow to read more than once.
	Downloaded(f func(p []byte)) error
	Close()
}

// Submission is, in this order: an upload, kernels, one after the other, and stretches of buffers that are fetched.
type Submission struct {
	UploadSize uint64       // bytes of the upload, a multiple of 16; 0 for none
	UploadTo   Buffer       // where they go
	Reserve    []BufferSize // what the kernels need
	Kernels    []Dispatch
	Downloads  []Range
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
	Counts

	NumBuffers

	// Shifts is a buffer that all queues share; ShiftBytes are in it from the beginning.
	Shifts = NumBuffers
	// Plan is the second input of the encoder, which needs no keys.
	Plan = Keys
)

// Room is how many bytes a buffer must have. If it has to grow what was in it is lost.
type BufferSize struct {
	Buffer Buffer
	Size   uint64
}

// Dispatch is a kernel that is run Times times on at least Groups workgroups.
type Dispatch struct {
	Kernel string
	Groups int
	Times  int
	Bind   []Binding // numbered in order
}

// Binding is a buffer from Offset on, which is a multiple of 256; all of it if Size is 0.
type Binding struct {
	Buffer       Buffer
	Offset, Size uint64
}

// Stretch is a part of a buffer in bytes; all multiples of 4.
type Range struct {
	Buffer     Buffer
	From, Size uint64
}

// Total is the size of all that is fetched.
func (s *Submission) DownloadSize() (n uint64) {
	for _, f := range s.Downloads {
		n += f.Size
	}
	return n
}

// Dispatches have up to maxGroups workgroups along x, and the rest along y.
const (
	maxGroups = 32768
	maxRows   = 65535
)

// Grid is the shape of the dispatch. There may be more workgroups in it than asked for; they find out themselves.
func (d *Dispatch) Grid() (x, y uint32) {
	n := min(d.Groups, maxGroups)
	return uint32(n), uint32((d.Groups + n - 1) / n)
}

// Grow is the size with which a buffer is made for n bytes: with some room, so that it does not grow with each batch.
func Grow(n, most uint64) uint64 { return min((n+n/4+255)&^255, most) }

// align rounds a size up so that it may be copied and mapped.
func align(n uint64) uint64 { return (n + 15) &^ 15 }
