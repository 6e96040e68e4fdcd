package peertest_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// zstdHeaders have fields of all sizes.
var zstdHeaders = []zstframe.Header{
	{ContentSize: 0, SingleSegment: true},
	{ContentSize: 255, SingleSegment: true, Window: 255, Checksum: true},
	{ContentSize: 256, SingleSegment: true, Window: 256},
	{ContentSize: 1<<16 + 255, SingleSegment: true, Window: 1<<16 + 255},
	{ContentSize: 1<<16 + 256, SingleSegment: true, Window: 1<<16 + 256, Checksum: true},
	{ContentSize: 1<<32 - 1, SingleSegment: true, Window: 1<<32 - 1},
	{ContentSize: 1 << 32, SingleSegment: true, Window: 1 << 32},
	{ContentSize: 1<<63 - 1, Window: zstframe.MaxWindow, Checksum: true},
	{ContentSize: -1, Window: zstframe.MinWindow},
	{ContentSize: -1, Window: 8 << 20, Checksum: true, Dictionary: 255},
	{ContentSize: 0, Window: zstframe.MinWindow + 128, Dictionary: 256},
	{ContentSize: 255, Window: 15 << 10, Dictionary: 1<<16 - 1},
	{ContentSize: 256, Window: 9 << 20, Dictionary: 1 << 16},
	{ContentSize: 1 << 20, Window: 1 << 20, Dictionary: 1<<32 - 1},
}

// TestZstdHeaders lets the peer read frames of stored blocks with several kinds of headers, and a
// seek table behind them.
func TestZstdHeaders(t *testing.T) {
	var file, content []byte
	var entries []zstfile.Entry
	for i := range 5 {
		piece := bytes.Repeat([]byte{byte('a' + i)}, 100*i)
		at := len(file)
		h := zstframe.Header{
			ContentSize: int64(len(piece)), SingleSegment: i%2 == 0,
			Window: zstframe.MinWindow << i, Checksum: i%3 == 0,
		}
		file = h.Append(file)
		file = append(file, byte(1|len(piece)<<3), byte(len(piece)>>5), 0)
		file = append(file, piece...)
		if h.Checksum {
			file = binary.LittleEndian.AppendUint32(file, zstfile.Checksum(piece))
		}
		entries = append(entries, zstfile.Entry{
			Size: uint32(len(file) - at), Content: uint32(len(piece)), Sum: zstfile.Checksum(piece),
		})
		content = append(content, piece...)
	}
	file = zstfile.AppendSeekTable(file, entries, true)
	got, err := zstdDecoder.DecodeAll(file, nil)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, want %d; %v", len(got), len(content), err)
	}
}

// FuzzZstdHeader compares our parser of frame headers with the peer's.
func FuzzZstdHeader(f *testing.F) {
	for _, h := range zstdHeaders {
		f.Add(h.Append(nil))
	}
	f.Add(append([]byte{0x53, 0x2A, 0x4D, 0x18, 20, 0, 0, 0}, make([]byte, 20)...)) // skippable
	f.Fuzz(func(t *testing.T, p []byte) {
		h, size, err := zstframe.ParseHeader(p)
		var k kzstd.Header
		// It wants to see the header of the first block as well, and refuses windows beyond what it
		// can decode.
		kerr := k.Decode(append(slices.Clip(p), 1, 0, 0))
		if err != nil {
			if kerr == nil && !k.Skippable && !errors.Is(err, zstframe.ErrField) &&
				!errors.Is(err, zstframe.ErrShort) {
				t.Fatalf("%x: %v, the peer takes it for %+v", p, err, k)
			}
			return
		}
		if again, _, err := zstframe.ParseHeader(h.Append(nil)); err != nil || again != h {
			t.Fatalf("%x: %+v is written as %+v, %v", p, h, again, err)
		}
		if kerr != nil {
			return
		}
		size64 := int64(-1)
		if k.HasFCS {
			size64 = int64(k.FrameContentSize)
		}
		if size64 != h.ContentSize || k.SingleSegment != h.SingleSegment ||
			k.HasCheckSum != h.Checksum || k.DictionaryID != h.Dictionary ||
			!h.SingleSegment && int64(k.WindowSize) != h.Window || k.HeaderSize != size {
			t.Fatalf("%x: %+v, %d bytes, the peer's: %+v", p, h, size, k)
		}
	})
}
