package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/gpu/internal/interp"
	"github.com/gopz/compress/internal/testenv"
)

// TestMain runs the conformance suite where the program under test starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == conformCommand {
		conformMain(os.Args[2], os.Args[3:])
	}
	os.Exit(m.Run())
}

// TestWithoutClock measures a device without timestamps. Kernels are then measured by repeating
// them.
func TestWithoutClock(t *testing.T) {
	testenv.Slow(t)
	dev, err := host.New(interp.New(interp.Options{}), host.Config{Name: "interpreter", Kind: gpu.Software})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	data, err := newContent("")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := &device{name: "test:0", report: &report{out: []io.Writer{&out}}, data: data, dev: dev}
	for _, s := range allStages() {
		if s.name != "match" || s.k != 8 {
			continue
		}
		if took, err := d.measure(&s, point{4 << 10, 1}, 1); err != nil || took == 0 {
			t.Fatalf("%v: took %v, error %v", &s, took, err)
		}
		for _, want := range append(s.kernels, `"result":"stage"`, `"clock":"submissions"`) {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %s in %s", want, &out)
			}
		}
	}
	if strings.Contains(out.String(), byTimestamps) || strings.Contains(out.String(), "kernels_us") {
		t.Errorf("times of a clock: %s", &out)
	}
}

// TestArguments checks wrong ones.
func TestArguments(t *testing.T) {
	for _, args := range []string{"--budget 0s", "--budget x", "a b", "--nosuch"} {
		var out, errOut bytes.Buffer
		if status := run(strings.Fields(args), &out, &errOut); status != exitUsage || errOut.Len() == 0 {
			t.Errorf("%s: status %d", args, status)
		}
	}
	var out bytes.Buffer
	status := run([]string{"--help"}, &out, &out)
	if status != 0 || !strings.Contains(out.String(), "--budget") {
		t.Errorf("--help: status %d: %s", status, &out)
	}
}

// TestPlan checks that a step without time is left out, that an error does not end the plan, and
// that time which a step does not use goes to the next one.
func TestPlan(t *testing.T) {
	r := &report{}
	p := newPlan(time.Now().Add(100*time.Millisecond), r)
	var shares []time.Duration
	note := func(l *limit) error { shares = append(shares, l.left()); return nil }
	p.addStep("first", 1, note)
	p.addStep("second", 1, note)
	p.addStep("third", 1, func(*limit) error { time.Sleep(110 * time.Millisecond); return os.ErrInvalid })
	p.addStep("fourth", 1, note)
	p.run()
	if len(shares) != 2 || shares[0] > 30*time.Millisecond || shares[1] < shares[0] {
		t.Errorf("shares %v", shares)
	}
	if r.leftOut != 2 || len(r.errs) != 1 {
		t.Errorf("%d left out, errors %v", r.leftOut, r.errs)
	}
}

// at returns a figure of a stage with that speed.
func at(stage string, k, block, blocks int, device, cpu float64) figure {
	f := figure{timing: timing{Trace: &host.Trace{Away: 2 * time.Millisecond}, total: 50 * time.Millisecond}}
	f.sizes = sizes{Stage: stage, K: k, Block: block, Blocks: blocks, InOne: 1 << 30, Bytes: block * blocks}
	f.DeviceMBps, f.CPU, f.stageLine.CPU = device, cpu, cpu
	return f
}

// TestConstants checks the rules with figures of an imaginary device.
func TestConstants(t *testing.T) {
	const mib = 1 << 20
	var f figures
	for _, value := range []any{
		f.fusedMinAuto(), f.smallest("match", (*figure).inOne), f.largest("fused"), f.concurrent(),
		f.latency(), f.probeSize(), f.startAfter(), f.pause(), f.oneTrip(),
	} {
		if value != nil {
			t.Errorf("a constant without figures: %v", value)
		}
	}
	f.stages = []figure{
		at("fused", 16, 64<<10, 256, 1, 50), at("fused", 16, mib, 1, 5, 50),
		at("fused", 16, mib, 16, 1e5, 50), at("fused", 16, 4*mib, 4, 95e3, 50),
		at("fused", 8, mib, 64, 9e6, 50),
		at("match", 16, mib, 4, 50, 50), at("match", 16, mib, 8, 95, 50), at("match", 16, mib, 64, 100, 50),
	}
	for i := range f.stages {
		f.stages[i].cpu = time.Millisecond
	}
	for _, x := range []struct {
		name      string
		got, want any
	}{
		{"fusedMinAuto", f.fusedMinAuto(), mib},
		{"mostContent", f.smallest("fused", (*figure).inOne), 16 * mib},
		{"maxFused", f.largest("fused"), 4 * mib},
		{"matchBatch", f.smallest("match", func(x *figure) int { return x.Blocks }), 8},
		{"entropyBatch", f.greater(4, 8), 8},
		{"no entropyBatch", f.greater(nil, 8), nil},
		{"pause", f.pause(), int64(50)},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v, want %v", x.name, x.got, x.want)
		}
	}
	f.flights = []flightLine{{One: 100, Two: 104}, {One: 100, Two: 106}}
	if got := f.concurrent(); got != 2 {
		t.Errorf("concurrent: %v", got)
	}
}

func TestRepeats(t *testing.T) {
	for _, x := range []struct {
		left, took time.Duration
		want       int
	}{
		{-9 * time.Hour, time.Second, 0}, {time.Hour, 2 * time.Hour, 0}, {time.Hour, 50 * time.Minute, 1},
		{time.Hour, 2 * time.Minute, 3}, {time.Hour, time.Second, 7},
	} {
		l := &limit{end: time.Now().Add(x.left)}
		if got := l.repeats(x.took, 7); got != x.want {
			t.Errorf("%v left for %v: %d runs, want %d", x.left, x.took, got, x.want)
		}
	}
}

func TestRounded(t *testing.T) {
	for x, want := range map[float64]float64{0: 0, 123456: 123500, 0.00012345: 0.0001235, -2.00049: -2} {
		if got := rounded(x); got != want {
			t.Errorf("rounded(%v) = %v, want %v", x, got, want)
		}
	}
}
