//go:build !linux

package inflate

import "testing"

// guarded returns memory. Only Linux has guard pages behind it.
func guarded(_ *testing.T, size int) []byte { return make([]byte, size) }
