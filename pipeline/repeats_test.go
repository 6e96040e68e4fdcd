package pipeline

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/lz77"
)

// TestMergeRepeats merges repeats with sequences at random. Both describe the same content, and so
// must the result.
func TestMergeRepeats(t *testing.T) {
	const window = 2000
	r := rand.New(rand.NewPCG(5, 6))
	var ws workspace
	for range 300 {
		content := make([]byte, window, 8000) // periods of 1000
		for i := range content {
			content[i] = byte(r.IntN(4))
		}
		copy(content[1000:], content[:1000])
		for len(content) < 4000+r.IntN(4000) {
			content = append(content, content[len(content)-1000])
		}
		var seqs []lz77.Sequence
		for at := window; at < len(content); {
			lits, match := r.IntN(20), 3+r.IntN(200)
			if at += lits + match; at > len(content) {
				break
			}
			seqs = append(seqs, lz77.Sequence{
				LitLen: uint32(lits), MatchLen: uint32(match), Offset: uint32(1000 * (1 + r.IntN(2))),
			})
		}
		want := decodeSequences(content, window, seqs)
		var repeats []ldm.Repeat
		taken := 0
		for at := window; ; {
			at += r.IntN(500)
			n := 64 + r.IntN(500)
			if at+n > len(content) {
				break
			}
			repeats = append(repeats, ldm.Repeat{At: at - window, Len: n, Distance: 2000})
			at += n
			taken += n
		}
		got := ws.mergeRepeats(seqs, repeats)
		p := decodeSequences(content, window, got)
		if !bytes.Equal(p, content) || !bytes.Equal(want, content) {
			t.Fatalf("content differs: %d sequences, %d repeats, %d merged",
				len(seqs), len(repeats), len(got))
		}
		far := 0
		for _, s := range got {
			if s.MatchLen < 3 {
				t.Fatalf("match of %d bytes", s.MatchLen)
			}
			if s.MatchLen >= 64 && s.Offset == 2000 {
				far += int(s.MatchLen)
			}
		}
		if far < taken/2 {
			t.Fatalf("%d bytes of %d are matches of repeats", far, taken)
		}
	}
}

// TestMatchBetween searches a block with two long repeats. Their content stays literals, and what
// is around them is matched, also with content in front of the block.
func TestMatchBetween(t *testing.T) {
	p := ByName("lzf")
	period := make([]byte, 1000)
	r := rand.New(rand.NewPCG(7, 8))
	for i := range period {
		period[i] = byte(r.IntN(256))
	}
	content := bytes.Repeat(period, 1<<11)
	for level := 1; level <= MaxLevel; level++ {
		const window = 1 << 16
		b := &Block{run: &Run{cfg: Config{Pipeline: p, Level: level, Reach: window}}}
		b.src, b.Window, b.payload = content, window, &payload{}
		b.repeats = []ldm.Repeat{{At: 500_000, Len: longRepeat}, {At: 900_000, Len: longRepeat + 1}}
		var ws workspace
		if !b.hasLongRepeat() {
			t.Fatal("no long repeat")
		}
		ws.matchBetween(b)
		if got := decodeSequences(content, window, b.payload.seqs); !bytes.Equal(got, content) {
			t.Fatalf("level %d: other content", level)
		}
		at, matched := 0, 0
		for _, s := range b.payload.seqs {
			at += int(s.LitLen)
			for _, r := range b.repeats {
				if at < r.At+r.Len && at+int(s.MatchLen) > r.At {
					t.Fatalf("level %d: a match at %d, in a repeat at %d", level, at, r.At)
				}
			}
			at += int(s.MatchLen)
			matched += int(s.MatchLen)
		}
		if want := len(content) - window - 2*longRepeat - 5000; matched < want {
			t.Errorf("level %d: %d bytes matched, want %d", level, matched, want)
		}
	}
}

// decodeSequences makes content from its first start bytes, sequences, and its own literals.
func decodeSequences(content []byte, start int, seqs []lz77.Sequence) []byte {
	p := bytes.Clone(content[:start])
	for _, s := range seqs {
		p = append(p, content[len(p):len(p)+int(s.LitLen)]...)
		for range s.MatchLen {
			p = append(p, p[len(p)-int(s.Offset)])
		}
	}
	return append(p, content[len(p):]...)
}
