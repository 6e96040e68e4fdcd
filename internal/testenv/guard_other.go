//go:build !linux

package testenv

import "testing"

// Guarded returns memory. Only Linux has guard pages behind it.
func Guarded(_ testing.TB, size int) []byte { return make([]byte, size) }
