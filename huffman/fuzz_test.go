package huffman

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// FuzzDecode checks that decoding never panics and that an accepted tree describes a code.
func FuzzDecode(f *testing.F) {
	var b Builder
	for _, name := range []string{"text", "exe", "sparse", "short"} {
		p := corpus.ByName(name).Make(400)
		counts, _ := histogram(p)
		var table Table
		b.Table(&table, &counts, 9)
		if tree, ok := b.AppendTree(nil, &table); ok {
			f.Add(table.Append1(tree, p), uint16(len(p)), false)
			f.Add(table.Append4(tree, p), uint16(len(p)), true)
		}
	}
	var d Decoder
	f.Fuzz(func(t *testing.T, code []byte, size uint16, four bool) {
		var lens [256]uint8
		n, err := d.ReadTree(&lens, code)
		if err != nil {
			return
		}
		if n > len(code) {
			t.Fatalf("tree of %d bytes in %d", n, len(code))
		}
		if err := d.InitZstd(lens[:]); err != nil {
			t.Fatalf("tree accepted, code rejected: %v", err)
		}
		if err := d.InitDeflate(lens[:]); err != nil {
			t.Fatalf("lengths of a complete code rejected: %v", err)
		}
		if err := d.InitZstd(lens[:]); err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, size)
		if four {
			_ = d.Decode4(dst, code[n:])
			return
		}
		if d.Decode1(dst, code[n:]) != nil {
			return
		}
		// Encoding the decoded bytes again gives the accepted stream.
		var table Table
		AssignZstd(table.codes[:], lens[:])
		for _, l := range lens {
			table.max = max(table.max, l)
		}
		if got := table.Append1(nil, dst); !bytes.Equal(got, code[n:]) {
			t.Fatalf("% x decodes to % x, which is coded % x", code[n:], dst, got)
		}
	})
}

// FuzzInit checks that accepted lengths of Deflate are those of a prefix code.
func FuzzInit(f *testing.F) {
	f.Add([]byte{1, 2, 3, 3})
	f.Add([]byte{0, 1})
	f.Add([]byte{15, 16, 0})
	var d Decoder
	f.Fuzz(func(t *testing.T, lens []byte) {
		if d.InitDeflate(lens) != nil {
			return
		}
		var codes [MaxSymbols]Code
		AssignDeflate(codes[:], lens)
		for i, l := range lens {
			if l != 0 {
				if s, n, ok := d.Symbol(codes[i].Bits()); !ok || s != i || n != uint(l) {
					t.Fatalf("symbol %d of %d bits is read as %d of %d", i, l, s, n)
				}
			}
		}
	})
}

// FuzzEncode checks that encoded bytes can be decoded.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("what is coded can be read"), uint8(11))
	f.Add([]byte{0, 255, 0, 0, 0, 0, 7}, uint8(2))
	var b Builder
	var d Decoder
	f.Fuzz(func(t *testing.T, p []byte, limit uint8) {
		if len(p) <= 128<<10 {
			_, distinct := histogram(p)
			roundTrip(t, &b, &d, p, min(max(int(limit), log2up(distinct)), MaxTableBits))
		}
	})
}
