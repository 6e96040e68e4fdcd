package pipeline

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// wrongDevice spoils the results of another device.
type wrongDevice struct {
	gpu.Device
	wrong func(r *gpu.Request)
}

func (d wrongDevice) Run(op gpu.Op, batch []*gpu.Request) error {
	err := d.Device.Run(op, batch)
	for _, r := range batch {
		d.wrong(r)
	}
	return err
}

func withWrong(workers int, wrong func(r *gpu.Request), cfg gpu.SoftConfig) *Scheduler {
	s := NewScheduler(workers)
	s.EnableStats(true)
	s.SetDevice(wrongDevice{gpu.NewSoft(Host, cfg), wrong})
	return s
}

// filterFlag turns a payload of layout Repeat into one of layout Dense with the same streams, which
// says that the content was filtered.
func filterFlag(p []byte) []byte {
	if len(p) == 0 || p[0] != lzseq.Repeat.ID {
		return nil
	}
	return append([]byte{lzseq.Dense.ID, denseX86, 1, 0, 5}, p[1:]...)
}

func flip(p []byte) {
	if len(p) > 0 {
		p[len(p)/2] ^= 1
	}
}

// parseHere gives a request of Stage0 sequences in place of candidates.
func parseHere(r *gpu.Request) {
	var m lz77.Matcher
	r.Seqs = m.ParseFrom(nil, r.Src, r.Window, r.Params, r.Limits)
	r.FreeCandidates()
}

// wrongResults lists what a device may do wrong with requests of an operation.
var wrongResults = map[string]func(r *gpu.Request){
	"Stage0, too long": func(r *gpu.Request) {
		parseHere(r)
		r.Seqs = append(r.Seqs, lz77.Sequence{LitLen: 1 << 20})
	},
	"Stage0, offset": func(r *gpu.Request) {
		parseHere(r)
		for i := range r.Seqs {
			r.Seqs[i].Offset++
		}
	},
	"Stage0, candidates too near": func(r *gpu.Request) {
		for i := range r.Candidates {
			r.Candidates[i] = 1
		}
	},
	"Stage0, candidates too far": func(r *gpu.Request) {
		for i := range r.Candidates {
			r.Candidates[i] |= 1<<finder.CandidateOffsetBits - 1
		}
	},
	"Stage0, candidates that do not match": func(r *gpu.Request) {
		for i, c := range r.Candidates {
			if c != 0 {
				r.Candidates[i] = c - 1
			}
		}
	},
	"Stage0, candidates too long": func(r *gpu.Request) {
		for i, c := range r.Candidates {
			if c != 0 {
				r.Candidates[i] = c + 1<<finder.CandidateOffsetBits
			}
		}
	},
	"Stage0, candidate missing": func(r *gpu.Request) {
		if n := len(r.Candidates); n > 0 { // a short block has none
			r.Candidates = r.Candidates[:n-1]
		}
	},
	"Stage0, neither": func(r *gpu.Request) {
		r.Candidates, r.Seqs = nil, []lz77.Sequence{{LitLen: 0, MatchLen: 5, Offset: 16}}
	},
	"StageN, flipped bit": func(r *gpu.Request) { flip(r.Dst) },
	"StageN, cut":         func(r *gpu.Request) { r.Dst = r.Dst[:len(r.Dst)/2] },
	"StageN, empty":       func(r *gpu.Request) { r.Dst = nil },
	"StageN, longer":      func(r *gpu.Request) { r.Dst = append(r.Dst, 0) },
	"StageN, other block": func(r *gpu.Request) {
		q := gpu.Request{
			Op: gpu.Fused, Size: r.Size, Src: bytes.Repeat([]byte("one and another"), 99),
			Params: &lz77.Levels[3], Limits: r.Layout.Limits, Layout: r.Layout,
		}
		Host(&q)
		r.Dst = q.Dst
	},
	"StageN, filter":     func(r *gpu.Request) { r.Dst = filterFlag(r.Dst) },
	"Fused, filter":      func(r *gpu.Request) { r.Dst = filterFlag(r.Dst) },
	"Fused, flipped bit": func(r *gpu.Request) { flip(r.Dst) },
	"Fused, layout":      func(r *gpu.Request) { r.Dst[0] ^= 3 },
	"Fused, other block": func(r *gpu.Request) {
		q := *r
		q.Src = bytes.Clone(r.Src)
		q.Src[0] ^= 1
		Host(&q)
		r.Dst = q.Dst
	},
	"Decode, no layout":    func(r *gpu.Request) { r.Layout = nil },
	"Decode, slack":        func(r *gpu.Request) { r.Streams.Lits = slices.Clip(r.Streams.Lits) },
	"Decode, literal":      func(r *gpu.Request) { flip(r.Streams.Lits) },
	"Decode, tokens":       func(r *gpu.Request) { flip(r.Streams.Tokens) },
	"Decode, literal more": func(r *gpu.Request) { r.Streams.Lits = r.Streams.Lits[:len(r.Streams.Lits)+1] },
}

