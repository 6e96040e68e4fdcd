package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/gputest"
	"github.com/gopz/compress/gpu/internal/host"
)

// conformCommand is the argument of processes that run the conformance suite on a device. Not for
// users.
const conformCommand = "conform"

// smallSuite is the second argument for software adapters: they run smaller contents.
const smallSuite = "small"

// conformMain runs the suite on a device with package testing, which ends the process.
func conformMain(name string, args []string) {
	open := func(c gputest.Config) (gpu.Device, error) {
		d, err := openDevice(name)
		if err != nil {
			return nil, err
		}
		d.SetFault(c.Fault)
		return d, nil
	}
	suite := gputest.Run
	if len(args) > 0 && args[0] == smallSuite {
		suite = gputest.RunSmall
	}
	os.Args = []string{os.Args[0], "-test.v=test2json"} // outcomes of subtests come at once
	testing.Main(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "Conforms", F: func(t *testing.T) { suite(t, open) }}}, nil, nil)
}

// openDevice opens a device, which must be one of package host.
func openDevice(name string) (*host.Device, error) {
	opened, err := gpu.Open(name)
	if err != nil {
		return nil, err
	}
	d, ok := opened.(*host.Device)
	if !ok {
		opened.Close()
		return nil, fmt.Errorf("device %s runs no kernels of this module", name)
	}
	return d, nil
}

// outcome is the line of a test that has ended. A control character precedes it.
var outcome = regexp.MustCompile(`^\x16?--- (PASS|FAIL|SKIP): Conforms/(\S+) \(([0-9.]+)s\)`)

// conform runs the suite in a process of its own. If it fails or crashes, the device is not
// measured.
func (d *device) conform(l *limit) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithDeadline(context.Background(), l.end)
	defer cancel()
	args := []string{conformCommand, d.name}
	if d.software {
		args = append(args, smallSuite)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "CI=1") // without a device the suite fails
	cmd.WaitDelay = 2 * time.Second
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	var tail []string // the last lines that are no outcomes
	failed, passed := 0, 0
	for s := bufio.NewScanner(pipe); s.Scan(); {
		m := outcome.FindStringSubmatch(s.Text())
		if m == nil {
			tail = append(tail, s.Text())
			tail = tail[max(0, len(tail)-40):]
			continue
		}
		seconds, _ := strconv.ParseFloat(m[3], 64)
		switch m[1] {
		case "FAIL":
			failed++
		case "PASS":
			passed++
		}
		d.report.addLine(conformLine{"conformance", d.name, m[2], strings.ToLower(m[1]), seconds, ""})
	}
	err = cmd.Wait()
	line := conformLine{"conformance", d.name, "all", "pass", rounded(time.Since(start).Seconds()), ""}
	switch {
	case err == nil && passed > 0:
	case ctx.Err() != nil && failed == 0:
		line.Outcome = "unfinished"
		l.leaveOut("tests of the suite; those that ran passed")
	default:
		d.failed = true
		line.Outcome, line.Output = "fail", strings.Join(append(tail, fmt.Sprint(err)), "\n")
	}
	d.report.addLine(line)
	if d.failed {
		d.report.failed(fmt.Errorf("%s does not conform: %d tests failed, %d passed", d.name, failed, passed))
	}
	return nil
}
