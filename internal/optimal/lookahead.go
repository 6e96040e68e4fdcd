package optimal

// Candidates follow from the content alone, so a helper may find those of the next chunk while the
// parser parses the current one. The parser owns two sets of candidates for that. A helper gives
// one block a second processor; it does not change the result.

// Helper runs a part of a parse on another goroutine if a processor is free.
type Helper interface {
	// Help starts f, concurrently with its caller, and returns true. It returns false if no
	// processor is free. f returns the number of bytes of content that it processed. It calls
	// checkpoint as the parser calls its own: at most a few milliseconds apart, on the goroutine
	// that runs f. checkpoint may panic to abandon f, but must not block, since the parser may be
	// waiting for f.
	Help(f func(checkpoint func()) int) bool
	// Wait returns when f has returned, and panics if f panicked. The parser calls it once after
	// each Help that returned true.
	Wait()
}

// lookahead holds the candidates of two chunks and the helper that finds those of the second.
type lookahead struct {
	chunks    [2]chunkCandidates
	current   int         // chunk that is parsed
	cands     []candidate // its candidates
	firstCand []uint32    // see chunkCandidates

	helper     Helper                      // nil for none
	helperBusy bool                        // it works on the other chunk
	helperTask func(checkpoint func()) int // its work, made once
	helperSrc  []byte                      // the block
	helperFrom int                         // beginning of the other chunk
}

// chunkCandidates holds a chunk and the candidates of its positions.
type chunkCandidates struct {
	chunk
	cands     []candidate
	firstCand []uint32 // index of the first candidate of each position, and of the position behind
}

func (g *chunkCandidates) grow(n, cands int) {
	if cap(g.firstCand) < n {
		g.firstCand, g.cands = make([]uint32, n), make([]candidate, 0, cands)
	}
}

// chunkCandidatesBytes returns the memory of candidates for n positions in bytes.
func chunkCandidatesBytes(n int) int { return 4*n + 8*candidateLimit(n) }

// end returns the position where the next chunk begins.
func (s *chunk) end() int { return s.to + int(s.last.length) }

// firstChunk finds the candidates of the first chunk, which begins at p, and makes it current.
func (o *Parser) firstChunk(src []byte, p int) chunk {
	o.findMatches(&o.chunks[0], src, p, o.checkpoint)
	return o.setCurrent(0)
}

// setCurrent makes chunk k the one that is parsed.
func (o *Parser) setCurrent(k int) chunk {
	o.current = k
	g := &o.chunks[k]
	o.cands, o.firstCand = g.cands, g.firstCand
	return g.chunk
}

// startHelper lets a free helper find the candidates of the chunk behind s, if there is one.
// A call of nextChunk must follow.
func (o *Parser) startHelper(src []byte, s chunk) {
	if o.helper == nil || s.end() == len(src) {
		return
	}
	if o.helperTask == nil {
		o.helperTask = func(checkpoint func()) int {
			g := &o.chunks[1-o.current]
			g.grow(o.maxPositions, o.candLimit)
			o.findMatches(g, o.helperSrc, o.helperFrom, checkpoint)
			return g.end() - g.from
		}
	}
	o.helperSrc, o.helperFrom = src, s.end()
	o.helperBusy = o.helper.Help(o.helperTask)
}

// nextChunk returns the chunk behind s and makes it current. It returns false if s is the last one.
func (o *Parser) nextChunk(src []byte, s chunk) (_ chunk, more bool) {
	if s.end() == len(src) {
		return s, false
	}
	if o.helperBusy {
		o.awaitHelper()
		return o.setCurrent(1 - o.current), true
	}
	o.findMatches(&o.chunks[o.current], src, s.end(), o.checkpoint)
	return o.setCurrent(o.current), true
}

// awaitHelper waits for the helper if it is busy.
func (o *Parser) awaitHelper() {
	if o.helperBusy {
		o.helperBusy = false
		o.helper.Wait()
	}
}

// release ends a parse, also one that panicked. No helper runs afterwards, and o keeps no reference
// to one, to the checkpoint or to the block.
func (o *Parser) release() {
	defer func() { o.helper, o.helperSrc, o.checkpoint, o.position = nil, nil, nil, 0 }()
	o.awaitHelper()
}
