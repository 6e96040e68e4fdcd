package inflate

import (
	"bytes"
	"compress/flate"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress/internal/corpus"
)

// BenchmarkPeer decodes with this package and the standard library by turns, made data and the
// files of PZ_CORPUS. It reports medians: the speed, and how many times as fast as the standard
// library this package is.
func BenchmarkPeer(b *testing.B) {
	for _, f := range corpus.Files(b) {
		for _, tool := range [][]string{
			{"gzip", "-1"}, {"gzip", "-6"}, {"gzip", "-9"}, {"pigz", "-9"}, {"libdeflate-gzip", "-12"},
		} {
			if _, err := exec.LookPath(tool[0]); err != nil {
				continue
			}
			b.Run(f.Name+"/"+tool[0]+tool[1], func(b *testing.B) {
				src := byTool(b, f.Data(b), tool[0], tool[1:]...)
				benchmarkPeers(b, src)
			})
		}
	}
}

func benchmarkPeers(b *testing.B, src []byte) {
	const piece = 128 << 10
	standard := flate.NewReader(nil)
	room := make([]byte, WindowSize+piece)
	var d Decoder
	size := 0
	decoders := []func(){
		func() {
			d.Reset()
			size = 0
			for at, used := 0, 0; ; {
				n, m, err := d.Decode(room, at, src[used:])
				size += n
				used += m
				if err == io.EOF {
					return
				}
				if err != nil || at+n < len(room) {
					b.Fatal(err)
				}
				copy(room, room[len(room)-WindowSize:])
				at = WindowSize
			}
		},
		func() {
			standard.(flate.Resetter).Reset(bytes.NewReader(src), nil)
			for err := error(nil); err == nil; {
				_, err = io.ReadFull(standard, room[:piece])
			}
		},
	}
	var times [2][]float64
	for b.Loop() {
		for i, decode := range decoders {
			start := time.Now()
			decode()
			times[i] = append(times[i], time.Since(start).Seconds())
		}
	}
	var median [2]float64
	for i, t := range times {
		slices.Sort(t)
		median[i] = t[len(t)/2]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(size)/1e6/median[0], "MB/s")
	b.ReportMetric(median[1]/median[0], "×standard")
}
