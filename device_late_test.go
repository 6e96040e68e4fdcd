package compress

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
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
		Device: NewSoftDevice(gpu.SoftConfig{Timeout: 10 * time.Millisecond}),
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
	content := textBytes(20*testBlock, 1)
	opts := func() []Option {
		s := NewScheduler(1)
		d := newLate(t)
		s.SetDevice(d)
		return []Option{WithScheduler(s), WithBackend(BackendGPU, BackendGPU), WithBlockSize(testBlock)}
	}
	file := encode(t, content, opts()...)
	equal(t, file, encode(t, content, WithBlockSize(testBlock)), "Writer")
	got, err := io.ReadAll(newReader(t, bytes.NewReader(file), opts()...))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, content, "Reader")
	r := openAt(t, file, append(opts(), WithMaxMemory(648<<10))...)
	got, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, content, "ReaderAt")
}

// TestCancelBehindDevice checks that a canceled Writer does not wait for blocks that wait for a
// device.
func TestCancelBehindDevice(t *testing.T) {
	begun := make(chan struct{}, 10)
	s := NewScheduler(2)
	d := NewSoftDevice(gpu.SoftConfig{
		StallAfter: 1,
		Timeout:    time.Minute,
		Observe:    func(gpu.Op, []*gpu.Request) { begun <- struct{}{} },
	})
	s.SetDevice(d)
	content := textBytes(3*testBlock, 1)
	opts := []Option{WithScheduler(s), WithBackend(BackendGPU, BackendGPU), WithBlockSize(testBlock)}
	first := make(chan error)
	go func() {
		_, err := AppendEncode(nil, content, opts...)
		first <- err
	}()
	<-begun
	<-begun // the second batch stalls
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	mustFinish(t, "Close", func() {
		w := newWriter(t, io.Discard, append(opts, WithContext(ctx))...)
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

// TestCallersMemory checks that no device reads caller-owned memory after the call has returned. The
// test overwrites it then, and the race detector notices a device that reads it.
func TestCallersMemory(t *testing.T) {
	s := NewScheduler(2)
	d := &reader{Device: NewSoftDevice(gpu.SoftConfig{Batch: 2})}
	s.SetDevice(d)
	content := textBytes(4*testBlock, 1)
	opts := []Option{WithScheduler(s), WithBlockSize(testBlock)}
	src := bytes.Clone(content)
	file, err := AppendEncode(nil, src, opts...)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(src)
	src = bytes.Clone(file)
	back, err := AppendDecode(nil, src, opts...)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(src)
	equal(t, back, content, "content")
	// A Writer owns its memory, so its device needs no copy.
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
	content := textBytes(6*testBlock, 1)
	for _, p := range []string{"lzr", "lzseqr", "lzf"} {
		for _, b := range []Backend{BackendAuto, BackendGPU} {
			file, err := AppendEncode(nil, content, WithPipeline(p))
			if err != nil {
				t.Fatal(err)
			}
			s := NewScheduler(2)
			s.SetDevice(NewSoftDevice(gpu.SoftConfig{Batch: 2}))
			got, err := io.ReadAll(openAt(t, file, WithScheduler(s), WithBackend(b, b)))
			if err != nil {
				t.Fatalf("%s, backend %v: error %v", p, b, err)
			}
			equal(t, got, content, p)
		}
	}
}
