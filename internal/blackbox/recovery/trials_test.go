package recovery

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/testenv"
)

var (
	trials   = flag.Int("trials", 0, "how many trials TestRecoverTrials makes")
	onlySeed = flag.Int("seed", -1, "the only trial that TestRecoverTrials makes")
)

// TestRecoverTrials damages files of all kinds at random and compares what Recover gives with what
// is intact, and with what a Reader gives. A trial is known by its number:
//
//	go test ./internal/blackbox/recovery -run TestRecoverTrials -args -seed 17
//
// What cannot be known is accepted either way:
//
//   - Damage to content without a check: it may be wrong.
//   - A piece of the file that was copied: the copy may be in the result or not.
//   - Streams, frames and members that are missing, with nothing in their place: nothing needs to
//     report them, and places behind them are wrong. The same is true of the end of one and the
//     beginning of the next, for what is left of both may look like one.
//   - The sizes of lost frames, if the seek table is damaged: nothing confirms them.
//   - The bytes in front of damage, in what Recover reports as unconfirmed (DamageCheck).
//   - Content that is .pz or .zst data, in a damaged block, if the index is damaged too.
//   - Blocks with short headers and without checks: 16 bits confirm them.
//
// Of files in which large pieces were copied, without an index, a few may fail: copies of later
// blocks, or frames, hide those that they stand in front of.
func TestRecoverTrials(t *testing.T) {
	samples := newSamples(t)
	for _, s := range samples {
		if err := checkTrial(s, nil, true); err != nil {
			t.Errorf("%s, intact: %v", s.name, err)
		}
	}
	from, n := 0, 300
	switch {
	case *onlySeed >= 0:
		from, n = *onlySeed, 1
	case *trials > 0:
		n = *trials
	case testenv.All():
		n = 20_000
	}
	failed, copied := map[string][]int{}, 0
	for seed := from; seed < from+n; seed++ {
		r := rand.New(rand.NewPCG(uint64(seed), 10))
		s := samples[seed%len(samples)]
		edits := randomEdits(s, r)
		threads := seed%4 == 0 || *onlySeed >= 0
		err := checkTrial(s, edits, threads)
		if err == nil {
			continue
		}
		class := s.name + ": " + err.(*failure).class
		failed[class] = append(failed[class], seed)
		if strings.HasSuffix(class, withCopies) {
			copied++
			if *onlySeed < 0 {
				continue
			}
		}
		if len(failed[class]) > 2 && *onlySeed < 0 {
			continue
		}
		edits, err = shrink(s, edits, err, threads)
		t.Errorf("seed %d, %s of %d bytes:\n\t%s\n%v", seed, s.name, len(s.file), recipe(edits), err)
	}
	if copied > 1+n/200 {
		t.Errorf("%d of %d trials with copies have failed", copied, n)
	}
	for class, seeds := range failed {
		t.Logf("%d of %d: %s: seeds %v", len(seeds), n, class, seeds[:min(10, len(seeds))])
	}
}

// withCopies ends the class of a failure if pieces of the file were copied.
const withCopies = ", with copies"

// shrink returns the fewest edits that fail in the same way.
func shrink(s *sample, edits []edit, err error, threads bool) ([]edit, error) {
	for i := 0; i < len(edits) && len(edits) > 1; {
		fewer := slices.Delete(slices.Clone(edits), i, i+1)
		e := checkTrial(s, fewer, threads)
		if e != nil && e.(*failure).class == err.(*failure).class {
			edits, err = fewer, e
		} else {
			i++
		}
	}
	return edits, err
}

// failure is a broken promise.
type failure struct{ class, text string }

func (f *failure) Error() string { return f.class + ": " + f.text }

func failf(class, format string, args ...any) error {
	return &failure{class, fmt.Sprintf(format, args...)}
}

// report is a Damage, and how much content Recover had written.
type report struct {
	at int
	compress.Damage
}

// saved is what Recover does with a file.
type saved struct {
	out      []byte
	reports  []report
	err      error
	panicked bool
}

// mostContent is more content than any sample and its copies have, in bytes.
const mostContent = 8 << 20

func save(file []byte, workers int, zeros bool) (s saved) {
	var b bytes.Buffer
	defer func() {
		if v := recover(); v != nil {
			s.err = fmt.Errorf("panic: %v", v)
			s.panicked = true
		}
	}()
	s.err = bbtest.RecoverFrom(&b, file, func(d compress.Damage) error {
		s.reports = append(s.reports, report{b.Len(), d})
		return nil
	}, compress.WithConcurrency(workers), compress.WithZeroFill(zeros),
		compress.WithMaxDecodedSize(mostContent))
	s.out = b.Bytes()
	return s
}

