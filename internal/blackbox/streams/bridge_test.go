package streams

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/zstfile"
)

// TestProbeZstd probes files of all formats, of frames with and without a size, and of parts of
// files.
func TestProbeZstd(t *testing.T) {
	written := bbtest.Encode(t, make([]byte, 70_000), compress.WithFormat(compress.Zstd),
		compress.WithSeekable(compress.MinBlockSize))
	table := bbtest.MakeSeekTable(false)
	unsized := bbtest.StoredFrame(zstfile.Header{ContentSize: -1, Window: 1 << 10}, []byte("content"))
	for _, c := range []struct {
		name         string
		file         []byte
		table, sized bool
	}{
		{"written", written, true, true},
		{"end missing", written[:len(written)-1], false, true},
		{"beginning missing", written[1:], true, false},
		{"no size", unsized, false, false},
		{"no size, with table", slices.Concat(unsized, table), true, false},
		{"cut header", written[:5], false, false},
		{"pz", bbtest.Encode(t, []byte("content")), false, false},
		{"gz", bbtest.Encode(t, []byte("content"), compress.WithFormat(compress.Gzip)), false, false},
		{"empty", nil, false, false},
	} {
		table, sized := bridge.ProbeZstd(bytes.NewReader(c.file), int64(len(c.file)))
		if table != c.table || sized != c.sized {
			t.Errorf("%s: table %v, sized %v, want %v, %v", c.name, table, sized, c.table, c.sized)
		}
	}
}

// TestKeepTogether writes content that begins a block only near the end of the one before.
func TestKeepTogether(t *testing.T) {
	const size = 64 << 10
	p := corpus.ByName("source").Make(10 * size)
	for _, c := range []struct {
		format        compress.Format
		first, second int
		begins        bool // the second part begins a block
		opts          []compress.WriterOption
	}{
		{format: compress.PZ, first: size - size/8, second: size/8 + 1, begins: true},
		{format: compress.Zstd, first: size - size/8, second: size/8 + 1, begins: true},
		{format: compress.PZ, first: size - size/8, second: size / 8},
		{format: compress.PZ, first: size - size/8 - 1, second: 2 * size},
		{format: compress.PZ, first: 2*size - 1, second: 3 * size, begins: true},
		{format: compress.PZ, first: 2 * size, second: 10, begins: true},
		{format: compress.PZ, first: 0, second: 2 * size, begins: true},
		{format: compress.PZ, first: size - 1, second: size, opts: []compress.WriterOption{
			compress.WithRsyncable(true),
		}},
	} {
		var b bytes.Buffer
		w, err := compress.NewWriter(&b, append(c.opts, compress.WithFormat(c.format),
			compress.WithSeekable(size))...)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(p[:c.first])
		bridge.KeepTogether(w, int64(c.second))
		w.Write(p[c.first : c.first+c.second])
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		bridge.KeepTogether(w, 1) // does nothing
		r, err := compress.NewReaderAt(bytes.NewReader(b.Bytes()), int64(b.Len()))
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
