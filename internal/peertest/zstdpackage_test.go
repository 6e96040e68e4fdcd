package peertest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/zstd"
)

// zstdSizeKinds are the kinds of content that sizes are compared with. Those left out do not
// compress, compress to nearly nothing, or are random bytes that repeat far back.
var zstdSizeKinds = []string{
	"text", "log", "json", "source", "records", "columns", "dna", "image", "exe", "runs", "short",
	"skewed", "mixed",
}

// TestZstdPackageSizes compares the sizes of frames with those of klauspost/compress at the same
// speed. On average ours are not larger. It logs a table.
func TestZstdPackageSizes(t *testing.T) {
	testenv.Slow(t)
	size := 256 << 10
	if testenv.All() {
		size = 2 << 20
	}
	var sums [zstd.SpeedBestCompression + 1]float64
	for _, kind := range zstdSizeKinds {
		p := corpus.ByName(kind).MakeSeed(size, 7)
		var row strings.Builder
		for level := zstd.SpeedFastest; level <= zstd.SpeedBestCompression; level++ {
			r := float64(len(oursAt(t, level).EncodeAll(p, nil))) /
				float64(len(peerAt(t, level).EncodeAll(p, nil)))
			sums[level] += math.Log(r)
			fmt.Fprintf(&row, " %.3f |", r)
		}
		t.Logf("| %s |%s", kind, &row)
	}
	for level := zstd.SpeedFastest; level <= zstd.SpeedBestCompression; level++ {
		average := math.Exp(sums[level] / float64(len(zstdSizeKinds)))
		t.Logf("%v: %.3f of the size on average", level, average)
		if average > 1 {
			t.Errorf("%v: %.3f of the size on average", level, average)
		}
	}
}

// TestZstdPackageDocuments compares the sizes of frames of small documents. Ours are larger by half
// a percent at most.
func TestZstdPackageDocuments(t *testing.T) {
	testenv.Slow(t)
	for level := zstd.SpeedFastest; level <= zstd.SpeedBestCompression; level++ {
		ours, theirs, sum, peers := oursAt(t, level), peerAt(t, level), 0, 0
		for i := range 300 {
			p := corpus.Document(uint64(i))
			sum += len(ours.EncodeAll(p, nil))
			peers += len(theirs.EncodeAll(p, nil))
		}
		r := float64(sum) / float64(peers)
		t.Logf("%v: %.3f of the size", level, r)
		if r > 1.008 {
			t.Errorf("%v: %.3f of the size", level, r)
		}
	}
}

