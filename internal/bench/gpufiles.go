package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress"
	"github.com/gopz/compress/lz77"
)

// fileLevels are levels at which a device has work: one that devices only code, one that they match.
var fileLevels = []int{4, 6}

// fileBackends are the assignments of matching and entropy coding that wholeFiles measures. The
// output of the first is the reference.
var fileBackends = [][2]compress.Backend{
	{compress.BackendCPU, compress.BackendCPU}, {compress.BackendCPU, compress.BackendGPU},
	{compress.BackendGPU, compress.BackendCPU}, {compress.BackendGPU, compress.BackendGPU},
	{compress.BackendFused, compress.BackendFused}, {compress.BackendAuto, compress.BackendAuto},
}

// wholeFiles prints a table of whole streams in memory on all processors, with every assignment.
func (c *gpuConfig) wholeFiles(d measurable, data []byte) error {
	t := &table{left: 1}
	t.columns = []string{"whole files: match,entropy", "level", "compress MB/s", "decompress MB/s"}
	for _, level := range fileLevels {
		var want []byte
		for _, b := range fileBackends {
			if b[0].Strict() && lz77.Levels[level].Finder != lz77.RowHash {
				continue // only the CPU has this finder
			}
			file, packing, unpacking, err := c.wholeFile(d, data, level, b, want)
			if err != nil {
				return err
			}
			want = file
			t.add(b[0].String()+","+b[1].String(), fmt.Sprint(level),
				fmt.Sprintf("%.0f", mbps(int64(len(data)), packing.wall)),
				fmt.Sprintf("%.0f", mbps(int64(len(data)), unpacking.wall)))
		}
	}
	return c.print(t)
}

// wholeFile measures one assignment both ways. It fails if the output is not want, unless that is nil.
func (c *gpuConfig) wholeFile(d measurable, data []byte, level int, b [2]compress.Backend, want []byte) (
	file []byte, packing, unpacking sample, err error) {
	s := compress.NewScheduler(0)
	if err := s.SetDevice(d); err != nil {
		return nil, packing, unpacking, err
	}
	opts := []compress.Option{compress.WithScheduler(s), compress.WithLevel(level),
		compress.WithContext(c.ctx), compress.WithBlockSize(c.block), compress.WithBackend(b[0], b[1])}
	var out bytes.Buffer
	packing, err = repeated(c.repeats, func() error {
		out.Reset()
		w, err := compress.NewWriter(&out, opts...)
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		return w.Close()
	})
	if err == nil && want != nil && !bytes.Equal(want, out.Bytes()) {
		err = errOtherResult
	}
	if err != nil {
		return nil, packing, unpacking, err
	}
	unpacking, err = repeated(c.repeats, func() error {
		r, err := compress.NewReader(bytes.NewReader(out.Bytes()), opts...)
		if err != nil {
			return err
		}
		defer r.Close()
		n, err := io.Copy(io.Discard, r)
		if err == nil && n != int64(len(data)) {
			err = errOtherResult
		}
		return err
	})
	status, _ := s.DeviceStatus()
	return out.Bytes(), packing, unpacking, errors.Join(err, status.Err)
}
