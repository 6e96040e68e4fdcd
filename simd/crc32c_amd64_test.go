//go:build amd64 && !noasm

package simd

import (
	"testing"

	"github.com/gopz/compress/internal/cpu"
)

// TestFoldingRuns checks that CRC32C folds long content where the processor can.
func TestFoldingRuns(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		want := cpu.Current() == cpu.AVX512 && cpu.HasVPCLMULQDQ
		_, rest := crc32cKernel(0, make([]byte, 1<<12))
		if ran := len(rest) == 0; ran != want {
			t.Errorf("CRC32C: kernel ran: %v, want %v", ran, want)
		}
	})
}
