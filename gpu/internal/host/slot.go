package host

import (
	"fmt"
	"time"

	"github.com/gopz/compress/rans"
)

// slot is what one batch has to itself: a queue with its buffers, and the host's scratch memory.
type slot struct {
	d   *Device
	q   Queue
	sub Submission // the one that is being made
	arg []Binding  // its bindings

	decoders []rans.Decoder
	encoders []rans.Encoder
	jobs     []job
	blocks   []matchJob
	counts   []int
	hist     []uint16
	ratio    uint64 // payloads to blocks of the last batch of Fused, and some more, in 1/65536
}

// upload returns n bytes that a submission sends.
func (s *slot) upload(n uint64) ([]byte, error) {
	p, err := s.q.Upload(align(n))
	if err != nil {
		return nil, err
	}
	return p[:n], nil
}

// begin begins a submission that sends n bytes of upload to a buffer.
func (s *slot) begin(n uint64, to Buffer) {
	s.sub = Submission{UploadSize: align(n), UploadTo: to, Reserve: s.sub.Reserve[:0], Kernels: s.sub.Kernels[:0], Downloads: s.sub.Downloads[:0]}
	s.arg = s.arg[:0]
}

// room makes sure that a buffer has room for n bytes.
func (s *slot) reserve(b Buffer, n uint64) { s.sub.Reserve = append(s.sub.Reserve, BufferSize{b, n}) }

// run has a kernel dispatched.
func (s *slot) dispatch(kernel string, groups int, bind ...Binding) {
	s.arg = append(s.arg, bind...)
	all := s.arg[len(s.arg)-len(bind):]
	s.sub.Kernels = append(s.sub.Kernels, Dispatch{kernel, groups, 1 + s.d.again[kernel], all})
}

// fetch has a stretch of the output fetched.
func (s *slot) download(from, size uint64) { s.downloadFrom(Out, from, size) }

func (s *slot) downloadFrom(b Buffer, from, size uint64) {
	if size > 0 {
		s.sub.Downloads = append(s.sub.Downloads, Range{b, from, size})
	}
}

// submit does what begin has begun.
func (s *slot) submit() error {
	if f := s.d.fault; f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	for i := range s.sub.Kernels {
		if k := &s.sub.Kernels[i]; k.Groups < 1 || k.Groups > maxGroups*maxRows {
			return fmt.Errorf("gpu: %d workgroups", k.Groups)
		}
	}
	start := time.Now()
	err := s.q.Submit(&s.sub)
	s.d.away.Add(int64(time.Since(start)))
	return err
}

// whole binds all of a buffer.
func whole(b Buffer) Binding { return Binding{Buffer: b} }
