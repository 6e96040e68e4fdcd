package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/pipeline"
)

// gpuBlock is a block with the CPU's result of every stage.
type gpuBlock struct {
	src     []byte
	seqs    [lz77.MaxLevel + 1][]lz77.Sequence // of matchLevels
	streams *lzseq.Streams
	payload []byte
	fused   [lz77.MaxLevel + 1][]byte // payloads of matchLevels
}

// matchLevels has a level for each search depth of those that devices match.
var matchLevels = []int{5, 6}

// maxBlocks bounds the time for the CPU's results. Larger batches use the blocks again.
const maxBlocks = 16

func newGPUBlocks(data []byte, size int) (blocks []gpuBlock, err error) {
	w := new(worker)
	for len(data) >= size && len(blocks) < maxBlocks {
		b := gpuBlock{src: data[:size], streams: new(lzseq.Streams)}
		data = data[size:]
		for _, level := range matchLevels {
			b.seqs[level] = w.match(nil, matchRequest(b.src, level))
			r := fusedRequest(b.src, level)
			if err := pipeline.Host(r); err != nil {
				return nil, err
			}
			b.fused[level] = r.Dst
		}
		b.streams.Encode(lzseq.Repeat, b.src, b.seqs[matchLevels[0]])
		r := b.encodeRequest()
		if err := pipeline.Host(r); err != nil {
			return nil, err
		}
		b.payload = r.Dst
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func matchRequest(src []byte, level int) *gpu.Request {
	return &gpu.Request{Op: gpu.Stage0, Size: len(src), Src: src, Params: &lz77.Levels[level],
		Limits: lzseq.Repeat.Limits}
}

func fusedRequest(src []byte, level int) *gpu.Request {
	return &gpu.Request{Op: gpu.Fused, Size: len(src), Src: src, Params: &lz77.Levels[level],
		Limits: lzseq.Repeat.Limits, Layout: lzseq.Repeat}
}

func (b *gpuBlock) encodeRequest() *gpu.Request {
	return &gpu.Request{Op: gpu.StageN, Size: len(b.src), Layout: lzseq.Repeat, Streams: b.streams}
}

func (b *gpuBlock) decodeRequest() *gpu.Request {
	return &gpu.Request{Op: gpu.StageN, Decode: true, Size: len(b.src), Src: b.payload,
		Streams: new(lzseq.Streams)}
}

// codedBytes returns the size of the streams that rANS codes.
func (b *gpuBlock) codedBytes() (n int) {
	all := b.streams.All()
	for _, s := range all[:len(all)-lzseq.Repeat.Stored] {
		n += len(*s)
	}
	return n
}

// gpuStage is work that both the device and the CPU can do.
type gpuStage struct {
	name    string
	kernels []string
	blocks  []gpuBlock
	request func(b *gpuBlock) *gpu.Request
	equal   func(b *gpuBlock, r *gpu.Request) bool // compares the result with the CPU's
	bytes   func(b *gpuBlock) int                  // unit of its speed
	verify  func(r *gpu.Request) bool              // a worker's part after the device, nil if there is none
	cpu     func(r *gpu.Request) error             // does the work on the CPU
}

// worker does a worker's part: it matches and parses on the CPU, and verifies a device's results. It
// reuses its memory.
type worker struct {
	matcher lz77.Matcher
	decoded gpu.Request
	content []byte
}

// match appends the sequences that the CPU finds for a request of Stage0.
func (w *worker) match(dst []lz77.Sequence, r *gpu.Request) []lz77.Sequence {
	return w.matcher.ParseFrom(dst, r.Src, r.Window, r.Params, r.Limits)
}

// parse parses the candidates of a device into r.Seqs and verifies these.
func (w *worker) parse(r *gpu.Request) (ok bool) {
	r.Seqs, ok = w.matcher.ParseCandidates(r.Seqs[:0], r.Src, r.Window, r.Params, r.Limits, r.Candidates)
	return ok && lz77.Valid(r.Seqs, r.Src, r.Window, r.Limits, nil)
}

func (w *worker) decodes(r *gpu.Request) bool {
	streams := w.decoded.Streams
	if streams == nil {
		streams = new(lzseq.Streams)
	}
	w.decoded = gpu.Request{Op: gpu.StageN, Decode: true, Size: r.Size, Src: r.Dst, Streams: streams}
	return pipeline.Host(&w.decoded) == nil
}

func (w *worker) encoded(r *gpu.Request) bool {
	return w.decodes(r) && equalStreams(w.decoded.Streams, r.Streams)
}

func (w *worker) fused(r *gpu.Request) bool {
	w.content = slices.Grow(w.content[:0], r.Size+lz77.Slack)[:r.Size]
	return w.decodes(r) && w.decoded.Streams.Decode(w.decoded.Layout, w.content, 0) == nil &&
		bytes.Equal(w.content, r.Src)
}

func gpuStages(blocks []gpuBlock) []gpuStage {
	w := new(worker)
	list := []gpuStage{{
		name: "rANS decode (bytes of streams)", kernels: []string{"rans_decode"}, blocks: blocks,
		request: (*gpuBlock).decodeRequest,
		equal: func(b *gpuBlock, r *gpu.Request) bool {
			return equalStreams(r.Streams, b.streams) && r.Layout == lzseq.Repeat
		},
		bytes: (*gpuBlock).codedBytes,
		cpu:   pipeline.Host,
	}, {
		name: "rANS encode (bytes of streams)", kernels: []string{"histogram", "rans_encode"}, blocks: blocks,
		request: (*gpuBlock).encodeRequest,
		equal:   func(b *gpuBlock, r *gpu.Request) bool { return bytes.Equal(r.Dst, b.payload) },
		bytes:   (*gpuBlock).codedBytes,
		verify:  w.encoded,
		cpu:     pipeline.Host,
	}}
	for _, level := range matchLevels {
		list = append(list, gpuStage{
			name: fmt.Sprintf("match and parse, level %d, depth %d (bytes of input)", level,
				lz77.Levels[level].Depth),
			kernels: []string{"match_hash", "match_count", "match_scan", "match_scatter", "match_best"},
			blocks:  blocks,
			request: func(b *gpuBlock) *gpu.Request { return matchRequest(b.src, level) },
			equal: func(b *gpuBlock, r *gpu.Request) bool {
				return w.parse(r) && slices.Equal(r.Seqs, b.seqs[level])
			},
			bytes:  func(b *gpuBlock) int { return len(b.src) },
			verify: w.parse,
			cpu:    func(r *gpu.Request) error { r.Seqs = w.match(r.Seqs[:0], r); return nil },
		})
	}
	for _, level := range matchLevels {
		list = append(list, gpuStage{
			name: fmt.Sprintf("fused, level %d (bytes of input)", level),
			// Repeating the parse measures nothing: the first run leaves no work.
			kernels: []string{"match_best", "fused_code", "fused_cut", "fused_frame", "rans_encode",
				"fused_pieces", "fused_payload"},
			blocks:  blocks,
			request: func(b *gpuBlock) *gpu.Request { return fusedRequest(b.src, level) },
			equal:   func(b *gpuBlock, r *gpu.Request) bool { return bytes.Equal(r.Dst, b.fused[level]) },
			bytes:   func(b *gpuBlock) int { return len(b.src) },
			verify:  w.fused,
			cpu:     pipeline.Host,
		})
	}
	return list
}

func equalStreams(got, want *lzseq.Streams) bool {
	all := want.All()
	for i, s := range got.All() {
		if !bytes.Equal(*s, *all[i]) {
			return false
		}
	}
	return true
}

var errOtherResult = errors.New("THE DEVICE'S RESULT DIFFERS FROM THE CPU'S")

// stage prints a table of a stage by batch size. It compares the device's results first.
func (c *gpuConfig) stage(d measurable, s gpuStage) error {
	if c.again == 0 {
		s.kernels = nil
	}
	if !d.Accepts(s.request(&s.blocks[0])) {
		_, err := fmt.Fprintf(c.out, "%s\nnot done on this device, with blocks of this size\n\n", s.name)
		return err
	}
	t := &table{columns: []string{"batch", "CPU MB/s", "GPU MB/s", "ratio", "host MB/s", "ratio"}}
	t.columns = append(t.columns, s.kernels...)
	verdict := "never faster than one processor"
	faster := false
	for n := 1; n <= c.batch; n *= 2 {
		row, ratio, err := c.batchRow(d, &s, n)
		if err != nil {
			return err
		}
		t.add(row...)
		if ratio > 1 && !faster {
			faster = true
			verdict = fmt.Sprintf("faster than one processor from batches of %d on", n)
		}
	}
	fmt.Fprintf(c.out, "%s; kernels in MB/s\n", s.name)
	if err := t.text(c.out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.out, "%s\n\n", verdict)
	return err
}

// batchRow measures batches of n blocks and returns the row and the GPU's speed by the CPU's.
func (c *gpuConfig) batchRow(d measurable, s *gpuStage, n int) (row []string, ratio float64, err error) {
	if err := c.ctx.Err(); err != nil {
		return nil, 0, err
	}
	batch, total := make([]*gpu.Request, n), 0
	for i := range batch {
		b := &s.blocks[i%len(s.blocks)]
		batch[i] = s.request(b)
		total += s.bytes(b)
	}
	run := func() error { return d.Run(batch[0].Op, batch) }
	if err := run(); err != nil {
		return nil, 0, err
	}
	for i, r := range batch {
		if r.Err != nil || !s.equal(&s.blocks[i%len(s.blocks)], r) {
			return nil, 0, errors.Join(errOtherResult, r.Err)
		}
	}
	cpu, device, host, err := c.batchTimes(d, s, batch)
	if err != nil {
		return nil, 0, err
	}
	speed := func(d time.Duration) string { return fmt.Sprintf("%.0f", mbps(int64(total), d)) }
	ratio = float64(cpu) / float64(device)
	row = []string{fmt.Sprint(n), speed(cpu), speed(device), fmt.Sprintf("%.2f", ratio), speed(host),
		fmt.Sprintf("%.2f", float64(cpu)/float64(host))}
	for _, k := range s.kernels {
		d.Again(k, c.again)
		more, err := repeated(c.repeats, run)
		d.Again("", 0)
		if err != nil {
			return nil, 0, err
		}
		if more.wall <= device {
			row = append(row, "-") // lost in the noise
			continue
		}
		row = append(row, speed((more.wall-device)/time.Duration(c.again)))
	}
	return row, ratio, nil
}

// batchTimes returns the times for a batch: of one processor that does it, of the device, and of the
// processor time that the device's driver and verifying the results cost the host.
func (c *gpuConfig) batchTimes(d measurable, s *gpuStage, batch []*gpu.Request) (
	cpu, device, host time.Duration, err error) {
	some := min(len(batch), len(s.blocks)) // more would only take longer
	t, err := repeated(c.repeats, func() error {
		for _, r := range batch[:some] {
			if err := s.cpu(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, 0, err
	}
	cpu = t.wall * time.Duration(len(batch)) / time.Duration(some)
	var own []time.Duration
	t, err = repeated(c.repeats, func() error {
		start, before := time.Now(), d.Away()
		err := d.Run(batch[0].Op, batch)
		own = append(own, time.Since(start)-(d.Away()-before))
		return err
	})
	if err != nil {
		return 0, 0, 0, err
	}
	device = t.wall
	t, err = repeated(c.repeats, func() error {
		for _, r := range batch {
			if s.verify != nil && !s.verify(r) {
				return errOtherResult
			}
		}
		return nil
	})
	return cpu, device, middle(own) + t.wall, err
}
