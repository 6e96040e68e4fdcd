package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/measuring"
)

// fileKinds are the kinds of whole files, which devices match with 8 and with 16 candidates.
var fileKinds = []struct {
	pipeline string
	level    int
}{{"lzseqr", 5}, {"lzr", 6}}

// fileRuns are the ways to compress whole files. The output of the first is the reference.
var fileRuns = []struct {
	backend gpu.Backend
	threads int // 0: all
}{
	{gpu.BackendCPU, 0}, {gpu.BackendFused, 0}, {gpu.BackendGPU, 0},
	{gpu.BackendAuto, 0}, {gpu.BackendCPU, 1},
}

// fileSizes are the sizes of files in bytes.
var fileSizes = []int{256 << 10, 4 << 20, 64 << 20, 512 << 20}

// fileBlock is the size of blocks in bytes. Small files have four smaller ones.
const fileBlock = 1 << 20

// files measures whole streams in memory. Each size has all backends, or none.
func (d *device) files(l *limit) error {
	took := time.Second // a guess for both kinds of the first size
	for _, size := range fileSizes {
		n := l.repeats(took, 3)
		if n == 0 {
			l.leaveOut(fmt.Sprintf("files of %d bytes", size))
			continue
		}
		data := d.data.prefix(size)
		start := time.Now()
		for _, kind := range fileKinds {
			var want []byte
			for _, r := range fileRuns {
				if l.left() <= 0 {
					l.leaveOut(fmt.Sprintf("%s, %v, %d bytes", kind.pipeline, r.backend, size))
					continue
				}
				f := fileRun{d, data, kind.pipeline, kind.level, r.backend, r.threads, n}
				file, err := f.measure(want)
				if err != nil {
					return fmt.Errorf("%s, %v: %w", kind.pipeline, r.backend, err)
				}
				want = file
			}
		}
		took = time.Since(start) / time.Duration(n) * 16
	}
	return nil
}

// fileRun is a way to compress a file.
type fileRun struct {
	d        *device
	data     []byte
	pipeline string
	level    int
	backend  gpu.Backend
	threads  int
	repeats  int
}

// measure measures a run both ways. It fails if the output is not want, unless that is nil.
func (f *fileRun) measure(want []byte) ([]byte, error) {
	s := compress.NewScheduler(f.threads)
	sched, dev := compress.WithScheduler(s), compress.WithDevice(f.d.dev, f.backend, f.backend)
	file := []compress.WriterOption{
		bridge.Pipeline(f.pipeline), compress.WithLevel(f.level),
		compress.WithBlockSize(min(fileBlock, len(f.data)/4)), sched, dev,
	}
	var packing, unpacking []time.Duration
	var out bytes.Buffer
	for range f.repeats {
		out.Reset()
		took, err := timed(func() error { return pack(&out, f.data, file) })
		if err == nil && want != nil && !bytes.Equal(want, out.Bytes()) {
			err = errOtherResult
		}
		if err != nil {
			return nil, err
		}
		packing = append(packing, took)
		took, err = timed(func() error {
			return unpack(out.Bytes(), len(f.data), []compress.ReaderOption{sched, dev})
		})
		if err != nil {
			return nil, err
		}
		unpacking = append(unpacking, took)
	}
	threads := f.threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	f.d.report.addLine(fileLine{"file", f.d.name, f.backend.String(), threads, f.pipeline, f.level,
		len(f.data), out.Len(), f.repeats, speed(len(f.data), measuring.Middle(packing)),
		speed(len(f.data), measuring.Middle(unpacking))})
	status, _ := s.DeviceStatus()
	return bytes.Clone(out.Bytes()), status.Err
}

func pack(dst io.Writer, data []byte, opts []compress.WriterOption) error {
	w, err := compress.NewWriter(dst, opts...)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return errors.Join(err, w.Close())
	}
	return w.Close()
}

func unpack(file []byte, size int, opts []compress.ReaderOption) error {
	r, err := compress.NewReader(bytes.NewReader(file), opts...)
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	if err == nil && n != int64(size) {
		err = errOtherResult
	}
	return err
}
