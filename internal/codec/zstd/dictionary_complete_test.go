package zstd

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestCompleteDictionary compresses samples with a dictionary that was made from them, and decodes
// them. The content of the dictionary begins as a formatted dictionary does.
func TestCompleteDictionary(t *testing.T) {
	var samples [][]byte
	for i := range 50 {
		samples = append(samples, corpus.Document(uint64(i)))
	}
	content := append([]byte{0x37, 0xA4, 0x30, 0xEC}, corpus.Document(100)...)
	dict, counts, err := CompleteDictionary(content, samples, 77)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ParseDictionary(dict)
	if err != nil || d.ID() != 77 || !bytes.Equal(d.Content(), content) {
		t.Fatalf("ID %d, content of %d bytes: %v", d.ID(), len(d.Content()), err)
	}
	c, dec, literals, sequences := newSampleCoder(d), NewDecoder(), 0, 0
	for _, s := range samples {
		part, seqs := c.sequences(s)
		c.out = c.enc.Append(c.out[:0], part, seqs)
		dst := make([]byte, len(part)+DecodeSlack)
		dec.Reset(int64(len(part)), d)
		if n, _, _, err := dec.Block(dst, 0, c.out); err != nil || !bytes.Equal(dst[:n], part) {
			t.Fatalf("%d bytes of %d are decoded: %v", n, len(part), err)
		}
		literals, sequences = literals+len(part), sequences+len(seqs)
		for _, q := range seqs {
			literals -= int(q.MatchLen)
		}
	}
	// They were counted with the prices of a dictionary before.
	far := func(n, want int) bool { return n < want-want/20 || n > want+want/20 }
	if far(counts.Literals(), literals) || far(counts.Sequences(), sequences) {
		t.Errorf("%d literals and %d sequences counted, want about %d and %d",
			counts.Literals(), counts.Sequences(), literals, sequences)
	}
}

// TestRawDictionary decodes a match that begins in content without tables.
func TestRawDictionary(t *testing.T) {
	content := append([]byte{0x37, 0xA4, 0x30, 0xEC}, corpus.Document(1)...)
	d := RawDictionary(content)
	c, dec := newSampleCoder(d), NewDecoder()
	part, seqs := c.sequences(content)
	c.out = c.enc.Append(nil, part, seqs)
	if len(c.out) > 32 {
		t.Errorf("the content of the dictionary takes %d bytes", len(c.out))
	}
	dst := make([]byte, len(part)+DecodeSlack)
	dec.Reset(int64(len(part)), d)
	if n, _, _, err := dec.Block(dst, 0, c.out); err != nil || !bytes.Equal(dst[:n], part) {
		t.Fatalf("%d bytes of %d are decoded: %v", n, len(part), err)
	}
}
