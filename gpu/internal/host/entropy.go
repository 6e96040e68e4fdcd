package host

import (
	"errors"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/rans"
)

// errCorrupt is what is said of payloads that do not decode. What is wrong with them the CPU finds out.
var errCorrupt = errors.New("gpu: the payload does not decode")

var errResult = errors.New("gpu: impossible result")

// errGivenUp is what is said of blocks that the kernels of Fused have left: the parse takes too many turns, or something is larger than its room.
var errUnfinished = errors.New("gpu: the device has given the block up")

// job is a request of StageN with what its groups of lanes have to do. The sizes are in u32.
type job struct {
	r    *gpu.Request
	w    *rans.LaneWork
	in   uint32 // in the upload, without the groups' descriptors
	out  uint32 // in the output, without the groups' results
	outs uint32 // where its part of that begins

	// For encoding:
	enc     *rans.Encoder
	dst     []byte // the payload as far as it stands
	streams [6][]byte
	at      [6]uint32 // where they are in the input of the histograms
	units   int
}

// The sizes of descriptors and results, in u32; see the kernels.
const (
	headWords      = 4
	spanWords      = 4
	tableWords     = 128
	decGroupWords  = 40
	decResultWords = 2
	encGroupWords  = 4
	encResultWords = 36
	unitWords      = 2
	countWords     = 128
)

// code does a batch of StageN. What decodes and what encodes do not come together in one submission.
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

// inPieces has jobs done, as many at a time as there is room for.
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

// grow makes a slice at least n long.
func grow[T any](p *[]T, n int) {
	if len(*p) < n {
		*p = append(*p, make([]T, n-len(*p))...)
	}
}

// rounds is how many rounds of 32 symbols a group takes.
func rounds(g *rans.LaneGroup) (n uint32) {
	for _, p := range g.Spans {
		n += uint32(len(p.Data)+rans.Lanes-1) / rans.Lanes
	}
	return n
}

// partLoops is the most that loops turn in a kernel for one part, apart from the rounds: to make its table.
const spanLoops = 400

// cuts reports whether the device would cut short the loops of one of the groups.
func (d *Device) exceedsLoops(w *rans.LaneWork) bool {
	for i := range w.Groups {
		if g := &w.Groups[i]; d.maxLoops > 0 && int(rounds(g))+spanLoops*(len(g.Spans)+1) > d.maxLoops {
			return true
		}
	}
	return false
}

// groups is how many groups of lanes there are.
func groups(jobs []job) (n uint32) {
	for i := range jobs {
		n += uint32(len(jobs[i].w.Groups))
	}
	return n
}

// sizes adds up the u32 of a submission.
func sizes(jobs []job, group, result uint32) (in, out uint64) {
	in, out = headWords, 0
	for i := range jobs {
		n := uint64(len(jobs[i].w.Groups))
		in += uint64(jobs[i].in) + n*uint64(group)
		out += uint64(jobs[i].out) + n*uint64(result)
	}
	return in, out
}

// tables packs the tables of a job, and returns where they begin.
func (w *packer) tables(work *rans.LaneWork) (at uint32) {
	at = w.at
	for _, t := range work.Tables {
		for k := 0; k < 256; k += 2 {
			w.put(uint32(t[k]) | uint32(t[k+1])<<16)
		}
	}
	return at
}