// TestDeviceWrong: every wrong result is noticed and costs no block, and the device is not asked
// again.
func TestDeviceWrong(t *testing.T) {
	base := runtime.NumGoroutine()
	for name, wrong := range wrongResults {
		op, _, _ := strings.Cut(name, ",")
		for _, workers := range forWorkers {
			s := withWrong(workers, func(r *gpu.Request) {
				if op == r.Op.String() && !r.Decode || op == "Decode" && r.Decode {
					wrong(r)
				}
			}, gpu.SoftConfig{})
			assign := map[string]Assignment{"Stage0": {GPU, CPU}, "Fused": {Fused, Fused}}[op]
			if assign == (Assignment{}) {
				assign = Assignment{CPU, GPU}
			}
			sameAsCPU(t, s, ByName("lzseqr"), 5, assign)
			if st := s.Stats(); st.Wrong == 0 || st.Wrong > st.Failed || st.Failed > st.Returned {
				t.Errorf("%s: %d wrong, %d failed, %d returned", name, st.Wrong, st.Failed, st.Returned)
			}
			if !errors.Is(s.DeviceError(), offload.ErrWrong) {
				t.Errorf("%s: device error %v", name, s.DeviceError())
			}
		}
	}
	settled(t, base)
}

// TestDevicePanics: a device that panics, in Run or in Accepts, is lost.
func TestDevicePanics(t *testing.T) {
	for _, s := range []*Scheduler{
		withWrong(2, func(r *gpu.Request) { panic("device") }, gpu.SoftConfig{}),
		NewScheduler(2),
	} {
		if s.Device() == nil {
			s.EnableStats(true)
			s.SetDevice(touchy{gpu.NewSoft(Host, gpu.SoftConfig{})})
		}
		sameAsCPU(t, s, ByName("lzseqr"), 5, Assignment{Fused, Fused})
		var p *PanicError
		if !errors.As(s.DeviceError(), &p) {
			t.Error("device error", s.DeviceError())
		}
		if n := onBackend(s.Stats(), GPU); n > 0 {
			t.Error(n, "blocks on the device")
		}
	}
	s := NewScheduler(1)
	s.SetDevice(touchy{gpu.NewSoft(Host, gpu.SoftConfig{})})
	cfg := Config{Pipeline: ByName("lzr"), Level: 1, BlockSize: 1 << 16, Assign: Assignment{GPU, GPU}}
	if err := s.Check(cfg); !errors.Is(err, errCannot) {
		t.Error("Check:", err)
	}
}

// touchy is a device that panics in Accepts.
type touchy struct{ gpu.Device }

func (touchy) Accepts(*gpu.Request) bool { panic("touchy") }

// TestDamagedInput: a block that does not decode is the fault of the input, and the device stays.
func TestDamagedInput(t *testing.T) {
	s := withSoft(t, 2, gpu.SoftConfig{})
	src := corpus.ByName("text").Make(20 * deviceBlock)
	blocks, err := compressAll(s, ByName("lzseqr"), 5, deviceBlock, src, Assignment{CPU, CPU})
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func(e *encoded){
		func(e *encoded) { e.sum++ },
		func(e *encoded) { flip(e.payload) },
	} {
		bad := slices.Clone(blocks)
		bad[3].payload = bytes.Clone(bad[3].payload)
		damage(&bad[3])
		_, err := decompressAll(s, ByName("lzseqr"), bad, Assignment{CPU, GPU})
		if !errors.Is(err, ErrChecksum) && !errors.Is(err, ErrPayload) {
			t.Error(err)
		}
	}
	if st := s.Stats(); s.DeviceError() != nil || st.Wrong > 0 || onBackend(st, GPU) == 0 {
		t.Errorf("%v, %+v", s.DeviceError(), st)
	}
}

// TestDecodeWithoutChecks: without checks a device does not decode, because nothing verifies the
// result.
func TestDecodeWithoutChecks(t *testing.T) {
	s := withSoft(t, 2, gpu.SoftConfig{})
	cfg := Config{
		Pipeline: ByName("lzseqr"), Op: Decompress, BlockSize: deviceBlock, Assign: Assignment{CPU, GPU},
	}
	if err := s.Check(cfg); !errors.Is(err, errCannot) {
		t.Error(err)
	}
	src := corpus.ByName("text").Make(deviceBlock)
	blocks, err := compressAll(s, cfg.Pipeline, 5, deviceBlock, src, Assignment{CPU, CPU})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Start(cfg)
	defer r.Close()
	b := r.Get()
	b.Src, b.Raw, b.Kind = blocks[0].payload, blocks[0].raw, blocks[0].kind
	r.Submit(b)
	next(t, r)
	if onBackend(r.Stats(), GPU) > 0 {
		t.Error("the device was asked")
	}
}

// TestTracePanics: a panic of Config.Trace for the device's stage is the block's error.
func TestTracePanics(t *testing.T) {
	s := withSoft(t, 1, gpu.SoftConfig{})
	r := s.Start(Config{
		Pipeline: ByName("lzr"), Op: Compress, Level: 1, Assign: Assignment{GPU, GPU},
		Trace: func(e Event) {
			if e.Backend == GPU {
				panic("trace")
			}
		},
	})
	defer r.Close()
	burst(t, r, 1)
	var p *PanicError
	if b := next(t, r); !errors.As(b.Err, &p) || p.Value != "trace" {
		t.Error(b.Err)
	}
}
