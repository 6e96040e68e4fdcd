package compress

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/zstfile"
)

// TestRecoverEmptyFrames has frames whose headers state no content, in front of one with content.
// Those with content are damage.
func TestRecoverEmptyFrames(t *testing.T) {
	const header = "\x28\xb5\x2f\xfd\x20\x00" // a single segment of 0 bytes
	content := textBytes(1000, 1)
	file := encode(t, content, WithFormat(Zstd))
	for blocks, damaged := range map[string]bool{
		"\x01\x00\x00":                false, // a raw block of no bytes
		"\x00\x00\x00\x01\x00\x00":    false, // two
		"\x15\x00\x00\x00\x00":        false, // a compressed block without literals and sequences
		"\x19\x00\x00abc":             true,
		"\x15\x00\x00\x00\x01":        true, // a block that cannot be decoded
		"\x00\x00\x00\x19\x00\x00abc": true,
	} {
		bad := slices.Concat([]byte(header+blocks), file)
		got, list := recoverAll(t, bad)
		if !bytes.Equal(got, content) || (len(list) > 0) != damaged {
			t.Errorf("%x: %d bytes, damage %v", blocks, len(got), list)
		}
	}
}

// TestRecoverUnlistedFrame has a seek table that takes a frame for an empty one of another size.
// The frame is saved, and the table is damage.
func TestRecoverUnlistedFrame(t *testing.T) {
	var file, content []byte
	var entries []zstfile.Entry
	for _, piece := range []string{"first", "second"} {
		h := zstfile.Header{ContentSize: int64(len(piece)), SingleSegment: true}
		frame := storedFrame(h, []byte(piece))
		file, content = append(file, frame...), append(content, piece...)
		entries = append(entries, zstfile.Entry{Size: uint32(len(frame)), Content: uint32(len(piece))})
	}
	entries[1] = zstfile.Entry{Size: 1 << 20}
	got, list := recoverAll(t, zstfile.AppendSeekTable(file, entries, false))
	if !bytes.Equal(got, content) || len(list) != 1 || list[0].Kind != DamageFrame {
		t.Errorf("%q, damage %v", got, list)
	}
}

// TestEmptyFrameChecksum has empty frames with a wrong checksum. A ReaderAt notices it, as a Reader
// does, and Recover reports it.
func TestEmptyFrameChecksum(t *testing.T) {
	empty := []byte("\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00\x99\xe9\xd8\x50") // the last byte should be 51
	for _, p := range [][]byte{
		empty, zstfile.AppendSeekTable(empty, []zstfile.Entry{{Size: uint32(len(empty))}}, false),
	} {
		_, err := NewReaderAt(bytes.NewReader(p), int64(len(p)))
		_, readErr := decode(p)
		if !errors.Is(err, ErrChecksum) || !errors.Is(readErr, ErrChecksum) {
			t.Errorf("%x: ReaderAt: %v; Reader: %v", p, err, readErr)
		}
		if _, err := NewReaderAt(bytes.NewReader(p), int64(len(p)), WithChecksum(false)); err != nil {
			t.Errorf("%x, without checks: %v", p, err)
		}
	}
	content := textBytes(1000, 1)
	got, list := recoverAll(t, slices.Concat(empty, encode(t, content, WithFormat(Zstd))))
	if !bytes.Equal(got, content) || len(list) != 1 {
		t.Errorf("%d bytes, damage %v", len(got), list)
	}
}
