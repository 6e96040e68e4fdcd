package simd

import (
	"runtime"
	"testing"

	"github.com/gopz/compress/internal/cpu"
	"github.com/gopz/compress/internal/testenv"
)

// eachTier runs f once for each tier of the machine.
func eachTier(t *testing.T, f func(t *testing.T)) {
	for _, name := range Tiers() {
		t.Run(name, func(t *testing.T) {
			defer SetTier(SetTier(name))
			if Tier() != name {
				t.Fatalf("tier in use: %s, want %s", Tier(), name)
			}
			f(t)
		})
	}
}

// scaled returns the number of rounds of a random test: n if PZ_TEST is "all", a third of it by
// default, a tenth in short mode.
func scaled(n int) int {
	switch {
	case testing.Short():
		return n / 10
	case testenv.All():
		return n
	}
	return n / 3
}

// TestKernelsRun checks for each tier that exactly the kernels run that it should have. Those that
// few processors have are in TestFoldingRuns.
func TestKernelsRun(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		assembly := cpu.Current() != cpu.Portable
		_, matchLen := matchLenKernel(make([]byte, matchStep), make([]byte, matchStep))
		if matchLen != assembly {
			t.Errorf("MatchLen: kernel ran: %v, want %v", matchLen, assembly)
		}
		amd64 := assembly && runtime.GOARCH == "amd64"
		if ran := histogramKernel(new([256]uint32), make([]byte, 5000)); ran != amd64 {
			t.Errorf("Histogram: kernel ran: %v, want %v", ran, amd64)
		}
		_, rest := crc32cKernel(0, make([]byte, 1001))
		if ran := len(rest) == 0; ran != amd64 {
			t.Errorf("CRC32C of short content: kernel ran: %v, want %v", ran, amd64)
		}
	})
}
