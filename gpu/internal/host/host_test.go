package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// fake is a driver that records submissions and runs nothing.
type fake struct {
	maxBuffer             uint64
	queues                int
	stopped, driverClosed bool
	failsAt               int // Queue fails for this queue; -1 for none
	submitted             []Submission
	memory                uint64 // of a submission; 0 for any
	shrunk                int    // calls of Shrink
}

var errFake = errors.New("test: no queue")

func (f *fake) MaxBuffer() uint64 { return f.maxBuffer }
func (f *fake) Held() int         { return f.queues }
func (f *fake) Stop()             { f.stopped = true }
func (f *fake) Close()            { f.queues, f.driverClosed = 0, true }
func (f *fake) Queue() (Queue, error) {
	if f.queues == f.failsAt {
		return nil, errFake
	}
	f.queues++
	return &fakeQueue{f}, nil
}

// downloads returns how many submissions have downloads. Those without are parts of others.
func (f *fake) downloads() (n int) {
	for _, s := range f.submitted {
		if s.DownloadSize() > 0 {
			n++
		}
	}
	return n
}

type fakeQueue struct{ *fake }

func (q *fakeQueue) Shrink() error {
	q.shrunk++
	return nil
}

func (q *fakeQueue) Upload(n uint64) ([]byte, error) { return make([]byte, n), nil }
func (q *fakeQueue) Submit(s *Submission) error {
	need := s.UploadSize
	for _, r := range s.Reserve {
		need += r.Size
	}
	if q.memory > 0 && need > q.memory {
		return fmt.Errorf("test: %w", ErrMemory)
	}
	q.submitted = append(q.submitted, *s)
	return nil
}
func (q *fakeQueue) Downloaded(f func([]byte)) error {
	f(make([]byte, q.submitted[len(q.submitted)-1].DownloadSize()))
	return nil
}

// TestNewFails checks that New closes everything if it returns an error.
func TestNewFails(t *testing.T) {
	for _, f := range []*fake{
		{maxBuffer: MinBuffer - 256, failsAt: -1},
		{maxBuffer: MinBuffer, failsAt: 0},
		{maxBuffer: MinBuffer, failsAt: concurrent - 1},
	} {
		if d, err := New(f, Config{}); err == nil {
			d.Close()
			t.Errorf("New succeeds with %+v", f)
		}
		if f.queues != 0 || !f.driverClosed {
			t.Errorf("left open: %+v", f)
		}
	}
}

// TestImpossible checks that impossible results are errors of their requests.
func TestImpossible(t *testing.T) {
	f := &fake{maxBuffer: MinBuffer, failsAt: -1}
	d, err := New(f, Config{})
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 40_000)
	for i := range text {
		text[i] = byte(i * i >> 5)
	}
	// Histograms that do not sum to the number of symbols.
	batch := []*gpu.Request{encodeRequest(text), encodeRequest(text)}
	if err := d.Run(gpu.StageN, batch); err != nil {
		t.Fatal(err)
	}
	for _, r := range batch {
		if !errors.Is(r.Err, errResult) {
			t.Errorf("error %v, want %v", r.Err, errResult)
		}
	}
	if len(f.submitted) != 1 {
		t.Errorf("%d submissions, want 1", len(f.submitted))
	}
	// No candidates are possible: all literals.
	r := matchRequest(text)
	if err := d.Run(gpu.Stage0, []*gpu.Request{r}); err != nil || r.Err != nil {
		t.Errorf("Run: error %v, request error %v", err, r.Err)
	}
	d.Close()
	if f.queues != 0 || !f.driverClosed || !f.stopped {
		t.Errorf("%+v", f)
	}
}

