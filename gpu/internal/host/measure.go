package host

import "time"

// Again has a kernel dispatched n more times wherever it is dispatched, to see how long it takes without transfers: the difference that n makes. All kernels
// but match_scan give the same result again; what comes of that is good for nothing but its time. No Run may be under way.
func (d *Device) Again(kernel string, n int) {
	d.again = map[string]int{kernel: n}
}

// Away is how much of the time of calls of Run was not work of the host: submissions, from where they are recorded until they are done, less what several goroutines have done at the same time elsewhere. What else there is
// takes a processor: requests are packed and results unpacked, tables made, candidates parsed. A driver's own work in a submission is not in that.
func (d *Device) Away() time.Duration { return time.Duration(d.away.Load()) }

// Transfer measures how long n bytes take to the device and back, from memory that the host sees to memory that kernels see, each in a submission of its own.
func (d *Device) Transfer(n int) (up, down time.Duration, err error) {
	s, ok := <-d.slots
	if !ok {
		return 0, 0, ErrClosed
	}
	defer func() { d.slots <- s }()
	size := align(uint64(n))
	for range 2 { // the first time makes buffers
		p, err := s.upload(size)
		if err != nil {
			return 0, 0, err
		}
		clear(p)
		start := time.Now()
		s.begin(size, In)
		s.reserve(Out, size)
		s.download(0, 16)
		if err := s.submit(); err != nil {
			return 0, 0, err
		}
		up = time.Since(start)
		if err := s.q.Downloaded(func([]byte) {}); err != nil {
			return 0, 0, err
		}
		start = time.Now()
		s.begin(0, In)
		s.download(0, size)
		if err := s.submit(); err != nil {
			return 0, 0, err
		}
		down = time.Since(start)
		if err := s.q.Downloaded(func([]byte) {}); err != nil {
			return 0, 0, err
		}
	}
	return up, down, nil
}
