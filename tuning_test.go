package compress

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// tuneContent returns blocks of kinds for which tuning departs from the level's settings, and mixed
// blocks.
func tuneContent() (content []byte) {
	for _, kind := range []string{"dna", "image", "exe", "text", "json", "random", "zeros"} {
		content = append(content, corpus.ByName(kind).Make(2*testBlock)...)
	}
	return append(content, mixedBytes(3*testBlock+77)...)
}

// TestTuning checks that tuning depends on a block's content alone: output is the same with any
// number of workers, on a device and through every function that compresses.
func TestTuning(t *testing.T) {
	content := tuneContent()
	levels := []int{1, 5}
	if testenv.All() {
		levels = []int{1, 4, 5, 6, 9}
	}
	for _, p := range Pipelines() {
		for _, level := range levels {
			// Devices have no context-coded streams, and no finder of level 9.
			onDevice := p.Format == PZ && (level < 6 || level < 9 && p.Name == "lzr")
			fixed := encode(t, content, WithPipeline(p.Name), WithLevel(level),
				WithBlockSize(testBlock))
			for _, tuning := range []Tuning{TuneAuto, TuneTrial, TuneLiterals} {
				what := fmt.Sprintf("%s, level %d, %v", p.Name, level, tuning)
				opts := []Option{
					WithPipeline(p.Name),
					WithLevel(level),
					WithBlockSize(testBlock),
					WithTuning(tuning),
				}
				want := encode(t, content, opts...)
				// Hash chains have no variants. From level 6 on lzseqr tries literals alone for any block as
				// small as these.
				gains := level < 4 || p.Format != Gzip && (level < 6 || level < 9 && p.Name != "lzseqr")
				if gains && tuning != TuneLiterals && len(want) >= len(fixed) {
					t.Errorf("%s: %d bytes, not fewer than %d without tuning", what, len(want),
						len(fixed))
				}
				if p.Format != PZ {
					t.Run(what, func(t *testing.T) {
						equal(t, decodeReference(t, p.Name, want), content, what)
					})
				}
				if got, err := decode(want); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: %v", what, err)
				}
				// The calls alternate, so that pooled state has the other tuning.
				for _, same := range []struct {
					want []byte
					opts []Option
				}{{want, opts}, {fixed, append(opts[:3:3], WithTuning(TuneFixed))}} {
					opts := append(same.opts[:4:4], WithContentSize(-1))
					got, err := AppendEncode(nil, content, opts...)
					if err != nil {
						t.Fatal(err)
					}
					if p.Format == PZ {
						back, err := AppendDecode(nil, got)
						if err != nil || !bytes.Equal(back, content) {
							t.Errorf("%s, AppendEncode: %v", what, err)
						}
						// The header may hold the size.
						if n := len(got) - len(same.want); n < -16 || n > 16 {
							t.Errorf("%s, AppendEncode: %d bytes, Writer: %d", what, len(got),
								len(same.want))
						}
					}
				}
				for _, workers := range []int{1, 3} {
					equal(t, encode(t, content, append(opts, WithConcurrency(workers))...), want,
						what)
					s := deviceScheduler(t, workers, gpu.SoftConfig{Batch: 3})
					for _, b := range []Backend{BackendAuto, BackendGPU, BackendFused} {
						if b.Strict() && !onDevice {
							continue
						}
						opts := append(opts, WithScheduler(s), WithBackend(b, b))
						equal(t, encode(t, content, opts...), want, what+" on a device")
					}
					// Only strict backends run on the device for sure.
					if onDevice && tuning != TuneLiterals && ran(s.Stats(), BackendGPU) == 0 {
						t.Errorf("%s: no block ran on the device", what)
					}
				}
			}
		}
	}
}

// TestTuningOption checks the range of WithTuning and the memory of trials.
func TestTuningOption(t *testing.T) {
	if _, err := NewWriter(nil, WithTuning(TuneLiterals+1)); !errors.Is(err, ErrOption) {
		t.Errorf("error %v, want ErrOption", err)
	}
	fixed, err1 := WriterMemory(WithLevel(5))
	trial, err2 := WriterMemory(WithLevel(5), WithTuning(TuneTrial))
	if err1 != nil || err2 != nil || trial <= fixed {
		t.Errorf("memory: %d with trial, %d without; %v, %v", trial, fixed, err1, err2)
	}
}
