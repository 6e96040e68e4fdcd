package main

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/huffman"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/pipeline"
	"github.com/gopz/compress/rans"
)

// A stage is a codec that can be measured alone. It works from what one block gives to it to what it makes of that: encode reads of in
// what the stages before it have left there and fills in its own part of out, decode goes the other way. To add one, add a row to stages.
type stage struct {
	name   string
	encode func(s *scratch, in, out *item) (size int, err error) // size of what comes out, in bytes
	decode func(s *scratch, in, out *item) error
	same   func(a, b *item) bool // whether what decode gives is what encode was given
}

// item is a block as it is between stages.
type item struct {
	src     []byte
	seqs    []lz77.Sequence
	streams lzseq.Streams
	coded   []byte
}

// scratch is what a worker reuses from block to block.
type scratch struct {
	level   int
	layout  *lzseq.Layout
	matcher lz77.Matcher
	enc     rans.Encoder
	dec     rans.Decoder
	fse     fse.Encoder
	dist    fse.Distribution
	states  fse.DecTable
	builder huffman.Builder
	codes   huffman.Table
	huffman huffman.Decoder
}

var stages = []stage{
	{"lz77", encodeLZ77, decodeLZ77, sameContent},
	{"lzseq", encodeLzseq, decodeLzseq, sameContent},
	{"rans", encodeRans, decodeRans, sameStreams},
	{"fse", encodeFSE, decodeFSE, sameLiterals},
	{"huffman", encodeHuffman, decodeHuffman, sameLiterals},
}

func encodeLZ77(s *scratch, in, out *item) (int, error) {
	out.seqs = s.matcher.Parse(out.seqs[:0], in.src, &lz77.Levels[s.level], s.layout.Limits)
	return 12 * len(out.seqs), nil // three numbers of 32 bits
}

func decodeLZ77(s *scratch, in, out *item) error {
	size := len(in.src)
	dst := grow(out.src, size+lz77.Slack)
	lits := in.streams.Lits
	at, rest, ok := lz77.Execute(dst, 0, lits[:len(lits)+lz77.Slack], in.seqs)
	if !ok {
		return fmt.Errorf("lz77: offset out of range")
	}
	copy(dst[at:size], rest)
	out.src = dst[:size]
	return nil
}

func encodeLzseq(s *scratch, in, out *item) (n int, err error) {
	out.streams.Encode(s.layout, in.src, in.seqs)
	for _, p := range out.streams.All() {
		n += len(*p)
		// Decoders may read a little beyond the end.
		if cap(*p) < len(*p)+rans.Slack {
			*p = append(make([]byte, 0, len(*p)+rans.Slack), *p...)
		}
	}
	return n, nil
}

func decodeLzseq(s *scratch, in, out *item) error {
	size := len(in.src)
	out.src = grow(out.src, size+lz77.Slack)[:size]
	return in.streams.Decode(s.layout, out.src)
}

func encodeRans(s *scratch, in, out *item) (int, error) {
	var list [6][]byte
	for i, p := range in.streams.All() {
		list[i] = *p
	}
	out.coded = s.enc.Append(out.coded[:0], s.layout.Stored, list[:]...)
	return len(out.coded), nil
}

func decodeRans(s *scratch, in, out *item) error {
	limits, list := s.layout.MaxSizes(len(in.src)), out.streams.All()
	_, err := s.dec.Decode(in.coded, limits[:], list[:]...)
	return err
}

func sameContent(a, b *item) bool { return bytes.Equal(a.src, b.src) }

func sameStreams(a, b *item) bool {
	theirs := b.streams.All()
	for i, p := range a.streams.All() {
		if !bytes.Equal(*p, *theirs[i]) {
			return false
		}
	}
	return true
}

func grow(p []byte, n int) []byte {
	if cap(p) < n {
		return make([]byte, n)
	}
	return p[:n]
}

func stageByName(name string) *stage {
	for i := range stages {
		if stages[i].name == name {
			return &stages[i]
		}
	}
	return nil
}

func stageNames() (names []string) {
	for _, s := range stages {
		names = append(names, s.name)
	}
	return names
}

// stageJob is a job of one stage.
type stageJob struct {
	ctx     context.Context
	stage   *stage
	op      pipeline.Op
	items   []item
	workers []stageWorker
	rec     *recorder
	size    int64 // of what encode gives
}

type stageWorker struct {
	scratch
	out item
	err error
}

func newStageJob(ctx context.Context, c *config, content []byte, rec *recorder) (*stageJob, error) {
	j := &stageJob{ctx: ctx, stage: stageByName(c.stage), rec: rec, workers: make([]stageWorker, c.threads)}
	if c.decompress {
		j.op = pipeline.Decompress
	}
	layout := lzseq.Repeat
	switch {
	case c.pipeline == "lzr":
		layout = lzseq.Plain
	case lz77.Levels[c.level].Finder.Optimal():
		layout = lzseq.Dense
	}
	for i := range j.workers {
		j.workers[i].level, j.workers[i].layout = c.level, layout
	}
	for n := 0; n < len(content); n += c.blockSize {
		end := min(n+c.blockSize, len(content))
		j.items = append(j.items, item{src: content[n:end:end]})
	}
	var size atomic.Int64
	err := j.each(func(w *stageWorker, number int, i int) error {
		n, err := j.prepare(&w.scratch, &w.out, &j.items[i])
		size.Add(int64(n))
		return err
	})
	j.size = size.Load()
	return j, err
}

// prepare makes all that a block is on its way, and compares what comes back.
func (j *stageJob) prepare(s *scratch, out, it *item) (size int, err error) {
	if _, err := encodeLZ77(s, it, it); err != nil {
		return 0, err
	}
	if _, err := encodeLzseq(s, it, it); err != nil {
		return 0, err
	}
	if size, err = j.stage.encode(s, it, it); err != nil {
		return 0, err
	}
	if err := j.stage.decode(s, it, out); err != nil {
		return 0, err
	}
	if !j.stage.same(it, out) {
		return 0, errRoundTrip
	}
	return size, nil
}

// each has f called for every block, on all workers.
func (j *stageJob) each(f func(w *stageWorker, number, i int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	for number := range j.workers {
		w := &j.workers[number]
		wait.Go(func() {
			for w.err == nil {
				i := int(next.Add(1)) - 1
				if i >= len(j.items) {
					return
				}
				if w.err = context.Cause(j.ctx); w.err == nil {
					w.err = f(w, number, i)
				}
			}
		})
	}
	wait.Wait()
	for i := range j.workers {
		if err := j.workers[i].err; err != nil {
			return err
		}
	}
	return nil
}

func (j *stageJob) iterate() (int64, error) {
	return j.size, j.each(func(w *stageWorker, number, i int) (err error) {
		it := &j.items[i]
		var begin time.Time
		if j.rec != nil {
			begin = time.Now()
		}
		if j.op == pipeline.Decompress {
			err = j.stage.decode(&w.scratch, it, &w.out)
		} else {
			_, err = j.stage.encode(&w.scratch, it, &w.out)
		}
		if j.rec != nil && err == nil {
			e := compress.StageEvent{Op: j.op, Block: int64(i), Bytes: len(it.src), Stage: j.stage.name, Backend: compress.CPU,
				Worker: number, Batch: 1, Start: begin, Took: time.Since(begin)}
			j.rec.event(e)
			j.rec.pass(e.Block, begin.Add(e.Took))
		}
		return err
	})
}

func (j *stageJob) count() {}

func (j *stageJob) stats() compress.SchedulerStats { return compress.SchedulerStats{} }

func (j *stageJob) close() error { return nil }
