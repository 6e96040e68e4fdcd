package refdec

const (
	// Flags behind the layout byte of layout Dense: which streams are context-coded, and whether
	// parts of the content were filtered.
	tokensInContext = 1 << 0
	litsInContext   = 1 << 1
	filteredX86     = 1 << 2
	matchInContext  = 1 << 3 // MatchLens

	maxTables         = 32
	minContextSegment = 16384 // symbols of a segment that is not the last of its stream
	numContexts       = 257
	markContext       = 256
)

// decodeDense decodes the streams of layout Dense for a block of n bytes. filtered has the filtered
// parts of the content.
func decodeDense(
	r *byteReader, n int,
) (streams [numStreams][]byte, filtered []x86Range, err error) {
	flags, err := r.byte()
	if err != nil {
		return streams, nil, err
	}
	if flags > tokensInContext|litsInContext|filteredX86|matchInContext {
		return streams, nil, corrupt("flags %#x of layout Dense", flags)
	}
	if flags&filteredX86 != 0 {
		filtered, err = x86Ranges(r, n)
		if err != nil {
			return streams, nil, err
		}
	}
	chose(choiceDense, int(flags))
	limits := streamLimits(layoutDense, n)
	together := limits
	var tokens, matches []byte
	if flags&tokensInContext != 0 {
		tokens, err = decodeContextCoded(r, limits[streamTokens], nil)
		if err != nil {
			return streams, nil, err
		}
		together[streamTokens] = 0
	}
	if flags&matchInContext != 0 {
		matches, err = decodeContextCoded(r, limits[streamMatchLens], nil)
		if err != nil {
			return streams, nil, err
		}
		together[streamMatchLens] = 0
	}
	if flags&litsInContext != 0 {
		together[streamLits] = 0
	}
	streams, err = decodeStreams(r, together)
	if err != nil {
		return streams, nil, err
	}
	if flags&tokensInContext != 0 {
		streams[streamTokens] = tokens
	}
	if flags&matchInContext != 0 {
		streams[streamMatchLens] = matches
	}
	if flags&litsInContext != 0 {
		streams[streamLits], err = decodeContextCoded(r, limits[streamLits], &streams)
	}
	return streams, filtered, err
}

// markLiterals returns which of n literals have a mark.
func markLiterals(streams [numStreams][]byte, n int) ([]bool, error) {
	marks := make([]bool, n)
	r := &sequenceReader{streams: streams}
	at := uint64(0)
	for _, token := range streams[streamTokens] {
		if at == uint64(n) {
			break // If nonempty runs follow, the literals are too few for them.
		}
		marks[at] = true
		run, err := r.length(uint64(token&3), 3, 0, streamLitLens)
		if err != nil {
			return nil, err
		}
		if at += run; at > uint64(n) {
			return nil, corrupt("runs of %d literals, of which there are %d", at, n)
		}
	}
	if at < uint64(n) {
		marks[at] = true
	}
	return marks, nil
}

// A contextSegment is a segment of a context-coded stream.
type contextSegment struct {
	size   int
	class  [numContexts]uint64 // table number of each context
	tables []table
}

// A contextMap says what the preceding symbols add to a context.
type contextMap struct{ first, second [256]int }

func parseContextMap(r *byteReader) (*contextMap, error) {
	low, err := r.byte()
	if err != nil {
		return nil, err
	}
	if low > 8 {
		return nil, corrupt("%d bits of a context from the symbol before the last", low)
	}
	chose(choiceMap, int(low))
	m := new(contextMap)
	if low == 0 || low == 8 {
		for s := range 256 {
			if low == 0 {
				m.first[s] = s
			} else {
				m.second[s] = s
			}
		}
		return m, nil
	}
	data, err := r.take(256)
	if err != nil {
		return nil, err
	}
	bits := &bitReader{data: data}
	for s := range m.first {
		v, err := bits.bits(8 - int(low))
		if err != nil {
			return nil, err
		}
		m.first[s] = int(v) << low
	}
	for s := range m.second {
		v, err := bits.bits(int(low))
		if err != nil {
			return nil, err
		}
		m.second[s] = int(v)
	}
	return m, nil
}

