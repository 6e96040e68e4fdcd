package pipeline

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// Tuning says what the settings of a block follow from besides the level. Whatever is chosen follows from the block's content alone, so that it is the same wherever
// the block is compressed.
type Tuning uint8

const (
	TuneFixed Tuning = iota // nothing
	TuneAuto                // statistics of the content, and of a small sample compressed
	TuneTrial               // the sizes of a larger sample compressed in each of several ways
)

var tuningNames = [...]string{"fixed", "auto", "trial"}

func (t Tuning) String() string {
	if int(t) < len(tuningNames) {
		return tuningNames[t]
	}
	return fmt.Sprintf("Tuning(%d)", uint8(t))
}

// choice is how a block differs from its level. The zero value is a block like any other.
type choice struct {
	settings  *lz77.Params // in place of the level's; nil for those
	noMatches bool         // there are no matches
	fastDense bool         // layout Dense, below the level that has it, with coarse chained streams
}

// variant is other settings that a block of a level may have. They take no more memory than the level's own.
type variant struct {
	lz77.Params
	// gain is how much smaller than with the level's own settings a sample must be, in 1/256. In a sample there are fewer matches than in the block, and nearer ones: it makes short ones
	// look better than they are.
	gain uint8
}

// variants are those of each level. They are constant: a device that was given up may still read them.
type variants [MaxLevel + 1][]variant

// Numbers of variants that are likely where statistics say so: of Single, of Double and Recent, and of those that are Priced.
const (
	fiveBytes  = 0
	sixBytes   = 1
	eightBytes = 2

	fourBytes  = 0
	sevenBytes = 1

	thorough = 0
)

// variantsOf makes the variants of levels, for matches that reach back so many bytes. What they bring is in docs/exec-plans/active/auto.md.
func variantsOf(levels *[MaxLevel + 1]lz77.Params, window int) *variants {
	var v variants
	for level := 1; level <= MaxLevel; level++ {
		own := levels[level]
		hash := func(n, skip, gain uint8) {
			p := own
			p.HashBytes, p.SkipLog = n, max(p.SkipLog, skip)
			v[level] = append(v[level], variant{p, gain})
		}
		switch own.Finder {
		case lz77.SingleHash:
			hash(5, 7, 10)
			hash(6, 5, 8)
			hash(8, 0, 29-4*own.HashBytes)
		case lz77.DoubleHash:
			hash(4, 0, 4)
			hash(7, 0, 8)
		case lz77.RowHash:
			// Far back there are short matches for everything, and a sample does not tell what they are worth.
			if window < sampleWindow*8 {
				hash(4, 0, 4)
				hash(7, 0, 8)
			}
		case lz77.BinaryTree:
			// For Deflate, which is parsed by blocks: neither Skip nor Misses means anything.
		default:
			p := own
			p.SkipInMatch, p.MaxMisses = 0, max(p.MaxMisses, 4)
			v[level] = append(v[level], variant{p, 5})
		}
	}
	return &v
}

const (
	// sampleWindow is how many neighbouring bytes a sample has from one place, at the most. With 1<<14 and 1<<15 trial made kennedy.xls 1.6% larger at level 4.
	sampleWindow = 1 << 13
	// autoSample and trialSample say which part of a block is looked at, as a shift. It is compressed in each way that is tried: with auto up to five times, with trial once more
	// for each variant. Besides, recurs goes over the block, three times at the most.
	autoSample  = 4
	trialSample = 3
	// leastSample is the least that is looked at, in bytes, unless it is more than half of the block.
	leastSample = 1 << 16
	// sampleWindows is the least number of places, unless windows were shorter than leastWindow bytes.
	sampleWindows, leastWindow = 8, 1 << 10

	// coarseGain is what part of the sample chained streams must save: they take longer to code and to decode.
	coarseGain = 20
	// plainPart is how much of what literals alone take, in 1/16, the level's own must take for chained streams to be tried, which takes its time even with a sample.
	plainPart = 11
	// plainGain is what part of the sample literals alone must save, as a shift, because the block has matches that a sample does not show. They are not tried where
	// the level's own save all but a part of it, as a shift: plainLeast.
	plainGain, plainLeast = 4, 3
	// coarseLeast is what part of the sample must be saved for that anyway, as a shift.
	coarseLeast = 6
)

// emptyGain is plainGain for blocks without repeats of 8 bytes. Single and Double take hardly any time to look for matches where there are none, the others do, so that it is worth
// it if nothing is lost.
var emptyGain = [...]uint8{lz77.SingleHash: 8, lz77.DoubleHash: 8, lz77.RowHash: 30, lz77.BinaryTree: 5, lz77.MultiHash: 5, lz77.LCPIntervals: 5}

// tuner is the scratch memory for choosing.
type tuner struct {
	sample []byte
	block  Block // that is the sample
}

