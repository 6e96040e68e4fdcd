package host

import (
	"errors"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
)

var (
	// errCorrupt is the error of a payload that does not decode. The CPU finds out what is wrong
	// with it.
	errCorrupt = errors.New("gpu: the payload does not decode")
	// errResult is the error of a result that the kernels cannot give.
	errResult = errors.New("gpu: impossible result")
	// errUnfinished is the error of a block that the kernels of Fused gave up: the parse takes too
	// many iterations, or some data exceed their buffer.
	errUnfinished = errors.New("gpu: the kernels did not finish the block")
)

// job is a request of StageN with its lane groups. Sizes and indices are in 32-bit words.
type job struct {
	r    *gpu.Request
	w    *rans.LaneWork
	in   uint32 // size in the upload, without the groups' descriptors
	out  uint32 // size in the output, without the groups' results
	outs uint32 // index of its part of the output

	// For encoding:
	enc     *rans.Encoder
	dst     []byte // the payload so far
	streams [6][]byte
	at      [6]uint32 // indices of the streams in the input of the histograms
	units   int       // histograms
}

// Sizes of descriptors and results in words. The kernels define their fields.
const (
	headWords      = 4   // head of an upload
	spanWords      = 4   // span of a lane group: symbols with one table
	tableWords     = 128 // frequency table
	decGroupWords  = 40  // lane group to decode
	decResultWords = 2   // its result
	encGroupWords  = 4   // lane group to encode
	encResultWords = 36  // its result
	unitWords      = 2   // unit: symbols with one histogram
	countWords     = 128 // histogram
)

// runCode runs a batch of StageN. Decoding and encoding are separate submissions.
func (s *slot) runCode(batch []*gpu.Request) error {
	n := max(entropyBatch, len(batch))
	grow(&s.decoders, n)
	grow(&s.encoders, n)
	defer func() { clear(s.jobs[:cap(s.jobs)]) }()
	s.jobs = s.jobs[:0]
	for i, r := range batch {
		if r.Decode {
			r.Err = nil
			s.beginDecode(i, r)
		}
	}
	if err := s.inSubmissions(s.jobs, decGroupWords, decResultWords, s.decode); err != nil {
		return err
	}
	s.jobs = s.jobs[:0]
	for i, r := range batch {
		if !r.Decode {
			r.Err = nil
			s.beginEncode(i, r)
		}
	}
	return s.count(s.jobs)
}

// inSubmissions calls do with consecutive jobs, as many at a time as fit into the buffers.
func (s *slot) inSubmissions(jobs []job, group, result uint32, do func([]job) error) error {
	for len(jobs) > 0 {
		n := 0
		for ; n < len(jobs); n++ {
			if in, out := sizes(jobs[:n+1], group, result); 4*max(in, out) > s.d.maxBuffer {
				break
			}
		}
		if n == 0 {
			jobs[0].r.Err = ErrTooLarge
			jobs = jobs[1:]
			continue
		}
		if err := do(jobs[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// grow appends zero values until a slice has n elements.
func grow[T any](p *[]T, n int) {
	if len(*p) < n {
		*p = append(*p, make([]T, n-len(*p))...)
	}
}

// rounds returns how many rounds of one symbol per lane a group takes.
func rounds(g *rans.LaneGroup) (n uint32) {
	for _, p := range g.Spans {
		n += uint32(len(p.Data)+rans.Lanes-1) / rans.Lanes
	}
	return n
}

// groups returns the number of lane groups.
func groups(jobs []job) (n uint32) {
	for i := range jobs {
		n += uint32(len(jobs[i].w.Groups))
	}
	return n
}

// sizes returns the words of input and output of a submission.
func sizes(jobs []job, group, result uint32) (in, out uint64) {
	in, out = headWords, 0
	for i := range jobs {
		n := uint64(len(jobs[i].w.Groups))
		in += uint64(jobs[i].in) + n*uint64(group)
		out += uint64(jobs[i].out) + n*uint64(result)
	}
	return in, out
}

// tables writes the frequency tables of a job and returns the index of the first.
func (w *packer) tables(work *rans.LaneWork) (at uint32) {
	at = w.at
	for _, t := range work.Tables {
		for k := 0; k < 256; k += 2 {
			w.putWords(uint32(t[k]) | uint32(t[k+1])<<16)
		}
	}
	return at
}
