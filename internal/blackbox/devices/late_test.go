package devices

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/pipeline"
)

// lateDevice reads the content of its first request until hold is closed, even after the scheduler
// has given it up.
type lateDevice struct {
	gpu.Device
	t    *testing.T
	hold chan struct{}
	runs *sync.RWMutex // Run holds it for reading
}

func newLate(t *testing.T) lateDevice {
	d := lateDevice{
		Device: gpu.NewSoft(pipeline.Host, gpu.SoftConfig{Timeout: 10 * time.Millisecond}),
		t:      t,
		hold:   make(chan struct{}),
		runs:   new(sync.RWMutex),
	}
	t.Cleanup(func() {
		close(d.hold)
		d.runs.Lock() // waits for every Run under way
		defer d.runs.Unlock()
	})
	return d
}

func (d lateDevice) Run(op gpu.Op, batch []*gpu.Request) error {
	d.runs.RLock()
	defer d.runs.RUnlock()
	src := batch[0].Src
	before := bytes.Clone(src)
	for held := true; held; {
		select {
		case <-d.hold:
			held = false
		case <-time.After(time.Millisecond):
		}
		if !bytes.Equal(src, before) {
			d.t.Error("the content changed while the device could read it")
			break
		}
	}
	return nil
}

// TestLateDeviceReads checks that memory which a device may still read is not reused after the
// scheduler has given the device up. The race detector notices such reuse.
func TestLateDeviceReads(t *testing.T) {
	content := bbtest.TextBytes(20*bbtest.BlockSize, 1)
	late := func() []compress.Option {
		return []compress.Option{
			compress.WithScheduler(compress.NewScheduler(1)),
			compress.WithDevice(newLate(t), gpu.BackendGPU, gpu.BackendGPU),
		}
	}
	file := bbtest.Encode(t, content,
		append(bbtest.ForWriter(late()...), compress.WithBlockSize(bbtest.BlockSize))...)
	bbtest.Equal(t, file, bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize)), "Writer")
	got, err := io.ReadAll(bbtest.NewReader(t, bytes.NewReader(file), bbtest.ForReader(late()...)...))
	if err != nil {
		t.Fatal(err)
	}
	bbtest.Equal(t, got, content, "Reader")
	r := bbtest.OpenAt(t, file, append(bbtest.ForReader(late()...), compress.WithMaxMemory(648<<10))...)
	got, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	bbtest.Equal(t, got, content, "ReaderAt")
}

// TestCancelBehindDevice checks that a canceled Writer does not wait for blocks that wait for a
// device.
func TestCancelBehindDevice(t *testing.T) {
	begun := make(chan struct{}, 10)
	s := compress.NewScheduler(2)
	d := gpu.NewSoft(pipeline.Host, gpu.SoftConfig{
		StallAfter: 1,
		Timeout:    time.Minute,
		Observe:    func(gpu.Op, []*gpu.Request) { begun <- struct{}{} },
	})
	content := bbtest.TextBytes(3*bbtest.BlockSize, 1)
	opts := []compress.WriterOption{
		compress.WithScheduler(s), compress.WithDevice(d, gpu.BackendGPU, gpu.BackendGPU),
		compress.WithBlockSize(bbtest.BlockSize),
	}
	first := make(chan error)
	go func() {
		_, err := compress.AppendEncode(nil, content, opts...)
		first <- err
	}()
	<-begun
	<-begun // the second batch stalls
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	bbtest.MustFinish(t, "Close", func() {
		w := bbtest.NewWriter(t, io.Discard, append(opts, compress.WithContext(ctx))...)
		w.Write(content)
		if err := w.Close(); err != context.Canceled {
			t.Errorf("Close: error %v, want %v", err, context.Canceled)
		}
	})
	d.Close() // ends the stalled batch
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// reader is a device that reads the content of its requests for 400 ms, whatever has become of
// them.
type reader struct {
	gpu.Device
	runs sync.RWMutex // Run holds it for reading
	sum  int          // of all bytes read
}

func (d *reader) Run(op gpu.Op, batch []*gpu.Request) error {
	d.runs.RLock()
	defer d.runs.RUnlock()
	for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
		for _, r := range batch {
			for _, b := range r.Src { // the race detector does not see reads of assembly
				d.sum += int(b)
			}
		}
		time.Sleep(time.Millisecond)
	}
	return d.Device.Run(op, batch)
}

// TestCallersMemory checks that no device reads caller-owned memory after the call has returned.
// The test overwrites it then, and the race detector notices a device that reads it.
func TestCallersMemory(t *testing.T) {
	s := compress.NewScheduler(2)
	d := &reader{Device: gpu.NewSoft(pipeline.Host, gpu.SoftConfig{Batch: 2})}
	content := bbtest.TextBytes(4*bbtest.BlockSize, 1)
	both := []compress.Option{
		compress.WithScheduler(s), compress.WithDevice(d, gpu.BackendAuto, gpu.BackendAuto),
	}
	opts := append(bbtest.ForWriter(both...), compress.WithBlockSize(bbtest.BlockSize))
	src := bytes.Clone(content)
	file, err := compress.AppendEncode(nil, src, opts...)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(src)
	src = bytes.Clone(file)
	back, err := compress.AppendDecode(nil, src, bbtest.ForReader(both...)...)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(src)
	bbtest.Equal(t, back, content, "content")
	// A Writer owns its memory, so its device needs no copy.
	var buf bytes.Buffer
	w := bbtest.NewWriter(t, &buf, opts...)
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	back, err = compress.AppendDecode(nil, buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	bbtest.Equal(t, back, content, "Writer")
	d.runs.Lock() // waits for every Run under way
	defer d.runs.Unlock()
}

// overwrite changes all bytes in a way that the race detector sees.
func overwrite(p []byte) {
	for i := range p {
		p[i]++
	}
}

// TestReaderAtWithDevice reads files of every format with an index while the scheduler has a
// device.
func TestReaderAtWithDevice(t *testing.T) {
	content := bbtest.TextBytes(6*bbtest.BlockSize, 1)
	for _, p := range []string{"lzr", "lzseqr", "lzf"} {
		for _, b := range []gpu.Backend{gpu.BackendAuto, gpu.BackendGPU} {
			file, err := compress.AppendEncode(nil, content, bridge.Pipeline(p))
			if err != nil {
				t.Fatal(err)
			}
			s, d := bbtest.DeviceScheduler(t, 2, gpu.SoftConfig{Batch: 2})
			got, err := io.ReadAll(bbtest.OpenAt(t, file, compress.WithScheduler(s),
				compress.WithDevice(d, b, b)))
			if err != nil {
				t.Fatalf("%s, backend %v: error %v", p, b, err)
			}
			bbtest.Equal(t, got, content, p)
		}
	}
}
