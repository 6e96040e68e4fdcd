package inflate

import (
	"syscall"
	"testing"
)

// guarded returns memory right before a page that cannot be accessed.
func guarded(t *testing.T, size int) []byte {
	page := syscall.Getpagesize()
	n := (size + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, n+page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	if err := syscall.Mprotect(m[n:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return m[n-size : n : n]
}
