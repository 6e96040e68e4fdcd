package peertest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/refzst"
	"github.com/gopz/compress/internal/testenv"
)

// refDecode decodes with the decoder from the RFC. More than most bytes of content are an error.
func refDecode(p []byte, most int) ([]byte, error) {
	w := &bounded{most: most}
	err := refzst.Decode(w, bytes.NewReader(p), nil, int64(most)+1<<20)
	return w.b, err
}

// bounded keeps what is written.
type bounded struct {
	b    []byte
	most int
}

func (w *bounded) Write(p []byte) (int, error) {
	if len(w.b)+len(p) > w.most {
		return 0, errors.New("too much content")
	}
	w.b = append(w.b, p...)
	return len(p), nil
}

// TestRefzst decodes frames of the peer at all its levels with the decoder from the RFC.
func TestRefzst(t *testing.T) {
	testenv.Slow(t)
	for _, kind := range corpus.Kinds() {
		content := kind.Make(150_000)
		for level := kzstd.SpeedFastest; level <= kzstd.SpeedBestCompression; level++ {
			enc := zstdEncoder(t, level)
			for name, file := range map[string][]byte{
				"EncodeAll": enc.EncodeAll(content, nil),
				"flushed":   zstdStream(t, content, 7777, kzstd.WithEncoderLevel(level)),
				"window": zstdStream(t, content, 50_000, kzstd.WithEncoderLevel(level),
					kzstd.WithWindowSize(4096)),
			} {
				got, err := refDecode(file, len(content))
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s, %v, %s: %v", kind.Name, level, name, err)
				}
			}
		}
	}
}

// compareRefzst decodes p with the decoder from the RFC and with the peer, and reports which of
// them accept it.
func compareRefzst(t testing.TB, p []byte) (ours, theirs bool) {
	const most = 1 << 20
	got, err := refDecode(p, most)
	d, peerErr := kzstd.NewReader(bytes.NewReader(p), kzstd.WithDecoderConcurrency(1),
		kzstd.WithDecoderMaxWindow(1<<27))
	if peerErr != nil {
		return err == nil, false
	}
	defer d.Close()
	want, peerErr := io.ReadAll(io.LimitReader(d, most+1))
	if err == nil && peerErr == nil && !bytes.Equal(got, want) {
		t.Fatalf("%x: %d bytes, klauspost's %d: content differs", p, len(got), len(want))
	}
	return err == nil, peerErr == nil
}

// TestRefzstDamage decodes damaged frames and compares with the peer where both accept them.
func TestRefzstDamage(t *testing.T) {
	testenv.Slow(t)
	count := 20_000
	if testenv.All() {
		count *= 10
	}
	r := rand.New(rand.NewPCG(7, 9))
	frames := smallFrames(t)
	counts := map[string]int{}
	for i := range count {
		p := damage(r, bytes.Clone(frames[i%len(frames)]))
		ours, theirs := compareRefzst(t, p)
		counts[fmt.Sprint(ours, theirs)]++
	}
	t.Logf("accepted by the decoder from the RFC, and by klauspost: %v", counts)
	if counts["true true"] < count/50 {
		t.Errorf("of %d frames both accept only %d", count, counts["true true"])
	}
}

// FuzzRefzst compares with the peer where both accept a file.
func FuzzRefzst(f *testing.F) {
	for _, p := range smallFrames(f) {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p []byte) { compareRefzst(t, p) })
}
