package ldm

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
)

// isSample is sampleHits for a single position, byte by byte.
func isSample(p []byte) bool {
	v := p[0] ^ p[3] ^ (p[1]^p[5])<<2 ^ (p[2]^p[7])>>2
	return v&0x7f == 0x55
}

// TestSamples compares the samples of content of all kinds with those that are chosen byte by byte.
func TestSamples(t *testing.T) {
	for _, kind := range corpus.Kinds() {
		for _, n := range []int{0, 1, sampled - 1, sampled, sampled + 1, 1000, 70_000} {
			p := kind.Make(n)
			var want []uint32
			for i := 0; i+sampled <= len(p); i++ {
				if isSample(p[i:]) {
					want = append(want, uint32(i))
					i += sampleGap - 1
				}
			}
			var s samples
			s.choose(p, nil)
			if !slices.Equal(s.at, want) || len(s.hash) != len(want) {
				t.Errorf("%s, %d bytes: %d samples, want %d", kind.Name, n, len(s.at), len(want))
			}
			if m := int64(12 * len(s.at)); m > samplesMemory(n) {
				t.Errorf("%s, %d bytes: samples of %d bytes", kind.Name, n, m)
			}
		}
	}
	var s samples
	s.choose(corpus.ByName("random").Make(1<<20), nil)
	if n := len(s.at); n < 1<<20/256 || n > 1<<20/128 {
		t.Errorf("random bytes have %d samples in 1 MiB", n)
	}
}

// TestSamplePieces checks that pieces between checkpoints lose no sample.
func TestSamplePieces(t *testing.T) {
	p := corpus.ByName("mixed").Make(3*checkpointBytes + 5)
	var whole, s samples
	whole.chooseIn(p, 0, len(p)-sampled+1)
	calls := 0
	s.choose(p, func() { calls++ })
	if !slices.Equal(s.at, whole.at) || !slices.Equal(s.hash, whole.hash) || calls != 3 {
		t.Errorf("%d samples in %d pieces, want %d in 3", len(s.at), calls, len(whole.at))
	}
}

// codec passes blocks through a Finder and a Window.
type codec struct {
	f      *Finder
	w      *Window
	block  Block
	number int64

	refs, sources int // of all blocks
}

func newCodec(window int64, blockSize int) *codec {
	return &codec{f: NewFinder(window, blockSize), w: NewWindow(window, blockSize, 5)}
}

// pass compresses and restores a block. It returns the bytes of its own content and list.
func (c *codec) pass(t testing.TB, p []byte, fill bool) int {
	t.Helper()
	number := c.number
	c.number++
	c.block.Prepare(p, fill, nil)
	list, own := c.f.Find(&c.block, number, p, nil)
	defer c.block.Release(true)
	if fill {
		c.w.AddBlock(number, nil)
		return 0
	}
	if len(list) == 0 {
		buf := c.w.Get(len(p))
		copy(buf.P, p)
		c.w.AddBlock(number, buf)
		buf.Release()
		return len(p)
	}
	payload := append(slices.Clone(list[1:]), byte(container.Stored))
	if len(own) == 0 {
		payload[len(payload)-1] = 0
	}
	payload = append(payload, own...)
	var l List
	kind, rest, err := l.Parse(payload, len(p), Sources, nil)
	if err != nil || l.Own != len(own) || !bytes.Equal(rest, own) {
		t.Fatalf("block %d: kind %d, %d bytes of %d, %v", number, kind, len(rest), len(own), err)
	}
	buf := c.w.Get(len(own))
	copy(buf.P, own)
	defer buf.Release()
	sources, err := c.w.Sources(nil, number, &l)
	if err != nil {
		t.Fatal(err)
	}
	c.w.AddBlock(number, buf)
	got := make([]byte, len(p))
	l.Spread(got, buf.P, nil)
	for i, s := range sources {
		if err := l.Insert(got, i, s.P, nil); err != nil {
			t.Fatal(err)
		}
		s.Release()
	}
	if !bytes.Equal(got, p) {
		t.Fatalf("block %d: other content", number)
	}
	for r := range l.All() {
		if r.Len < leastMatch {
			t.Errorf("block %d: a reference of %d bytes", number, r.Len)
		}
		c.refs++
	}
	c.sources += len(l.Distances())
	return len(own) + len(list)
}

