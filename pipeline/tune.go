package pipeline

import (
	"fmt"
	"math"

	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/lz77"
)

// Tuning gives a block settings other than those of its level. The pipeline's own stages compress a
// sample, pieces from all over the block, with the level's settings and with others, and the
// smallest result wins. Samples overestimate some settings, so each has a minimum gain. Before a
// block becomes literals alone, the whole block is searched for far repeats, which a sample does
// not show. The cost is that of compressing the sample up to five times with TuneAuto, and once for
// each variant with TuneTrial. TuneLiterals tries nothing. docs/notes/tuning.md has measurements.

// Tuning says how blocks get settings of their own. The choice depends on the content of the block
// alone, so that output does not depend on where the block is compressed.
type Tuning uint8

const (
	TuneFixed Tuning = iota // all blocks have the settings of the level
	TuneAuto                // from statistics, and a few compressed samples
	TuneTrial               // from a larger sample, compressed with all settings
	// TuneLiterals searches no block for matches: blocks are literals alone.
	TuneLiterals
)

var tuningNames = [...]string{"fixed", "auto", "trial", "literals"}

func (t Tuning) String() string {
	if int(t) < len(tuningNames) {
		return tuningNames[t]
	}
	return fmt.Sprintf("Tuning(%d)", uint8(t))
}

// choice says how a block differs from its level. The zero value is no difference.
type choice struct {
	settings    *match.Params // in place of the level's; nil means the level's
	noMatches   bool          // the block is literals alone
	chosenDense bool          // layout Dense at a level without it
}

const (
	// sampleWindow is the most neighbouring bytes of a sample. With 1<<14 TuneTrial made
	// kennedy.xls 1.6% larger at level 4.
	sampleWindow = 1 << 13
	// autoSample and trialSample are log2 of the part of a block that is in its sample.
	autoSample  = 4
	trialSample = 3
	// leastSample is the least size of a sample in bytes, unless that is more than half of the
	// block.
	leastSample = 1 << 16
	// sampleWindows is the least number of windows, unless they were shorter than leastWindow
	// bytes.
	sampleWindows, leastWindow = 8, 1 << 10
)

// Gains are parts of the size of the sample with the level's own settings.
const (
	// chosenDenseGain is what context-coded streams must save, as a divisor: they take longer to
	// code and to decode.
	chosenDenseGain = 20
	// chosenDenseLits is how much of the size as literals alone, in 1/16, the level's own settings
	// must take for context-coded streams to be tried. Trying them takes long, even on a sample.
	chosenDenseLits = 11
	// chosenDenseSaved is what the level's own settings must save of the sample for that, as log2
	// of a divisor.
	chosenDenseSaved = 6
	// literalsGain is what literals alone must save, as log2 of a divisor: the block has matches
	// that the sample lacks.
	literalsGain = 4
	// literalsSaved is log2 of the part of the sample that the level's own settings must leave for
	// literals alone to be tried.
	literalsSaved = 3
)

// emptyGain returns what takes the place of literalsGain for blocks without repeats of 8 bytes. The
// parsers of SingleHash and DoubleHash search such blocks in hardly any time. The others take long,
// so that literals alone pay if they lose nothing.
func emptyGain(own *match.Params) uint8 {
	switch {
	case own.Optimal():
		return 5
	case own.Finder == lz77.SingleHash, own.Finder == lz77.DoubleHash:
		return 8
	}
	return 30
}

// tuner is the scratch memory for choosing.
type tuner struct {
	sample []byte
	block  Block // the sample as a block
}

// tunerMemory returns the scratch memory for choosing, in bytes, for blocks of size bytes: the
// sample, and what it is compressed to.
func tunerMemory(size int64) int64 {
	n := max(size>>trialSample, min(size/2, leastSample))
	return 4*n + 64<<10
}

