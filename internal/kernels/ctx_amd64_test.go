//go:build amd64 && !noasm

package kernels

import (
	"testing"

	"github.com/gopz/compress/internal/cpu"
)

// TestCtxWithoutVBMI tests the tier avx512 on a processor without VBMI.
func TestCtxWithoutVBMI(t *testing.T) {
	if cpu.Best() < cpu.AVX512 || !cpu.HasVBMI {
		return // TestCtx covers this processor
	}
	defer func() { cpu.HasVBMI = true }()
	cpu.HasVBMI = false
	TestCtx(t)
}
