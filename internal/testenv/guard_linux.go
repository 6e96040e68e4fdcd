package testenv

import (
	"syscall"
	"testing"
)

// Guarded returns memory right before a page that cannot be accessed. If size is a multiple of the
// page size, it is also right behind one. The end of the test frees it.
func Guarded(t testing.TB, size int) []byte {
	page := syscall.Getpagesize()
	n := (size+page-1)/page*page + page
	m, err := syscall.Mmap(-1, 0, n+page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	for _, p := range [][]byte{m[:page], m[n:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return m[n-size : n : n]
}
