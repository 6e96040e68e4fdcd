package host

import (
	"encoding/binary"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
)

// Encoding takes three submissions. The first counts the symbols of the streams; the host makes
// segments and tables from the histograms. The second codes the symbols, which are on the device
// already. The third downloads the words, whose number the second returns. Counting is 40% of the
// CPU's time for encoding, so it is worth a kernel.

// minSymbols is the number of symbols below which the host encodes alone.
const minSymbols = 16384

// beginEncode adds a job for a request, or encodes it if it is small.
func (s *slot) beginEncode(i int, r *gpu.Request) {
	j := job{r: r, enc: &s.encoders[i]}
	size, symbols := 0, 0
	for k, p := range r.Streams.All() {
		j.streams[k] = *p
		size += len(*p)
		if k < len(j.streams)-r.Layout.Stored {
			symbols += len(*p)
			j.in += words(len(*p))
			for n := len(*p); n > 0; n -= rans.HistogramUnit(n) {
				j.units++
			}
		}
	}
	j.in += unitWords * uint32(j.units)
	j.out = max(countWords*uint32(j.units), words(2*symbols))
	// Coding hardly ever makes streams longer.
	if size += size/256 + 1024; cap(r.Dst) < size {
		r.Dst = make([]byte, 0, size)
	}
	j.dst = append(r.Dst[:0], r.Layout.ID)
	j.enc.Defaults = r.Streams.Size < rans.DefaultsLimit
	if symbols < minSymbols {
		r.Dst = j.enc.Append(j.dst, r.Layout.Stored, j.streams[:]...)
		return
	}
	s.jobs = append(s.jobs, j)
}

