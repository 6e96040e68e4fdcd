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
	for _, percent := range []int{1, 5, 30} {
		b.Run(fmt.Sprintf("percent=%d", percent), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				write(b, Options{percent, compress.PZ}, data)
			}
		})
	}
}

func BenchmarkRepair(b *testing.B) {
	s := write(b, Options{5, compress.PZ}, random(newRand(41), ZoneSize))
	damaged, moved := s.undamaged(), s.undamaged()
	for i := range s.zones[0].Parity {
		damaged.data[i*s.zones[0].Slice]++
	}
	moved.cut(ZoneSize/2, 1)
	for name, data := range map[string][]byte{
		"intact": s.data, "damaged": damaged.data, "moved": moved.data,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Repair(io.Discard, bytes.NewReader(data), int64(len(data))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
