package host

import (
	"errors"
	"math"
	"testing"

	"github.com/gopz/compress/gpu"
)

// TestContent checks that submissions have no more content than SetContent allows, and that their
// buffers stay within the limits of the driver and of the device.
func TestContent(t *testing.T) {
	for _, x := range []struct {
		maxBuffer    uint64
		content      int // 0: the default
		submissions  int // for 32 MiB
		largestBytes uint64
	}{
		{LargestBuffer, 0, 2, defaultBuffer},
		{LargestBuffer, 32 << 20, 1, 256 << 20},
		{LargestBuffer, 8 << 20, 4, defaultBuffer},
		{LargestBuffer, 1 << 30, 1, LargestBuffer},
		{defaultBuffer, 32 << 20, 2, defaultBuffer},
		{MinBuffer, 32 << 20, 16, MinBuffer},
	} {
		f := &fake{maxBuffer: x.maxBuffer, failsAt: -1}
		d, err := New(f, Config{})
		if err != nil {
			t.Fatal(err)
		}
		if x.content > 0 {
			d.SetContent(x.content)
		}
		var batch []*gpu.Request
		for range 16 {
			batch = append(batch, matchRequest(make([]byte, 2<<20)))
		}
		if err := d.Run(gpu.Stage0, batch); err != nil || len(f.submitted) != x.submissions {
			t.Errorf("%+v: %d submissions, error %v", x, len(f.submitted), err)
		}
		for _, s := range f.submitted {
			all := append(s.Reserve, BufferSize{In, s.UploadSize}, BufferSize{Out, s.DownloadSize()})
			for _, r := range all {
				if r.Size > x.largestBytes {
					t.Errorf("%+v: a buffer of %d bytes", x, r.Size)
				}
			}
		}
		if got := d.Info().Ops[gpu.Fused].Bytes; got > d.MaxContent() {
			t.Errorf("%+v: batches of Fused have %d bytes; the buffers allow %d", x, got, d.MaxContent())
		}
		d.Close()
	}
}

// TestContentByMemory checks how much content a submission may have by the device's memory.
func TestContentByMemory(t *testing.T) {
	for _, x := range []struct {
		kind   gpu.Kind
		memory uint64
		want   int
	}{
		{gpu.Discrete, 0, leastContent},
		{gpu.Discrete, 2 << 30, leastContent},
		{gpu.Discrete, 8 << 30, 36 << 20},
		{gpu.Integrated, 80 << 30, leastContent},
		{gpu.Discrete, 24 << 30, 116 << 20},
		{gpu.Discrete, 80 << 30, 256 << 20},
		{gpu.Discrete, math.MaxUint64, 256 << 20},
		{gpu.Software, 80 << 30, leastContent},
	} {
		f := &fake{maxBuffer: LargestBuffer, failsAt: -1}
		d, err := New(f, Config{Kind: x.kind, Memory: x.memory})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Content(); got != x.want || d.Info().Ops[gpu.Fused].Bytes != x.want {
			t.Errorf("%+v: %d bytes, batches of Fused %d", x, got, d.Info().Ops[gpu.Fused].Bytes)
		}
		d.Close()
	}
}

// TestTooLittleMemory checks that a batch runs in smaller submissions if memory runs out, and that
// Run fails if the smallest ones do not fit either.
func TestTooLittleMemory(t *testing.T) {
	for _, x := range []struct {
		memory  uint64
		op      gpu.Op
		content int // afterwards
		shrunk  int // both slots each time
		fails   bool
	}{
		{1 << 40, gpu.Stage0, 128 << 20, 0, false},
		{26 * 70 << 20, gpu.Stage0, 64 << 20, 2, false},
		{26 * 18 << 20, gpu.Stage0, leastContent, 6, false},
		{1 << 20, gpu.Stage0, leastContent, 8, true},
		{1 << 20, gpu.StageN, 128 << 20, 4, true},
	} {
		f := &fake{maxBuffer: LargestBuffer, failsAt: -1, memory: x.memory}
		d, err := New(f, Config{Memory: 26 << 30})
		if err != nil {
			t.Fatal(err)
		}
		var batch []*gpu.Request
		for range 32 {
			r := matchRequest(make([]byte, 4<<20))
			if x.op == gpu.StageN {
				r = encodeRequest(make([]byte, 4<<20))
			}
			batch = append(batch, r)
		}
		err = d.Run(x.op, batch)
		if d.Content() != x.content || f.shrunk != x.shrunk || errors.Is(err, ErrMemory) != x.fails {
			t.Errorf("%+v: content %d, buffers freed %d times, error %v", x, d.Content(), f.shrunk, err)
		}
		for i, r := range batch {
			if !x.fails && r.Candidates == nil {
				t.Errorf("%+v: block %d has no candidates", x, i)
			}
		}
		d.Close()
	}
}
