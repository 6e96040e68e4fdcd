package compress

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
)

// lateDevice reads what it was given for as long as it is held, whether or not it is given up before.
type lateDevice struct {
	gpu.Device
	t    *testing.T
	hold chan struct{}
	runs *sync.WaitGroup
}

func newLate(t *testing.T) lateDevice {
	d := lateDevice{NewSoftDevice(gpu.SoftConfig{Timeout: 10 * time.Millisecond}), t, make(chan struct{}), new(sync.WaitGroup)}
	t.Cleanup(func() {
		close(d.hold)
		d.runs.Wait()
	})
	return d
}

func (d lateDevice) Run(op gpu.Op, batch []*gpu.Request) error {
	d.runs.Add(1)
	defer d.runs.Done()
	src := batch[0].Src
	before := bytes.Clone(src)
	for held := true; held; {
		select {
		case <-d.hold:
			held = false
		case <-time.After(time.Millisecond):
		}
		if !bytes.Equal(src, before) {
			d.t.Error("the block has changed under the device")
			break
		}
	}
	return nil
}

// What a device that was given up may still read is not filled again. The race detector sees it if it is.
func TestLateDeviceReads(t *testing.T) {
	content := textBytes(20*testBlock, 1)
	opts := func() []Option {
		s := NewScheduler(1)
		d := newLate(t)
		s.SetDevice(d)
		return []Option{WithScheduler(s), WithBackend(GPU, GPU), WithBlockSize(testBlock)}
	}
	file := encode(t, content, opts()...)
	equal(t, file, encode(t, content, WithBlockSize(testBlock)), "Writer")
	got, err := io.ReadAll(newReader(t, bytes.NewReader(file), opts()...))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, content, "Reader")
	r := openAt(t, file, append(opts(), WithMaxMemory(616<<10))...)
	if got, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	equal(t, got, content, "ReaderAt")
}

// A Writer that is canceled does not wait for blocks that only wait for a device.
func TestCancelBehindDevice(t *testing.T) {
	begun := make(chan struct{}, 10)
	s := NewScheduler(2)
	d := NewSoftDevice(gpu.SoftConfig{StallAfter: 1, Timeout: time.Minute, Observe: func(gpu.Op, []*gpu.Request) { begun <- struct{}{} }})
	s.SetDevice(d)
	content := textBytes(3*testBlock, 1)
	opts := []Option{WithScheduler(s), WithBackend(GPU, GPU), WithBlockSize(testBlock)}
	first := make(chan error)
	go func() {
		_, err := AppendEncode(nil, content, opts...)
		first <- err
	}()
	<-begun
	<-begun // this one stalls
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	deadline(t, "Close", func() {
		w := newWriter(t, io.Discard, append(opts, WithContext(ctx))...)
		w.Write(content)
		if err := w.Close(); err != context.Canceled {
			t.Error(err)
		}
	})
	d.Close() // lets the other go on
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// slow is a device that says whether anything is under way.
type slow struct {
	gpu.Device
	active atomic.Int64
}

func (d *slow) Run(op gpu.Op, batch []*gpu.Request) error {
	d.active.Add(1)
	defer d.active.Add(-1)
	time.Sleep(400 * time.Millisecond)
	return d.Device.Run(op, batch)
}

// TestCallersMemory: when a call returns that works on the caller's memory no device is still at it, however slow it is.
func TestCallersMemory(t *testing.T) {
	s := NewScheduler(2)
	d := &slow{Device: NewSoftDevice(gpu.SoftConfig{Batch: 2})}
	s.SetDevice(d)
	content := textBytes(4*testBlock, 1)
	opts := []Option{WithScheduler(s), WithBlockSize(testBlock)}
	file, err := AppendEncode(nil, content, opts...)
	if n := d.active.Load(); err != nil || n != 0 {
		t.Fatalf("AppendEncode: %v, %d batches under way", err, n)
	}
	back, err := AppendDecode(nil, file, opts...)
	if n := d.active.Load(); err != nil || n != 0 {
		t.Fatalf("AppendDecode: %v, %d batches under way", err, n)
	}
	equal(t, back, content, "content")
	// A Writer's memory is its own: it waits for nobody.
	var buf bytes.Buffer
	w := newWriter(t, &buf, opts...)
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	back, err = AppendDecode(nil, buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, back, content, "Writer")
}

// TestReaderAtWithDevice: files of every format that has an index are read with a device there, whether or not it has anything to do.
func TestReaderAtWithDevice(t *testing.T) {
	content := textBytes(6*testBlock, 1)
	for _, p := range []string{"lzr", "lzseqr", "lzf"} {
		for _, b := range []Backend{Auto, GPU} {
			file, err := AppendEncode(nil, content, WithPipeline(p))
			if err != nil {
				t.Fatal(err)
			}
			s := NewScheduler(2)
			s.SetDevice(NewSoftDevice(gpu.SoftConfig{Batch: 2}))
			got, err := io.ReadAll(openAt(t, file, WithScheduler(s), WithBackend(b, b)))
			if err != nil {
				t.Fatalf("%s, %v: %v", p, b, err)
			}
			equal(t, got, content, p)
		}
	}
}
