package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
)

const gpuUsage = `usage: scripts/gpu-bench.sh [--program PATH] [OPTION]... FILE
       scripts/gpu-bench.sh --build PATH   build the program for a machine without Go

Measures a GPU against the CPU: whether both give the same bytes, then transfers, kernels, stages and
whole files. Blocks come from FILE, again from its start where it ends. All figures are medians.

  -gpu NAME       device, as in pz --list-gpus (the best one of each driver, software included)
  -block BYTES    block size (1048576)
  -batch BLOCKS   largest batch (256)
  -repeats N      measurements of each figure (7)
  -again N        repeat each kernel N times to see its time without transfers (4; 0: leave this out)
  -only TEXT      only stages with TEXT in their names
  -whole=false    leave out whole files

On software drivers use small values: -block 131072 -batch 4 -repeats 3. "host MB/s" counts the work
of one processor for blocks that the GPU does: unpacking, tables, parsing, and verifying the results.
Unless that is faster than "CPU MB/s", no GPU can pay, however fast it is.
The program needs a build tag, webgpu or opengl, to find GPUs.
`

// measurable is a device that can be measured.
type measurable interface {
	gpu.Device
	// Again makes later batches run a kernel n times more.
	Again(kernel string, n int)
	// Away returns the time that Run has waited for the device so far.
	Away() time.Duration
	// Transfer returns the times to copy n bytes to the device and back.
	Transfer(n int) (up, down time.Duration, err error)
}

type gpuConfig struct {
	ctx     context.Context
	out     io.Writer
	name    string
	block   int
	batch   int
	repeats int
	again   int
	only    string
	whole   bool
}

func runGPU(ctx context.Context, args []string, out io.Writer) error {
	c := gpuConfig{ctx: ctx, out: out}
	f := newFlags("gpu")
	f.StringVar(&c.name, "gpu", "", "")
	f.IntVar(&c.block, "block", 1<<20, "")
	f.IntVar(&c.batch, "batch", 256, "")
	f.IntVar(&c.repeats, "repeats", 7, "")
	f.IntVar(&c.again, "again", 4, "")
	f.StringVar(&c.only, "only", "", "")
	f.BoolVar(&c.whole, "whole", true, "")
	if err := parseFlags(f, args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return usageError("gpu measures with one file")
	}
	if c.block < 1 || c.batch < 1 || c.repeats < 1 || c.again < 0 {
		return usageError("-block, -batch and -repeats: at least 1; -again: at least 0")
	}
	in, err := readInput(f.Arg(0))
	if err != nil {
		return err
	}
	if len(in.content) < c.block {
		return fmt.Errorf("%s has fewer than %d bytes, a block", in.name, c.block)
	}
	list, err := compress.GPUs()
	if err != nil {
		return err
	}
	for _, a := range list {
		fmt.Fprintf(out, "adapter %s: %s (%s), %s\n", a.Device, a.Name, a.Kind, a.Driver)
	}
	if c.name != "" {
		return c.measure(c.name, in)
	}
	for _, a := range list {
		if strings.HasSuffix(a.Device, ":0") {
			if err := c.measure(a.Device, in); err != nil {
				return fmt.Errorf("%s: %w", a.Device, err)
			}
		}
	}
	return nil
}

// measure prints the tables of a device.
func (c *gpuConfig) measure(name string, in *input) error {
	start := time.Now()
	opened, err := compress.OpenDevice(name)
	if err != nil {
		return err
	}
	defer opened.Close()
	d, ok := opened.(measurable)
	if !ok {
		return fmt.Errorf("device %s has no means to be measured", name)
	}
	fmt.Fprintf(c.out, "\ndevice %s: %s, opened in %v\n", name, d.Info().Name,
		time.Since(start).Round(time.Millisecond))
	fmt.Fprintf(c.out, "host: %s; CPU columns are of one processor\n", machine())
	fmt.Fprintf(c.out, "%s, %d bytes, blocks of %d; medians of %d\n\n", in.name, in.size, c.block,
		c.repeats)

	if err := c.transfers(d); err != nil {
		return err
	}
	blocks, err := newGPUBlocks(in.content, c.block)
	if err != nil {
		return err
	}
	var names []string
	done := false
	for _, s := range gpuStages(blocks) {
		names = append(names, s.name)
		if !strings.Contains(s.name, c.only) {
			continue
		}
		done = true
		if err := c.stage(d, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if !done {
		return usageError("-only: %q is in none of %s", c.only, strings.Join(names, "; "))
	}
	if c.whole {
		return c.wholeFiles(d, in.content)
	}
	return nil
}

func (c *gpuConfig) transfers(d measurable) error {
	t := &table{left: 1, columns: []string{"transfers", "up GB/s", "down GB/s"}}
	for n := 64 << 10; n <= 64<<20; n *= 8 {
		var up, down []time.Duration
		for range c.repeats {
			u, w, err := d.Transfer(n)
			if err != nil {
				return err
			}
			up, down = append(up, u), append(down, w)
		}
		t.add(fmt.Sprintf("%d KiB", n>>10), fmt.Sprintf("%.2f", mbps(int64(n), middle(up))/1e3),
			fmt.Sprintf("%.2f", mbps(int64(n), middle(down))/1e3))
	}
	return c.print(t)
}

// print writes a table and an empty line.
func (c *gpuConfig) print(t *table) error {
	if err := t.text(c.out); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.out)
	return err
}
