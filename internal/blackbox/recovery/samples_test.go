package recovery

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/refzst"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
	"github.com/gopz/compress/parity"
)

// piece is a part of a file that decodes alone: a block of .pz, a frame of .zst, a member of .gz.
// Pieces have content.
type piece struct {
	from, to int  // in the file
	at, end  int  // of its content
	unit     int  // the number of the unit that it is in
	checked  bool // a checksum confirms it
}

// unit is a part that may be left out of a file without a trace: a stream or a section of .pz, a
// frame of any kind of .zst, a member of .gz.
type unit struct{ from, to int }

// sample is an intact file.
type sample struct {
	name          string
	format        compress.Format
	file, content []byte
	pieces        []piece
	units         []unit
	sizes         []unit // bytes that state how much content there is: indexes and seek tables
	places        []int  // where headers, indexes, tables and footers begin, or end

	starts  []start // where decoding of .gz can begin
	short   bool    // has short headers without checks of the content: 16 bits are all that confirms them
	nested  bool    // content is .pz and .zst data
	repeats int     // content from here on repeats what comes before, in other pieces; 0 if none does
}

// start is a place where decoding of .gz can begin, in bits, and the place of its content.
type start struct {
	bit     int64
	content int
}

// makeContent returns content of which no two parts of 20 bytes are equal. Some of it does not
// compress.
func makeContent(n int, seed uint64) (p []byte) {
	r := rand.New(rand.NewPCG(seed, 7))
	for len(p) < n {
		p = fmt.Appendf(p, "%d ", r.Uint64())
		if r.IntN(40) == 0 {
			p = append(p, bbtest.RandomBytes(2000, r.Uint64())...)
		} else {
			p = append(p, bbtest.TextBytes(20+r.IntN(200), r.Uint64())...)
		}
	}
	return p[:n]
}

// newPZ returns the sample of .pz streams and sections.
func newPZ(t testing.TB, name string, checked bool, parts ...[]byte) *sample {
	s := &sample{name: name, format: compress.PZ, file: slices.Concat(parts...)}
	s.content = bbtest.DecodeAll(t, s.file)
	at := 0
	for _, p := range parts {
		s.units = append(s.units, unit{at, at + len(p)})
		s.places = append(s.places, at)
		at += len(p)
	}
	s.places = append(s.places, at)
	tails := make([]int, len(parts)) // the ends of their last blocks
	number := 0
	for b := range bbtest.OpenAt(t, s.file).Blocks() {
		p := piece{
			from: int(b.Offset), to: int(b.Offset + b.Size), at: int(b.ContentOffset),
			end: int(b.ContentOffset + b.Content), checked: checked,
		}
		for s.units[number].to <= p.from {
			number++
		}
		p.unit = number
		s.pieces = append(s.pieces, p)
		s.places = append(s.places, p.from, p.to)
		tails[number] = p.to
	}
	for i, u := range s.units {
		switch s.file[u.to-1] {
		case 'X':
			tail := max(tails[i], u.from)
			s.sizes = append(s.sizes, unit{tail, u.to})
			s.places = append(s.places, tail+4, u.to-32, u.to-16)
		case 'z': // its header states the size, and has 16 bits of a check
			s.sizes = append(s.sizes, u)
		case 'E':
			s.places = append(s.places, u.from+17, u.to-16)
		}
	}
	return s
}

