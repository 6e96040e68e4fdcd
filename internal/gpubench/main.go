// Command gpubench measures a GPU against the CPU: that it gives the same bytes, transfers, kernels, stages and whole files, with batches of 1 to 256 blocks.
// scripts/gpu-bench.sh builds and runs it; what it prints is for docs/exec-plans. It needs the build tag webgpu or opengl to find a GPU.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
)

// device is what a GPU's device can do for measurements.
type device interface {
	gpu.Device
	Again(kernel string, n int)
	Away() time.Duration
	Transfer(n int) (up, down time.Duration, err error)
}

type config struct {
	name    string
	block   int
	batch   int
	repeats int
	again   int
	only    string
	whole   bool
}

func main() {
	var c config
	flag.StringVar(&c.name, "gpu", "", "device `NAME` as pz --list-gpus tells; without it the best one by each way to GPUs, if only a software adapter")
	flag.IntVar(&c.block, "block", 1<<20, "block size in `BYTES`")
	flag.IntVar(&c.batch, "batch", 256, "largest batch, in `BLOCKS`")
	flag.IntVar(&c.repeats, "repeats", 7, "`TIMES` to measure each; the table has medians")
	flag.IntVar(&c.again, "again", 4, "`TIMES` that a kernel is repeated to see its time without transfers; 0: not at all")
	flag.StringVar(&c.only, "only", "", "only stages with `TEXT` in their names")
	flag.BoolVar(&c.whole, "whole", true, "whole files as well")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: gpubench [options] FILE\n\nThe blocks are taken from FILE, again from its beginning where it ends.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 || c.block < 1 || c.batch < 1 || c.repeats < 1 || c.again < 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := c.run(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "gpubench:", err)
		os.Exit(1)
	}
}

func (c *config) run(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if len(data) < c.block {
		return fmt.Errorf("%s has fewer bytes than a block, %d", file, c.block)
	}
	list, err := compress.GPUs()
	if err != nil {
		return err
	}
	for _, a := range list {
		fmt.Printf("adapter %s: %s (%s), %s\n", a.Device, a.Name, a.Kind, a.Driver)
	}
	if c.name != "" {
		return c.measure(c.name, file, data)
	}
	for _, a := range list {
		if strings.HasSuffix(a.Device, ":0") {
			if err := c.measure(a.Device, file, data); err != nil {
				return fmt.Errorf("%s: %w", a.Device, err)
			}
		}
	}
	return nil
}

// measure prints the tables of a device.
func (c *config) measure(name, file string, data []byte) error {
	start := time.Now()
	opened, err := compress.OpenDevice(name)
	if err != nil {
		return err
	}
	defer opened.Close()
	d, ok := opened.(device)
	if !ok {
		return fmt.Errorf("%s cannot be measured", name)
	}
	fmt.Printf("\ndevice %s: %s, up after %v\n", name, d.Info().Name, time.Since(start).Round(time.Millisecond))
	fmt.Printf("host: %s/%s, %d processors; the CPU's columns are one of them\n", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	fmt.Printf("data: %s, %d bytes, blocks of %d; medians of %d\n\n", file, len(data), c.block, c.repeats)

	if err := c.transfers(d); err != nil {
		return err
	}
	w, err := newWork(data, c.block)
	if err != nil {
		return err
	}
	done := false
	for _, s := range w.stages() {
		if !strings.Contains(s.name, c.only) {
			continue
		}
		done = true
		if err := c.stage(d, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if !done {
		return fmt.Errorf("no stage has %q in its name; they are called rANS decode, rANS encode, match and parse, fused", c.only)
	}
	if c.whole {
		return c.files(d, data)
	}
	return nil
}

func (c *config) transfers(d device) error {
	fmt.Println("transfers      up GB/s   down GB/s")
	for n := 64 << 10; n <= 64<<20; n *= 8 {
		var up, down []time.Duration
		for range c.repeats {
			u, w, err := d.Transfer(n)
			if err != nil {
				return err
			}
			up, down = append(up, u), append(down, w)
		}
		fmt.Printf("%6d KiB   %9.2f   %9.2f\n", n>>10, rate(n, median(up))/1e3, rate(n, median(down))/1e3)
	}
	fmt.Println()
	return nil
}
