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

// block is a block with what each stage has to give.
type block struct {
	src     []byte
	seqs    [lz77.MaxLevel + 1][]lz77.Sequence // of the levels that are measured
	streams *lzseq.Streams
	payload []byte
	fused   [lz77.MaxLevel + 1][]byte // payloads of the levels that are measured
}

// work is all the blocks that there are; larger batches take them again.
type work struct {
	size    int
	blocks  []block
	matcher lz77.Matcher
}

// match appends the sequences that the CPU finds for a request of Stage0.
func (w *work) match(dst []lz77.Sequence, r *gpu.Request) []lz77.Sequence {
	return w.matcher.ParseFrom(dst, r.Src, r.Window, r.Params, r.Limits)
}

// accept parses the candidates of a device into r.Seqs, as a worker does before it verifies them.
func (w *work) accept(r *gpu.Request) (ok bool) {
	r.Seqs, ok = w.matcher.ParseCandidates(r.Seqs[:0], r.Src, r.Window, r.Params, r.Limits, r.Candidates)
	return ok && lz77.Valid(r.Seqs, r.Src, r.Window, r.Limits)
}

// matchLevels are the levels measured: one for each depth of those that devices match.
var matchLevels = []int{5, 6}

// maxBlocks bounds the time that the CPU takes to say what is right.
const maxBlocks = 16

func newWork(data []byte, size int) (*work, error) {
	w := &work{size: size}
	for len(data) >= size && len(w.blocks) < maxBlocks {
		b := block{src: data[:size], streams: new(lzseq.Streams)}
		data = data[size:]
		for _, level := range matchLevels {
			r := matchRequest(b.src, level)
			b.seqs[level] = w.match(nil, r)
			r = fusedRequest(b.src, level)
			if err := pipeline.Host(r); err != nil {
				return nil, err
			}
			b.fused[level] = r.Dst
		}
		b.streams.Encode(lzseq.Repeat, b.src, b.seqs[matchLevels[0]])
		r := b.encode()
		if err := pipeline.Host(r); err != nil {
			return nil, err
		}
		b.payload = r.Dst
		w.blocks = append(w.blocks, b)
	}
	return w, nil
}

func matchRequest(src []byte, level int) *gpu.Request {
	return &gpu.Request{Op: gpu.Stage0, Size: len(src), Src: src, Params: &lz77.Levels[level], Limits: lzseq.Repeat.Limits}
}

func fusedRequest(src []byte, level int) *gpu.Request {
	return &gpu.Request{Op: gpu.Fused, Size: len(src), Src: src, Params: &lz77.Levels[level], Limits: lzseq.Repeat.Limits, Layout: lzseq.Repeat}
}

func (b *block) encode() *gpu.Request {
	return &gpu.Request{Op: gpu.StageN, Size: len(b.src), Layout: lzseq.Repeat, Streams: b.streams}
}

func (b *block) decode() *gpu.Request {
	return &gpu.Request{Op: gpu.StageN, Decode: true, Size: len(b.src), Src: b.payload, Streams: new(lzseq.Streams)}
}

// stage is something that the device and the CPU can do.
type stage struct {
	name    string
	kernels []string
	blocks  []block
	ask     func(b *block) *gpu.Request
	right   func(b *block, r *gpu.Request) bool
	bytes   func(b *block) int         // what its speed is counted in
	look    func(r *gpu.Request) bool  // what a worker does before a result counts, if anything; see pipeline's verify.go
	cpu     func(r *gpu.Request) error // what the CPU does instead; nil means pipeline.Host
}

func (w *work) stages() []stage {
	check := new(gpu.Request) // with memory that is used again
	decodes := func(r *gpu.Request) bool {
		*check = gpu.Request{Op: gpu.StageN, Decode: true, Size: r.Size, Src: r.Dst, Streams: check.Streams}
		if check.Streams == nil {
			check.Streams = new(lzseq.Streams)
		}
		return pipeline.Host(check) == nil
	}
	var content []byte
	symbols := func(b *block) (n int) {
		all := b.streams.All()
		for _, s := range all[:len(all)-lzseq.Repeat.Stored] {
			n += len(*s)
		}
		return n
	}
	list := []stage{
		{"rANS decode (bytes of streams)", []string{"rans_decode"}, w.blocks, (*block).decode, func(b *block, r *gpu.Request) bool {
			return same(r.Streams, b.streams) && r.Layout == lzseq.Repeat
		}, symbols, nil, nil},
		{"rANS encode (bytes of streams)", []string{"histogram", "rans_encode"}, w.blocks, (*block).encode,
			func(b *block, r *gpu.Request) bool { return bytes.Equal(r.Dst, b.payload) }, symbols,
			func(r *gpu.Request) bool { return decodes(r) && same(check.Streams, r.Streams) }, nil},
	}
	for _, level := range matchLevels {
		list = append(list, stage{
			fmt.Sprintf("match and parse, level %d, K = %d (bytes of input)", level, lz77.Levels[level].Depth),
			[]string{"match_hash", "match_count", "match_scan", "match_scatter", "match_best"}, w.blocks,
			func(b *block) *gpu.Request { return matchRequest(b.src, level) },
			func(b *block, r *gpu.Request) bool { return w.accept(r) && slices.Equal(r.Seqs, b.seqs[level]) },
			func(b *block) int { return len(b.src) },
			w.accept, nil,
		})
		list[len(list)-1].cpu = func(r *gpu.Request) error { r.Seqs = w.match(r.Seqs[:0], r); return nil }
	}
	for _, level := range matchLevels {
		list = append(list, stage{
			fmt.Sprintf("fused, level %d (bytes of input)", level),
			// Dispatching the parse again shows nothing: it is done.
			[]string{"match_best", "fused_code", "fused_cut", "fused_frame", "rans_encode", "fused_pieces", "fused_payload"}, w.blocks,
			func(b *block) *gpu.Request { return fusedRequest(b.src, level) },
			func(b *block, r *gpu.Request) bool { return bytes.Equal(r.Dst, b.fused[level]) },
			func(b *block) int { return len(b.src) },
			func(r *gpu.Request) bool {
				content = slices.Grow(content[:0], r.Size+lz77.Slack)[:r.Size]
				return decodes(r) && check.Streams.Decode(check.Layout, content) == nil && bytes.Equal(content, r.Src)
			}, nil,
		})
	}
	return list
}

