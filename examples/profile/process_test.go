//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process starts the program as a process that would run for hours, with output in a directory.
func process(t *testing.T, args ...string) (cmd *exec.Cmd, dir string, stderr *bytes.Buffer) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	cmd = exec.Command(os.Args[0], append(args, "--out", dir)...)
	cmd.Env = append(os.Environ(), actEnv+"=1")
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, dir, stderr
}

// await waits until ok.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// blocksOnDisk returns the number of blocks that a save has counted.
func blocksOnDisk(dir string) int64 {
	r, err := readResult(dir)
	if err != nil {
		return 0
	}
	return r.profile.number("blocks")
}

func status(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

// endless is work for hours in blocks of a moment.
var endless = strings.Fields("--size 1M --block-size 64K --iterations 1000000 --threads 2")

// TestKilled kills a process and reads what it has left.
func TestKilled(t *testing.T) {
	cmd, dir, _ := process(t, append(endless, "--full", "--snapshot-interval", "20ms")...)
	await(t, "blocks", func() bool { return blocksOnDisk(dir) > 100 })
	known := blocksOnDisk(dir)
	cmd.Process.Kill()
	cmd.Wait()
	if n := int64(len(readTable(t, dir, blocksFile))); n < known {
		t.Errorf("%s has %d blocks, %d were known", blocksFile, n, known)
	}
	snaps, stages := readTable(t, dir, snapshotsFile), readTable(t, dir, snapshotStagesFile)
	last := snaps[len(snaps)-1]
	// The stages are written first. So those of a snapshot that is not in the table may follow.
	hasStages := slices.ContainsFunc(stages, func(row map[string]string) bool {
		return row["snapshot"] == last["snapshot"]
	})
	if last["kind"] != "interval" || num(t, last["stage_compute_ns"]) == 0 || !hasStages {
		t.Errorf("last snapshot %v, its stages: %v", last, hasStages)
	}
	code, out, errOut := tryRun("aggregate", dir)
	if code != 0 || !strings.Contains(out, "running, or killed") || !strings.Contains(out, "lz77") {
		t.Errorf("aggregate: status %d, %s%s", code, out, errOut)
	}
	r, err := readResult(dir)
	if err != nil || r.profile.number("content_bytes") < known<<16 || r.profile.number("elapsed_ns") <= 0 ||
		r.stats.Compute == 0 {
		t.Errorf("%v, %v", r.profile, err)
	}
}

// TestInterrupt interrupts a measurement once. The results are written, with the scheduler's
// columns although there is no --snapshot-interval.
func TestInterrupt(t *testing.T) {
	cmd, dir, stderr := process(t, endless...)
	await(t, "blocks", func() bool { return blocksOnDisk(dir) > 100 })
	cmd.Process.Signal(os.Interrupt)
	if n := status(t, cmd); n != 130 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("status %d, %s", n, stderr)
	}
	snaps := readTable(t, dir, snapshotsFile)
	if len(snaps) != 2 || snaps[0]["kind"] != "interrupt" || snaps[1]["kind"] != "final" {
		t.Fatalf("snapshots: %v", snaps)
	}
	for _, s := range snaps {
		if num(t, s["stage_compute_ns"]) == 0 || num(t, s["runs"]) == 0 || num(t, s["blocks"]) < 100 {
			t.Errorf("%v", s)
		}
	}
	if r, err := readResult(dir); err != nil || !strings.HasPrefix(r.profile.get("status"), "interrupted") {
		t.Errorf("%v, %v", r, err)
	}
}

// TestInterruptPreparation interrupts the program before the measurement. It ends although the
// preparation would take minutes.
func TestInterruptPreparation(t *testing.T) {
	cmd, dir, stderr := process(t, strings.Fields("--size 48M --level 9 --threads 1")...)
	await(t, "the directory", func() bool { _, err := readResult(dir); return err == nil })
	cmd.Process.Signal(os.Interrupt)
	late := time.AfterFunc(15*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	if n := status(t, cmd); n != 130 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("status %d, %s", n, stderr)
	}
	r, err := readResult(dir)
	if err != nil || r.profile.get("status") != statusPreparing || r.profile.get("level") != "9" {
		t.Errorf("%v, %v", r, err)
	}
}

// TestSignals checks which signals end the program at once.
func TestSignals(t *testing.T) {
	signals, exits, calls := make(chan os.Signal), make(chan int), make(chan string)
	var stderr bytes.Buffer
	e := newEnv(nil, &stderr, signals, func(n int) { exits <- n })
	signals <- os.Interrupt
	if n := <-exits; n != 130 {
		t.Errorf("before the measurement: status %d", n)
	}
	e.onSignal(func(i interrupted) { calls <- i.Error() })
	signals <- syscall.SIGTERM
	signals <- syscall.SIGTERM // while the first call has not returned
	if n := <-exits; n != 143 {
		t.Errorf("second signal: status %d", n)
	}
	if s := <-calls; s != "interrupted by terminated" {
		t.Error(s)
	}
}
