// Package fifo has the queue that the scheduler and the coordinator share.
package fifo

// Queue is a first-in-first-out queue in a ring buffer that grows. The zero value is empty. It is
// not safe for concurrent use.
type Queue[T any] struct {
	ring []T
	head int
	size int
}

// Len returns the number of elements.
func (q *Queue[T]) Len() int { return q.size }

// Push appends v.
func (q *Queue[T]) Push(v T) {
	if q.size == len(q.ring) {
		ring := make([]T, max(16, 2*q.size))
		n := copy(ring, q.ring[q.head:])
		copy(ring[n:], q.ring[:q.head])
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.size)%len(q.ring)] = v
	q.size++
}

// Peek returns the oldest element, or the zero value if the queue is empty.
func (q *Queue[T]) Peek() (v T) {
	if q.size > 0 {
		v = q.ring[q.head]
	}
	return v
}

// Pop removes and returns the oldest element. It returns the zero value if the queue is empty.
func (q *Queue[T]) Pop() (v T) {
	if q.size > 0 {
		v, q.ring[q.head] = q.ring[q.head], v
		q.head = (q.head + 1) % len(q.ring)
		q.size--
	}
	return v
}
