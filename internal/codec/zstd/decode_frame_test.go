package zstd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// eachTier runs f with portable code and with the best kernels.
func eachTier(t *testing.T, f func(t *testing.T)) {
	for _, name := range tiers {
		t.Run(name, func(t *testing.T) {
			defer simd.SetTier(simd.SetTier(name))
			f(t)
		})
	}
}

var tiers = func() []string {
	all := simd.Tiers()
	return slices.Compact([]string{all[0], all[len(all)-1]})
}()

// decodeFrame decodes a frame in a buffer that just holds size bytes, and in one with slack, with
// portable code and with kernels, and in parts.
func decodeFrame(t testing.TB, d *Decoder, src []byte, size int) []byte {
	t.Helper()
	var first []byte
	for _, slack := range [...]int{0, DecodeSlack} {
		for _, tier := range tiers {
			before := simd.SetTier(tier)
			dst := make([]byte, size+slack)
			n, err := d.DecodeFrame(dst, src, nil, true)
			simd.SetTier(before)
			if err != nil {
				t.Fatalf("tier %s, frame of %d bytes with %d of content, slack %d: %v",
					tier, len(src), size, slack, err)
			}
			if first == nil {
				first = dst[:n]
			}
			if !bytes.Equal(dst[:n], first) {
				t.Fatalf("tier %s, slack %d: content differs", tier, slack)
			}
		}
	}
	decodeApart(t, d, src, size, nil)
	return first
}

// TestDecodeOwn decodes frames of the Encoder. RLE tables and RLE literals have tests of their own;
// all other modes must occur.
func TestDecodeOwn(t *testing.T) {
	var e Encoder
	var lits, streams [5]int
	var modes [kinds][4]int
	d := NewDecoder()
	for _, k := range corpus.Kinds() {
		for _, n := range []int{0, 1, 2, 17, 300, 4000, 50_000, MaxBlock + 5000} {
			src := k.Make(n)
			blocks := e.Append(nil, src, greedy(src))
			if got := decodeFrame(t, d, frame(n, blocks), n); !bytes.Equal(got, src) {
				t.Fatalf("%s, %d bytes: content differs", k.Name, n)
			}
			for _, b := range inspect(t, blocks) {
				if b.kind != compressedBlock {
					continue
				}
				lits[b.lits]++
				streams[b.streams]++
				for k, mode := range b.modes {
					if b.seqs > 0 {
						modes[k][mode]++
					}
				}
			}
		}
	}
	for i := range 4 {
		if lits[i] == 0 && i != rleLiterals {
			t.Errorf("no literals of type %d", i)
		}
		for k := range kinds {
			if modes[k][i] == 0 && i != rleMode {
				t.Errorf("no table of kind %d has mode %d", k, i)
			}
		}
	}
	if streams[1] == 0 || streams[4] == 0 {
		t.Errorf("number of literals sections by streams: %v", streams)
	}
}

// zstdOptions are options of the zstd program for tests of a decoder.
var zstdOptions = func() (all [][]string) {
	for level := 1; level <= 19; level++ {
		all = append(all, []string{fmt.Sprint("-", level)})
	}
	return append(all, []string{"--fast=1"}, []string{"--fast=5"}, []string{"--fast=100"},
		[]string{"--ultra", "-20"}, []string{"--ultra", "-22", "--long=27"},
		[]string{"-3", "--no-check"}, []string{"-5", "--no-content-size"},
		[]string{"-19", "--zstd=wlog=10"}, []string{"-3", "--zstd=wlog=12"},
		[]string{"-9", "--long=15"},
		[]string{"-19", "--zstd=mml=3,strat=9"}, []string{"-3", "-B1000"})
}()

// TestDecodeZstd decodes frames of the zstd program. All options take all kinds once with PZ_TEST;
// by default each option takes two kinds.
func TestDecodeZstd(t *testing.T) {
	testenv.Slow(t)
	path := testenv.Tool(t, "zstd")
	d := NewDecoder()
	kinds := corpus.Kinds()
	name := filepath.Join(t.TempDir(), "src")
	for i, options := range zstdOptions {
		for j, k := range kinds {
			if !testenv.All() && (i+j)%len(kinds) >= 2 {
				continue
			}
			src := k.Make(150_000 + 7*i)
			if err := os.WriteFile(name, src, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, append([]string{"-c", "-q", "--single-thread"}, options...)...)
			if i%2 == 0 {
				cmd.Args = append(cmd.Args, name)
			} else {
				cmd.Stdin = bytes.NewReader(src) // no content size in the header
			}
			code, err := cmd.Output()
			if err != nil {
				t.Fatalf("zstd %v: %v", options, err)
			}
			if got := decodeFrame(t, d, code, len(src)); !bytes.Equal(got, src) {
				t.Fatalf("zstd %v, %s: content differs", options, k.Name)
			}
		}
	}
}
