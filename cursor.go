package compress

import "io"

// cursor is the position of a ReaderAt's Read, Seek and WriteTo. It keeps hold of the slot it reads from and of some
// ahead of it.
type cursor struct {
	pos    int64
	held   []*slot // of blocks that follow one another
	first  int64   // number of the first of them
	ahead  int     // how many besides the first are wanted
	passed int64   // blocks used
}

// drop gives all slots back.
func (c *cursor) drop(r *ReaderAt) {
	for _, s := range c.held {
		r.slots.put(s)
	}
	c.held, c.ahead = c.held[:0], 0
}

// most is how many slots the cursor may hold. One is left for ReadAt, which may be waiting for it while the cursor lies idle.
func (c *cursor) most(r *ReaderAt) int { return max(1, r.slots.limit-1) }

// seek makes the cursor hold the block at its position, and those ahead that it can get. It returns what is left of the
// block.
func (c *cursor) seek(r *ReaderAt) ([]byte, error) {
	if err := r.opt.canceled(); err != nil {
		c.drop(r)
		return nil, err
	}
	x := r.index
	block := c.first
	if len(c.held) == 0 || c.pos < x.blocks[block].content || c.pos >= x.blocks[block].content+int64(x.blocks[block].raw) {
		block = x.find(c.pos)
	}
	if len(c.held) > 0 && block != c.first {
		if block == c.first+1 { // reading on pays off: look further ahead
			c.ahead = min(2*c.ahead+1, c.most(r)-1)
			r.slots.put(c.held[0])
			c.held = c.held[:copy(c.held, c.held[1:])]
		} else {
			c.drop(r)
		}
	}
	fresh := block != c.first || c.passed == 0
	c.first = block
	for next := block + int64(len(c.held)); len(c.held) <= c.ahead && next < int64(len(x.blocks)); next++ {
		s, err := r.get(next, len(c.held) == 0)
		if err != nil {
			return nil, err
		}
		if s == nil {
			break
		}
		c.held = append(c.held, s)
	}
	data, err := r.wait(c.held[0])
	if err != nil {
		c.drop(r)
		return nil, err
	}
	b := &x.blocks[block]
	if fresh {
		c.passed++
		if r.opt.progress != nil {
			r.opt.progress(Progress{Content: b.content + int64(b.raw), Compressed: b.offset + b.size(), Total: x.content, Blocks: c.passed})
		}
	}
	return data[c.pos-b.content:], nil
}

// rest is for the end of a call: with a single slot the cursor must not keep it.
func (c *cursor) rest(r *ReaderAt) {
	if r.slots.limit == 1 {
		c.drop(r)
	}
}

// Read reads content from the position. Once it has gone from block to block it reads ahead.
func (r *ReaderAt) Read(p []byte) (n int, err error) {
	c := &r.cursor
	if r.slots.isClosed() {
		return 0, ErrClosed
	}
	if c.pos >= r.index.content {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	defer c.rest(r)
	data, err := c.seek(r)
	if err != nil {
		return 0, err
	}
	n = copy(p, data)
	c.pos += int64(n)
	return n, nil
}

// Seek sets the position of Read and WriteTo, as [io.Seeker] says.
func (r *ReaderAt) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += r.cursor.pos
	case io.SeekEnd:
		offset += r.index.content
	default:
		return 0, errWhence
	}
	if offset < 0 {
		return 0, errNegative
	}
	r.cursor.pos = offset
	return offset, nil
}

// WriteTo writes the content from the position to the end to w, straight from the blocks' buffers.
func (r *ReaderAt) WriteTo(w io.Writer) (n int64, err error) {
	c := &r.cursor
	if r.slots.isClosed() {
		return 0, ErrClosed
	}
	defer c.drop(r)
	for c.pos < r.index.content {
		c.ahead = c.most(r) - 1
		data, err := c.seek(r)
		if err != nil {
			return n, err
		}
		m, err := writeFull(w, data)
		n += int64(m)
		c.pos += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
