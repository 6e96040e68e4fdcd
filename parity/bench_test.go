package parity

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/gopz/compress"
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
