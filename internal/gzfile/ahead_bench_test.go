package gzfile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/testenv"
)

// unitTimes are the times of the steps of a unit on one goroutine.
type unitTimes struct {
	symbols time.Duration // Prepare with an unknown window
	bytes   time.Duration // Prepare with a known window
	turn    time.Duration // Decode
	resolve time.Duration // FinishContent, where all content is symbols
	sum     time.Duration // FinishContent, where no content is symbols
}

// BenchmarkAhead measures the steps of the units of a file on one goroutine. From these times it
// computes how many times as fast as one many workers are. Processors that share caches and memory
// are slower; that is not in the figure.
func BenchmarkAhead(b *testing.B) {
	files := map[string][]byte{"text": sentences(20_000_000, 1)}
	if dir := testenv.Corpus(b); dir != "" {
		names, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, name := range names {
			if p, err := os.ReadFile(name); err == nil && len(p) > 4_000_000 {
				files[filepath.Base(name)] = p
			}
		}
	}
	for name, content := range files {
		b.Run(name, func(b *testing.B) {
			var file bytes.Buffer
			w := gzip.NewWriter(&file)
			w.Write(content)
			w.Close()
			serial, units := time.Duration(0), []unitTimes(nil)
			for b.Loop() {
				serial = serialTime(b, file.Bytes(), len(content))
				units = measureUnits(b, file.Bytes(), len(content))
			}
			// As many units as a large file has.
			many := slices.Repeat(units, 1+2000/len(units))
			for _, workers := range []int{1, 2, 4, 16, 64} {
				took := simulate(many, workers) / time.Duration(len(many)/len(units))
				b.ReportMetric(float64(serial)/float64(took), fmt.Sprintf("×%d", workers))
			}
			var turns time.Duration
			for i := range units {
				turns += units[i].turn
			}
			b.ReportMetric(100*float64(turns)/float64(serial), "%turns")
		})
	}
}

// serialTime returns how long it takes to decode a file in order.
func serialTime(b *testing.B, file []byte, size int) time.Duration {
	d := testDecoder()
	best := time.Duration(0)
	for round := range 3 {
		d.reset(&container.Limits{MaxDecoded: -1, Checks: true})
		var s container.Serial
		got, start := 0, time.Now()
		for rest := file; s.Stop == nil; {
			n := min(len(rest), container.InputBuffer)
			d.input.addPart(rest[:n], false, s.Unit, false, endOf(rest[n:]))
			rest = rest[n:]
			decodeUnit(d, &s)
			got += len(s.Content())
		}
		if s.Stop != io.EOF || got != size {
			b.Fatal(s.Stop, got)
		}
		if took := time.Since(start); round == 0 || took < best {
			best = took
		}
	}
	return best
}

// endOf returns io.EOF if nothing is left.
func endOf(rest []byte) error {
	if len(rest) == 0 {
		return io.EOF
	}
	return nil
}

// measureUnits returns the times of the units of a file, the better ones of two rounds.
func measureUnits(b *testing.B, file []byte, size int) (units []unitTimes) {
	part := max(leastPart, min(mostPart, aheadTarget*len(file)/size))
	d := testDecoder()
	for round := range 4 {
		d.reset(&container.Limits{MaxDecoded: -1, Checks: true})
		var all []container.Serial
		for rest := file; len(rest) > 0; {
			n := min(len(rest), part)
			d.input.addPart(rest[:n], false, int64(len(all)), true, endOf(rest[n:]))
			all = append(all, container.Serial{Unit: int64(len(all))})
			rest = rest[n:]
		}
		for range len(all)/4 + 1 { // for what has no room
			all = append(all, container.Serial{Unit: int64(len(all))})
		}
		if units == nil {
			units = make([]unitTimes, len(all))
		}
		timed := func(to *time.Duration, f func(*container.Serial), s *container.Serial) {
			start := time.Now()
			f(s)
			if took := time.Since(start); round < 2 || took < *to {
				*to = took
			}
		}
		known := round&1 > 0
		for i := range all {
			u := &units[i]
			if known {
				timed(&u.bytes, d.Prepare, &all[i])
				d.Decode(&all[i])
				timed(&u.sum, d.FinishContent, &all[i])
			} else {
				if i == 0 {
					timed(&u.symbols, d.Prepare, &all[0])
				}
				if i+1 < len(all) { // before Decode says what its window is
					timed(&units[i+1].symbols, d.Prepare, &all[i+1])
				}
				timed(&u.turn, d.Decode, &all[i])
				timed(&u.resolve, d.FinishContent, &all[i])
			}
			if o, ok := all[i].State.(*output); ok {
				d.keepOutput(o)
				all[i].State = nil
			}
		}
		if last := &all[len(all)-1]; last.Total != int64(size) {
			b.Fatal(last.Total, last.Stop)
		}
	}
	return units
}

// simUnit is a unit in a simulation.
type simUnit struct {
	state   int           // 0 not begun, 1 in Prepare, 2 waits, 3 in its turn, 4 in FinishContent, 5 done
	known   bool          // the window is known
	left    float64       // part of Prepare that is left
	at      time.Duration // when left was right
	end     time.Duration // of the step under way
	symbols float64       // part of the content that is symbols
}

// simulate returns how long workers take for units. Two units for each worker are in flight.
func simulate(times []unitTimes, workers int) (now time.Duration) {
	units := make([]simUnit, len(times))
	units[0].known = true
	begun, turn, delivered, busy := 0, 0, 0, 0
	for delivered < len(units) {
		for i := delivered; i < begun; i++ { // what has begun comes first
			if u := &units[i]; u.state == 2 && i == turn && busy < workers {
				busy++
				u.state, u.end = 3, now+times[i].turn
			}
		}
		for ; busy < workers && begun < len(units) && begun < delivered+2*workers; begun++ {
			busy++
			u := &units[begun]
			u.state, u.left, u.at = 1, 1, now
			u.plan(&times[begun])
		}
		next := -1
		for i := delivered; i < begun; i++ {
			if s := units[i].state; s&1 > 0 && s < 5 || s == 4 {
				if next < 0 || units[i].end < units[next].end {
					next = i
				}
			}
		}
		u := &units[next]
		now = u.end
		switch u.state {
		case 1:
			u.settle(now, &times[next])
			if next == turn {
				u.state, u.end = 3, now+times[next].turn
			} else {
				u.state = 2
				busy--
			}
		case 3:
			turn++
			if turn < len(units) {
				v := &units[turn]
				if v.state == 1 {
					v.settle(now, &times[turn])
					v.known = true
					v.plan(&times[turn])
				}
				v.known = true
			}
			t := &times[next]
			u.state = 4
			u.end = now + t.sum + time.Duration(u.symbols*float64(max(t.resolve-t.sum, 0)))
		case 4:
			u.state = 5
			busy--
			for delivered < len(units) && units[delivered].state == 5 {
				delivered++
			}
		}
	}
	return now
}

// rate returns how long the whole Prepare takes as it goes now.
func (u *simUnit) rate(t *unitTimes) float64 {
	if u.known {
		return float64(t.bytes)
	}
	return float64(t.symbols)
}

// plan says when Prepare ends.
func (u *simUnit) plan(t *unitTimes) { u.end = u.at + time.Duration(u.left*u.rate(t)) }

// settle notes how much of Prepare is done.
func (u *simUnit) settle(now time.Duration, t *unitTimes) {
	done := min(float64(now-u.at)/max(u.rate(t), 1), u.left)
	if !u.known {
		u.symbols += done
	}
	u.left -= done
	u.at = now
}