// tune chooses how the block is compressed.
func (ws *workspace) tune(b *Block) {
	t, content, auto := &ws.tuner, b.content(), b.run.cfg.Tuning == TuneAuto
	others := b.run.cfg.Pipeline.variants[b.run.cfg.Level]
	finder, dense := b.params().Finder, b.dense()
	shift := trialSample
	if auto {
		shift = autoSample
	}
	t.take(content, max(len(content)>>shift, min(len(content)/2, leastSample)))
	t.block.run = b.run
	own := ws.try(choice{})
	best, least := choice{}, own
	offer := func(c choice, gain int) {
		if n := ws.try(c) + gain; n < least {
			best, least = c, n
		}
	}
	likely := -1
	if auto {
		likely = t.likely(ws.payload.seqs, b.params())
	}
	for i := range others {
		if v := &others[i]; (!auto || i == likely) && v.Params != *b.params() {
			offer(choice{settings: &v.Params}, own*int(v.gain)>>8)
		}
	}
	// Where what is in front of the block is as large as the block itself, a sample of that alone says little of its matches.
	if !dense && own > len(t.sample)>>plainLeast && len(content) >= 4*b.Window {
		plain := ws.try(choice{noMatches: true})
		told := tellingBytes(plain, len(t.sample))
		if plain+own>>plainGain <= least || plain+own>>emptyGain[finder] <= least && ws.recurs(content, 8, 1) <= fewRepeats {
			best, least = choice{noMatches: true}, plain
		}
		if b.mayBeFastDense() && own >= plain*plainPart/16 && own < len(t.sample)-len(t.sample)>>coarseLeast {
			c := best
			c.fastDense = true
			offer(c, own/coarseGain)
			if !c.noMatches {
				offer(choice{noMatches: true, fastDense: true}, own/coarseGain)
			}
		}
		// What the sample does not show: matches from far away would save about half as much again as there are such strings.
		if best != (choice{}) {
			hidden := ws.recurs(content, told, farDistance)
			if best.noMatches && least > own-plain*hidden/all*3/2 || told >= fewLetters && hidden > manyRepeats {
				best = choice{}
			}
		}
	}
	t.block.run = nil
	b.choice = best
}

// likely returns the number of the variant that the sample's statistics suggest, −1 for none: what its bytes are, and its matches with the level's own settings.
func (t *tuner) likely(seqs []lz77.Sequence, own *lz77.Params) int {
	matched, short := 0, 0
	for i := range seqs {
		matched += int(seqs[i].MatchLen)
		if seqs[i].MatchLen <= shortMatch {
			short++
		}
	}
	n, others := len(t.sample), 0
	for _, c := range t.sample {
		if c >= 0x80 || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			others++
		}
	}
	text := others <= n/4
	switch own.Finder {
	case lz77.SingleHash:
		switch {
		case own.HashBytes == 5 || text && matched >= n*3/4:
			return eightBytes
		case !text && matched < n*15/16:
			return fiveBytes
		case text && own.SkipLog < 5:
			return sixBytes
		}
	default:
		switch {
		case own.Finder.Optimal():
			if matched > n*7/8 {
				return thorough
			}
		case !text && short > len(seqs)*3/8:
			return fourBytes
		case text && short > len(seqs)*5/8:
			return sevenBytes
		}
	}
	return -1
}

// shortMatch is the most bytes of a match that a hash of 7 does not find.
const shortMatch = 6

// mayBeFastDense reports whether the block may have chained streams by choice: at levels that take no longer for matches than those take to make.
func (b *Block) mayBeFastDense() bool {
	c := &b.run.cfg
	return c.Pipeline.dense != 0 && c.Level >= c.Pipeline.fastDense && c.Level < c.Pipeline.dense
}

// take makes n bytes of content the sample, in windows that are spread evenly.
func (t *tuner) take(content []byte, n int) {
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

// try returns the size of the sample compressed in a way.
func (ws *workspace) try(c choice) int {
	b := &ws.tuner.block
	b.Src, b.Raw, b.choice = ws.tuner.sample, len(ws.tuner.sample), c
	b.payload = ws.takePayload()
	for i := range b.run.stages {
		if b.run.stages[i].run(ws, b) != nil {
			b.payload = nil
			return math.MaxInt / 2 // stages of compression do not fail
		}
	}
	b.payload = nil
	return len(b.dst)
}

// farDistance is how far a repeat must be from what it repeats for a sample not to show it, in bytes.
const farDistance = sampleWindow / 2

// Parts of a block, in 1/all.
const (
	all         = 1 << 10
	fewRepeats  = all / 64 // that may be repeats where there are said to be none
	manyRepeats = all / 4  // that are strings from far away where a sample is not what the block is like
)

// fewLetters is how long strings must be to tell something for content to be of so few symbols that hardly any of them come again by accident: in prose the short ones do, and are
// in the sample as well.
const fewLetters = 11

// tellingBytes is how long a string must be, in bytes, 8 … 64, to be a repeat by no accident and dearer as literals than as a match: 34 bits or more, where a sample of
// so many bytes takes plain as literals alone.
func tellingBytes(plain, sample int) int {
	const bits = 34
	return min(max((bits*sample+8*plain-1)/max(8*plain, 1), 8), 64)
}

// recurs returns what part of src is strings of n bytes, 8 … 64, that come so far in front of it, or farther. The positions compared are chosen by what stands there, as in
// repeats, as many as there is room for.
func (ws *workspace) recurs(src []byte, n, distance int) (part int) {
	clear(ws.seen[:])
	chosen := uint(max(seenBits, bits.Len(uint(len(src)))-seenLog))
	found, looked := 0, 0
	for i := 0; i+n <= len(src); i++ {
		v := binary.LittleEndian.Uint64(src[i:])
		if v*0x9E3779B185EBCA87>>(64-chosen) != 0 {
			continue
		}
		looked++
		for k := 8; k < n; k += 8 {
			v = v*0xC2B2AE3D27D4EB4F + binary.LittleEndian.Uint64(src[i+min(k, n-8):])
		}
		place := &ws.seen[v*0xD6E8FEB86659FD93>>(64-seenLog)]
		if c := int(*place) - 1; c >= 0 && i-c >= distance && simd.MatchLen(src[c:], src[i:i+n]) == n {
			found++
		}
		*place = uint32(i) + 1
	}
	return int(uint64(found) * all / uint64(max(looked, 1)))
}

// tunerMemory is what choosing takes for blocks of that size, in bytes: the sample, and what it is compressed to.
func tunerMemory(size int64) int64 {
	n := max(size>>trialSample, min(size/2, leastSample))
	return 4*n + 64<<10
}