// String describes the result without the content.
func (s *saved) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d bytes, error %v", len(s.out), s.err)
	for _, r := range s.reports[:min(len(s.reports), 8)] {
		fmt.Fprintf(&b, "\n\tafter %d: %v, stream %d block %d, %d blocks, place %d, %d bytes, span %d: %v",
			r.at,
			r.Kind, r.Stream, r.Block, r.Blocks, r.ContentOffset, r.Content, r.Span, r.Err)
	}
	return b.String()
}

// trial is a damaged file, and what Recover does with it.
type trial struct {
	*damaged
	plain, filled saved
	read          []byte // what a Reader returns
	readErr       error
	whole         []piece // those that are intact
}

// checkTrial recovers a file with edits. With threads it does so with several numbers of workers.
func checkTrial(s *sample, edits []edit, threads bool) error {
	d := newDamaged(s, edits)
	c := &trial{damaged: d, plain: save(d.file, 1, false), filled: save(d.file, 1, true)}
	c.read, c.readErr = bbtest.Decode(d.file, compress.WithConcurrency(1))
	if c.plain.panicked || c.filled.panicked {
		return failf("panic", "%v; %v", c.plain.err, c.filled.err)
	}
	for _, p := range s.pieces {
		if c.isWhole(p) {
			c.whole = append(c.whole, p)
		}
	}
	if threads {
		for _, n := range []int{2, 8} {
			if got := save(d.file, n, true); got.String() != c.filled.String() ||
				!bytes.Equal(got.out, c.filled.out) {
				return failf("f workers", "with %d workers %v\n\tand with 1 %v", n, &got, &c.filled)
			}
		}
	}
	for _, check := range []func() error{
		c.checkReported, c.checkRead, c.checkWhole, c.checkGaps, c.checkFilled, c.checkEnd,
	} {
		if err := check(); err != nil {
			f := err.(*failure)
			if c.copied {
				f.class += withCopies
			}
			f.text += "\n\tReader: " + fmt.Sprint(len(c.read), " bytes, ", c.readErr) +
				"\n\tRecover: " + c.plain.String()
			return f
		}
	}
	return nil
}

// isWhole reports whether a piece is intact and can be told from chance.
func (c *trial) isWhole(p piece) bool {
	behind := p.to
	if c.format == compress.Zstd && !p.checked && c.where[p.to-1]+1 < len(c.file) {
		behind = min(p.to+4, len(c.sample.file)) // the next magic number
	}
	return c.keeps(p.from, behind)
}

// checkReported checks that damage is reported if a Reader finds any, and that a file that a Reader
// finds intact is given in full.
func (c *trial) checkReported() error {
	switch {
	case c.readErr != nil:
		if c.plain.err == nil && len(c.plain.reports) == 0 {
			return failf("c unreported", "a Reader finds damage")
		}
	case c.plain.err != nil:
		return failf("a fails", "no damage for a Reader")
	case !bytes.Equal(c.plain.out, c.read):
		return failf("a valid file", "not the content that a Reader gives without an error")
	case bytes.Equal(c.file, c.sample.file) && len(c.plain.reports) > 0:
		return failf("g reported", "the file is intact")
	case bytes.Equal(c.file, c.sample.file) && !bytes.Equal(c.filled.out, c.content):
		return failf("g content", "the file is intact")
	}
	return nil
}

// checkRead checks that Recover gives at least what a Reader gives.
func (c *trial) checkRead() error {
	out := c.plain.out
	if c.format == compress.Gzip {
		out = c.filled.out // parts that repeat lost content are left out
	}
	if bytes.HasPrefix(out, c.read) {
		return nil
	}
	return failf("a read", "what a Reader gives is not how the result begins")
}

// of returns the content of a piece.
func (s *sample) of(p piece) []byte { return s.content[p.at:p.end] }

// checkWhole checks that all intact pieces are in the result, in order.
func (c *trial) checkWhole() error {
	rest, missing, first := c.plain.out, 0, piece{}
	for i, p := range c.whole {
		if c.repeats > 0 && p.end > c.repeats || c.short && !c.between(i) {
			continue
		}
		at := bytes.Index(rest, c.of(p))
		if at < 0 {
			missing++
			if missing == 1 {
				first = p
			}
			continue
		}
		rest = rest[at+p.end-p.at:]
	}
	if missing > 0 {
		return failf("b missing", "%d of %d intact pieces, the first at %d, with content %d to %d",
			missing, len(c.whole), c.where[first.from], first.at, first.end)
	}
	return nil
}

// between reports whether an intact piece lies right between two others.
func (c *trial) between(i int) bool {
	return i > 0 && i+1 < len(c.whole) && c.where[c.whole[i-1].to-1]+1 == c.where[c.whole[i].from] &&
		c.where[c.whole[i].to-1]+1 == c.where[c.whole[i+1].from]
}

