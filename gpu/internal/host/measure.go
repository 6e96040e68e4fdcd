package host

import (
	"slices"
	"time"

	"github.com/gopz/compress/gpu"
)

// Again dispatches a kernel n more times wherever it is dispatched. The time that this adds is the
// kernel's without transfers. All kernels but match_scan give the same result again, so results
// must not be used. No Run may be in flight.
func (d *Device) Again(kernel string, n int) {
	d.again = map[string]int{kernel: n}
}

// Trace says where the time of calls of Run went. Durations and bytes are sums.
type Trace struct {
	Pack   time.Duration // work of the host before submissions: packing, tables, waits for memory
	Away   time.Duration // in submissions, from recording to completion
	Unpack time.Duration // reading downloads
	// By the device's clock, which is part of Away. Clock is false if a submission was not timed.
	Clock              bool
	Up, Down           time.Duration
	UpBytes, DownBytes uint64
	Submissions        int // parts of one count as well
	Kernels            []KernelTime
}

// KernelTime is the time of a kernel in all submissions of a trace.
type KernelTime struct {
	Name       string
	Groups     int           // workgroups of all dispatches, without repetitions
	Dispatches int           // without repetitions
	Time       time.Duration // by the device's clock
}

// Trace runs a batch as Run does and returns where the time went. No other call may be in flight.
func (d *Device) Trace(op gpu.Op, batch []*gpu.Request) (*Trace, error) {
	t := &Trace{Clock: true}
	d.trace = t
	defer func() { d.trace = nil }()
	start := time.Now()
	err := d.Run(op, batch)
	t.Pack = time.Since(start) - t.Away - t.Unpack
	t.Clock = t.Clock && t.Submissions > 0
	return t, err
}

// addSubmission adds a submission that took that long.
func (t *Trace) addSubmission(s *Submission, away time.Duration) {
	t.Submissions++
	t.Away += away
	t.UpBytes += s.UploadSize
	t.DownBytes += s.DownloadSize()
	times := s.Times
	if !times.Set {
		t.Clock = false
	}
	t.Up, t.Down = t.Up+times.Up, t.Down+times.Down
	for i := range s.Kernels {
		k := &s.Kernels[i]
		n := slices.IndexFunc(t.Kernels, func(x KernelTime) bool { return x.Name == k.Kernel })
		if n < 0 {
			n = len(t.Kernels)
			t.Kernels = append(t.Kernels, KernelTime{Name: k.Kernel})
		}
		x := &t.Kernels[n]
		if !k.More {
			x.Groups, x.Dispatches = x.Groups+k.Groups, x.Dispatches+1
		}
		if times.Set {
			x.Time += times.Kernels[i]
		}
	}
}

// Transfer measures how long n bytes take to the device and back, each in a submission of its own.
func (d *Device) Transfer(n int) (up, down time.Duration, err error) {
	s, ok := <-d.slots
	if !ok {
		return 0, 0, ErrClosed
	}
	defer func() { d.slots <- s }()
	size := align(uint64(n))
	for range 2 { // the first round allocates buffers
		up, err = s.measureUpload(size)
		if err != nil {
			return 0, 0, err
		}
		down, err = s.measureDownload(size)
		if err != nil {
			return 0, 0, err
		}
	}
	return up, down, nil
}

func (s *slot) measureUpload(size uint64) (time.Duration, error) {
	p, err := s.upload(size)
	if err != nil {
		return 0, err
	}
	clear(p)
	start := time.Now()
	s.beginSubmission(size, In)
	s.reserve(Out, size)
	s.download(0, 16)
	if err := s.submit(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	return took, s.downloaded(func([]byte) {})
}

func (s *slot) measureDownload(size uint64) (time.Duration, error) {
	start := time.Now()
	s.beginSubmission(0, In)
	s.download(0, size)
	if err := s.submit(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	return took, s.downloaded(func([]byte) {})
}
