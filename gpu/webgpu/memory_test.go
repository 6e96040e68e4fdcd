//go:build webgpu && cgo && linux

package webgpu

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gopz/compress/gpu/internal/gputest"
	"github.com/gopz/compress/gpu/internal/host"
)

// TestMemories checks that every adapter's memory is found by its numbers.
func TestMemories(t *testing.T) {
	list, done := enumerate()
	defer done()
	if len(list) == 0 {
		gputest.Missing(t, errNoGPU)
	}
	all := memories()
	for _, f := range list {
		if n := all[f.IDs]; n < 64<<20 {
			t.Errorf("%s (%s): %d bytes of memory; found %v", f.Name, f.IDs, n, all)
		}
	}
}

// limited is set in a process of TestOutOfMemory that limits its own memory.
const limited = "PZ_TEST_LIMITED"

// TestOutOfMemory runs a submission for which the process has too little memory. It fails with
// host.ErrMemory, and a smaller one succeeds afterwards.
func TestOutOfMemory(t *testing.T) {
	if os.Getenv(limited) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOutOfMemory$", "-test.v")
		cmd.Env = append(os.Environ(), limited+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("--- SKIP")) {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	dev, d := openLosable(t)
	defer dev.Close()
	gputest.Smoke(t, dev) // loads what it needs
	if list, done := enumerate(); list[adapterNumber()].Kind.String() != "software" {
		t.Log("the memory of this GPU cannot be limited")
		done()
		return
	}
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	limitMemory(t, 300<<20)
	submit := func(size uint64) error {
		p, err := q.Upload(16)
		if err != nil {
			return err
		}
		clear(p)
		s := host.Submission{
			UploadSize: 16, UploadTo: host.In, Downloads: []host.Range{{Buffer: host.In, Size: 16}},
		}
		for b := host.Out; b < host.NumBuffers; b++ {
			s.Reserve = append(s.Reserve, host.BufferSize{Buffer: b, Size: size})
		}
		return q.Submit(&s)
	}
	for range 3 {
		if err := submit(d.maxBuffer); !errors.Is(err, host.ErrMemory) {
			t.Fatalf("buffers of %d bytes: error %v, want %v", d.maxBuffer, err, host.ErrMemory)
		}
		if err := q.Shrink(); err != nil {
			t.Fatal(err)
		}
		if err := submit(1 << 20); err != nil {
			t.Fatalf("buffers of 1 MiB: %v", err)
		}
	}
}

// limitMemory lets the address space of the process grow by at most n bytes.
func limitMemory(t *testing.T, n uint64) {
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(status))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	most := pages*uint64(os.Getpagesize()) + n
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		t.Fatal(err)
	}
}
