package parity

// scan finds the sections of the file that end a zone at their place, in order, with the bounds of
// their zones. Others are copies of parts of a section that came to another place.
func (f *file) scan() ([]*section, error) {
	all, err := f.sections(0, f.size)
	if err != nil {
		return nil, err
	}
	a := &acceptor{file: f, rivals: map[*pool]*rivals{}}
	if err := a.compare(all); err != nil {
		return nil, err
	}
	for _, s := range all {
		if err := a.addSection(s); err != nil {
			return nil, err
		}
	}
	if len(a.kept) == 0 {
		return nil, nil
	}
	return a.kept, f.findEnd(a.kept[len(a.kept)-1], f.size)
}

// acceptor chooses sections.
type acceptor struct {
	*file
	rivals map[*pool]*rivals
	kept   []*section
}

// rivals are sections with the same geometry: of equal zones, or copies.
type rivals struct {
	count  int
	most   *section // the one with most packets
	near   *section // the one whose zone is nearest to where it was written
	proven bool     // one of them is behind its zone for sure
	scores map[*section]int

	catalog []byte // of their zones, nil if it is lost
	read    bool
}

// compare fills a.rivals.
func (a *acceptor) compare(all []*section) error {
	for _, s := range all {
		r := a.rivals[s.pool]
		if r == nil {
			r = &rivals{most: s, near: s, scores: map[*section]int{}}
			a.rivals[s.pool] = r
		}
		r.count++
		if s.count > r.most.count {
			r.most = s
		}
		if s.moved() < r.near.moved() {
			r.near = s
		}
	}
	for _, s := range all {
		r := a.rivals[s.pool]
		if r.count == 1 || s != r.most && 2*s.count < s.packets() {
			continue
		}
		score, err := a.score(s, r, s.start)
		if err != nil {
			return err
		}
		r.scores[s] = score
		r.proven = r.proven || 2*score >= samples
	}
	return nil
}

// addSection keeps a section if it is behind its zone.
func (a *acceptor) addSection(s *section) error {
	r := a.rivals[s.pool]
	var before *section
	if n := len(a.kept); n > 0 {
		before = a.kept[n-1]
		if s.at < before.end {
			return nil // inside another section
		}
		if err := a.findEnd(before, s.at); err != nil {
			return err
		}
		s.lo, s.after = before.end, before.hi
	}
	if r.count > 1 {
		if before != nil && sameZone(before, s) {
			if s.firstNumber > before.lastNumber {
				before.extend(s)
				return nil
			}
			// Only one of them can be right.
			x, y := r.scores[before], r.scores[s]
			if y > x || y == x && s.count > before.count {
				s.lo, s.after = before.lo, before.after
				a.kept[len(a.kept)-1] = s
			}
			return nil
		}
		if ok, err := a.behindZone(s, r); !ok || err != nil {
			return err
		}
	}
	a.kept = append(a.kept, s)
	return nil
}

// moved returns how far the zone is from where it was written.
func (s *section) moved() int64 { return max(s.start-s.offset, s.offset-s.start) }

// extend adds the packets of another section, behind those of s.
func (s *section) extend(o *section) {
	if o.agree > s.agree {
		s.start, s.agree = o.start, o.agree
	}
	s.count += o.count
	s.end, s.lastNumber, s.hi = o.end, o.lastNumber, 0
}

// sameZone reports whether two sections with the same geometry, one behind the other, are so near
// that there cannot be a zone for each.
func sameZone(a, b *section) bool {
	return a.pool == b.pool &&
		(a.zone == b.zone || 2*(a.at-a.after+b.at-a.end) < 3*int64(a.size))
}

// behindZone reports whether one of several rivals is behind its zone.
func (a *acceptor) behindZone(s *section, r *rivals) (bool, error) {
	switch {
	case 2*r.scores[s] >= samples, s == r.near && !r.proven:
		return true, nil
	case 2*s.count < s.packets():
		return false, nil
	}
	score, err := a.score(s, r, s.after)
	return 2*score >= samples, err
}

// samples is how many slices score compares.
const samples = 16

// score returns how many of 16 slices of a zone, some of them more than once if it has fewer, are
// right if the zone begins at start.
func (f *file) score(s *section, r *rivals, start int64) (_ int, err error) {
	if !r.read {
		r.catalog, err = f.readCatalog(s)
		if err != nil {
			return 0, err
		}
		r.read = true
	}
	if r.catalog == nil {
		return 0, nil
	}
	buf := make([]byte, s.slice)
	right := 0
	for k := range samples {
		ok, err := f.readSlice(buf, s, r.catalog, k*s.slices()/samples, start, s.end)
		if err != nil {
			return 0, err
		}
		if ok {
			right++
		}
	}
	return right, nil
}
