package compress

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestGunzipMemory checks that a Reader of .gz files takes no more than ReaderMemory says, whatever the
// files contain.
func TestGunzipMemory(t *testing.T) {
	testenv.Measures(t)
	random := randomBytes(4<<20, 1)
	var lines strings.Builder // after the start, 50 bytes of content for a byte of the file
	lines.Write(random[:300_000])
	for i := range 500_000 {
		lines.WriteString("12:00:00 INFO worker finished block ")
		if i%11 == 0 {
			fmt.Fprintf(&lines, "%x", uint32(i)*2654435761)
		}
		lines.WriteByte('\n')
	}
	files := map[string][]byte{
		"lines":         gzipMember(t, []byte(lines.String())),
		"zeros":         gzipMember(t, append(random[:300_000:300_000], make([]byte, 1<<27)...)),
		"random":        gzipMember(t, random),
		"mixed":         gzipMember(t, mixedBytes(6<<20)),
		"empty members": bytes.Repeat(gzipMember(t, nil), 50_000),
		"tiny members":  bytes.Repeat(gzipMember(t, []byte("x")), 50_000),
		"members":       bytes.Repeat(gzipMember(t, textBytes(1000, 1)), 3000),
	}
	for _, c := range []struct {
		workers int
		limit   int64
	}{{1, 0}, {2, 16 << 20}, {2, 32 << 20}, {8, 0}} {
		opts := []Option{
			WithConcurrency(c.workers), WithMaxMemory(c.limit), WithPipeline("deflate"),
		}
		most, err := ReaderMemory(0, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for name, file := range files {
			read := func() {
				r := newReader(t, bytes.NewReader(file), opts...)
				if _, err := r.WriteTo(io.Discard); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			// The garbage collector may empty the pools of scratch memory meanwhile.
			got := min(allocatedBytes(read), allocatedBytes(read), allocatedBytes(read))
			if scratch := int64(2 << 20); got > most+scratch {
				t.Errorf("%s, %d workers, limit %d: %d bytes allocated, ReaderMemory says %d", name,
					c.workers, c.limit, got, most)
			}
		}
	}
}