// newZstd returns the sample of a .zst file.
func newZstd(t testing.TB, name string, parts ...[]byte) *sample {
	s := &sample{name: name, format: compress.Zstd, file: slices.Concat(parts...)}
	listed := 0 // frames in seek tables
	for at := 0; at < len(s.file); {
		from := at
		s.places = append(s.places, at)
		if zstfile.IsSkippable(s.file[at:]) {
			_, n, err := zstfile.ParseSkippable(s.file[at:])
			if err != nil {
				t.Fatal(err)
			}
			at += zstfile.SkippableHeaderSize + int(n)
			s.units = append(s.units, unit{from, at})
			if bytes.HasSuffix(s.file[:at], []byte("\xb1\xea\x92\x8f")) {
				footer, err := zstfile.ParseSeekFooter(s.file[at-zstfile.SeekFooterSize:at], int64(at))
				if err != nil {
					t.Fatal(err)
				}
				listed += footer.Frames
				s.sizes = append(s.sizes, unit{from, at})
				s.places = append(s.places, from+8, at-9)
			} else {
				s.places = append(s.places, max(from, at-16))
			}
			continue
		}
		h, n, err := zstframe.ParseHeader(s.file[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += n
		for last := false; !last; {
			b, err := zstframe.ParseBlock(s.file[at:])
			if err != nil {
				t.Fatal(err)
			}
			s.places = append(s.places, at)
			at += zstframe.BlockHeaderSize + b.Size
			last = b.Last
		}
		if h.Checksum {
			at += 4
		}
		var content bytes.Buffer
		if err := refzst.Decode(&content, bytes.NewReader(s.file[from:at]), nil, 1<<26); err != nil {
			t.Fatal(err)
		}
		if content.Len() > 0 {
			s.pieces = append(s.pieces, piece{
				from: from, to: at, at: len(s.content), end: len(s.content) + content.Len(),
				unit: len(s.units), checked: h.Checksum,
			})
		}
		s.units = append(s.units, unit{from, at})
		s.content = append(s.content, content.Bytes()...)
	}
	s.places = append(s.places, len(s.file))
	if listed < len(s.pieces) {
		s.sizes = nil
	}
	return s
}

// newGzip returns the sample of members.
func newGzip(t testing.TB, name string, members ...[]byte) *sample {
	s := &sample{name: name, format: compress.Gzip}
	for i, m := range members {
		p := piece{from: len(s.file), to: len(s.file) + len(m), at: len(s.content), unit: i, checked: true}
		s.file = append(s.file, m...)
		s.content = append(s.content, bbtest.DecodeAll(t, m)...)
		p.end = len(s.content)
		s.pieces = append(s.pieces, p)
		s.units = append(s.units, unit{p.from, p.to})
		s.places = append(s.places, p.from, p.from+10, p.to-8, p.to)
		s.addStarts(t, p)
	}
	return s
}

// addStarts adds the places in a member that Recover must find: its beginning, and the Deflate
// blocks that inflate.FindBlock knows.
func (s *sample) addStarts(t testing.TB, p piece) {
	s.starts = append(s.starts, start{8 * int64(p.from), p.at})
	_, at, err := gzfile.ParseHeader(s.file[p.from:])
	if err != nil {
		t.Fatal(err)
	}
	at += p.from
	body, used, room := s.file[at:], 0, make([]byte, p.end-p.at+1)
	d := inflate.Decoder{StopAtBlock: true}
	for content := 0; err != io.EOF; {
		var n, m int
		n, m, err = d.Decode(room, content, body[used:])
		content, used = content+n, used+m
		bit := 8*int64(at) + d.Position()
		if err == inflate.ErrBlock && inflate.FindBlock(s.file, bit, bit+1) == bit {
			s.starts = append(s.starts, start{bit, p.at + content})
		} else if err != nil && err != io.EOF && err != inflate.ErrBlock {
			t.Fatal(err)
		}
	}
}

// addParity returns a file with parity, and its section alone.
func addParity(t testing.TB, file []byte, f compress.Format) (whole, section []byte) {
	var b bytes.Buffer
	w, err := parity.NewWriter(&b, parity.Options{Percent: 10, Format: f})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(file)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), b.Bytes()[len(file):]
}

// splitContent cuts content into pieces of 24 to most bytes.
func splitContent(content []byte, most int, seed uint64) (list [][]byte) {
	r := rand.New(rand.NewPCG(seed, 8))
	for len(content) > 0 {
		n := min(len(content), 24+r.IntN(most-23))
		list, content = append(list, content[:n]), content[n:]
	}
	return list
}

// newSamples returns files of all kinds. Those that need a program come last.
func newSamples(t testing.TB) (list []*sample) {
	list = append(list, pzSamples(t)...)
	list = append(list, zstdSamples(t)...)
	return append(list, gzipSamples(t)...)
}

func pzSamples(t testing.TB) (list []*sample) {
	block := compress.WithBlockSize(bbtest.BlockSize)
	bare := compress.WithChecksum(false)
	content := makeContent(100_000, 1)
	sized := compress.WithContentSize(30_000)
	first := bbtest.Encode(t, content[:40_000], block)
	second := bbtest.Encode(t, content[40_000:70_000], block, sized)
	third := bbtest.Encode(t, content[70_000:], block)
	flushed := func(content []byte, opts ...compress.WriterOption) []byte {
		file, _ := bbtest.FlushPieces(t, splitContent(content, 3000, 2), len(content),
			append(opts, compress.WithBlockSize(bbtest.FlushBlock))...)
		return file
	}
	var small [][]byte
	for _, p := range splitContent(content[:40_000], 3000, 3) {
		small = append(small, bbtest.Encode(t, p))
	}
	whole := bbtest.Encode(t, content, block)
	_, section := addParity(t, whole, compress.PZ)
	_, section1 := addParity(t, first, compress.PZ)
	_, section2 := addParity(t, second, compress.PZ)
	list = append(list,
		newPZ(t, "pz", true, whole),
		newPZ(t, "pz without checks", false, bbtest.Encode(t, content, block, bare)),
		newPZ(t, "pz with flushes", true, flushed(content)),
		newPZ(t, "pz with flushes, without checks", false, flushed(content, bare)),
		newPZ(t, "small pz streams", true, small...),
		newPZ(t, "joined pz", true, first, second, third),
		newPZ(t, "joined pz of all kinds", true, flushed(content[:20_000]), small[0], second, small[9],
			third, small[5]),
		newPZ(t, "pz with parity", true, whole, section),
		newPZ(t, "joined pz with parity", true, first, section1, second, section2),
	)
	list[3].short = true
	// The second half repeats the first one, in other pieces.
	half := makeContent(80_000, 4)
	repeated := slices.Concat(half, half[30_000:], half[:30_000])
	long := newPZ(t, "pz with long distances", true, bbtest.Encode(t, repeated, block,
		compress.WithLongDistance(compress.MinWindow)))
	long.repeats = len(half)
	inner := bbtest.Encode(t, makeContent(15_000, 5), bridge.Pipeline("lzr"), block)
	inner = append(inner, bbtest.Encode(t, bbtest.RandomBytes(9000, 6), compress.WithFormat(compress.Zstd),
		block)...)
	nested := newPZ(t, "pz in pz", true, bbtest.Encode(t, slices.Concat(content[:20_000], inner,
		content[20_000:40_000]), compress.WithBlockSize(32<<10)))
	nested.nested = true
	return append(list, long, nested)
}

func zstdSamples(t testing.TB) (list []*sample) {
	zst, block := compress.WithFormat(compress.Zstd), compress.WithSeekable(bbtest.BlockSize)
	bare := compress.WithChecksum(false)
	content := makeContent(100_000, 11)
	whole := bbtest.Encode(t, content, zst, block)
	first := bbtest.Encode(t, content[:40_000], zst, block)
	second := bbtest.Encode(t, content[40_000:], zst, block)
	footer, err := zstfile.ParseSeekFooter(first[len(first)-zstfile.SeekFooterSize:], int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	cut := first[:bbtest.FrameAt(t, first, footer.Frames)]
	_, section := addParity(t, whole, compress.Zstd)
	single := bbtest.Encode(t, content[:50_000], zst, compress.WithBlockSize(bbtest.BlockSize))
	unsized := func(p []byte) []byte { return bbtest.ZstdWindow(t, p, 700, 1<<17) }
	stored := func(h zstfile.Header, p []byte) []byte {
		return bbtest.StoredFrame(h, p[:len(p)/2], p[len(p)/2:])
	}
	rest := content[50_000:]
	foreign := newZstd(t, "foreign zst",
		bbtest.SkippableFrame(3, []byte("nothing")), unsized(rest[:5000]),
		stored(zstfile.Header{ContentSize: 3000, Window: 1 << 20, Checksum: true}, rest[5000:8000]),
		bbtest.StoredFrame(zstfile.Header{ContentSize: 0, SingleSegment: true}, nil), single,
		stored(zstfile.Header{ContentSize: 300, SingleSegment: true}, rest[8000:8300]),
		stored(zstfile.Header{ContentSize: -1, Window: 1 << 17}, rest[8300:9300]),
		unsized(rest[9300:9400]), bbtest.SkippableFrame(0, make([]byte, 300)),
		stored(zstfile.Header{ContentSize: 100, SingleSegment: true, Checksum: true}, rest[9400:9500]),
	)
	inner := bbtest.Encode(t, bbtest.RandomBytes(20_000, 12), zst, block)
	inner = append(inner, bbtest.Encode(t, bbtest.RandomBytes(9000, 13), block)...)
	nested := newZstd(t, "zst in zst", bbtest.Encode(t, slices.Concat(content[:20_000], inner,
		content[20_000:40_000]), zst, compress.WithSeekable(32<<10)))
	nested.nested = true
	list = append(list,
		newZstd(t, "zst", whole),
		newZstd(t, "zst without checksums", bbtest.Encode(t, content, zst, block, bare)),
		newZstd(t, "zst without a table", cut),
		newZstd(t, "joined zst", first, second),
		newZstd(t, "joined zst, one table", cut, second),
		newZstd(t, "zst of one frame", single),
		foreign,
		newZstd(t, "zst with parity", whole, section),
		nested,
	)
	if _, err := exec.LookPath("zstd"); err == nil {
		large := makeContent(300_000, 14)
		list = append(list, newZstd(t, "zst of zstd",
			bbtest.RunTool(t, large, "zstd", "-c"), bbtest.RunTool(t, rest, "zstd", "-c", "--no-check")))
	}
	return list
}

func gzipSamples(t testing.TB) (list []*sample) {
	gz := compress.WithFormat(compress.Gzip)
	content := makeContent(150_000, 21)
	var members [][]byte
	for _, p := range splitContent(content, 30_000, 22) {
		members = append(members, bbtest.Encode(t, p, gz))
	}
	flushed, _ := bbtest.FlushPieces(t, splitContent(content, 5000, 23), len(content), gz)
	inner := bbtest.Encode(t, bbtest.RandomBytes(20_000, 24), gz)
	return []*sample{
		newGzip(t, "gz members", members...),
		newGzip(t, "gz", bbtest.Encode(t, content, gz)),
		newGzip(t, "gz of the standard library", bbtest.GzipMember(t, content)),
		newGzip(t, "gz with flushes", flushed, members[1]),
		newGzip(t, "gz in gz", members[0], bbtest.Encode(t, inner, gz), members[2]),
	}
}
