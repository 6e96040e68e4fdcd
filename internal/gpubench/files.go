package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
)

// unfused is a device without Fused.
type unfused struct{ device }

func (d unfused) Info() gpu.Info {
	info := d.device.Info()
	info.Ops[gpu.Fused] = gpu.Limits{}
	return info
}

// files prints a table of the whole road, in memory, with each assignment.
func (c *config) files(d device, data []byte) error {
	fmt.Println("whole file, all processors: match,entropy   level   compress MB/s   restore MB/s     (in stages: Stage0 and StageN, without Fused)")
	for _, level := range []int{4, 6, 8} {
		var want []byte
		for _, way := range []struct {
			match, entropy compress.Backend
			unfused        bool
		}{{compress.CPU, compress.CPU, false}, {compress.CPU, compress.GPU, false}, {compress.GPU, compress.CPU, false},
			{compress.GPU, compress.GPU, true}, {compress.GPU, compress.GPU, false}, {compress.Auto, compress.Auto, false}} {
			b := [2]compress.Backend{way.match, way.entropy}
			if b[0] == compress.GPU && lz77.Levels[level].Finder != lz77.Recent {
				continue // the CPU's alone
			}
			s := compress.NewScheduler(0)
			var dev gpu.Device = d
			if way.unfused {
				dev = unfused{d}
			}
			if err := s.SetDevice(dev); err != nil {
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
			name := b[0].String() + "," + b[1].String()
			if way.unfused {
				name += " in stages"
			}
			fmt.Printf("%*s %7d %15.0f %14.0f\n", 43, name, level, rate(len(data), took), rate(len(data), back))
		}
	}
	return nil
}
