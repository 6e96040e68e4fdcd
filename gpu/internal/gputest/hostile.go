package gputest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lzseq"
)

// checkDamaged decodes payloads, some of them damaged. The device must fail exactly those that the
// CPU fails. It returns how many fail, and how many of these only when symbols are decoded.
func checkDamaged(t *testing.T, d gpu.Device, payloads [][]byte, size int) (failed, inSymbols int) {
	t.Helper()
	var batch []*gpu.Request
	for _, p := range payloads {
		batch = append(batch, decodeRequest(p, size))
	}
	n := d.Info().Ops[gpu.StageN].Batch
	for from := 0; from < len(batch); from += n {
		run(t, d, batch[from:min(from+n, len(batch))])
	}
	for i, r := range batch {
		want, late, err := decode(bytes.Clone(r.Src), size)
		switch {
		case (err != nil) != (r.Err != nil):
			t.Errorf("request %d: error %v on the CPU, %v on the device", i, err, r.Err)
		case err == nil:
			sameStreams(t, "intact", r.Streams, want)
		default:
			failed++
			if late {
				inSymbols++
			}
		}
	}
	return failed, inSymbols
}

// testHostileDecode checks that damaged payloads fail and do not affect intact ones in the same
// batch.
func testHostileDecode(t *testing.T, d gpu.Device, n amount) {
	require(t, d, gpu.StageN)
	r := rand.New(rand.NewPCG(6, 1))
	src := corpus.ByName("mixed").Make(60_000)
	good := payload(lzseq.Repeat, streamsOf(lzseq.Repeat, src, 1))
	rounds := 6
	if n < all {
		rounds = 2
	}
	const each = 64
	failed, inSymbols := 0, 0
	for range rounds {
		var list [][]byte
		for i := range each {
			bad := bytes.Clone(good)
			switch {
			case i%8 == 0: // intact
			case i%8 == 1:
				bad = bad[:r.IntN(len(bad))]
			case i%8 == 2:
				at := r.IntN(len(bad))
				for k := range bad[at:] {
					bad[at+k] = byte(r.Uint32())
				}
			case i%2 == 0: // heads, tables, states
				bad[r.IntN(600)] ^= 1 << r.IntN(8)
			default:
				for range 1 + r.IntN(3) {
					bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				}
			}
			list = append(list, bad)
		}
		f, i := checkDamaged(t, d, list, len(src))
		failed, inSymbols = failed+f, inSymbols+i
	}
	if failed < rounds*each/2 || inSymbols < rounds*4 {
		t.Errorf("%d payloads fail, %d of them in their symbols: too few", failed, inSymbols)
	}
}

// testHostileWork decodes random words and states: too many words, too few, none.
func testHostileWork(t *testing.T, d gpu.Device) {
	require(t, d, gpu.StageN)
	r := rand.New(rand.NewPCG(6, 2))
	var list [][]byte
	for i := range 48 {
		symbols := changing(16384 + 777*i)
		var e rans.Encoder
		head := []byte{lzseq.Repeat.ID}
		dst, w := e.BeginPayload(head, lzseq.Repeat.Stored, symbols, nil, nil, nil, nil, nil)
		if len(w.Groups) == 0 {
			continue // too few coded symbols
		}
		for k := range w.Groups {
			g := &w.Groups[k]
			for l := range g.States {
				g.States[l] = rans.MinState + r.Uint32N(1<<31-rans.MinState)
			}
			g.Words = make([]byte, 2*r.IntN(1+g.Symbols>>(i%8)))
			if i%8 == 7 {
				g.Words = nil
			}
			for b := range g.Words {
				g.Words[b] = byte(r.Uint32())
			}
		}
		bad := e.EndPayload(dst)
		if i%4 == 3 { // intact
			bad = payload(lzseq.Repeat, &lzseq.Streams{Lits: symbols})
		}
		list = append(list, bad)
	}
	failed, inSymbols := checkDamaged(t, d, list, 1<<17)
	if want := len(list) * 2 / 3; failed < want || inSymbols < want {
		t.Errorf("%d of %d payloads fail, %d of them in their symbols: too few",
			failed, len(list), inSymbols)
	}
}
