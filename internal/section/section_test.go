package section

import "testing"

func TestHeader(t *testing.T) {
	for _, size := range []int64{MinSize, 100, maxSize} {
		p := AppendHeader([]byte("x"), Parity, size)[1:]
		if kind, n, err := ParseHeader(p); !IsHeader(p) || kind != Parity || n != size || err != nil {
			t.Errorf("size %d: kind %d, size %d, %v", size, kind, n, err)
		}
		for bit := range 8 * HeaderSize {
			p[bit/8] ^= 1 << (bit % 8)
			if _, _, err := ParseHeader(p); IsHeader(p) && err == nil {
				t.Errorf("size %d: no error with bit %d flipped", size, bit)
			}
			p[bit/8] ^= 1 << (bit % 8)
		}
	}
	for _, size := range []int64{-1, 0, MinSize - 1, maxSize + 1} {
		if _, _, err := ParseHeader(AppendHeader(nil, Parity, size)); err != ErrSize {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

func TestFooter(t *testing.T) {
	p := AppendFooter([]byte("x"), 100)
	if size, ok := ParseFooter(p); size != 100 || !ok {
		t.Errorf("size %d, %v", size, ok)
	}
	for bit := 8; bit < 8*len(p); bit++ {
		p[bit/8] ^= 1 << (bit % 8)
		if _, ok := ParseFooter(p); ok {
			t.Errorf("a footer with bit %d flipped", bit)
		}
		p[bit/8] ^= 1 << (bit % 8)
	}
	if _, ok := ParseFooter(p[2:]); ok {
		t.Error("a short footer")
	}
}
