package gzindex_test

import (
	"testing"

	"github.com/gopz/compress/internal/gzindex"
)

func BenchmarkPack(b *testing.B) {
	var p gzindex.Packer
	window := testContent()[:gzindex.WindowSize]
	b.SetBytes(gzindex.WindowSize)
	for b.Loop() {
		p.Pack(window)
	}
}

func BenchmarkUnpack(b *testing.B) {
	var p gzindex.Packer
	var u gzindex.Unpacker
	w := p.Pack(testContent()[:gzindex.WindowSize])
	b.SetBytes(gzindex.WindowSize)
	for b.Loop() {
		if _, err := u.Unpack(w); err != nil {
			b.Fatal(err)
		}
	}
}
