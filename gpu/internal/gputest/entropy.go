package gputest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lzseq"
)

// entropyCase holds streams and their payload.
type entropyCase struct {
	name    string
	layout  *lzseq.Layout
	streams *lzseq.Streams
	size    int
	payload []byte
}

func (c *entropyCase) encode() *gpu.Request { return encodeRequest(c.layout, c.streams, c.size) }
func (c *entropyCase) decode() *gpu.Request { return decodeRequest(c.payload, c.size) }

// literals returns a case whose other streams are empty.
func literals(name string, p []byte) entropyCase {
	return newCase(name, lzseq.Repeat, &lzseq.Streams{Lits: p}, max(len(p), 1))
}

func newCase(name string, l *lzseq.Layout, s *lzseq.Streams, size int) entropyCase {
	return entropyCase{name, l, s, size, payload(l, s)}
}

// unit is the least number of symbols between two tables.
var unit = rans.HistogramUnit(1 << 20)

// entropyCases returns streams of all kinds of data, streams whose sizes are around limits of
// groups, rounds and words, and streams with segments of all modes.
func entropyCases() (cases []entropyCase) {
	for i, k := range corpus.Kinds() {
		l := lzseq.Repeat
		if i%2 == 0 {
			l = lzseq.Plain
		}
		src := k.Make(60_000 + 777*i)
		cases = append(cases, newCase(k.Name, l, streamsOf(l, src, 1), len(src)))
	}
	text := corpus.ByName("text").Make(40_000)
	for _, n := range []int{
		1, 31, 33, 4095, 4096, 16383, 16384, 16385, 16384 + 31, 16384 + 32, 16384 + 33,
		20000, 32768 + 64, 40000,
	} {
		cases = append(cases, literals(fmt.Sprintf("%d literals", n), text[:n]))
	}
	for _, n := range []int{unit - 1, unit, unit + 1, 2*unit - 1, 2 * unit, 3*unit + 1} {
		cases = append(cases, literals(fmt.Sprintf("%d literals of many tables", n), changing(n)))
	}
	// Two symbols, one of them rare: hardly any words.
	rare := make([]byte, 70_000)
	for i := 0; i < len(rare); i += 4000 {
		rare[i] = 1
	}
	cases = append(cases,
		literals("rare", rare),
		literals("one symbol", make([]byte, 50_000)),
		literals("many tables", changing(20*unit+77)))
	noise := changing(70_000)
	r := rand.New(rand.NewPCG(8, 1))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	return append(cases, literals("noise", noise), newCase("empty", lzseq.Repeat, new(lzseq.Streams), 100))
}

// changing returns n bytes whose statistics change with each unit, so that segments of all modes
// alternate.
func changing(n int) []byte {
	r := rand.New(rand.NewPCG(8, 2))
	p := make([]byte, n)
	for i := range p {
		switch k := i / unit; k % 5 {
		case 0: // two bits of entropy, different symbols in each unit
			p[i] = byte(k + 5*r.IntN(4))
		case 1: // one symbol
			p[i] = byte(k)
		case 2: // all symbols
			p[i] = byte(r.Uint32())
		case 3: // one frequent symbol and three rare ones
			if r.IntN(900) == 0 {
				p[i] = 255 - byte(r.IntN(3))
			}
		case 4: // skewed
			p[i] = byte(k * r.IntN(8) * r.IntN(8))
		}
	}
	return p
}

// testEncodeDecode compares entropy coding both ways, in batches of several sizes.
func testEncodeDecode(t *testing.T, d gpu.Device, amount amount) {
	require(t, d, gpu.StageN)
	cases := entropyCases()
	limit := d.Info().Ops[gpu.StageN].Batch
	for _, n := range []int{min(len(cases), limit), 1, min(5, limit)} {
		if amount == few && n == 1 {
			continue
		}
		for from := 0; from < len(cases); from += n {
			part := cases[from:min(from+n, len(cases))]
			if amount < all && n == 1 && from%4 != 0 || amount == few && n == 5 && from%4 != 0 {
				continue
			}
			checkEntropy(t, d, part)
		}
	}
}

// checkEntropy encodes cases in one batch and decodes them in another, twice.
func checkEntropy(t *testing.T, d gpu.Device, cases []entropyCase) {
	t.Helper()
	var encode, decode []*gpu.Request
	for i := range cases {
		encode, decode = append(encode, cases[i].encode()), append(decode, cases[i].decode())
	}
	for _, r := range append(encode[:len(encode):len(encode)], decode...) {
		if !d.Accepts(r) {
			t.Fatalf("Accepts is false for a block of %d bytes", r.Size)
		}
	}
	run(t, d, encode)
	for i, c := range cases {
		if r := encode[i]; r.Err != nil || !bytes.Equal(r.Dst, c.payload) {
			t.Errorf("%s: payload differs from the CPU's; error %v", c.name, r.Err)
		}
	}
	run(t, d, decode)
	for i, c := range cases {
		if r := decode[i]; r.Err != nil || r.Layout != c.layout {
			t.Errorf("%s: wrong layout; error %v", c.name, r.Err)
		} else {
			sameStreams(t, c.name, r.Streams, c.streams)
		}
	}
	// Again in the memory of the results. The inputs must be unchanged.
	run(t, d, encode)
	run(t, d, decode)
	for i, c := range cases {
		if !bytes.Equal(encode[i].Dst, c.payload) || !bytes.Equal(payload(c.layout, c.streams), c.payload) {
			t.Errorf("%s: the second run gives another payload, or the input changed", c.name)
		}
		if decode[i].Err == nil {
			sameStreams(t, c.name, decode[i].Streams, c.streams)
		}
	}
}

// testLarge runs blocks with long loops, which some drivers leave early: one of 5 MiB has 20 lane
// groups.
func testLarge(t *testing.T, d gpu.Device, n amount) {
	require(t, d, gpu.StageN)
	size := 5 << 20
	if n == few {
		size = 600_000 // four lane groups
	}
	c := literals("large", corpus.ByName("text").Make(size))
	encode, decode := c.encode(), c.decode()
	run(t, d, []*gpu.Request{encode})
	run(t, d, []*gpu.Request{decode})
	if encode.Err != nil || !bytes.Equal(encode.Dst, c.payload) {
		t.Errorf("the payload differs from the CPU's; error %v", encode.Err)
	}
	if decode.Err != nil || !bytes.Equal(decode.Streams.Lits, c.streams.Lits) {
		t.Errorf("the decoded symbols differ; error %v", decode.Err)
	}
	if d.Info().Ops[gpu.Stage0].Batch > 0 && n == all {
		src := corpus.ByName("mixed").Make(1<<21 + 17)
		r := matchRequest(src, 0, 6, lzseq.Repeat.Limits)
		if !d.Accepts(r) {
			t.Fatalf("Accepts is false for a block of %d bytes", r.Size)
		}
		run(t, d, []*gpu.Request{r})
		checkMatch(t, "large", r)
	}
}
