package gzfile

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/gopz/compress/internal/codec/deflate"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// tools are commands that restore a .gz file from standard input to standard output.
var tools = [][]string{
	{"gzip", "-dc"},
	{"pigz", "-dc"},
	{"libdeflate-gunzip", "-c"},
	{"python3", "-c", "import gzip, sys\n" +
		"sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))"},
	{"python3", "-c", "import zlib, sys\np = sys.stdin.buffer.read()\nwhile p:\n" +
		" d = zlib.decompressobj(31)\n sys.stdout.buffer.write(d.decompress(p))\n" +
		" assert d.eof\n p = d.unused_data"},
}

// runs returns sequences for the repetitions in p at a few fixed offsets: enough for blocks of all
// types.
func runs(p []byte) (seqs []lz77.Sequence) {
	done := 0
	for at := 1; at+3 <= len(p); {
		best, offset := 0, 0
		for _, o := range []int{1, 2, 4, 32, 61, 256, 32768} {
			if o > at {
				break
			}
			n := 0
			for at+n < len(p) && p[at+n] == p[at+n-o] {
				n++
			}
			if n > best {
				best, offset = n, o
			}
		}
		if best < 3 {
			at++
			continue
		}
		seqs = append(seqs, lz77.Sequence{LitLen: uint32(at - done), MatchLen: uint32(best),
			Offset: uint32(offset)})
		at += best
		done = at
	}
	return seqs
}

// member makes one member of pieces that are coded independently, with combined checksums.
func member(t *testing.T, p []byte, h Header, pieces int) []byte {
	out := appendHeader(t, &h, nil)
	var e deflate.Encoder
	sum, size := uint32(0), (len(p)+pieces-1)/pieces
	for i := range pieces {
		piece := p[min(i*size, len(p)):min((i+1)*size, len(p))]
		out = e.Append(out, piece, runs(piece), i == pieces-1)
		sum = Combine(sum, Checksum(0, piece), int64(len(piece)))
	}
	return AppendTrailer(out, sum, int64(len(p)))
}

// TestTools lets other programs restore files of many members. A missing program is skipped, except
// in CI.
func TestTools(t *testing.T) {
	var file, want []byte
	for _, kind := range []string{"text", "records", "runs", "random", "zeros", "mixed"} {
		for _, n := range []int{0, 1, 300_000} {
			h := Header{Name: "näme", Comment: "comment", Extra: []byte("XY\x01\x00z"),
				ModTime: 1e9, OS: Unix}
			if n == 1 {
				h = Header{OS: Unix}
			}
			p := corpus.ByName(kind).Make(n)
			file = append(file, member(t, p, h, 1+n/70_000)...)
			want = append(want, p...)
		}
	}
	for _, tool := range tools {
		t.Run(tool[0], func(t *testing.T) {
			cmd := exec.Command(testenv.Tool(t, tool[0]), tool[1:]...)
			cmd.Stdin = bytes.NewReader(file)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			got, err := cmd.Output()
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, %d bytes, want %d: %s", err, len(got), len(want), stderr.Bytes())
			}
		})
	}
}