// gap is what Recover gives and reports between two intact pieces.
type gap struct {
	from, to int // content of the sample
	first    int // piece in the gap
	last     int // behind the gap
	out      []byte
	at       int // of out in the result
	reports  []report
}

// checkGaps checks what lies between intact pieces: what Recover gives there is content of lost
// pieces, and what it does not give is reported, at the right place.
func (c *trial) checkGaps() error {
	if c.format == compress.Gzip || c.repeats > 0 || c.short || c.plain.err != nil ||
		c.nested && !c.sized() {
		return nil
	}
	out, at, first, from := c.plain.out, 0, 0, 0
	for i := 0; i <= len(c.whole); i++ {
		g := gap{from: from, to: len(c.content), first: first, last: len(c.pieces), at: at, out: out[at:]}
		if i < len(c.whole) {
			p := c.whole[i]
			g.to = p.at
			g.last = slices.Index(c.pieces, p)
			g.out = out[at : at+bytes.Index(out[at:], c.of(p))]
			first, from, at = g.last+1, p.end, at+len(g.out)+p.end-p.at
		}
		for _, r := range c.plain.reports {
			if r.at >= g.at && r.at <= g.at+len(g.out) {
				g.reports = append(g.reports, r)
			}
		}
		if err := c.checkGap(&g); err != nil {
			f := err.(*failure)
			f.text += fmt.Sprintf(" (pieces %d to %d, content %d to %d)", g.first, g.last, g.from, g.to)
			return f
		}
	}
	return nil
}

func (c *trial) checkGap(g *gap) error {
	if c.copied {
		return nil
	}
	if extra := c.strange(g); len(extra) > 0 {
		return failf("d strange", "%d of the bytes from %d on are in no lost piece", len(extra), g.at)
	}
	missing := g.to - g.from - len(g.out)
	anyKind := g.last == len(c.pieces)
	if missing > 0 && c.readErr != nil && !slices.ContainsFunc(g.reports, func(r report) bool {
		return anyKind || r.Kind != compress.DamageFrame
	}) && !c.traceless() && !c.vanished(g) && !c.believed(g) {
		return failf("c unreported", "%d bytes are missing", missing)
	}
	if !c.placed(g) {
		return nil
	}
	sum, known := 0, true
	for _, r := range g.reports {
		if r.Kind == compress.DamageCheck {
			continue
		}
		if place := int(r.ContentOffset); place >= 0 && (place < g.from || place > g.to) {
			return failf("d place", "%d is stated for what is missing after %d", place, r.at)
		}
		sum += int(max(0, r.Content))
		known = known && r.Content >= 0
	}
	if sum > missing || known && sum < missing && g.last < len(c.pieces) {
		return failf("b sizes", "%d bytes are missing after %d, and %d are reported", missing, g.at, sum)
	}
	return nil
}

// strange returns the rest of what Recover gives in a gap, from the first byte on that is neither
// content of a lost piece nor reported as unconfirmed.
func (c *trial) strange(g *gap) []byte {
	lost := c.pieces[g.first:g.last]
	if slices.ContainsFunc(lost, func(p piece) bool { return !p.checked }) {
		return nil
	}
	rest, at := g.out, g.at
	for len(rest) > 0 {
		n := 0
		for i, p := range lost {
			if bytes.HasPrefix(rest, c.of(p)) {
				n, lost = p.end-p.at, lost[i+1:]
				break
			}
		}
		for _, r := range c.plain.reports {
			if r.Kind == compress.DamageCheck && n == 0 && at >= r.at-int(r.Span) {
				n = max(n, min(r.at-at, len(rest)))
			}
		}
		if n <= 0 {
			return rest
		}
		rest, at = rest[n:], at+n
	}
	return nil
}

// vanished reports whether the units between two pieces are gone without a trace.
func (c *trial) vanished(g *gap) bool {
	at, behind := 0, len(c.file)
	u, v := -1, len(c.units)
	if g.first > 0 {
		u = c.pieces[g.first-1].unit
		at = c.where[c.units[u].to-1] + 1
	}
	if g.last < len(c.pieces) {
		v = c.pieces[g.last].unit
		behind = c.where[c.units[v].from]
	}
	for i := u + 1; i < v; i++ { // units without content
		if x := c.units[i]; c.where[x.from] == at && c.keeps(x.from, x.to) {
			at += x.to - x.from
		}
	}
	return at == behind && (g.first == 0 || at > 0)
}

// believed reports whether a Reader returns a gap of pieces without checks, and more behind it.
func (c *trial) believed(g *gap) bool {
	return !slices.ContainsFunc(c.pieces[g.first:g.last], func(p piece) bool { return p.checked }) &&
		g.at+len(g.out) < len(c.read) && bytes.HasPrefix(c.plain.out, c.read)
}

