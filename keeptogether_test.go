package compress

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestKeepTogether writes content that begins a block only near the end of the one before.
func TestKeepTogether(t *testing.T) {
	const size = 64 << 10
	p := corpus.ByName("source").Make(10 * size)
	for _, c := range []struct {
		format        Format
		first, second int
		begins        bool // the second part begins a block
		opts          []Option
	}{
		{format: PZ, first: size - size/8, second: size/8 + 1, begins: true},
		{format: Zstd, first: size - size/8, second: size/8 + 1, begins: true},
		{format: PZ, first: size - size/8, second: size / 8},
		{format: PZ, first: size - size/8 - 1, second: 2 * size},
		{format: PZ, first: 2*size - 1, second: 3 * size, begins: true},
		{format: PZ, first: 2 * size, second: 10, begins: true},
		{format: PZ, first: 0, second: 2 * size, begins: true},
		{format: PZ, first: size - 1, second: size, opts: []Option{WithRsyncable(true)}},
	} {
		var b bytes.Buffer
		w, err := NewWriter(&b, append(c.opts, WithFormat(c.format), WithBlockSize(size))...)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(p[:c.first])
		w.KeepTogether(int64(c.second))
		w.Write(p[c.first : c.first+c.second])
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w.KeepTogether(1) // does nothing
		r, err := NewReaderAt(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		begins := false
		for k := range r.Blocks() {
			begins = begins || k.ContentOffset == int64(c.first)
		}
		got := make([]byte, c.first+c.second)
		if _, err := r.ReadAt(got, 0); err != nil || !bytes.Equal(got, p[:len(got)]) {
			t.Errorf("%v, %d and %d bytes: other content, %v", c.format, c.first, c.second, err)
		}
		if begins != c.begins {
			t.Errorf("%v, %d and %d bytes: begins a block: %v", c.format, c.first, c.second, begins)
		}
		r.Close()
	}
}
