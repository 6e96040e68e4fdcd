// Command day proves that the GPUs of a machine give right results, and then measures them. It
// needs a driver, but no network, no other program and no file. scripts/gpu-day.sh builds it.
//
// It runs the conformance suite in processes of its own, because a driver may crash. Then it
// measures, the most important first, until its budget is used up. Each result is a line of JSON,
// see docs/TELEMETRY.md. At the end it derives the constants of backend Auto from the figures.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/internal/measuring"
)

const usage = `usage: day [OPTION]... [FILE]

Proves that the GPUs of this machine give the same results as the CPU, and measures them. Without FILE
it measures generated content. Each result is a line of JSON on standard output.

  --budget D      stop after that long; what is left out is reported (9m)
  --device NAME   device, as in pz --list-gpus (the best one of each driver, software included)
  --output FILE   write the lines to FILE, too
`

// Exit statuses. 1 stands for an error, a failed conformance test or a wrong result.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == conformCommand {
		conformMain(os.Args[2], os.Args[3:])
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// config holds the options.
type config struct {
	budget time.Duration
	device string
	output string
	file   string
}

func parse(args []string) (c config, err error) {
	f := flag.NewFlagSet("day", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.DurationVar(&c.budget, "budget", 9*time.Minute, "")
	f.StringVar(&c.device, "device", "", "")
	f.StringVar(&c.output, "output", "", "")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	c.file = f.Arg(0)
	if f.NArg() > 1 || c.budget <= 0 {
		return c, errors.New("at most one file, and a positive budget")
	}
	return c, nil
}

// run is the program. It returns the exit status.
func run(args []string, out, errOut io.Writer) int {
	c, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return 0
	case err != nil:
		fmt.Fprintf(errOut, "day: %v; see --help\n", err)
		return exitUsage
	}
	r := &report{out: []io.Writer{out}}
	if c.output != "" {
		f, err := os.Create(c.output)
		if err != nil {
			fmt.Fprintf(errOut, "day: %v\n", err)
			return exitFailed
		}
		defer f.Close()
		r.out = append(r.out, f)
	}
	if err := c.measure(r); err != nil {
		fmt.Fprintf(errOut, "day: %v\n", err)
		return exitFailed
	}
	return 0
}

// overtime is how much longer than a budget a call that cannot be interrupted may take: a fifth,
// and not less than the time to compile a kernel on a busy machine.
func overtime(budget time.Duration) time.Duration { return max(budget/5, 4*time.Second) }

// measure runs all steps within the budget. If one hangs, measure reports what there is and returns
// an error.
func (c *config) measure(r *report) error {
	start := time.Now()
	data, err := newContent(c.file)
	if err != nil {
		return err
	}
	list, err := c.devices(r)
	if err != nil {
		return err
	}
	p := newPlan(start.Add(c.budget), r)
	for _, d := range list {
		p.addStep(d.name+": conformance", 60, d.conform)
	}
	for i, d := range list {
		d.data = data
		d.steps(p, 1/float64(1+2*i))
	}
	done := make(chan bool)
	go func() { p.run(); close(done) }()
	late := time.NewTimer(c.budget + overtime(c.budget))
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		r.failed(fmt.Errorf("%s hangs", p.current()))
	}
	for _, d := range list {
		d.constants()
	}
	return r.addEnd(time.Since(start))
}

// devices reports the machine and its adapters, and returns the devices to measure.
func (c *config) devices(r *report) (list []*device, err error) {
	r.addLine(machineLine{"machine", measuring.Machine(), runtime.GOMAXPROCS(0)})
	all, err := gpu.Adapters()
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		r.addLine(adapterLine{"adapter", a.Device, a.Name, a.Kind.String(), a.Driver()})
		if c.device == a.Device || c.device == "" && strings.HasSuffix(a.Device, ":0") {
			list = append(list, &device{name: a.Device, software: a.Kind == gpu.Software, report: r})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no device %q", c.device)
	}
	return list, nil
}

// device is a device and what is known about it.
type device struct {
	name     string
	software bool
	report   *report
	data     *content
	dev      *host.Device
	failed   bool // conformance: nothing is measured

	figures figures
}

// steps adds the measurements of a device to a plan.
func (d *device) steps(p *plan, weight float64) {
	for _, s := range []struct {
		name   string
		weight float64
		run    func(*limit) error
	}{
		{"opening and compiling", 8, d.open}, {"transfers", 4, d.transfers},
		{"stages and kernels", 45, d.sweep}, {"batches in flight", 8, d.inFlight},
		{"whole files", 20, d.files},
		{"large submissions", 20, d.large}, // the last one: the GPU may have too little memory
	} {
		p.addStep(d.name+": "+s.name, weight*s.weight, func(l *limit) error {
			if d.failed || d.dev == nil && s.name != "opening and compiling" {
				l.leaveOut("all of it: the device failed before")
				return nil
			}
			return s.run(l)
		})
	}
}
