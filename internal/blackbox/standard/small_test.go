package standard

import (
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/testenv"
)

// TestSmallZstd compares the sizes of messages of 1.2 KB with those of zstd, which writes no seek
// table.
func TestSmallZstd(t *testing.T) {
	testenv.Tool(t, "zstd")
	messages := 30
	if testenv.All() {
		messages = 300
	}
	content := bbtest.TextBytes(300*1200, 1)
	ours, theirs := 0, 0
	for i := range messages {
		p := content[i*1200:][:1200]
		ours += len(bbtest.Encode(t, p, compress.WithFormat(compress.Zstd)))
		theirs += len(bbtest.RunTool(t, p, "zstd", "-c", "--stream-size=1200"))
	}
	if ours > theirs {
		t.Errorf("%d bytes, zstd %d", ours, theirs)
	}
	t.Logf("%d bytes, zstd %d", ours, theirs)
}
