package host

import "time"

// Again dispatches a kernel n more times wherever it is dispatched. The time that this adds is the
// kernel's without transfers. All kernels but match_scan give the same result again, so results
// must not be used. No Run may be in flight.
func (d *Device) Again(kernel string, n int) {
	d.again = map[string]int{kernel: n}
}

// Away returns how much of the time in calls of Run was spent in submissions, from recording to
// completion. The rest is work of the host: packing, unpacking, tables.
func (d *Device) Away() time.Duration { return time.Duration(d.away.Load()) }

// Transfer measures how long n bytes take to the device and back, each in a submission of its own.
func (d *Device) Transfer(n int) (up, down time.Duration, err error) {
	s, ok := <-d.slots
	if !ok {
		return 0, 0, ErrClosed
	}
	defer func() { d.slots <- s }()
	size := align(uint64(n))
	for range 2 { // the first round allocates buffers
		if up, err = s.measureUpload(size); err != nil {
			return 0, 0, err
		}
		if down, err = s.measureDownload(size); err != nil {
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
	s.begin(size, In)
	s.reserve(Out, size)
	s.download(0, 16)
	if err := s.submit(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	return took, s.q.Downloaded(func([]byte) {})
}

func (s *slot) measureDownload(size uint64) (time.Duration, error) {
	start := time.Now()
	s.begin(0, In)
	s.download(0, size)
	if err := s.submit(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	return took, s.q.Downloaded(func([]byte) {})
}
