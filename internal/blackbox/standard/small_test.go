package standard

import (
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstframe"
)

// TestSmallZstd compares messages of 1.2 KB with those of zstd, which writes no seek table: the
// bytes around blocks, and the bytes in all.
func TestSmallZstd(t *testing.T) {
	messages := 30
	if testenv.All() {
		messages = 300
	}
	const size = 1200
	content := corpus.ByName("json").Make(300 * size)
	ours, theirs := 0, 0
	for i := range messages {
		p := content[i*size:][:size]
		file := bbtest.Encode(t, p, compress.WithFormat(compress.Zstd))
		zstd := bbtest.RunTool(t, p, "zstd", "-c", "--stream-size=1200")
		if n, want := aroundBlocks(t, file), aroundBlocks(t, zstd); n > want {
			t.Fatalf("%d bytes around blocks, zstd has %d", n, want)
		}
		ours += len(file)
		theirs += len(zstd)
	}
	t.Logf("%d messages: %d bytes, zstd %d", messages, ours, theirs)
	if ours > theirs {
		t.Errorf("%d messages have %d bytes, those of zstd %d", messages, ours, theirs)
	}
}

// aroundBlocks returns how many bytes a file has besides the bodies of blocks of its first frame.
func aroundBlocks(t *testing.T, file []byte) int {
	t.Helper()
	_, at, err := zstframe.ParseHeader(file)
	n := len(file)
	for last := false; !last && err == nil; {
		var b zstframe.Block
		b, err = zstframe.ParseBlock(file[at:])
		at += zstframe.BlockHeaderSize + b.Size
		n -= b.Size
		last = b.Last
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
