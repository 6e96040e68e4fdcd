package container

const (
	// InputBuffer is how much of a .gz or .zst file is read at once, in bytes.
	InputBuffer = 128 << 10

	// FrameWorker is the scratch memory in bytes of a worker that decodes frames of zstd: two
	// buffers of a block, tables, and 24 bytes for each sequence of a block.
	FrameWorker = 2 << 20

	// blockSlack is what a block in flight takes besides content and payload, in bytes.
	blockSlack = 4096
)

// PayloadLimit is the longest frame in bytes that becomes one unit if it has so much content. No
// compressor makes a frame as long as this.
func PayloadLimit(content int64) int64 { return content + content/8 + 1024 }

// Memory returns the bytes that n units in flight take that go through one run, with the scratch
// memory of the workers and the buffer of the input.
func (s *Spec) Memory(n, workers int) int64 {
	fixed := s.Extra + InputBuffer
	if s.InOrder {
		return int64(n)*int64(s.BlockSize+s.Payload) + fixed
	}
	size := int64(s.BlockSize)
	return int64(n)*(size+PayloadLimit(size)+blockSlack) + int64(min(n, workers))*FrameWorker + fixed
}

// FrameMemory returns the bytes that n frames in memory take, for random access, if the longest
// frame has size bytes and the most content is content bytes.
func FrameMemory(n, workers int, size, content int64) int64 {
	return int64(n)*(content+size+blockSlack) + int64(min(n, workers))*FrameWorker
}