// tune chooses how the block is compressed.
func (ws *workspace) tune(b *Block) {
	if b.run.cfg.Tuning == TuneLiterals {
		b.choice = choice{noMatches: true}
		return
	}
	if b.isShort() || b.isShortWithDictionary() {
		return
	}
	t, content, auto := &ws.tuner, b.content(), b.run.cfg.Tuning == TuneAuto
	variants, own := b.run.cfg.Pipeline.variants()[b.run.cfg.Level], b.params()
	shift := trialSample
	if auto {
		shift = autoSample
	}
	t.fillSample(content, max(len(content)>>shift, min(len(content)/2, leastSample)))
	t.block.run = b.run
	best, ownSize := choice{}, ws.sampleSize(choice{})
	least := ownSize
	offer := func(c choice, gain int) {
		if n := ws.sampleSize(c) + gain; n < least {
			best, least = c, n
		}
	}
	likely := -1
	if auto {
		likely = t.likelyVariant(ws.payload.seqs, own, ws.checkpoint)
	}
	for i := range variants {
		if v := &variants[i]; (!auto || i == likely) && v.Params != *own {
			offer(choice{settings: &v.Params}, ownSize*int(v.gain)>>8)
		}
	}
	// If the window is large compared with the block, a sample of the block says little of its
	// matches.
	if !b.priced() && ownSize > len(t.sample)>>literalsSaved && len(content) >= 4*b.Window {
		lits := ws.sampleSize(choice{noMatches: true})
		length := tellingLength(lits, len(t.sample))
		emptyLits := lits + ownSize>>emptyGain(own)
		if lits+ownSize>>literalsGain <= least ||
			emptyLits <= least && ws.farRepeats(content, 8, 1) <= fewRepeats {
			best, least = choice{noMatches: true}, lits
		}
		saves := ownSize < len(t.sample)-len(t.sample)>>chosenDenseSaved
		if b.mayChooseDense() && ownSize >= lits*chosenDenseLits/16 && saves {
			c := best
			c.chosenDense = true
			offer(c, ownSize/chosenDenseGain)
			if !c.noMatches {
				offer(choice{noMatches: true, chosenDense: true}, ownSize/chosenDenseGain)
			}
		}
		// The matches that a sample lacks would save about half as much again as there are far
		// repeats.
		if best != (choice{}) {
			hidden := ws.farRepeats(content, length, farDistance)
			if best.noMatches && least > ownSize-lits*hidden/partUnit*3/2 ||
				length >= fewSymbolsLength && hidden > manyRepeats {
				best = choice{}
			}
		}
	}
	t.block.run = nil
	b.choice = best
}

// mayChooseDense reports whether the block may get layout Dense by choice: at levels whose search
// takes no longer than the coding of such streams.
func (b *Block) mayChooseDense() bool {
	c := &b.run.cfg
	return c.Pipeline.dense != 0 && c.Level >= c.Pipeline.choosesDense && c.Level < c.Pipeline.dense
}

// fillSample makes n bytes of content the sample, in windows that are spread evenly.
func (t *tuner) fillSample(content []byte, n int) {
	t.sample = t.sample[:0]
	windows := max(1, n/sampleWindow, min(sampleWindows, n/leastWindow))
	n /= windows
	step := 0
	if windows > 1 {
		step = (len(content) - n) / (windows - 1)
	}
	for i := range windows {
		t.sample = append(t.sample, content[i*step:i*step+n]...)
	}
}

// sampleSize returns the size of the compressed sample with a choice.
func (ws *workspace) sampleSize(c choice) int {
	b := &ws.tuner.block
	b.src, b.raw, b.choice = ws.tuner.sample, len(ws.tuner.sample), c
	b.payload = ws.takePayload()
	r := b.run
	for i := r.coding.from; i < r.coding.to; i++ {
		if r.stages[i].run(ws, b) != nil {
			b.payload = nil
			return math.MaxInt / 2 // stages of compression do not fail
		}
	}
	b.payload = nil
	return len(b.dst)
}

// fewSymbolsLength is the tellingLength from which on content has so few symbols that hardly any
// strings of that length repeat by accident. In prose shorter strings repeat, and are in the sample
// as well.
const fewSymbolsLength = 11

// tellingLength returns how many bytes, 8 … 64, a string must have to repeat by no accident and to
// be dearer as literals than as a match. That is 34 bits or more, where sample bytes take lits
// bytes as literals alone.
func tellingLength(lits, sample int) int {
	const bits = 34
	return min(max((bits*sample+8*lits-1)/max(8*lits, 1), 8), 64)
}