func same(got, want *lzseq.Streams) bool {
	all := want.All()
	for i, s := range got.All() {
		if !bytes.Equal(*s, *all[i]) {
			return false
		}
	}
	return true
}

var errWrong = errors.New("THE DEVICE GIVES SOMETHING ELSE THAN THE CPU")

// stage prints a table of a stage by batch size: first what the device gives is compared, then it is measured. What the host itself does for the device, and to see that the result is right, is
// more or less than what the processor would do without: that ratio says how much a device can spare at the most, however fast it is.
func (c *config) stage(d device, s stage) error {
	if c.again == 0 {
		s.kernels = nil
	}
	fmt.Printf("%s\nbatch   CPU MB/s   GPU MB/s   ratio   host MB/s   ratio", s.name)
	for _, k := range s.kernels {
		fmt.Printf("   %s MB/s", k)
	}
	fmt.Println()
	pays := 0
	if !d.Accepts(s.ask(&s.blocks[0])) {
		fmt.Printf("not done on this device, with blocks of this size\n\n")
		return nil
	}
	if s.cpu == nil {
		s.cpu = pipeline.Host
	}
	for n := 1; n <= c.batch; n *= 2 {
		batch, total := make([]*gpu.Request, n), 0
		for i := range batch {
			b := &s.blocks[i%len(s.blocks)]
			batch[i] = s.ask(b)
			total += s.bytes(b)
		}
		if err := d.Run(batch[0].Op, batch); err != nil {
			return err
		}
		for i, r := range batch {
			if r.Err != nil || !s.right(&s.blocks[i%len(s.blocks)], r) {
				return errors.Join(errWrong, r.Err)
			}
		}
		run := func() error { return d.Run(batch[0].Op, batch) }
		some := min(n, len(s.blocks)) // more of them would only take longer
		cpu, err := c.timed(func() error {
			for _, r := range batch[:some] {
				if err := s.cpu(r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		cpu = cpu * time.Duration(n) / time.Duration(some)
		var own []time.Duration
		device, err := c.timed(func() error {
			start, before := time.Now(), d.Away()
			err := run()
			own = append(own, time.Since(start)-(d.Away()-before))
			return err
		})
		if err != nil {
			return err
		}
		looked, err := c.timed(func() error {
			for _, r := range batch {
				if s.look != nil && !s.look(r) {
					return errWrong
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		host := median(own) + looked
		ratio := float64(cpu) / float64(device)
		if ratio > 1 && pays == 0 {
			pays = n
		}
		fmt.Printf("%5d %10.0f %10.0f %7.2f %11.0f %7.2f", n, rate(total, cpu), rate(total, device), ratio, rate(total, host), float64(cpu)/float64(host))
		for _, k := range s.kernels {
			d.Again(k, c.again)
			more, err := c.timed(run)
			d.Again("", 0)
			if err != nil {
				return err
			}
			if more <= device { // lost in the noise
				fmt.Printf("   %*s", len(k)+5, "-")
				continue
			}
			fmt.Printf("   %*.0f", len(k)+5, rate(total, (more-device)/time.Duration(c.again)))
		}
		fmt.Println()
	}
	if pays > 0 {
		fmt.Printf("faster than one processor from batches of %d on\n\n", pays)
	} else {
		fmt.Printf("never faster than one processor\n\n")
	}
	return nil
}

// timed is the median time of f, after a time that does not count.
func (c *config) timed(f func() error) (time.Duration, error) {
	if err := f(); err != nil {
		return 0, err
	}
	var all []time.Duration
	for range c.repeats {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	return median(all), nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[(len(d)-1)/2]
}

// rate is a speed in MB/s; +Inf for what took no time that could be measured.
func rate(n int, d time.Duration) float64 { return float64(n) / 1e6 / max(0, d.Seconds()) }
