package zstd

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// header returns a block header.
func header(kind, size int, last bool) []byte {
	v := size<<3 | kind<<1
	if last {
		v |= 1
	}
	return []byte{byte(v), byte(v >> 8), byte(v >> 16)}
}

// block returns a block with its header.
func block(kind int, last bool, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(header(kind, len(body), last), body...)
}

// rawSection returns a literals section of raw literals.
func rawSection(lits []byte) []byte {
	return append(appendPlainHeader(nil, rawLiterals, len(lits)), lits...)
}

// fields holds the extra bits of a sequence.
type fields struct{ lit, off, match uint32 }

// rleSequences returns a sequences section in which each kind of code has a single code.
func rleSequences(lit, off, match uint8, seqs []fields) []byte {
	n := len(seqs)
	p := []byte{byte(n), 0x54, lit, off, match}
	if n >= 128 {
		p = []byte{byte(n>>8 + 128), byte(n), 0x54, lit, off, match}
	}
	var bits []bool // from the first one written
	put := func(v uint32, n uint8) {
		for i := range n {
			bits = append(bits, v>>i&1 != 0)
		}
	}
	for i := n - 1; i >= 0; i-- {
		put(seqs[i].lit, litBits[lit])
		put(seqs[i].match, matchBits[match])
		put(seqs[i].off, off)
	}
	bits = append(bits, true)
	code := make([]byte, (len(bits)+7)/8)
	for i, b := range bits {
		if b {
			code[i/8] |= 1 << (i % 8)
		}
	}
	return append(p, code...)
}

// TestDecodeRepeatOffsets decodes frames of random sequences with small offset codes, and compares
// with the rules of RFC 8878, section 3.1.1.5, as the parser of the tests implements them.
func TestDecodeRepeatOffsets(t *testing.T) {
	eachTier(t, testDecodeRepeatOffsets)
}

func testDecodeRepeatOffsets(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	d := NewDecoder()
	accepted := 0
	for range 2000 {
		q := parser{repeats: [3]uint32{1, 4, 8}}
		var blocks []byte
		content := corpus.ByName("random").MakeSeed(20, r.Uint64())
		blocks = append(blocks, block(rawBlock, false, content)...)
		valid := true
		for range 1 + r.IntN(5) {
			lit, off, match := uint8(r.IntN(3)), uint8(r.IntN(5)), uint8(r.IntN(40))
			seqs := make([]fields, 1+r.IntN(200)/(1+199*r.IntN(2)))
			lits := make([]byte, int(lit)*len(seqs)+r.IntN(20))
			for i := range lits {
				lits[i] = byte(r.Uint32())
			}
			section := rawSection(lits)
			for i := range seqs {
				f := &seqs[i]
				f.off, f.match = r.Uint32N(1<<off), r.Uint32N(1<<matchBits[match])
				content = append(content, lits[:lit]...)
				lits = lits[lit:]
				o := int(q.offset(1<<off|f.off, uint32(lit)))
				if valid = valid && o > 0 && o <= len(content); !valid {
					o = 1
				}
				for range firstLength(matchBits[:], match) + MinMatch + f.match {
					content = append(content, content[len(content)-o])
				}
			}
			content = append(content, lits...)
			blocks = append(blocks,
				block(compressedBlock, false, section, rleSequences(lit, off, match, seqs))...)
		}
		blocks = append(blocks, block(rawBlock, true)...)
		dst := make([]byte, len(content)+DecodeSlack)
		p := frame(len(content), blocks)
		n, err := d.DecodeFrame(dst, p, nil, true)
		decodeApart(t, d, p, len(content), nil)
		switch {
		case valid && (err != nil || !bytes.Equal(dst[:n], content)):
			t.Fatalf("%v, %d bytes of %d", err, n, len(content))
		case !valid && err == nil:
			t.Fatal("an invalid offset is accepted")
		case valid:
			accepted++
		}
	}
	if accepted < 500 {
		t.Errorf("only %d frames are valid", accepted)
	}
}

// TestDecodeLiterals decodes raw and RLE literals of sizes at which the header changes.
func TestDecodeLiterals(t *testing.T) {
	d := NewDecoder()
	for _, n := range []int{0, 1, 31, 32, 4095, 4096, MaxBlock - 1, MaxBlock} {
		for _, c := range []struct {
			kind int
			src  []byte
		}{
			{rawLiterals, corpus.ByName("random").Make(n)}, {rleLiterals, bytes.Repeat([]byte{7}, n)},
		} {
			lits := append(appendPlainHeader(nil, c.kind, n), c.src...)
			if c.kind == rleLiterals {
				lits = append(appendPlainHeader(nil, c.kind, n), 7)
			}
			if len(lits)+1 > MaxBlock {
				continue
			}
			p := frame(n, block(compressedBlock, true, lits, []byte{0}))
			if got := decodeFrame(t, d, p, n); !bytes.Equal(got, c.src) {
				t.Errorf("type %d, %d bytes: content differs", c.kind, n)
			}
		}
	}
}

// TestDecodeInvalid decodes frames that break a rule each.
func TestDecodeInvalid(t *testing.T) {
	eachTier(t, testDecodeInvalid)
}

