package lz77

import (
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/gopz/compress/internal/finder"
)

// TestCandidatesReach: a search reads no farther than lengths tell apart, so the time for content
// that repeats is linear. When it was quadratic, these 2 MiB took a minute, and the software device
// was lost. Content is not readable here before a checkpoint close in front of it.
func TestCandidatesReach(t *testing.T) {
	const size, page = 2 << 20, 64 << 10
	src, err := syscall.Mmap(-1, 0, size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(src)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	p := &Levels[6]
	next := 0 // position of the next checkpoint
	m := Matcher{Checkpoint: func() {
		next += rowCheckpointBytes
		end := min(size, (next+p.Nice+finder.Tail+page-1)&^(page-1))
		if err := syscall.Mprotect(src[:end], syscall.PROT_READ); err != nil {
			t.Fatal(err)
		}
	}}
	best := make([]uint32, size-finder.Tail)
	m.FindCandidates(best, src, p, testLimits[0])
	if best[len(best)-1] == 0 {
		t.Error("no candidate")
	}
}
