package host

import (
	"encoding/binary"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lzseq"
)

// beginDecode decodes the parts of a payload that the host decodes: heads, tables, stored streams.
// It adds a job if lane groups remain.
func (s *slot) beginDecode(i int, r *gpu.Request) {
	r.Layout = nil
	if len(r.Src) == 0 {
		r.Err = errCorrupt
		return
	}
	layout := lzseq.LayoutByID(r.Src[0])
	if layout == nil {
		r.Err = errCorrupt
		return
	}
	streams, limits := r.Streams.All(), layout.MaxSizes(r.Size)
	w, rest, err := s.decoders[i].Open(r.Src[1:], limits[:], streams[:]...)
	if err != nil {
		r.Err = err
		return
	}
	if len(rest) != 0 {
		r.Err = errCorrupt
		return
	}
	r.Layout = layout
	if len(w.Groups) == 0 {
		return
	}
	j := job{r: r, w: w, in: tableWords * uint32(len(w.Tables))}
	for k := range w.Groups {
		g := &w.Groups[k]
		j.in += words(len(g.Words)) + spanWords*uint32(len(g.Spans))
		for _, p := range g.Spans {
			j.out += words(len(p.Data))
		}
	}
	s.jobs = append(s.jobs, j)
}

// decode decodes the symbols of jobs in one submission.
func (s *slot) decode(jobs []job) error {
	in, out := sizes(jobs, decGroupWords, decResultWords)
	up, err := s.upload(4 * in)
	if err != nil {
		return err
	}
	n := groups(jobs)
	head := packer{p: up}
	head.putWords(n, headWords, 0, 0)
	w := packer{p: up, at: headWords + n*decGroupWords}
	at := n * decResultWords
	for i := range jobs {
		j := &jobs[i]
		j.outs = at
		tables := w.tables(j.w)
		for k := range j.w.Groups {
			g := &j.w.Groups[k]
			parts := w.at
			for _, p := range g.Spans {
				w.putWords(tables+uint32(p.Table)*tableWords, uint32(len(p.Data)), at, 0)
				at += words(len(p.Data))
			}
			head.putWords(w.bytes(g.Words), uint32(len(g.Words)/2), parts, uint32(len(g.Spans)), 0, 0, 0, 0)
			head.putWords(g.States[:]...)
		}
	}
	s.beginSubmission(4*in, In)
	s.reserve(Out, 4*out)
	s.dispatch("rans_decode", int(n), whole(In), whole(Out))
	s.download(0, 4*out)
	if err := s.submit(); err != nil {
		return err
	}
	return s.downloaded(func(p []byte) {
		result := p
		for i := range jobs {
			j := &jobs[i]
			src := p[4*j.outs:]
			for k := range j.w.Groups {
				g := &j.w.Groups[k]
				used, wrong := binary.LittleEndian.Uint32(result), binary.LittleEndian.Uint32(result[4:])
				result = result[4*decResultWords:]
				if wrong != 0 || uint64(used) != uint64(len(g.Words)/2) {
					j.r.Err = errCorrupt
				}
				for _, part := range g.Spans {
					copy(part.Data, src)
					src = src[4*words(len(part.Data)):]
				}
			}
		}
	})
}
