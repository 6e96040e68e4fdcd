package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gopz/compress"
	"github.com/gopz/compress/lz77"
)

// files prints a table of the whole road, in memory, with each assignment.
func (c *config) files(d device, data []byte) error {
	fmt.Println("whole file, all processors: match,entropy   level   compress MB/s   restore MB/s")
	for _, level := range []int{4, 6} { // of levels above 6 a device does nothing
		var want []byte
		for _, b := range [][2]compress.Backend{{compress.CPU, compress.CPU}, {compress.CPU, compress.GPU}, {compress.GPU, compress.CPU},
			{compress.GPU, compress.GPU}, {compress.Fused, compress.Fused}, {compress.Auto, compress.Auto}} {
			if b[0].Strict() && lz77.Levels[level].Finder != lz77.RowHash {
				continue // the CPU's alone
			}
			s := compress.NewScheduler(0)
			if err := s.SetDevice(d); err != nil {
				return err
			}
			var file bytes.Buffer
			took, err := c.timed(func() error {
				file.Reset()
				w, err := compress.NewWriter(&file, compress.WithScheduler(s), compress.WithLevel(level), compress.WithBlockSize(c.block), compress.WithBackend(b[0], b[1]))
				if err != nil {
					return err
				}
				if _, err := w.Write(data); err != nil {
					return err
				}
				return w.Close()
			})
			if err != nil {
				return err
			}
			if want == nil {
				want = bytes.Clone(file.Bytes())
			}
			if !bytes.Equal(want, file.Bytes()) {
				return errWrong
			}
			back, err := c.timed(func() error {
				r, err := compress.NewReader(bytes.NewReader(want), compress.WithScheduler(s), compress.WithBackend(b[0], b[1]))
				if err != nil {
					return err
				}
				defer r.Close()
				n, err := io.Copy(io.Discard, r)
				if err == nil && n != int64(len(data)) {
					err = errWrong
				}
				return err
			})
			if err != nil {
				return err
			}
			if err := s.DeviceError(); err != nil {
				return err
			}
			fmt.Printf("%*s %7d %15.0f %14.0f\n", 43, b[0].String()+","+b[1].String(), level, rate(len(data), took), rate(len(data), back))
		}
	}
	return nil
}