// sized reports whether everything is intact that states sizes.
func (c *trial) sized() bool {
	return len(c.sizes) > 0 && !c.copiedSizes &&
		!slices.ContainsFunc(c.sizes, func(u unit) bool { return !c.keeps(u.from, u.to) })
}

// placed reports whether places and sizes in a gap are to be right.
func (c *trial) placed(g *gap) bool {
	if c.format == compress.Zstd && !c.sized() {
		return false
	}
	return !c.traceless()
}

// traceless reports whether a unit is gone, or the end of one with the beginning of the next, and
// nothing is in their place.
func (c *trial) traceless() bool {
	for _, u := range c.units {
		before, behind := 0, len(c.file)
		for i := u.to - 1; i >= 0 && before == 0; i-- {
			before = c.where[i] + 1
		}
		for i := u.to; i < len(c.where) && behind == len(c.file); i++ {
			if c.where[i] >= 0 {
				behind = c.where[i]
			}
		}
		if before == behind && (u.to < len(c.where) && c.where[u.to] < 0 || c.isGone(u)) {
			return true
		}
	}
	return false
}

// isGone reports whether nothing is left of a unit.
func (c *trial) isGone(u unit) bool {
	return !slices.ContainsFunc(c.where[u.from:u.to], func(at int) bool { return at >= 0 })
}

// checkFilled checks that zeros stand for what is reported, and that all is at its place if all
// sizes are known.
func (c *trial) checkFilled() error {
	var want []byte
	at, windows := 0, errors.Is(c.filled.err, compress.ErrTooLarge)
	for _, r := range c.plain.reports {
		zeros := make([]byte, min(mostContent, max(0, r.Content)))
		want = append(append(want, c.plain.out[at:r.at]...), zeros...)
		at = r.at
		windows = windows || r.Kind == compress.DamageWindow
	}
	want = append(want, c.plain.out[at:]...)
	if !windows && !bytes.Equal(c.filled.out, want) {
		return failf("d zeros", "%d bytes with zeros, want %d", len(c.filled.out), len(want))
	}
	if c.format == compress.Gzip || !c.sized() || c.traceless() || c.short || c.plain.err != nil {
		return nil
	}
	if c.copiedPiece {
		return nil // it may be in the result twice
	}
	if len(c.filled.out) != len(c.content) {
		return failf("d length", "%d bytes with zeros of %d", len(c.filled.out), len(c.content))
	}
	for i, p := range c.whole {
		got := c.filled.out[p.at:p.end]
		if c.repeats == 0 && !bytes.Equal(got, c.of(p)) {
			return failf("d moved", "intact piece %d is not at its place", i)
		}
	}
	for i, b := range c.filled.out {
		if b != c.content[i] && b != 0 && !c.copied && !c.doubtful(i) {
			return failf("d wrong", "byte %d is neither right nor 0", i)
		}
	}
	return nil
}

// checkEnd checks what Recover gives of .gz behind a single edit. It is right from the next place
// on where decoding can begin, apart from zeros for what repeats lost content.
func (c *trial) checkEnd() error {
	n := len(c.file)
	for n > 0 && c.origin[n-1] == len(c.sample.file)-len(c.file)+n-1 {
		n--
	}
	if n == len(c.file) || c.filled.err != nil || c.edits > 1 || c.copied {
		return nil
	}
	damage := 8 * int64(c.origin[n]+4)
	i := slices.IndexFunc(c.starts, func(s start) bool { return s.bit >= damage })
	if i < 0 {
		return nil
	}
	want := c.content[c.starts[i].content:]
	from, zeros := len(c.filled.out)-len(want), false
	searched := slices.ContainsFunc(c.filled.reports, func(r report) bool {
		return r.Kind == compress.DamageUnknown && r.at <= from
	})
	for _, r := range c.filled.reports {
		zeros = zeros || r.Kind == compress.DamageWindow
	}
	if !searched {
		return nil // all of it decodes, perhaps to something else
	}
	for i, b := range c.filled.out[from:] {
		if b != want[i] && (b != 0 || !zeros) {
			return failf("b end", "byte %d of the last %d is wrong", i, len(want))
		}
	}
	return nil
}

// doubtful reports whether a byte may be wrong.
func (c *trial) doubtful(at int) bool {
	for _, p := range c.pieces {
		if p.at <= at && at < p.end && !p.checked && !c.isWhole(p) {
			return true
		}
	}
	return slices.ContainsFunc(c.filled.reports, func(r report) bool {
		return r.Kind == compress.DamageCheck && at < r.at && at >= r.at-int(r.Span)
	})
}
