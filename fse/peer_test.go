package fse

import (
	"bytes"
	"testing"

	kfse "github.com/klauspost/compress/fse"

	"github.com/gopz/compress/internal/corpus"
)

// TestPeer exchanges descriptions and strings of two states with klauspost's fse, both ways.
func TestPeer(t *testing.T) {
	var e Encoder
	var dec DecTable
	both := 0
	for _, k := range corpus.Kinds() {
		for _, n := range []int{100, 101, 1000, 20_001} {
			src := k.Make(n)
			counts := histogram(src)
			used := distinct(counts)
			var d Distribution
			for log := MinLog; log <= MaxLog; log++ {
				if used < 2 || used > 1<<log {
					continue
				}
				d.Normalize(counts, log, log%2 == 0)
				e.Table.Build(&d)
				var s kfse.Scratch
				got, err := kfse.Decompress(e.Append(d.Append(nil), src, 2), &s)
				if err != nil || !bytes.Equal(got, src) {
					t.Errorf("%s, %d bytes, log %d: klauspost reads %d bytes, %v",
						k.Name, n, log, len(got), err)
				}
			}
			var s kfse.Scratch
			code, err := kfse.Compress(src, &s)
			if err != nil {
				continue // nothing to gain
			}
			both++
			size, err := d.Read(code, MaxLog, MaxSymbols)
			if err != nil {
				t.Errorf("%s, %d bytes: %v", k.Name, n, err)
				continue
			}
			dec.Build(&d)
			got := make([]byte, n)
			if err := dec.Decode(got, code[size:], 2); err != nil || !bytes.Equal(got, src) {
				t.Errorf("%s, %d bytes of klauspost's: %v", k.Name, n, err)
			}
		}
	}
	if both < 20 {
		t.Errorf("only %d codes of klauspost's", both)
	}
}