func testDecodeInvalid(t *testing.T) {
	d := NewDecoder()
	lits := corpus.ByName("random").Make(2000)
	seq := func(lit, off, match uint8, f ...fields) []byte { return rleSequences(lit, off, match, f) }
	window := func(size byte, blocks ...[]byte) []byte { // without a content size
		p := []byte{0x28, 0xB5, 0x2F, 0xFD, 0, size}
		return append(p, bytes.Join(blocks, nil)...)
	}
	raw := block(rawBlock, false, lits[:1000])
	end := block(rawBlock, true)
	for _, c := range []struct {
		name  string
		frame []byte
		size  int // -1 for an error
	}{
		{"valid", window(0, raw, block(compressedBlock, true, rawSection(nil),
			seq(0, 3, 0, fields{}))), 1003},
		{"offset within the window", window(0, raw, raw,
			block(compressedBlock, true, rawSection(nil), seq(0, 10, 0, fields{off: 3}))), 2003},
		{"offset beyond the window", window(0, raw, raw,
			block(compressedBlock, true, rawSection(nil), seq(0, 10, 0, fields{off: 4}))), -1},
		{"offset before the frame", window(0, raw,
			block(compressedBlock, true, rawSection(nil), seq(0, 9, 0, fields{off: 492}))), -1},
		{"largest offset code", window(0, raw,
			block(compressedBlock, true, rawSection(nil), seq(0, 31, 0, fields{off: 1<<31 - 1}))), -1},
		{"offset code too large", window(0, raw,
			block(compressedBlock, true, rawSection(nil), seq(0, 32, 0, fields{}))), -1},
		{"literals missing", window(0, raw,
			block(compressedBlock, true, rawSection(lits[:1]), seq(2, 3, 0, fields{}))), -1},
		{"raw block of the window", window(0, block(rawBlock, true, lits[:1024])), 1024},
		{"raw block over the window", window(0, block(rawBlock, true, lits[:1025])), -1},
		{"RLE block over the window", window(0, header(rleBlock, 1025, true), []byte{1}), -1},
		{"match over the window", window(0, raw,
			block(compressedBlock, true, rawSection(nil), seq(0, 3, 46, fields{}))), -1},
		{"repeat table without one", window(0, raw,
			block(compressedBlock, true, rawSection(nil), []byte{1, 0xFC, 1})), -1},
		{"treeless literals without a code", window(0, raw,
			block(compressedBlock, true, []byte{3 | 4<<4, 1 << 6, 0, 1, 0})), -1},
		{"reserved block type", window(0, block(3, true)), -1},
		{"reserved bits of modes", window(0, raw,
			block(compressedBlock, true, rawSection(nil), []byte{1, 0x55, 0, 3, 0, 8})), -1},
		{"end mark missing", window(0, raw,
			block(compressedBlock, true, rawSection(nil), []byte{1, 0x54, 0, 3, 0, 0})), -1},
		{"bits run out", window(0, raw,
			block(compressedBlock, true, rawSection(nil), []byte{1, 0x54, 0, 3, 0, 4})), -1},
		{"bits left over", window(0, raw,
			block(compressedBlock, true, rawSection(nil), []byte{1, 0x54, 0, 3, 0, 16})), -1},
		{"empty section with bytes", window(0, raw,
			block(compressedBlock, true, rawSection(nil), []byte{0, 1})), -1},
		{"empty block", window(0, block(compressedBlock, true)), -1},
		{"no last block", window(0, raw), -1},
		{"bytes behind the frame", window(0, raw, end, []byte{0}), -1},
		{"less content than stated", frame(1001, append(bytes.Clone(raw), end...)), -1},
		{"more content than stated", frame(1, append(bytes.Clone(raw), end...)), -1},
	} {
		decodeApart(t, d, c.frame, 4096, nil)
		n, err := d.DecodeFrame(make([]byte, 4096), c.frame, nil, true)
		var corrupt CorruptError
		switch {
		case c.size >= 0 && (err != nil || n != c.size):
			t.Errorf("%s: %d bytes, %v; want %d", c.name, n, err, c.size)
		case c.size < 0 && !errors.As(err, &corrupt):
			t.Errorf("%s: %d bytes, %v", c.name, n, err)
		}
	}
	sum := window(0, raw, end, []byte{1, 2, 3, 4})
	sum[4] |= 1 << 2
	if _, err := d.DecodeFrame(make([]byte, 4096), sum, nil, true); err != ErrChecksum {
		t.Errorf("wrong checksum: %v", err)
	}
	if n, err := d.DecodeFrame(make([]byte, 4096), sum, nil, false); err != nil || n != 1000 {
		t.Errorf("checksum not compared: %d bytes, %v", n, err)
	}
}

// TestDecodeAllocs checks that a Decoder in use allocates nothing.
func TestDecodeAllocs(t *testing.T) {
	testenv.Measures(t)
	var e Encoder
	d := NewDecoder()
	src := corpus.ByName("text").Make(300_000)
	p := frame(len(src), e.Append(nil, src, greedy(src)))
	dst := make([]byte, len(src)+DecodeSlack)
	n := testing.AllocsPerRun(10, func() {
		if _, err := d.DecodeFrame(dst, p, nil, true); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for each frame", n)
	}
}
