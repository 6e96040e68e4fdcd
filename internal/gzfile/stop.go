package gzfile

// A stop is where decoding ends that goes through the file: at the beginning of what is decoded
// ahead next.
type stop struct {
	in     *input
	offset int64 // where the next part begins, 0 if there is none
	part   *part // it, if it is decoded ahead; nil if that is not known yet
}

// nextStop returns the first stop behind the walker, for the turn of a unit. Parts of units whose
// turn has been are of interest only if there is a result.
func (d *decoder) nextStop(unit int64) stop {
	in, at := &d.input, d.walker.at<<3
	if p, ok := d.walker.place(); ok {
		at = p.bit
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, p := range in.parts {
		if behind := max(p.offset<<3, p.start.bit); behind <= at || !p.ahead {
			continue
		}
		if p.unit > unit || d.hasResult(p) {
			return stop{in, p.offset, p}
		}
	}
	return stop{in: in}
}

// hasResult reports whether there is a result of decoding a part ahead. The caller holds d.mu.
func (d *decoder) hasResult(p *part) bool {
	for _, r := range d.results {
		if r.start == p.start {
			return true
		}
	}
	return false
}

// reached reports whether w has come to the stop, or has passed it. Where nobody knows yet where
// that part starts, it starts at the first place that w comes to.
func (s *stop) reached(w *walker) bool {
	if s.offset == 0 || w.at < s.offset {
		return false
	}
	at, ok := w.place()
	if !ok || at.bit < s.offset<<3 {
		return false
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	p := s.part
	if p == nil {
		if p = s.in.find(at.bit >> 3); p == nil || !p.ahead {
			return true
		}
		s.part = p
	}
	if at.bit >= p.endOffset()<<3 {
		return true
	}
	if p.start == noPlace {
		p.start = at
	}
	return at.bit >= p.start.bit
}

// publish says what the window is where the part at the stop starts, if w is there.
func (s *stop) publish(w *walker, window []byte) {
	p := s.part
	if p == nil || len(window) < windowSize {
		return
	}
	at, ok := w.place()
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if !ok || at.member || at != p.start || p.window.Load() != nil {
		return
	}
	known := pop(&s.in.windows)
	if known == nil {
		known = new([windowSize]byte)
	}
	copy(known[:], window)
	p.window.Store(known)
}