// TestFinder finds repeats of earlier blocks, at any alignment and across blocks.
func TestFinder(t *testing.T) {
	const blockSize = 1 << 14
	first := corpus.ByName("random").Make(300_000)
	c := newCodec(MinWindow, blockSize)
	content := slices.Concat(first, []byte("shifted"), first[:150_000], []byte("edit"), first[150_100:])
	size := 0
	for p := range slices.Chunk(content, blockSize) {
		size += c.pass(t, p, false)
	}
	if most := len(first) + len(first)/100; size > most {
		t.Errorf("%d bytes are left of %d, want at most %d", size, len(content), most)
	}
}

// TestFinderRandom repeats parts at random, so that blocks have many sources, and with gaps of
// fills.
func TestFinderRandom(t *testing.T) {
	for seed := range uint64(8) {
		g := rand.New(rand.NewPCG(seed, 3))
		blockSize := 1 << (12 + g.IntN(5))
		c := newCodec(MinWindow, blockSize)
		content := corpus.ByName("random").Make(2 * blockSize)
		size := 0
		for n := range 150 {
			if g.IntN(10) == 0 {
				c.pass(t, make([]byte, blockSize), true)
				continue
			}
			var p []byte
			for len(p) < blockSize {
				from := g.IntN(len(content))
				part := content[from:min(len(content), from+1+g.IntN(blockSize))]
				p = append(append(p, part...), byte(n), byte(seed))
			}
			p = p[:blockSize]
			size += c.pass(t, p, false)
			if g.IntN(3) == 0 {
				fresh := make([]byte, blockSize/2)
				for i := range fresh {
					fresh[i] = byte(g.Uint32())
				}
				content = append(content, fresh...)
				c.pass(t, fresh, false)
			}
		}
		if c.refs < 100 || c.sources < 100 {
			t.Errorf("seed %d: %d references to %d sources", seed, c.refs, c.sources)
		}
	}
}

// TestFinderWindow repeats content at the edge of the window and beyond it.
func TestFinderWindow(t *testing.T) {
	const blockSize = 1 << 16
	for _, between := range []int{14, 15, 16, 20} {
		c := newCodec(MinWindow, blockSize)
		first := corpus.ByName("random").Make(blockSize)
		c.pass(t, first, false)
		g := rand.New(rand.NewPCG(1, uint64(between)))
		for range between {
			p := make([]byte, blockSize)
			for i := range p {
				p[i] = byte(g.Uint32())
			}
			c.pass(t, p, false)
		}
		inWindow := (between+1)*blockSize <= MinWindow
		if n := c.pass(t, first, false); (n < 100) != inWindow {
			t.Errorf("%d blocks between: %d bytes are left", between, n)
		}
	}
}

// TestFinderReset makes sure that nothing of a stream is left for the next one.
func TestFinderReset(t *testing.T) {
	p := corpus.ByName("random").Make(1 << 14)
	c := newCodec(MinWindow, 1<<14)
	for range 3 {
		if n := c.pass(t, p, false); n != len(p) {
			t.Errorf("%d bytes are left of a first block", n)
		}
		if n := c.pass(t, p, false); n > 100 {
			t.Errorf("%d bytes are left of a copy", n)
		}
		c.f.Release()
		if a := c.f.arena; a.current != nil || a.free != nil {
			t.Error("a Finder without blocks keeps memory")
		}
		c.w.Release()
		c.number = 0
	}
}