// count counts the symbols of jobs, and then encodes them.
func (s *slot) count(jobs []job) error {
	for len(jobs) > 0 {
		n, in, out, units := 0, uint64(headWords), uint64(0), 0
		for ; n < len(jobs); n++ {
			j := &jobs[n]
			if 4*max(in+uint64(j.in), out+uint64(j.out)) > s.d.maxBuffer {
				break
			}
			in, out, units = in+uint64(j.in), out+uint64(j.out), units+j.units
		}
		if n == 0 {
			jobs[0].r.Err = ErrTooLarge
			jobs = jobs[1:]
			continue
		}
		if err := s.countBatch(jobs[:n], in, units); err != nil {
			return err
		}
		ready := jobs[:0:n]
		for i := range jobs[:n] {
			if j := jobs[i]; j.w != nil {
				ready = append(ready, j)
			}
		}
		if err := s.inSubmissions(ready, encGroupWords, encResultWords, s.encode); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// countBatch counts the symbols of jobs in one submission, and makes their lane groups.
func (s *slot) countBatch(jobs []job, in uint64, units int) error {
	up, err := s.upload(4 * in)
	if err != nil {
		return err
	}
	head := packer{p: up}
	head.putWords(uint32(units), headWords, 0, 0)
	w := packer{p: up, at: headWords + unitWords*uint32(units)}
	for i := range jobs {
		j := &jobs[i]
		for k, p := range j.streams[:len(j.streams)-j.r.Layout.Stored] {
			j.at[k] = w.bytes(p)
			for at := 0; at < len(p); {
				n := rans.HistogramUnit(len(p) - at)
				head.putWords(j.at[k]+uint32(at)/4, uint32(n))
				at += n
			}
		}
	}
	size := 4 * countWords * uint64(units)
	s.beginSubmission(4*in, In)
	s.reserve(Out, size)
	s.dispatch("histogram", units, whole(In), whole(Out))
	s.download(0, size)
	if err := s.submit(); err != nil {
		return err
	}
	return s.downloaded(func(p []byte) {
		for i := range jobs {
			j := &jobs[i]
			s.makeGroups(j, p[:4*countWords*j.units])
			if j.w != nil && len(j.w.Groups) == 0 {
				j.r.Dst, j.w = j.enc.EndPayload(j.dst), nil
			}
			p = p[4*countWords*j.units:]
		}
	})
}

// makeGroups makes the lane groups of a job from its histograms. j.w stays nil if the counts are
// impossible.
func (s *slot) makeGroups(j *job, counts []byte) {
	if cap(s.hist) < len(counts)/2 {
		s.hist = make([]uint16, len(counts)/2)
	}
	hist := s.hist[:len(counts)/2]
	unit := hist
	for _, p := range j.streams[:len(j.streams)-j.r.Layout.Stored] {
		for n := len(p); n > 0; n -= rans.HistogramUnit(n) {
			if readUnit((*[256]uint16)(unit), (*[2 * 256]byte)(counts)) != rans.HistogramUnit(n) {
				j.r.Err = errResult
				return
			}
			unit, counts = unit[256:], counts[2*256:]
		}
	}
	j.dst, j.w = j.enc.BeginHistograms(j.dst, j.r.Layout.Stored, hist, j.streams[:]...)
	j.in, j.out = tableWords*uint32(len(j.w.Tables)), 0
	for k := range j.w.Groups {
		g := &j.w.Groups[k]
		j.in += spanWords * uint32(len(g.Spans))
		j.out += maxWords(g)
	}
}

// readUnit reads a histogram of the device, and returns the sum of its counts.
func readUnit(hist *[256]uint16, counts *[2 * 256]byte) int {
	const low = 0x0000FFFF0000FFFF
	sum := uint64(0)
	for i := 0; i < len(hist); i += 4 {
		v := binary.LittleEndian.Uint64(counts[2*i:])
		h := hist[i : i+4 : i+4]
		h[0], h[1], h[2], h[3] = uint16(v), uint16(v>>16), uint16(v>>32), uint16(v>>48)
		sum += v&low + v>>16&low
	}
	return int(sum>>32 + sum&(1<<32-1))
}

// maxWords returns the space for the coded words of a group, in 32-bit words.
func maxWords(g *rans.LaneGroup) uint32 { return words(2*g.Symbols) + 1 }

// encode codes the symbols of jobs in one submission. The streams are still in the input buffer.
func (s *slot) encode(jobs []job) error {
	in, out := sizes(jobs, encGroupWords, encResultWords)
	up, err := s.upload(4 * in)
	if err != nil {
		return err
	}
	n := groups(jobs)
	head := packer{p: up}
	head.putWords(n, headWords, 0, 0)
	w := packer{p: up, at: headWords + n*encGroupWords}
	at := n * encResultWords
	for i := range jobs {
		j := &jobs[i]
		tables := w.tables(j.w)
		for k := range j.w.Groups {
			g := &j.w.Groups[k]
			parts := w.at
			for _, p := range g.Spans {
				w.putWords(tables+uint32(p.Table)*tableWords, uint32(len(p.Data)))
				w.putWords(j.at[p.Stream]+uint32(p.At)/4, uint32(p.At)%4)
			}
			at += maxWords(g)
			head.putWords(parts, uint32(len(g.Spans)), at, 0)
		}
	}
	results := uint64(4 * n * encResultWords)
	s.beginSubmission(4*in, Plan)
	s.reserve(Out, 4*out)
	s.dispatch("rans_encode", int(n), whole(Plan), whole(In), whole(Out))
	s.download(0, results)
	if err := s.submit(); err != nil {
		return err
	}
	return s.downloadWords(jobs, n)
}

// readResult reads the final states of an encoded group and returns how many 16-bit words it has.
// If the counts of the result are impossible, it returns 0 and false.
func readResult(g *rans.LaneGroup, p []byte) (count int, ok bool) {
	for l := range g.States {
		g.States[l] = binary.LittleEndian.Uint32(p[16+4*l:])
	}
	count = int(binary.LittleEndian.Uint32(p))
	coded, stored := binary.LittleEndian.Uint32(p[4:]), binary.LittleEndian.Uint32(p[8:])
	if uint(count) > uint(g.Symbols) || coded != rounds(g) || stored != words(2*count) {
		return 0, false
	}
	return count, true
}

// downloadWords downloads the coded words of all groups and completes the payloads.
func (s *slot) downloadWords(jobs []job, n uint32) error {
	s.counts = s.counts[:0]
	s.beginSubmission(0, In)
	err := s.downloaded(func(p []byte) {
		end := uint64(n * encResultWords)
		for i := range jobs {
			j := &jobs[i]
			for k := range j.w.Groups {
				g := &j.w.Groups[k]
				count, ok := readResult(g, p)
				if !ok {
					j.r.Err = errResult
				}
				p = p[4*encResultWords:]
				end += uint64(maxWords(g))
				size := 4 * uint64(words(2*count))
				s.download(4*end-size, size)
				s.counts = append(s.counts, count)
			}
		}
	})
	if err != nil {
		return err
	}
	if err := s.submit(); err != nil {
		return err
	}
	return s.downloaded(func(p []byte) {
		counts := s.counts
		for i := range jobs {
			j := &jobs[i]
			for k := range j.w.Groups {
				// The words end where the range ends.
				size := 4 * words(2*counts[0])
				j.w.Groups[k].Words = p[int(size)-2*counts[0] : size]
				p, counts = p[size:], counts[1:]
			}
			if j.r.Err == nil {
				j.r.Dst = j.enc.EndPayload(j.dst)
			}
			for k := range j.w.Groups {
				j.w.Groups[k].Words = nil // memory of the device
			}
		}
	})
}
