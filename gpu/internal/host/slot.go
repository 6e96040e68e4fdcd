package host

import (
	"fmt"
	"slices"
	"time"

	"github.com/gopz/compress/internal/codec/rans"
)

// slot is what a call of Run uses: a queue with its buffers, and scratch memory.
type slot struct {
	d        *Device
	q        Queue
	sub      Submission // being recorded
	bindings []Binding  // of sub

	decoders []rans.Decoder
	encoders []rans.Encoder
	jobs     []job
	blocks   []matchJob
	counts   []int
	hist     []uint16
	sized    int    // Content() for the last batch, which the buffers have grown for
	content  int    // bytes of content in the last submission of Stage0 or Fused
	ratio    uint64 // estimated payload per byte of content, in 1/65536 bytes; see submitFused
}

// shrink frees all buffers.
func (s *slot) shrink() error {
	s.sized = 0
	return s.q.Shrink()
}

// setContent sets s.content.
func (s *slot) setContent(blocks []matchJob) {
	s.content = 0
	for i := range blocks {
		s.content += len(blocks[i].r.Src)
	}
}

// upload returns n bytes of memory that the next submission uploads.
func (s *slot) upload(n uint64) ([]byte, error) {
	p, err := s.q.Upload(align(n))
	if err != nil {
		return nil, err
	}
	return p[:n], nil
}

// beginSubmission starts recording a submission that uploads n bytes to a buffer.
func (s *slot) beginSubmission(n uint64, to Buffer) {
	s.sub = Submission{
		UploadSize: align(n),
		UploadTo:   to,
		Reserve:    s.sub.Reserve[:0],
		Kernels:    s.sub.Kernels[:0],
		Downloads:  s.sub.Downloads[:0],
	}
	s.bindings = s.bindings[:0]
}

// reserve records that a buffer must have at least n bytes.
func (s *slot) reserve(b Buffer, n uint64) {
	s.sub.Reserve = append(s.sub.Reserve, BufferSize{b, n})
}

// dispatch records a kernel.
func (s *slot) dispatch(kernel string, groups int, bind ...Binding) {
	s.bindings = append(s.bindings, bind...)
	all := s.bindings[len(s.bindings)-len(bind):]
	s.sub.Kernels = append(s.sub.Kernels, Dispatch{
		Kernel: kernel, Groups: groups, Times: 1 + s.d.again[kernel], Bind: all,
	})
}

// download records the download of a range of the output.
func (s *slot) download(from, size uint64) { s.downloadFrom(Out, from, size) }

func (s *slot) downloadFrom(b Buffer, from, size uint64) {
	if size > 0 {
		s.sub.Downloads = append(s.sub.Downloads, Range{b, from, size})
	}
}

// submit runs the recorded submission, in several parts if it has many runs of kernels with Long.
// The first part has the upload, and the last one the downloads.
func (s *slot) submit() error {
	all := s.sub
	if !slices.ContainsFunc(all.Kernels, func(k Dispatch) bool { return k.Long }) {
		return s.submitPart()
	}
	defer func() { s.sub = all }()
	parts := split(all.Kernels)
	for i, kernels := range parts {
		s.sub.Kernels, s.sub.Downloads = kernels, nil
		if i > 0 {
			s.sub.UploadSize, s.sub.Reserve = 0, nil
		}
		if i == len(parts)-1 {
			s.sub.Downloads = all.Downloads
			return s.submitPart()
		}
		if err := s.submitPart(); err != nil {
			return err
		}
		if err := s.q.Downloaded(func([]byte) {}); err != nil {
			return err
		}
	}
	return nil
}

// longRuns is the most runs of kernels with Long in one submission.
const longRuns = 2

// split returns the kernels of each submission.
func split(kernels []Dispatch) (parts [][]Dispatch) {
	var part []Dispatch
	runs := 0 // of kernels with Long in part
	for _, k := range kernels {
		left := k.Times
		for k.Long && left > 0 {
			if runs == longRuns {
				parts, part, runs = append(parts, part), nil, 0
			}
			k.Times = min(left, longRuns-runs)
			part = append(part, k)
			left, runs, k.More = left-k.Times, runs+k.Times, true
		}
		if !k.Long {
			part = append(part, k)
		}
	}
	return append(parts, part)
}

// submitPart runs one submission.
func (s *slot) submitPart() error {
	if f := s.d.fault; f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	for i := range s.sub.Kernels {
		if k := &s.sub.Kernels[i]; k.Groups < 1 || k.Groups > maxGroups*maxRows {
			return fmt.Errorf("gpu: %s: %d workgroups; the range is 1 to %d",
				k.Kernel, k.Groups, maxGroups*maxRows)
		}
	}
	t := s.d.trace
	if t == nil {
		return s.q.Submit(&s.sub)
	}
	s.sub.Times = new(Times)
	start := time.Now()
	err := s.q.Submit(&s.sub)
	t.addSubmission(&s.sub, time.Since(start))
	s.sub.Times = nil
	return err
}

// downloaded calls f with the downloads of the last submission.
func (s *slot) downloaded(f func(p []byte)) error {
	if t := s.d.trace; t != nil {
		start := time.Now()
		defer func() { t.Unpack += time.Since(start) }()
	}
	return s.q.Downloaded(f)
}

// whole binds all of a buffer.
func whole(b Buffer) Binding { return Binding{Buffer: b} }