// TestFinderSources has a block repeat parts of more blocks than it may refer to.
func TestFinderSources(t *testing.T) {
	const blockSize = 1 << 14
	c := newCodec(MinWindow, blockSize)
	content := corpus.ByName("random").Make(20 * blockSize)
	var p []byte
	for k := range 20 {
		c.pass(t, content[k*blockSize:][:blockSize], false)
		p = append(p, content[k*blockSize:][:600+10*k]...)
	}
	// The last Sources blocks have the longest parts.
	want := len(p)
	for k := 20 - Sources; k < 20; k++ {
		want -= 600 + 10*k
	}
	if got := c.pass(t, p, false); got < want || got > want+100 || c.sources != Sources {
		t.Errorf("%d bytes are left, %d sources; want %d, %d", got, c.sources, want, Sources)
	}
}

// TestArenaMemory allocates buffers of any sizes as a window does, and adds up the chunks.
func TestArenaMemory(t *testing.T) {
	const window, blockSize, inFlight = MinWindow, 1 << 15, 4
	for seed := range uint64(10) {
		g := rand.New(rand.NewPCG(seed, 0))
		w := NewWindow(window, blockSize, 9)
		chunks := map[*chunk]bool{} // all there have been
		var out []*Buffer
		for number := range int64(2000) {
			n := blockSize
			switch seed % 3 {
			case 0:
				n = g.IntN(blockSize + 1)
			case 1:
				n = blockSize/2 + 1 + g.IntN(100)
			}
			b := w.Get(n)
			if len(b.P) != n || cap(b.P) != n+9 {
				t.Fatalf("a buffer of %d bytes with room for %d, want %d and %d", len(b.P), cap(b.P), n, n+9)
			}
			binary.LittleEndian.PutUint32(b.P[:cap(b.P)], uint32(number))
			w.AddBlock(number, b)
			if out = append(out, b); len(out) == inFlight {
				k := g.IntN(inFlight)
				if got := binary.LittleEndian.Uint32(out[k].P[:cap(out[k].P)]); number-int64(got) > 100 {
					t.Fatalf("buffer %d has been overwritten", number)
				}
				out[k].Release()
				out = slices.Delete(out, k, k+1)
			}
			chunks[b.chunk] = true
		}
		total := int64(0)
		for c := range chunks {
			if c.live > 0 || slices.Contains(w.arena.free, c) {
				total += int64(len(c.p))
			}
		}
		if most := arenaMemory(window, blockSize+9, inFlight); total > most {
			t.Errorf("seed %d: %d bytes in chunks, want at most %d", seed, total, most)
		}
	}
}

// TestAbandon makes sure that abandoned memory does not serve again.
func TestAbandon(t *testing.T) {
	a := newArena(MinWindow, 1<<16, 0, 1)
	b := a.takeBuffer(1 << 16)
	old := &b.P[0]
	b.Abandon()
	for range 100 {
		c := a.takeBuffer(1 << 16)
		if &c.P[0] == old {
			t.Fatal("abandoned memory serves again")
		}
		c.Release()
	}
}

// FuzzList parses any bytes as a list. Whatever is accepted must stay within the block.
func FuzzList(f *testing.F) {
	c := newCodec(MinWindow, 1<<14)
	p := corpus.ByName("random").Make(1 << 14)
	c.pass(f, p, false)
	c.block.Prepare(p, false, nil)
	list, _ := c.f.Find(&c.block, c.number, p, nil)
	f.Add(append(slices.Clone(list[1:]), 0), uint32(1<<14))
	f.Add([]byte("\x00\x00\x00\x00\x01\x01\x01\x00\x40\x00\x00\x00"), uint32(64))
	f.Add([]byte("\x00\x00\x00\x00\x02\x01\x01\x02\x01\x40\x00\x00\x01\x40\x01\x07\x02x"), uint32(135))
	f.Fuzz(func(t *testing.T, p []byte, raw uint32) {
		size := int(raw % (1 << 17))
		var l List
		kind, rest, err := l.Parse(p, size, Sources, nil)
		if err != nil {
			return
		}
		referred, end := 0, 0
		for r := range l.All() {
			if r.At < end || r.Len < minLength || r.Len > size-r.At || r.Source >= len(l.Distances()) {
				t.Fatalf("reference %+v behind %d, in a block of %d bytes", r, end, size)
			}
			end = r.At + r.Len
			referred += r.Len
		}
		if l.Own+referred != size || l.Empty() || len(rest) >= len(p) {
			t.Fatalf("own content of %d bytes and references of %d, in a block of %d", l.Own, referred, size)
		}
		if kind == container.Stored && len(rest) != l.Own {
			t.Fatalf("%d stored bytes for %d", len(rest), l.Own)
		}
		dst, own := make([]byte, size), bytes.Repeat([]byte{1}, l.Own)
		l.Spread(dst, own, nil)
		for i := range l.Distances() {
			l.Insert(dst, i, bytes.Repeat([]byte{2}, len(p)*7), nil)
		}
		if n := bytes.Count(dst, []byte{1}); n != l.Own {
			t.Fatalf("%d bytes of own content, want %d", n, l.Own)
		}
	})
}

