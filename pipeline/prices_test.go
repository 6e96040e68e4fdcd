package pipeline

import (
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// priced returns what a pipeline's model says that sequences of src cost, in bytes, with prices
// from their own counts.
func priced(l *optimal.Form, src []byte, seqs []lz77.Sequence) int {
	rules := l.Model.Rules()
	reps := rules.InitialRepeats
	var counts optimal.Counts
	var steps []optimal.Step
	for rest, i := src, 0; ; i++ {
		lits := rest
		if i < len(seqs) {
			lits = rest[:seqs[i].LitLen]
		}
		for _, b := range lits {
			counts.Literals[b]++
		}
		if i == len(seqs) {
			break
		}
		rest = rest[seqs[i].LitLen+seqs[i].MatchLen:]
		s := optimal.Step{Sequence: seqs[i], Kind: optimal.NewOffset}
		list := reps
		if rules.ShiftedRepeats && s.LitLen == 0 {
			list = [3]uint32{reps[1], reps[2], reps[0] - 1}
		}
		for k := l.Repeats - 1; k >= 0; k-- {
			if list[k] == s.Offset {
				s.Kind = uint8(k)
			}
		}
		switch s.Offset {
		case reps[0]:
		case reps[1]:
			reps[0], reps[1] = reps[1], reps[0]
		default:
			reps = [3]uint32{s.Offset, reps[0], reps[1]}
		}
		steps = append(steps, s)
	}
	l.Model.Count(&counts, steps)
	var p optimal.Prices
	l.Model.Price(&p, &counts)
	sum := 0
	for b, n := range counts.Literals {
		sum += int(n) * int(p.Literal[b])
	}
	for _, s := range steps {
		run := min(s.LitLen, optimal.PricedRuns-1)
		length := min(s.MatchLen, optimal.PricedLengths-1)
		sum += int(p.Run[run]) + int(p.Match[p.RunClass[run]][s.Kind][length])
		if s.Kind == optimal.NewOffset {
			sum += int(p.Offset[l.Model.OffsetCode(s.Offset)])
		}
	}
	return sum / (8 * optimal.PriceBit)
}

// TestPrices compares the prices of the models with the size of what is written. Where that has
// layout Dense, layout Repeat is compared, which the model prices. Prices lack the descriptions of
// tables, and what tables for parts of a block save.
func TestPrices(t *testing.T) {
	oneGoroutine(t)
	size := 200_000
	if brief() {
		size = 100_000
	}
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		kinds := []string{"text", "log", "json", "source", "records", "exe", "short", "dna"}
		if brief() {
			kinds = []string{"text", "records", "exe"}
		}
		for _, kind := range kinds {
			for _, level := range []int{4, 9} {
				src := corpus.ByName(kind).Make(size)
				ws := new(workspace)
				r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: level})
				b := r.Get()
				b.Src = src
				b.stage = 0
				if !execute(ws, b) || b.Err != nil {
					t.Fatal(b.Err)
				}
				out := b.Out()
				if b.dense() {
					out = ws.encodePayload(nil, lzseq.Repeat, &ws.payload.streams)
				}
				if ws.payload.ranges != nil {
					src = ws.dense.filtered
				}
				got, want := priced(p.form, src, ws.payload.seqs), len(out)
				ratio := float64(got) / float64(want)
				t.Logf("%s, level %d: %d bytes, priced at %.3f of that", kind, level, want, ratio)
				if ratio < 0.95 || ratio > 1.03 {
					t.Errorf("%s, level %d: %d bytes, but the model says %d", kind, level, want, got)
				}
				b.Src = nil
				r.Put(b)
				r.Close()
			}
		}
	})
}

// TestDensest: no data becomes larger at the highest level than at any other. JSON with numbers is
// among it, which are cheaper as literals than as the short matches that they have.
func TestDensest(t *testing.T) {
	testenv.Long(t)
	const size = 100_000
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		var all [MaxLevel + 1]int
		for _, k := range corpus.Kinds() {
			src := k.Make(size)
			var sizes [MaxLevel + 1]int
			for level := 1; level <= MaxLevel; level++ {
				for _, e := range codedPieces(t, NewScheduler(1), p, level, size, src, Assignment{}) {
					sizes[level] += len(e.payload)
				}
			}
			for level := 1; level < MaxLevel; level++ {
				if best := sizes[level]; sizes[MaxLevel] > best+best/100+40 {
					t.Errorf("%s: level %d gives %d bytes, level %d %d",
						k.Name, MaxLevel, sizes[MaxLevel], level, best)
				}
			}
			for level, n := range sizes {
				all[level] += n
			}
		}
		// Taken together, each level is denser than the one below it, unless they differ in
		// SkipInMatch alone and there are no long matches.
		for level := 2; level <= MaxLevel; level++ {
			lower, higher := p.levels[level-1], p.levels[level]
			lower.Priced.SkipInMatch = higher.Priced.SkipInMatch
			if all[level] > all[level-1] || all[level] == all[level-1] && lower != higher {
				t.Errorf("level %d gives %d bytes, level %d %d", level, all[level], level-1, all[level-1])
			}
		}
	})
}
