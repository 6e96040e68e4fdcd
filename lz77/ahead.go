package lz77

// Helper lets somebody else do a part of a parse, at the same time, if anybody is free.
type Helper interface {
	// Help begins to run f, beside what its caller goes on with, and returns true; or false if nobody is free now. What f returns is how many bytes of content it dealt with.
	Help(f func() int) bool
	// Wait returns when f has run, and panics if f did. It is called once after each Help that returned true.
	Wait()
}

// gathered is a piece and the candidates of its positions. There are two: a helper may gather the next one while one is parsed.
type gathered struct {
	piece
	cands []candidate
	begin []uint32 // of each position of the piece and the one behind it: where its candidates begin
}

func (g *gathered) grow(n, cands int) {
	if cap(g.begin) < n {
		g.begin, g.cands = make([]uint32, n), make([]candidate, 0, cands)
	}
}

// gatheredBytes is what one takes for n positions, in bytes.
func gatheredBytes(n int) int { return 4*n + 8*maxCands(n) }

// end is where the next piece begins.
func (s *piece) end() int { return s.to + int(s.last.length) }

// start gathers the first piece, which begins at p.
func (o *optimal) start(src []byte, p int) piece {
	o.gather(&o.pieces[0], src, p)
	return o.turn(0)
}

// turn makes a piece the one that is parsed.
func (o *optimal) turn(k int) piece {
	o.current = k
	g := &o.pieces[k]
	o.cands, o.begin = g.cands, g.begin
	return g.piece
}

// ahead lets the piece behind s be gathered while s is parsed, if there is one and a helper is free. A call of next must follow.
func (o *optimal) ahead(src []byte, s piece) {
	if o.helper == nil || s.end() == len(src) {
		return
	}
	if o.beside == nil {
		o.beside = func() int {
			g := &o.pieces[1-o.current]
			g.grow(o.room, o.most)
			o.gather(g, o.src, o.from)
			return g.end() - g.from
		}
	}
	o.src, o.from = src, s.end()
	o.helped = o.helper.Help(o.beside)
}

// next returns the piece behind s, or false if s was the last one.
func (o *optimal) next(src []byte, s piece) (_ piece, more bool) {
	if s.end() == len(src) {
		return s, false
	}
	if o.helped {
		o.settle()
		return o.turn(1 - o.current), true
	}
	o.gather(&o.pieces[o.current], src, s.end())
	return o.turn(o.current), true
}

// settle waits for the helper, if there is one at work.
func (o *optimal) settle() {
	if o.helped {
		o.helped = false
		o.helper.Wait()
	}
}

// release ends a parse, one that panicked as well: no helper is at work then, or kept.
func (o *optimal) release() {
	defer func() { o.helper, o.src = nil, nil }()
	o.settle()
}
