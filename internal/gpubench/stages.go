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
	size   int
	blocks []block
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
			if err := pipeline.Host(r); err != nil {
				return nil, err
			}
			b.seqs[level] = r.Seqs
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
	bytes   func(b *block) int // what its speed is counted in
}

func (w *work) stages() []stage {
	symbols := func(b *block) (n int) {
		all := b.streams.All()
		for _, s := range all[:len(all)-lzseq.Repeat.Stored] {
			n += len(*s)
		}
		return n
	}
	list := []stage{
		{"rANS decode (bytes of streams)", []string{"rans_decode"}, w.blocks, (*block).decode, func(b *block, r *gpu.Request) bool {
			got, want := r.Streams.All(), b.streams.All()
			for i := range got {
				if !bytes.Equal(*got[i], *want[i]) {
					return false
				}
			}
			return r.Layout == lzseq.Repeat
		}, symbols},
		{"rANS encode (bytes of streams)", []string{"histogram", "rans_encode"}, w.blocks, (*block).encode,
			func(b *block, r *gpu.Request) bool { return bytes.Equal(r.Dst, b.payload) }, symbols},
	}
	for _, level := range matchLevels {
		list = append(list, stage{
			fmt.Sprintf("match and parse, level %d, K = %d (bytes of input)", level, lz77.Levels[level].Depth),
			[]string{"match_hash", "match_count", "match_scan", "match_scatter", "match_best"}, w.blocks,
			func(b *block) *gpu.Request { return matchRequest(b.src, level) },
			func(b *block, r *gpu.Request) bool { return slices.Equal(r.Seqs, b.seqs[level]) },
			func(b *block) int { return len(b.src) },
		})
	}
	for _, level := range matchLevels {
		list = append(list, stage{
			fmt.Sprintf("fused, level %d (bytes of input)", level),
			// Dispatching the parse again shows nothing: it is done.
			[]string{"match_best", "fused_code", "fused_cut", "fused_frame", "rans_encode", "fused_pieces", "fused_payload"}, w.blocks,
			func(b *block) *gpu.Request { return fusedRequest(b.src, level) },
			func(b *block, r *gpu.Request) bool { return bytes.Equal(r.Dst, b.fused[level]) },
			func(b *block) int { return len(b.src) },
		})
	}
	return list
}

var errWrong = errors.New("THE DEVICE GIVES SOMETHING ELSE THAN THE CPU")

// stage prints a table of a stage by batch size: first what the device gives is compared, then it is measured.
func (c *config) stage(d device, s stage) error {
	fmt.Printf("%s\nbatch   CPU MB/s   GPU MB/s   ratio", s.name)
	for _, k := range s.kernels {
		fmt.Printf("   %s MB/s", k)
	}
	fmt.Println()
	pays := 0
	if !d.Accepts(s.ask(&s.blocks[0])) {
		fmt.Printf("not done on this device, with blocks of this size\n\n")
		return nil
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
		own := min(n, len(s.blocks)) // more of them would only take longer
		cpu, err := c.timed(func() error {
			for _, r := range batch[:own] {
				if err := pipeline.Host(r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		cpu = cpu * time.Duration(n) / time.Duration(own)
		device, err := c.timed(run)
		if err != nil {
			return err
		}
		ratio := float64(cpu) / float64(device)
		if ratio > 1 && pays == 0 {
			pays = n
		}
		fmt.Printf("%5d %10.0f %10.0f %7.2f", n, rate(total, cpu), rate(total, device), ratio)
		for _, k := range s.kernels {
			d.Again(k, c.again)
			more, err := c.timed(run)
			d.Again("", 0)
			if err != nil {
				return err
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

// timed is the median time of f.
func (c *config) timed(f func() error) (time.Duration, error) {
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
	return d[len(d)/2]
}

// rate is a speed in MB/s; +Inf for what took no time that could be measured.
func rate(n int, d time.Duration) float64 { return float64(n) / 1e6 / max(0, d.Seconds()) }
