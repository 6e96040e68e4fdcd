package compress

import (
	"io"

	"github.com/gopz/compress/internal/container"
)

// A cursor is the position of a ReaderAt's Read, Seek and WriteTo. It holds the cache entry of the
// block at the position, and some ahead of it.
type cursor struct {
	pos    int64
	held   []*cacheEntry // of blocks that follow one another
	first  int64         // number of the first of them
	ahead  int           // how many besides the first are wanted
	passed int64         // blocks used
}

// drop gives all entries back.
func (c *cursor) drop(r *ReaderAt) {
	for _, e := range c.held {
		r.cache.Put(e)
	}
	c.held, c.ahead = c.held[:0], 0
}

// most returns how many entries the cursor may hold. It leaves one for ReadAt, which may wait for
// an entry while the cursor is idle.
func (c *cursor) most(r *ReaderAt) int { return max(1, r.cache.Limit()-1) }

// seek holds the block at the position, and those ahead that it can get. It returns the rest of
// the block.
func (c *cursor) seek(r *ReaderAt) ([]byte, error) {
	if err := r.opt.canceled(); err != nil {
		c.drop(r)
		return nil, err
	}
	x := &r.index
	block := c.first
	if len(c.held) == 0 || c.pos < x.Blocks[block].Content || c.pos >= x.Blocks[block].End() {
		block = x.Find(c.pos)
	}
	if len(c.held) > 0 && block != c.first {
		if block == c.first+1 { // sequential reading: look further ahead
			c.ahead = min(2*c.ahead+1, c.most(r)-1)
			r.cache.Put(c.held[0])
			c.held = c.held[:copy(c.held, c.held[1:])]
		} else {
			c.drop(r)
		}
	}
	fresh := block != c.first || c.passed == 0
	c.first = block
	for next := block + int64(len(c.held)); len(c.held) <= c.ahead && next < int64(len(x.Blocks)); next++ {
		e, err := r.get(next, len(c.held) == 0)
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		c.held = append(c.held, e)
	}
	data, err := c.held[0].Content()
	if err != nil {
		c.drop(r)
		return nil, err
	}
	b := &x.Blocks[block]
	if fresh {
		c.passed++
		if r.opt.progress != nil {
			r.opt.progress(Progress{
				Content: b.End(), Compressed: b.Offset + int64(b.Size), Total: x.Content, Blocks: c.passed,
			})
		}
	}
	return data[c.pos-b.Content:], nil
}

// release is called at the end of a Read: where there is a single entry the cursor must not keep
// it.
func (c *cursor) release(r *ReaderAt) {
	if r.cache.Limit() == 1 {
		c.drop(r)
	}
}

// Read reads content from the position. Once it goes from block to block it reads ahead.
func (r *ReaderAt) Read(p []byte) (n int, err error) {
	c := &r.cursor
	if err := r.ready(); err != nil {
		return 0, err
	}
	if c.pos >= r.index.Content {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	defer c.release(r)
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
	if r.cache == nil {
		return 0, r.ready()
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += r.cursor.pos
	case io.SeekEnd:
		offset += r.index.Content
	default:
		return 0, errWhence
	}
	if offset < 0 {
		return 0, errNegative
	}
	r.cursor.pos = offset
	return offset, nil
}

// WriteTo writes the content from the position to the end to w, straight from the buffers of the
// blocks.
func (r *ReaderAt) WriteTo(w io.Writer) (n int64, err error) {
	c := &r.cursor
	if err := r.ready(); err != nil {
		return 0, err
	}
	defer c.drop(r)
	for c.pos < r.index.Content {
		c.ahead = c.most(r) - 1
		data, err := c.seek(r)
		if err != nil {
			return n, err
		}
		m, err := container.WriteFull(w, data)
		n += int64(m)
		c.pos += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