func oursAt(t *testing.T, level zstd.EncoderLevel, opts ...zstd.EOption) *zstd.Encoder {
	t.Helper()
	e, err := zstd.NewWriter(nil, append(opts, zstd.WithEncoderLevel(level))...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func peerAt(t *testing.T, level zstd.EncoderLevel, opts ...kzstd.EOption) *kzstd.Encoder {
	t.Helper()
	e, err := kzstd.NewWriter(nil, append(opts, kzstd.WithEncoderLevel(kzstd.EncoderLevel(level)),
		kzstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A frameEncoder is an Encoder of one of the two packages.
type frameEncoder interface {
	io.Writer
	EncodeAll(src, dst []byte) []byte
	Reset(w io.Writer)
	Flush() error
	Close() error
}

// framesOf returns content as a frame of EncodeAll, of a stream, and of a stream with flushes.
func framesOf(t *testing.T, e frameEncoder, content []byte) [][]byte {
	t.Helper()
	list := [][]byte{e.EncodeAll(content, nil)}
	for _, n := range []int{len(content) + 1, len(content)/3 + 1} {
		var b bytes.Buffer
		e.Reset(&b)
		for p := content; len(p) > 0; {
			k := min(n, len(p))
			e.Write(p[:k])
			if err := e.Flush(); n <= len(content) && err != nil {
				t.Fatal(err)
			}
			p = p[k:]
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		list = append(list, b.Bytes())
	}
	return list
}

// TestZstdPackageExchange decodes the frames of each package with the other one.
func TestZstdPackageExchange(t *testing.T) {
	all := corpus.ByName("mixed").MakeSeed(400<<10, 9)
	var samples [][]byte
	for i := range 60 {
		samples = append(samples, corpus.Document(uint64(i)))
	}
	history := bytes.Join(samples[:20], nil)
	mine, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 11, Contents: samples, History: history})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := kzstd.BuildDict(kzstd.BuildDictOptions{
		ID: 12, Contents: samples, History: history, Offsets: [3]int{1, 4, 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderDicts(mine, theirs), zstd.WithDecoderDictRaw(13, history))
	if err != nil {
		t.Fatal(err)
	}
	k, err := kzstd.NewReader(nil,
		kzstd.WithDecoderDicts(mine, theirs), kzstd.WithDecoderDictRaw(13, history))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for level := zstd.SpeedFastest; level <= zstd.SpeedBestCompression; level++ {
		for name, e := range map[string]frameEncoder{
			"ours":                   oursAt(t, level),
			"ours, window":           oursAt(t, level, zstd.WithWindowSize(32<<10)),
			"ours, least window":     oursAt(t, level, zstd.WithWindowSize(1<<10)),
			"ours, dictionary":       oursAt(t, level, zstd.WithEncoderDict(mine)),
			"ours, their dictionary": oursAt(t, level, zstd.WithEncoderDict(theirs)),
			"ours, raw dictionary":   oursAt(t, level, zstd.WithEncoderDictRaw(13, history)),
			"theirs":                 peerAt(t, level),
			"theirs, window":         peerAt(t, level, kzstd.WithWindowSize(32<<10)),
			"theirs, dictionary":     peerAt(t, level, kzstd.WithEncoderDict(theirs)),
			"theirs, our dictionary": peerAt(t, level, kzstd.WithEncoderDict(mine)),
			"theirs, raw dictionary": peerAt(t, level, kzstd.WithEncoderDictRaw(13, history)),
			"ours, dictionary, a window": oursAt(t, level,
				zstd.WithEncoderDict(mine), zstd.WithWindowSize(64<<10)),
		} {
			for _, content := range [][]byte{all, all[:70_000], samples[3], samples[30], all[:5], nil} {
				for i, p := range framesOf(t, e, content) {
					what := fmt.Sprintf("%v, %s, %d bytes, %d", level, name, len(content), i)
					got, err := d.DecodeAll(p, nil)
					if err != nil || !bytes.Equal(got, content) {
						t.Errorf("%s: we return %d bytes, %v", what, len(got), err)
					}
					got, err = k.DecodeAll(p, nil)
					if err != nil || !bytes.Equal(got, content) {
						t.Errorf("%s: they return %d bytes, %v", what, len(got), err)
					}
					d.Reset(plainReader{bytes.NewReader(p)})
					got, err = io.ReadAll(d)
					if err != nil || !bytes.Equal(got, content) {
						t.Errorf("%s: we read %d bytes, %v", what, len(got), err)
					}
					k.Reset(plainReader{bytes.NewReader(p)})
					got, err = io.ReadAll(k)
					if err != nil || !bytes.Equal(got, content) {
						t.Errorf("%s: they read %d bytes, %v", what, len(got), err)
					}
				}
			}
		}
	}
}

// zstdErrors are the errors of both packages, by name.
var zstdErrors = []struct {
	name         string
	ours, theirs error
}{
	{"ErrReservedBlockType", zstd.ErrReservedBlockType, kzstd.ErrReservedBlockType},
	{"ErrCompressedSizeTooBig", zstd.ErrCompressedSizeTooBig, kzstd.ErrCompressedSizeTooBig},
	{"ErrBlockTooSmall", zstd.ErrBlockTooSmall, kzstd.ErrBlockTooSmall},
	{"ErrUnexpectedBlockSize", zstd.ErrUnexpectedBlockSize, kzstd.ErrUnexpectedBlockSize},
	{"ErrMagicMismatch", zstd.ErrMagicMismatch, kzstd.ErrMagicMismatch},
	{"ErrWindowSizeExceeded", zstd.ErrWindowSizeExceeded, kzstd.ErrWindowSizeExceeded},
	{"ErrDecoderSizeExceeded", zstd.ErrDecoderSizeExceeded, kzstd.ErrDecoderSizeExceeded},
	{"ErrUnknownDictionary", zstd.ErrUnknownDictionary, kzstd.ErrUnknownDictionary},
	{"ErrFrameSizeExceeded", zstd.ErrFrameSizeExceeded, kzstd.ErrFrameSizeExceeded},
	{"ErrFrameSizeMismatch", zstd.ErrFrameSizeMismatch, kzstd.ErrFrameSizeMismatch},
	{"ErrCRCMismatch", zstd.ErrCRCMismatch, kzstd.ErrCRCMismatch},
	{"ErrUnexpectedEOF", io.ErrUnexpectedEOF, io.ErrUnexpectedEOF},
}

// zstdErrorName returns the name of an error, "" for none and "other" for one without a name.
func zstdErrorName(err error) string {
	if err == nil {
		return ""
	}
	for _, e := range zstdErrors {
		if errors.Is(err, e.ours) || errors.Is(err, e.theirs) {
			return e.name
		}
	}
	return "other"
}

// zstdDiffer are the differences that may be. Where the bits of a code run out, klauspost/compress
// says that the input has ended. DecodeAll does not tell a block that is too large for its frame
// from one that is too large in any case.
var zstdDiffer = map[string]bool{
	"other, theirs ErrUnexpectedEOF": true, "ErrCRCMismatch, theirs ErrUnexpectedEOF": true,
	"ErrFrameSizeExceeded, theirs other": true,
}

// TestZstdPackageErrors decodes damaged frames with both packages, by DecodeAll and in a stream.
// Both return the same errors, as far as they have names, but for those in zstdDiffer.
func TestZstdPackageErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var seeds [][]byte
	all := corpus.ByName("mixed").MakeSeed(50_000, 3)
	for _, e := range []frameEncoder{
		oursAt(t, 2), peerAt(t, 2), oursAt(t, 1, zstd.WithWindowSize(4<<10)),
		peerAt(t, 3, kzstd.WithWindowSize(4<<10), kzstd.WithEncoderCRC(false)),
	} {
		for _, n := range []int{30, 700, 50_000} {
			seeds = append(seeds, framesOf(t, e, all[:n])...)
		}
	}
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<20))
	k, _ := kzstd.NewReader(nil, kzstd.WithDecoderConcurrency(1), kzstd.WithDecoderMaxMemory(1<<20))
	defer k.Close()
	differ := map[string]int{}
	const count = 20_000
	for i := range count {
		p := bytes.Clone(seeds[i%len(seeds)])
		if rng.IntN(3) > 0 {
			p[rng.IntN(min(len(p), 24))] ^= 1 << rng.IntN(8)
		} else {
			p[rng.IntN(len(p))] ^= 1 << rng.IntN(8)
		}
		if rng.IntN(4) == 0 {
			p = p[:rng.IntN(len(p))]
		}
		for _, way := range []string{"DecodeAll", "Read"} {
			var got, want []byte
			var err, kerr error
			if way == "DecodeAll" {
				got, err = d.DecodeAll(p, nil)
				want, kerr = k.DecodeAll(p, nil)
			} else {
				d.Reset(plainReader{bytes.NewReader(p)})
				k.Reset(plainReader{bytes.NewReader(p)})
				got, err = io.ReadAll(d)
				want, kerr = io.ReadAll(k)
			}
			a, b := zstdErrorName(err), zstdErrorName(kerr)
			if a != b {
				differ[a+", theirs "+b]++
			}
			if err == nil && kerr == nil && !bytes.Equal(got, want) {
				t.Errorf("%d, %s: other content", i, way)
			}
		}
	}
	for what, n := range differ {
		if !zstdDiffer[what] {
			t.Errorf("%s: %d times", what, n)
		}
	}
}
