package lz77

// Helper lets somebody else do a part of a parse, at the same time, if anybody is free.
type Helper interface {
	// Help begins to run f, beside what its caller goes on with, and returns true; or false if nobody is free now. What f returns is how many bytes of content it dealt with.
	Help(f func() int) bool
	// Wait returns when f has run, and panics if f did. It is called once after each Help that returned true.
	Wait()
}

// gathered is a piece and the candidates of its positions. There are two: a helper may gather the next one while one is parsed.
type chunkCandidates struct {
	chunk
	cands     []candidate
	firstCand []uint32 // of each position of the piece and the one behind it: where its candidates begin
}

func (g *chunkCandidates) grow(n, cands int) {
	if cap(g.firstCand) < n {
		g.firstCand, g.cands = make([]uint32, n), make([]candidate, 0, cands)
	}
}

// gatheredBytes is what one takes for n positions, in bytes.
func chunkCandidatesBytes(n int) int { return 4*n + 8*candidateLimit(n) }

// end is where the next piece begins.
func (s *chunk) end() int { return s.to + int(s.last.length) }

// start gathers the first piece, which begins at p.
func (o *optimal) firstChunk(src []byte, p int) chunk {
	o.findMatches(&o.chunks[0], src, p)
	return o.setCurrent(0)
}

// turn makes a piece the one that is parsed.
func (o *optimal) setCurrent(k int) chunk {
	o.current = k
	g := &o.chunks[k]
	o.cands, o.firstCand = g.cands, g.firstCand
	return g.chunk
}

// ahead lets the piece behind s be gathered while s is parsed, if there is one and a helper is free. A call of next must follow.
func (o *optimal) startHelper(src []byte, s chunk) {
	if o.helper == nil || s.end() == len(src) {
		return
	}
	if o.helperTask == nil {
		o.helperTask = func() int {
			g := &o.chunks[1-o.current]
			g.grow(o.maxPositions, o.candLimit)
			o.findMatches(g, o.helperSrc, o.helperFrom)
			return g.end() - g.from
		}
	}
	o.helperSrc, o.helperFrom = src, s.end()
	o.helperBusy = o.helper.Help(o.helperTask)
}

// next returns the piece behind s, or false if s was the last one.
func (o *optimal) nextChunk(src []byte, s chunk) (_ chunk, more bool) {
	if s.end() == len(src) {
		return s, false
	}
	if o.helperBusy {
		o.awaitHelper()
		return o.setCurrent(1 - o.current), true
	}
	o.findMatches(&o.chunks[o.current], src, s.end())
	return o.setCurrent(o.current), true
}

// settle waits for the helper, if there is one at work.
func (o *optimal) awaitHelper() {
	if o.helperBusy {
		o.helperBusy = false
		o.helper.Wait()
	}
}

// release ends a parse, one that panicked as well: no helper is at work then, or kept.
func (o *optimal) release() {
	defer func() { o.helper, o.helperSrc = nil, nil }()
	o.awaitHelper()
}
