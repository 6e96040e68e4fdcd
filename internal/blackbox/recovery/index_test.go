package recovery

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/pzfile"
)

// TestIndexOfTwoStreams recovers two streams of equal blocks. The second index has a right check,
// and says that its stream begins where the first one does.
func TestIndexOfTwoStreams(t *testing.T) {
	content := bbtest.RandomBytes(4*bbtest.BlockSize, 1)
	one := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	file := append(bytes.Clone(one), one...)
	footer := len(file) - pzfile.FooterSize
	f, err := pzfile.ParseFooter(file[footer:])
	if err != nil {
		t.Fatal(err)
	}
	tail := len(file) - int(pzfile.TailSize(f.Units))
	f.Size = int64(len(file))
	pzfile.AppendFooter(file[:footer], f, pzfile.Checksum(0, file[tail:footer]))
	if got := binary.LittleEndian.Uint64(file[footer+8:]); got != uint64(len(file)) {
		t.Fatalf("the index states %d bytes", got)
	}
	var got bytes.Buffer
	damages := 0
	err = compress.Recover(&got, bytes.NewReader(file), int64(len(file)), func(compress.Damage) error {
		damages++
		return nil
	})
	if want := append(bytes.Clone(content), content...); err != nil || !bytes.Equal(got.Bytes(), want) ||
		damages == 0 {
		t.Errorf("%d bytes of %d, %d damages, %v", got.Len(), len(want), damages, err)
	}
}
