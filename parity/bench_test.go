package parity

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
)

func BenchmarkWriter(b *testing.B) {
	data := random(newRand(40), ZoneSize)
	for _, percent := range []int{1, 5, 10, 30} {
		b.Run(fmt.Sprintf("percent=%d", percent), func(b *testing.B) {
			w, err := NewWriter(io.Discard, Options{Percent: percent})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := w.Write(data); err != nil {
					b.Fatal(err)
				}
				if err := w.EndZone(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRepair(b *testing.B) {
	s := write(b, Options{5, compress.PZ}, random(newRand(41), ZoneSize))
	g := s.zones[0]
	for _, kind := range []string{"intact", "one slice", "5 percent", "insertion"} {
		r := newRand(42)
		data := bytes.Clone(s.data)
		switch kind {
		case "one slice":
			data[1000]++
		case "5 percent":
			for _, i := range r.Perm(g.Slices())[:g.Parity] {
				data[i*g.Slice]++
			}
		case "insertion":
			data = append(append(bytes.Clone(data[:g.Size/2]), 1), data[g.Size/2:]...)
		}
		for _, verify := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/verify=%v", kind, verify), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					var err error
					src := bytes.NewReader(data)
					if verify {
						_, err = Verify(src, int64(len(data)))
					} else {
						_, err = Repair(io.Discard, src, int64(len(data)))
					}
					if err != nil && !verify {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// count counts what is written.
type count struct{ n int64 }

func (c *count) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// TestOverhead bounds how much a file grows beyond its percentage.
func TestOverhead(t *testing.T) {
	for _, c := range []struct {
		size  int64
		limit float64 // percent, with parity of 5%
	}{{1000, 53}, {100_000, 8.8}, {10_000_000, 5.5}, {1_000_000_000, 5.2}} {
		if c.size > 10_000_000 {
			if !testenv.All() {
				continue
			}
		}
		out := &count{}
		w, err := NewWriter(out, Options{Percent: 5})
		if err != nil {
			t.Fatal(err)
		}
		data := random(newRand(43), int(min(c.size, ZoneSize)))
		for left := c.size; left > 0; {
			n := min(left, ZoneSize)
			if _, err := w.Write(data[:n]); err != nil {
				t.Fatal(err)
			}
			if err := w.EndZone(); err != nil {
				t.Fatal(err)
			}
			left -= n
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := 100 * float64(out.n-c.size) / float64(c.size)
		t.Logf("%d bytes grow by %d, %.3f%%", c.size, out.n-c.size, got)
		if got > c.limit || got < 5 {
			t.Errorf("%d bytes grow by %.3f%%, want 5 to %.1f", c.size, got, c.limit)
		}
	}
}