// TestCheckpoints: a list of the most and shortest references that a large block may have, of the
// most sources, is a long work of small steps. No step between two checkpoints is long.
func TestCheckpoints(t *testing.T) {
	const size = 8 << 20
	refs := make([]Reference, size/minLength)
	distances := make([]int32, MaxSources)
	for i := range distances {
		distances[i] = int32(i + 1)
	}
	for i := range refs {
		refs[i] = Reference{At: i * minLength, Len: minLength, Source: i % MaxSources}
	}
	payload := append(appendList(nil, distances, refs)[1:], 0)
	calls := 0
	count := func() { calls++ }
	var l List
	if _, _, err := l.Parse(payload, size, MaxSources, count); err != nil {
		t.Fatal(err)
	}
	check := func(name string, least int) {
		t.Helper()
		if calls < least {
			t.Errorf("%s: %d checkpoints, want %d", name, calls, least)
		}
		calls = 0
	}
	check("Parse", size/checkpointBytes)
	dst, own := make([]byte, size), make([]byte, minLength)
	if err := l.Insert(dst, 0, own, count); err != nil {
		t.Fatal(err)
	}
	check("Insert", size/checkpointBytes)
	// Own content between short references.
	l, own = List{}, make([]byte, size/2)
	for i := range size / 2 / minLength {
		refs[i].At = 2 * i * minLength
	}
	payload = appendList(nil, distances, refs[:size/2/minLength])[1:]
	payload = append(append(payload, byte(container.Stored)), own...)
	if _, _, err := l.Parse(payload, size, MaxSources, nil); err != nil {
		t.Fatal(err)
	}
	l.Spread(dst, own, count)
	check("Spread", size/2/checkpointBytes)
}

// TestFindRepeats cuts content with repeats into blocks of odd sizes. Each repeat must be one, no
// further back than the window, and they must cover what is repeated in long pieces.
func TestFindRepeats(t *testing.T) {
	const window, most = 1 << 20, 1 << 16
	r := rand.New(rand.NewPCG(3, 4))
	var content []byte
	repeated := 0
	for len(content) < 3<<20 {
		n := 1000 + r.IntN(20_000)
		if at := len(content) - 1 - r.IntN(900_000); at >= n && r.IntN(2) == 0 {
			content = append(content, content[at-n:at]...)
			repeated += n
			continue
		}
		for range n {
			content = append(content, byte(r.Uint32()))
		}
	}
	f := NewRepeatFinder(window, most)
	defer f.Release()
	found := 0
	for at, number := 0, int64(0); at < len(content); number++ {
		block := content[at:min(len(content), at+1+r.IntN(most))]
		var b Block
		b.Prepare(block, false, nil)
		end := 0
		for _, p := range f.FindRepeats(nil, &b, number, block, nil) {
			from := at + p.At - p.Distance
			if p.At < end || p.Len < sampled || p.At+p.Len > len(block) || p.Distance > window ||
				from < 0 || !bytes.Equal(content[from:from+p.Len], block[p.At:p.At+p.Len]) {
				t.Fatalf("block %d of %d bytes: %+v is no repeat", number, len(block), p)
			}
			end = p.At + p.Len
			found += p.Len
		}
		b.Release(true)
		at += len(block)
	}
	if found < repeated/2 {
		t.Errorf("%d bytes found of %d", found, repeated)
	}
}
