package pipeline

// fifo is a queue of blocks in a ring that grows.
type fifo struct {
	ring []*Block
	head int
	size int
}

func (q *fifo) push(b *Block) {
	if q.size == len(q.ring) {
		ring := make([]*Block, max(16, 2*q.size))
		n := copy(ring, q.ring[q.head:])
		copy(ring[n:], q.ring[:q.head])
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.size)%len(q.ring)] = b
	q.size++
}

func (q *fifo) peek() *Block {
	if q.size == 0 {
		return nil
	}
	return q.ring[q.head]
}

func (q *fifo) pop() *Block {
	b := q.peek()
	if b != nil {
		q.ring[q.head] = nil
		q.head = (q.head + 1) % len(q.ring)
		q.size--
	}
	return b
}