// decodeContextCoded decodes a context-coded stream. For literals streams holds the other streams,
// else it is nil.
func decodeContextCoded(r *byteReader, limit int, streams *[numStreams][]byte) ([]byte, error) {
	n, err := r.varint()
	if err != nil {
		return nil, err
	}
	if n == 0 || n > uint64(limit) {
		return nil, corrupt("context-coded stream of %d bytes", n)
	}
	m, err := parseContextMap(r)
	if err != nil {
		return nil, err
	}
	var segments []*contextSegment
	for left := n; left > 0; {
		s, err := parseContextSegment(r, left)
		if err != nil {
			return nil, err
		}
		if len(segments) > 0 {
			chose(choiceSecond, 1)
		}
		segments = append(segments, s)
		left -= uint64(s.size)
	}
	out, marks := make([]byte, n), make([]bool, n)
	if streams != nil {
		marks, err = markLiterals(*streams, int(n))
		if err != nil {
			return nil, err
		}
	}
	groups := 1
	if n >= twoGroups {
		groups = 2
	}
	chose(choiceContextGroups, groups)
	for g := range groups {
		if err := decodeContextGroup(r, m, segments, out, marks, g, groups); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func parseContextSegment(r *byteReader, left uint64) (*contextSegment, error) {
	size, err := r.varint()
	if err != nil {
		return nil, err
	}
	if size == 0 || size > left || size < left && size < minContextSegment {
		return nil, corrupt("context-coded segment of %d symbols, %d are missing", size, left)
	}
	n, err := r.byte()
	if err != nil {
		return nil, err
	}
	if n == 0 || n > maxTables {
		return nil, corrupt("%d tables", n)
	}
	s := &contextSegment{size: int(size), tables: make([]table, n)}
	width := 0
	for 1<<width < int(n) {
		width++
	}
	chose(choiceTables, width)
	bits := &bitReader{data: r.data}
	for i := range s.class {
		s.class[i], err = bits.bits(width)
		if err != nil {
			return nil, err
		}
		if s.class[i] >= uint64(n) {
			return nil, corrupt("context %d has table %d of %d", i, s.class[i], n)
		}
	}
	if pad, err := bits.bits(bits.bytesUsed()*8 - bits.at); err != nil || pad != 0 {
		return nil, corrupt("bits set after the contexts")
	}
	if _, err := r.take(uint64(bits.bytesUsed())); err != nil {
		return nil, err
	}
	for i := range s.tables {
		if err := parseTable(r, &s.tables[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// decodeContextGroup decodes one lane group.
func decodeContextGroup(
	r *byteReader, m *contextMap, segments []*contextSegment, out []byte, marks []bool,
	group, groups int,
) error {
	const lanes = 32
	g, err := openGroup(r, lanes)
	if err != nil {
		return err
	}
	at := 0
	for _, s := range segments {
		begin := pieces(at, s.size, lanes*groups)[lanes*group:]
		at += s.size
		for turn := 0; begin[0]+turn < begin[1]; turn++ {
			for l := range lanes {
				i := begin[l] + turn
				if i == begin[l+1] {
					continue
				}
				context := m.context(out, marks, begin[l], i)
				out[i], err = g.step(l, &s.tables[s.class[context]])
				if err != nil {
					return err
				}
			}
		}
	}
	return g.checkStates()
}

// pieces cuts a segment into n pieces and returns where each begins, and where the last one ends.
func pieces(at, size, n int) (begin []int) {
	for l := range n {
		begin = append(begin, at)
		at += size / n
		if l < size%n {
			at++
		}
	}
	return append(begin, at)
}

// context returns the context of symbol i in the piece that begins at begin.
func (m *contextMap) context(out []byte, marks []bool, begin, i int) int {
	fresh := func(i int) bool { return i == begin || marks[i] }
	if fresh(i) {
		if i > begin {
			chose(choiceMark, 1)
		}
		return markContext
	}
	if fresh(i - 1) {
		return m.first[out[i-1]] + m.second[0]
	}
	return m.first[out[i-1]] + m.second[out[i-2]]
}
