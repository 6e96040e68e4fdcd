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
	var d LiteralDecoder
	f.Fuzz(func(t *testing.T, code []byte, size uint16, four bool) {
		n, err := d.readTree(code)
		if err != nil {
			return
		}
		lens := d.lens
		if same, err := d.Read(code); err != nil || same != n {
			t.Fatalf("tree of %d bytes read again: %d, %v", n, same, err)
		}
		if n > len(code) {
			t.Fatalf("tree of %d bytes in %d", n, len(code))
		}
		space := 0
		for _, l := range lens {
			if l != 0 {
				space += 1 << (MaxTableBits - l)
			}
		}
		if space != 1<<MaxTableBits {
			t.Fatalf("tree accepted, but its code takes %d/%d of the space", space, 1<<MaxTableBits)
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

// FuzzEncode checks that encoded bytes can be decoded.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("what is coded can be read"), uint8(11))
	f.Add([]byte{0, 255, 0, 0, 0, 0, 7}, uint8(2))
	var b Builder
	var d LiteralDecoder
	f.Fuzz(func(t *testing.T, p []byte, limit uint8) {
		if len(p) <= 128<<10 {
			_, distinct := histogram(p)
			roundTrip(t, &b, &d, p, min(max(int(limit), log2up(distinct)), MaxTableBits))
		}
	})
}
