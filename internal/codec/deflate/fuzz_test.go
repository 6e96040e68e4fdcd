package deflate

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// FuzzAppend checks that decoders restore the content, whatever the sequences.
func FuzzAppend(f *testing.F) {
	f.Add([]byte{}, uint16(0), true)
	f.Add([]byte{3, 'a', 'b', 'c', 0x84, 2, 0, 0xff, 1, 0, 1}, uint16(0), true)
	f.Add([]byte{0xc0, 255, 127, 0xff, 255, 127, 200}, uint16(1<<15), false)
	f.Add(corpus.ByName("short").Make(3000), uint16(100), true)
	var e Encoder
	f.Fuzz(func(t *testing.T, p []byte, before uint16, final bool) {
		// A byte below 128 is the number of literals that follow. Others begin a match: length, two
		// bytes of offset, and length·256 if bit 6 is set.
		m := &maker{from: int(before)}
		for i := range before {
			m.data = append(m.data, byte(i*i>>4))
		}
		for len(p) > 0 && len(m.data)-m.from < 1<<16 {
			head := p[0]
			p = p[1:]
			if head < 128 {
				n := min(int(head), len(p))
				m.literals(p[:n]...)
				p = p[n:]
				continue
			}
			if len(p) < 2 || len(m.data) == 0 {
				break
			}
			length := MinMatch + int(head&63)
			if head&64 != 0 {
				length = MinMatch + int(head&63)*int(p[0])
			}
			m.match(length, 1+(int(p[0])|int(p[1])<<8)%min(len(m.data), MaxOffset))
			p = p[2:]
		}
		content := m.content()
		code := e.Append(nil, content, m.seqs, final)
		if !final {
			code = e.Append(code, nil, nil, true)
		}
		if !final && before%2 == 0 {
			code = e.Append(e.AppendShort(nil, content, m.seqs, false), nil, nil, true)
		}
		window := m.data[max(0, m.from-MaxOffset):m.from]
		got, err := io.ReadAll(flate.NewReaderDict(bytes.NewReader(code), window))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d bytes before, %d sequences, %d bytes: %v",
				before, len(m.seqs), len(content), err)
		}
	})
}