// TestSubmissions checks that a batch is split where it exceeds the buffers, and that a request
// that does not fit alone fails.
func TestSubmissions(t *testing.T) {
	f := &fake{maxBuffer: MinBuffer, failsAt: -1}
	d, err := New(f, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var batch []*gpu.Request
	for range 5 {
		batch = append(batch, encodeRequest(make([]byte, 3<<20)))
	}
	batch = append(batch, encodeRequest(make([]byte, MinBuffer)))
	if err := d.Run(gpu.StageN, batch); err != nil {
		t.Fatal(err)
	}
	if len(f.submitted) != 3 || !errors.Is(batch[5].Err, ErrTooLarge) || !errors.Is(batch[4].Err, errResult) {
		t.Errorf("%d submissions, want 3; errors %v, %v", len(f.submitted), batch[4].Err, batch[5].Err)
	}
	for _, s := range f.submitted {
		for _, size := range []uint64{s.UploadSize, s.Reserve[0].Size, s.DownloadSize()} {
			if size > f.maxBuffer {
				t.Errorf("%d bytes in a buffer; the limit is %d", size, f.maxBuffer)
			}
		}
	}
	f.submitted = nil
	batch = nil
	for range 3 {
		src := make([]byte, 3<<20)
		batch = append(batch, matchRequest(src))
	}
	if !d.Accepts(batch[0]) || d.Run(gpu.Stage0, batch) != nil {
		t.Fatal("the device does not run the batch")
	}
	if len(f.submitted) != 3 {
		t.Errorf("%d submissions, want 3", len(f.submitted))
	}
	batch[0].Src = make([]byte, 4<<20)
	if d.Accepts(batch[0]) {
		t.Error("Accepts is true for a block that exceeds the buffers")
	}
}

// TestAccepts checks which requests the device refuses.
func TestAccepts(t *testing.T) {
	f := &fake{maxBuffer: 1 << 30, failsAt: -1}
	d, err := New(f, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, r := range []*gpu.Request{
		{Op: gpu.Fused, Params: &lz77.Levels[6]},
		{Op: gpu.Stage0, Params: &lz77.Levels[1]},
		{Op: gpu.Stage0, Params: &lz77.Levels[6], Src: make([]byte, maxMatch+1)},
		{Op: gpu.Stage0},
	} {
		if d.Accepts(r) {
			t.Errorf("Accepts is true for %v of %d bytes, params %+v", r.Op, len(r.Src), r.Params)
		}
	}
}

// TestGrid checks that grids have enough workgroups, and few more.
func TestGrid(t *testing.T) {
	for _, n := range []int{1, 2, maxGroups, maxGroups + 1, maxGroups*maxRows - 1, maxGroups * maxRows} {
		x, y := (&Dispatch{Groups: n}).Grid()
		all := uint64(x) * uint64(y)
		if all < uint64(n) || all >= uint64(n)+uint64(x) || x > maxGroups || y > maxRows {
			t.Errorf("%d workgroups: grid of %d by %d", n, x, y)
		}
	}
	s := &slot{d: &Device{}, q: &fakeQueue{&fake{}}}
	s.beginSubmission(0, In)
	s.dispatch("histogram", maxGroups*maxRows+1)
	if s.submit() == nil {
		t.Error("submit accepts more workgroups than a grid can have")
	}
}

func encodeRequest(lits []byte) *gpu.Request {
	return &gpu.Request{
		Op: gpu.StageN, Size: len(lits),
		Layout: lzseq.Repeat, Streams: &lzseq.Streams{Lits: lits},
	}
}

func matchRequest(src []byte) *gpu.Request {
	return &gpu.Request{
		Op: gpu.Stage0, Src: src, Size: len(src),
		Params: &lz77.Levels[6], Limits: lz77.Limits{MinMatch: 5, MaxOffset: 1 << 20},
	}
}

// TestReadWords checks all small numbers of words, at all alignments.
func TestReadWords(t *testing.T) {
	p := make([]byte, 100)
	for i := range p {
		p[i] = byte(37 * i)
	}
	for n := range 20 {
		for from := range 20 {
			got, want := make([]uint32, n), make([]uint32, n)
			for i := range want {
				want[i] = binary.LittleEndian.Uint32(p[from+4*i:])
			}
			readWords(got, p[from:])
			if !slices.Equal(got, want) {
				t.Fatalf("%d words from byte %d: %x, want %x", n, from, got, want)
			}
		}
	}
}

// TestReadUnit checks histograms of any counts, and their sums.
func TestReadUnit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var counts [2 * 256]byte
		var hist [256]uint16
		shift, sum := r.IntN(16), 0
		for i := range 256 {
			c := uint16(r.Uint32()) >> shift
			binary.LittleEndian.PutUint16(counts[2*i:], c)
			sum += int(c)
		}
		if got := readUnit(&hist, &counts); got != sum {
			t.Fatalf("sum %d, want %d", got, sum)
		}
		for i, c := range hist {
			if c != binary.LittleEndian.Uint16(counts[2*i:]) {
				t.Fatalf("symbol %d: count %d is wrong", i, c)
			}
		}
	}
}

// TestBaseInfo checks which work Auto gives to a device, and that devices support only RowHash.
func TestBaseInfo(t *testing.T) {
	ops := BaseInfo("x").Ops
	for _, x := range []struct {
		what    string
		minAuto int
		want    bool // for blocks of 1 MiB
	}{
		{"matching", ops[gpu.Stage0].MinAuto, true},
		{"decoding", ops[gpu.StageN].MinAutoDecode, true},
		{"coding", ops[gpu.StageN].MinAuto, false},
		{"whole blocks", ops[gpu.Fused].MinAuto, false},
	} {
		if got := x.minAuto <= 1<<20; got != x.want || x.minAuto < 1<<14 {
			t.Errorf("%s: least block for Auto is %d bytes", x.what, x.minAuto)
		}
	}
	if !ops[gpu.Stage0].RowHashOnly || !ops[gpu.Fused].RowHashOnly {
		t.Error("RowHashOnly is false, but kernels implement no other finder")
	}
}
