package pieces

import (
	"bytes"
	"testing"
)

// TestPieces: the functions do what those for whole slices do, with a call for each piece.
func TestPieces(t *testing.T) {
	for _, n := range []int{0, 1, Size - 1, Size, Size + 1, 3*Size + 5} {
		src := bytes.Repeat([]byte{1, 2, 3, 5, 7}, n/5+1)[:n]
		calls := 0
		for _, checkpoint := range []func(){nil, func() { calls++ }} {
			dst := make([]byte, n+3)
			Copy(dst, src, checkpoint)
			if !bytes.Equal(dst[:n], src) || dst[n] != 0 {
				t.Errorf("Copy of %d bytes", n)
			}
			if !Equal(dst[:n], src, checkpoint) || Equal(dst, src, checkpoint) {
				t.Errorf("Equal of %d bytes", n)
			}
			if n > 0 {
				dst[n-1]++
				if Equal(dst[:n], src, checkpoint) {
					t.Errorf("Equal of %d bytes that differ at the end", n)
				}
				dst[0]++
				if Equal(dst[:n], src, checkpoint) {
					t.Errorf("Equal of %d bytes that differ at the front", n)
				}
			}
			for _, room := range []int{0, n + 1} {
				got := Append(append(make([]byte, 0, room), 9), src, checkpoint)
				if got[0] != 9 || !bytes.Equal(got[1:], src) {
					t.Errorf("Append of %d bytes with room for %d", n, room)
				}
			}
			Clear(dst[:n], checkpoint)
			if !bytes.Equal(dst, make([]byte, n+3)) {
				t.Errorf("Clear of %d bytes", n)
			}
		}
		if each := (n - 1) / Size; n > 0 && calls < 4*each {
			t.Errorf("%d calls for %d bytes, want at least %d", calls, n, 4*each)
		}
	}
}
