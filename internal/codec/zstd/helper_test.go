package zstd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os/exec"
	"testing"

	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// greedy finds matches of at least 3 bytes at any distance, repeat offsets first.
func greedy(src []byte) (seqs []lz77.Sequence) {
	last := map[[3]byte]int{}
	repeat, lit := 1, 0
	for i := 0; i+3 <= len(src); {
		key := [3]byte(src[i:])
		from, ok := last[key]
		if i >= repeat && [3]byte(src[i-repeat:]) == key {
			from, ok = i-repeat, true
		}
		last[key] = i
		if !ok {
			i++
			lit++
			continue
		}
		n := 3
		for i+n < len(src) && src[from+n] == src[i+n] {
			n++
		}
		seqs = append(seqs, lz77.Sequence{
			LitLen: uint32(lit), MatchLen: uint32(n), Offset: uint32(i - from),
		})
		repeat, lit = i-from, 0
		for j := i; j < i+n && j+3 <= len(src); j += 1 + n/64 {
			last[[3]byte(src[j:])] = j
		}
		i += n
	}
	return seqs
}

// expand executes sequences over lits and returns the content.
func expand(lits []byte, seqs []lz77.Sequence) (out []byte) {
	for _, q := range seqs {
		out = append(out, lits[:q.LitLen]...)
		lits = lits[q.LitLen:]
		for range q.MatchLen {
			out = append(out, out[len(out)-int(q.Offset)])
		}
	}
	return append(out, lits...)
}

// frame returns a single-segment frame with the content size and the blocks.
func frame(size int, blocks []byte) []byte {
	p := []byte{0x28, 0xB5, 0x2F, 0xFD, 3<<6 | 1<<5}
	return append(binary.LittleEndian.AppendUint64(p, uint64(size)), blocks...)
}

// check encodes src and decodes it with the Decoder. It returns the blocks. The caller passes them
// to a program, too.
func check(t testing.TB, e *Encoder, src []byte, seqs []lz77.Sequence) []byte {
	t.Helper()
	blocks := e.Append([]byte("before"), src, seqs)
	if string(blocks[:6]) != "before" {
		t.Fatal("Append changed the bytes before its output")
	}
	blocks = blocks[6:]
	if len(blocks) > MaxSize(len(src)) {
		t.Fatalf("%d bytes become %d, more than %d", len(src), len(blocks), MaxSize(len(src)))
	}
	got := make([]byte, len(src))
	n, err := NewDecoder().DecodeFrame(got, frame(len(src), blocks), nil, false)
	if err != nil || !bytes.Equal(got[:n], src) {
		t.Fatalf("%d bytes, %d sequences in %d bytes of blocks: decoded %d, %v",
			len(src), len(seqs), len(blocks), n, err)
	}
	return blocks
}

// program decodes frames with the zstd program. internal/peertest has another decoder.
type program struct {
	frames, content []byte
}

func (p *program) add(t *testing.T, src, blocks []byte) {
	t.Helper()
	if len(p.content) > 16<<20 {
		p.check(t)
		*p = program{}
	}
	p.frames = append(p.frames, frame(len(src), blocks)...)
	p.content = append(p.content, src...)
}

func (p *program) check(t *testing.T) {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "zstd"), "-dc", "--memory=512MB")
	cmd.Stdin = bytes.NewReader(p.frames)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	if err != nil || !bytes.Equal(got, p.content) {
		t.Errorf("zstd -d: %v, %d bytes of %d: %s", err, len(got), len(p.content), stderr.Bytes())
	}
}

// blockInfo holds the headers of a block.
type blockInfo struct {
	kind, size int // size is that of the block header
	lits       int // type of the literals section
	regenerated,
	coded int
	streams int
	seqs    int
	modes   [kinds]int
}

// inspect reads the headers of blocks.
func inspect(t testing.TB, p []byte) (blocks []blockInfo) {
	t.Helper()
	for {
		head := int(p[0]) | int(p[1])<<8 | int(p[2])<<16
		b := blockInfo{kind: head >> 1 & 3, size: head >> 3}
		p = p[3:]
		n := b.size
		if b.kind == rleBlock {
			n = 1
		}
		if b.kind == compressedBlock {
			b.read(p[:n])
		}
		blocks = append(blocks, b)
		p = p[n:]
		if head&1 != 0 {
			if len(p) > 0 {
				t.Fatalf("%d bytes behind the last block", len(p))
			}
			return blocks
		}
	}
}

func (b *blockInfo) read(p []byte) {
	var buf [8]byte
	copy(buf[:], p)
	v := binary.LittleEndian.Uint64(buf[:])
	format := int(v >> 2 & 3)
	b.lits = int(v & 3)
	if b.lits == rawLiterals || b.lits == rleLiterals {
		head := 1
		switch format {
		case 1:
			b.regenerated, head = int(v>>4&0xFFF), 2
		case 3:
			b.regenerated, head = int(v>>4&0xFFFFF), 3
		default:
			b.regenerated = int(v >> 3 & 31)
		}
		b.coded = b.regenerated
		if b.lits == rleLiterals {
			b.coded = 1
		}
		p = p[head+b.coded:]
	} else {
		head := max(3, format+2)
		width := (head*8 - 4) / 2
		b.regenerated, b.coded = int(v>>4&(1<<width-1)), int(v>>(4+width)&(1<<width-1))
		b.streams = 4
		if format == 0 {
			b.streams = 1
		}
		p = p[head+b.coded:]
	}
	switch n := int(p[0]); {
	case n == 0:
		return
	case n < 128:
		b.seqs = n
		p = p[1:]
	case n < 255:
		b.seqs = (n-128)<<8 | int(p[1])
		p = p[2:]
	default:
		b.seqs = 0x7F00 + int(p[1]) + int(p[2])<<8
		p = p[3:]
	}
	b.modes = [kinds]int{int(p[0] >> 6), int(p[0] >> 4 & 3), int(p[0] >> 2 & 3)}
}

func (b blockInfo) String() string {
	return fmt.Sprintf(
		"kind %d, %d bytes; literals: type %d, %d in %d, %d streams; %d sequences, modes %v",
		b.kind, b.size, b.lits, b.regenerated, b.coded, b.streams, b.seqs, b.modes)
}
