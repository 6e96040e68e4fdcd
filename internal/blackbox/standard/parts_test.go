package standard

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// partReaders are Readers with 1, 2 and 8 workers.
type partReaders struct {
	readers []*compress.Reader
	opts    []compress.ReaderOption
	serial  *zstd.Decoder
	failed  int64 // offset of the block that decodeSerial failed in
	dict    *zstd.Dictionary
	room    []byte
}

func newPartReaders(t testing.TB, opts ...compress.ReaderOption) *partReaders {
	p := &partReaders{opts: opts, serial: zstd.NewDecoder()}
	for _, workers := range []int{1, 2, 8} {
		p.readers = append(p.readers,
			bbtest.NewReader(t, nil, slices.Concat(opts, []compress.ReaderOption{
				compress.WithScheduler(compress.NewScheduler(workers)),
			})...))
	}
	return p
}

// same decodes a file with all numbers of workers, from memory as a file is and as a pipe is. The
// contents and the errors must be the same.
func (p *partReaders) same(t testing.TB, file []byte, what string) (content []byte, err error) {
	t.Helper()
	for i, r := range p.readers {
		for k, in := range []io.Reader{bytes.NewReader(file), &stutter{file: file}} {
			r.Reset(in)
			got, gotErr := io.ReadAll(r)
			if i+k == 0 {
				content, err = got, gotErr
			} else if !bytes.Equal(got, content) || fmt.Sprint(gotErr) != fmt.Sprint(err) {
				t.Fatalf("%s: reader %d, input %d: %d bytes, %v; with one worker %d bytes, %v\n%s",
					what, i, k, len(got), gotErr, len(content), err, keepFile(t, file))
			}
		}
	}
	return content, err
}

// stutter returns pieces of different sizes.
type stutter struct {
	file []byte
	n    int
}

func (s *stutter) Read(p []byte) (int, error) {
	if len(s.file) == 0 {
		return 0, io.EOF
	}
	s.n++
	n := copy(p[:min(len(p), 1+s.n*7919%60_000)], s.file)
	s.file = s.file[n:]
	return n, nil
}

// keepFile writes a file that a test failed with.
func keepFile(t testing.TB, file []byte) string {
	name := filepath.Join(os.TempDir(), strings.ReplaceAll(t.Name(), "/", "-")+".zst")
	if os.WriteFile(name, file, 0o600) != nil {
		return ""
	}
	return name
}

// decodeSerial decodes the first frame of a file block by block with one Decoder.
func (p *partReaders) decodeSerial(file []byte) (content []byte, err error) {
	h, n, err := zstframe.ParseHeader(file)
	if err != nil {
		return nil, err
	}
	length := len(file)
	file = file[n:]
	p.serial.Reset(h.Window, p.dict)
	at := 0
	for last := false; !last; {
		p.failed = int64(length - len(file))
		if len(file) < zstframe.BlockHeaderSize {
			return p.room[:at], io.ErrUnexpectedEOF
		}
		b, err := zstframe.ParseBlock(file)
		if err != nil {
			return p.room[:at], err
		}
		if n = zstframe.BlockHeaderSize + b.Size; len(file) < n {
			return p.room[:at], io.ErrUnexpectedEOF
		}
		if len(p.room)-at < 2*zstframe.MaxBlock {
			p.room = append(p.room, make([]byte, len(p.room)+4*zstframe.MaxBlock)...)
		}
		end, _, _, err := p.serial.Block(p.room, at, file)
		if err == nil && h.ContentSize >= 0 && int64(end) > h.ContentSize {
			err = errors.New("too much content")
		}
		if err != nil {
			return p.room[:at], err
		}
		at, last, file = end, b.Last, file[n:]
	}
	switch {
	case h.ContentSize >= 0 && int64(at) < h.ContentSize:
		return p.room[:at], errors.New("too little content")
	case h.Checksum && len(file) < zstframe.ChecksumSize:
		return p.room[:at], io.ErrUnexpectedEOF
	}
	return p.room[:at], nil
}

// partContent is content of several parts.
func partContent() []byte {
	content := corpus.ByName("mixed").Make(800_000)
	return slices.Concat(content, corpus.ByName("json").Make(400_000), content[:200_000],
		corpus.ByName("random").Make(150_000), make([]byte, 400_000), content[600_000:])
}

// TestParts decodes frames that all options of zstd make.
func TestParts(t *testing.T) {
	testenv.Slow(t)
	content := partContent()
	p := newPartReaders(t)
	check := func(file []byte, what string) {
		t.Helper()
		got, err := p.same(t, file, what)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v", what, len(got), err)
		}
	}
	name := filepath.Join(t.TempDir(), "content")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, options := range []string{
		"-1", "-3", "-9", "-19", "-3 --long=27", "-3 -T2 -B1M", "--fast=5", "-3 --no-check",
		"-3 --target-compressed-block-size=1500", "-3 --target-compressed-block-size=20000",
		"-3 -T2 --rsyncable", "-3 -T2 --adapt", "-3 --zstd=wlog=10", "-3 --zstd=wlog=12",
		"-9 --zstd=wlog=15", "-3 --zstd=wlog=18", "-3 --no-content-size", "-19 --zstd=mml=3,strat=9",
	} {
		args := append([]string{"zstd", "-cq"}, strings.Fields(options)...)
		check(bbtest.RunTool(t, nil, append(args, name)...), options)
		if !strings.Contains(options, "content-size") {
			check(bbtest.RunTool(t, content, args...), options+", no size")
		}
	}
	for _, piece := range []int{700, 5000, 90_000} {
		check(bbtest.ZstdStream(t, content, piece), fmt.Sprint("flushes after ", piece))
	}
	for level := compress.MinLevel; level <= compress.MaxLevel; level += 4 {
		check(bbtest.Encode(t, content, compress.WithFormat(compress.Zstd), compress.WithLevel(level)),
			fmt.Sprint("level ", level))
		check(bbtest.Encode(t, content, compress.WithFormat(compress.Zstd), compress.WithLevel(level),
			compress.WithSeekable(0)), fmt.Sprint("frames, level ", level))
	}
	one := bbtest.RunTool(t, content[:1_500_000], "zstd", "-cq", "-3")
	two := bbtest.RunTool(t, nil, "zstd", "-cq", "-3", name)
	all := slices.Concat(content[:1_500_000], content, content, content[:1_500_000])
	file := slices.Concat(one, two, bbtest.SkippableFrame(3, content[:9000]), two, one)
	if got, err := p.same(t, file, "frames"); err != nil || !bytes.Equal(got, all) {
		t.Errorf("frames: %d bytes, %v", len(got), err)
	}
}

// TestPartsDictionary decodes frames in parts that begin with a dictionary.
func TestPartsDictionary(t *testing.T) {
	for name, dict := range bbtest.TestDictionaries(t) {
		parsed, err := zstd.ParseDictionary(dict)
		if err != nil {
			t.Fatal(err)
		}
		content := slices.Concat(dict[len(dict)/2:], corpus.ByName("json").Make(1_400_000), dict)
		p := newPartReaders(t, compress.WithDictionary(bbtest.NewDictionary(t, dict)))
		p.dict = parsed
		path := filepath.Join(t.TempDir(), "dict")
		if err := os.WriteFile(path, dict, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, level := range []string{"-1", "-9"} {
			file := bbtest.RunTool(t, content, "zstd", "-cq", level, "-D", path)
			if got, err := p.same(t, file, name); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s, %s: %d bytes, %v", name, level, len(got), err)
			}
			mutateParts(t, p, [][]byte{file}, 20)
		}
	}
}

// mutateParts changes frames and decodes them with all numbers of workers, and serially.
func mutateParts(t *testing.T, p *partReaders, frames [][]byte, count int) {
	t.Helper()
	seeds := testenv.Seeds(t, 9)
	r := rand.New(rand.NewPCG(uint64(len(frames[0])), seeds[len(seeds)-1]))
	good := 0
	for i := range count {
		frame := frames[i%len(frames)]
		bad := mutateFrame(r, slices.Clone(frame), frames[r.IntN(len(frames))])
		got, err := p.same(t, bad, fmt.Sprint("mutant ", i))
		want, wantErr := p.decodeSerial(bad)
		var e *compress.Error
		switch {
		case errors.Is(err, compress.ErrMemory), errors.Is(err, compress.ErrDictionary):
		case !bytes.Equal(got, want):
			t.Fatalf("mutant %d: %d bytes, %v; serially %d, %v\n%s", i, len(got), err, len(want), wantErr,
				keepFile(t, bad))
		case err == nil && wantErr == nil:
			good++
		case err != nil && (!errors.As(err, &e) || e.Block != 0):
			t.Fatalf("mutant %d: %v\n%s", i, err, keepFile(t, bad))
		case wantErr != nil && (err == nil || errors.Is(err, compress.ErrChecksum)):
			t.Fatalf("mutant %d: %v, serially %v\n%s", i, err, wantErr, keepFile(t, bad))
		case errors.As(wantErr, new(zstd.CorruptError)) && (!strings.Contains(err.Error(), wantErr.Error()) ||
			e.Offset != p.failed && e.Offset != 0): // 0: the frame is one unit
			t.Fatalf("mutant %d: %v, serially %v\n%s", i, err, wantErr, keepFile(t, bad))
		}
	}
	t.Logf("%d of %d mutants are valid", good, count)
}

// TestPartsDamage looks for the block that an error names.
func TestPartsDamage(t *testing.T) {
	file := bbtest.RunTool(t, partContent(), "zstd", "-cq", "-3")
	p := newPartReaders(t)
	at := blocksOf(file)
	for _, i := range []int{0, 1, len(at) / 2, len(at) - 2} {
		bad := slices.Clone(file)
		copy(bad[at[i]+zstframe.BlockHeaderSize:], "\xff\xff\xff\xff\xff")
		_, err := p.same(t, bad, fmt.Sprint("block ", i))
		var e *compress.Error
		if !errors.As(err, &e) || e.Offset != int64(at[i]) {
			t.Errorf("block %d begins at %d: %v", i, at[i], err)
		}
	}
}

// blocksOf returns where the blocks of a frame begin, and where the last one ends.
func blocksOf(frame []byte) (at []int) {
	_, n, err := zstframe.ParseHeader(frame)
	for last := false; err == nil && !last; {
		at = append(at, n)
		if len(frame)-n < zstframe.BlockHeaderSize {
			return at
		}
		var b zstframe.Block
		b, err = zstframe.ParseBlock(frame[n:])
		n, last = n+zstframe.BlockHeaderSize+b.Size, b.Last
		if n > len(frame) {
			return at
		}
	}
	return append(at, n)
}

// mutateFrame changes a frame: bits near the front of blocks, where their headers are, or anywhere;
// whole blocks, also those of another frame; or the end.
func mutateFrame(r *rand.Rand, p, other []byte) []byte {
	for range 1 + r.IntN(2) {
		at := blocksOf(p)
		if len(at) < 3 {
			return p
		}
		i := r.IntN(len(at) - 1)
		from, to := at[i], at[i+1]
		switch r.IntN(12) {
		case 0, 1, 2: // headers of the block and its sections
			p[from+r.IntN(min(to-from, 12))] ^= 1 << r.IntN(8)
		case 3, 4: // the end, where sequences begin
			p[to-1-r.IntN(min(to-from, 12))] ^= 1 << r.IntN(8)
		case 5, 6:
			p[from+r.IntN(to-from)] ^= 1 << r.IntN(8)
		case 7: // the block is missing
			if i+2 < len(at) {
				p = slices.Delete(p, from, to)
			}
		case 8: // it comes twice
			if i+2 < len(at) {
				p = slices.Insert(p, to, slices.Clone(p[from:to])...)
			}
		case 9: // one of another frame
			b := blocksOf(other)
			if k := r.IntN(len(b) - 1); k+2 < len(b) && i+2 < len(at) {
				p = slices.Replace(p, from, to, other[b[k]:b[k+1]]...)
			}
		case 10: // the frame header, or the checksum
			k := 5 + r.IntN(at[0]-5)
			if r.IntN(2) == 0 {
				k = len(p) - 1 - r.IntN(4)
			}
			p[k] ^= 1 << r.IntN(8)
		default:
			p = p[:at[0]+r.IntN(len(p)-at[0])]
		}
	}
	return p
}

var mutants = flag.Int("mutants", 0, "how many mutants TestPartMutants makes")

// TestPartMutants changes frames that are cut into parts: some long ones, and more short ones of
// small blocks.
//
//	go test ./internal/blackbox/standard -run TestPartMutants -args -mutants 1000000
func TestPartMutants(t *testing.T) {
	count := 300
	switch {
	case *mutants > 0:
		count = *mutants
	case testenv.All():
		count = 100_000
	case testing.Short() || testenv.Race:
		count = 60
	}
	var frames, short [][]byte
	content := slices.Concat(corpus.ByName("mixed").Make(200_000), corpus.ByName("json").Make(200_000),
		make([]byte, 140_000), corpus.ByName("random").Make(30_000), corpus.ByName("exe").Make(200_000))
	for _, options := range []string{
		"-1", "-3", "-9", "-19", "-3 --zstd=wlog=12", "-9 --zstd=wlog=15", "-1 --zstd=wlog=17",
		"-3 --target-compressed-block-size=3000", "-19 --zstd=wlog=13", "--fast=3",
	} {
		args := append([]string{"zstd", "-cq"}, strings.Fields(options)...)
		frames = append(frames, bbtest.RunTool(t, content, args...))
	}
	frames = append(frames, bbtest.ZstdStream(t, content, 3000), bbtest.ZstdStream(t, content, 60_000))
	content = slices.Concat(corpus.ByName("mixed").Make(30_000), corpus.ByName("json").Make(30_000),
		make([]byte, 5000), corpus.ByName("random").Make(5000), corpus.ByName("exe").Make(30_000))
	for _, options := range []string{
		"-1 --zstd=wlog=10", "-9 --zstd=wlog=10", "-19 --zstd=wlog=10",
		"-3 --target-compressed-block-size=1340",
	} {
		args := append([]string{"zstd", "-cq"}, strings.Fields(options)...)
		short = append(short, bbtest.RunTool(t, content, args...))
	}
	short = append(short, bbtest.ZstdStream(t, content, 500), bbtest.ZstdStream(t, content, 1500))
	frames = append(frames, slices.Repeat(short, 20)...)
	mutateParts(t, newPartReaders(t), frames, count)
}

// TestPartsHostile decodes frames that ask for much memory or time.
func TestPartsHostile(t *testing.T) {
	const blocks = 2000
	unsized := func(window int64) zstfile.Header { return zstfile.Header{ContentSize: -1, Window: window} }
	repeat := func(h zstfile.Header, block []byte) []byte {
		first := append([]byte{8 << 3, 0, 0}, "abcdefgh"...)
		return slices.Concat(h.Append(nil), first, bytes.Repeat(block, blocks), []byte{1, 0, 0})
	}
	fill := []byte{2, 0, 0x10, 'a'} // 128 KiB of one byte
	// 98,047 sequences of 3 bytes, each without a bit: too much content.
	endless := slices.Concat([]byte{0x5c, 0, 0}, []byte{0, 255, 255, 255, 0x54, 0, 0, 0, 1})
	endless[0] = byte(len(endless)-3)<<3 | 4
	// 43,690 sequences in 10 bytes, all with repeat offset 1.
	many := []byte{0, 0, 0, 8, 'x', 255, 0xaa, 0x2b, 0x54, 0, 0, 0, 1}
	many[0] = byte(len(many)-3)<<3 | 4
	nobody := []byte{0, 0, 0, 0, 1, 0xfc, 1} // tables of a block before
	nobody[0] = byte(len(nobody)-3)<<3 | 4
	for name, c := range map[string]struct {
		file []byte
		most int64 // bytes of memory
	}{
		"fill":             {repeat(unsized(1<<27), fill), 600 << 20},
		"fill, small":      {repeat(unsized(1<<20), fill), 60 << 20},
		"endless":          {repeat(unsized(1<<27), endless), 40 << 20},
		"many sequences":   {repeat(unsized(1<<20), many), 120 << 20},
		"nobody's table":   {repeat(unsized(1<<20), nobody), 40 << 20},
		"window":           {repeat(unsized(1<<27), []byte{0, 0, 0}), 40 << 20},
		"wrong size":       {repeat(zstfile.Header{ContentSize: 1 << 26, Window: 1 << 20}, fill), 60 << 20},
		"wrong large size": {repeat(zstfile.Header{ContentSize: 1 << 40, Window: 1 << 20}, fill), 60 << 20},
	} {
		start := time.Now()
		var first string
		for _, workers := range []int{1, 2, 8} {
			n := bbtest.AllocatedBytes(func() {
				r := bbtest.NewReader(t, bytes.NewReader(c.file), compress.WithConcurrency(workers))
				n, err := io.Copy(io.Discard, r)
				got := fmt.Sprint(n, " bytes, ", err)
				if first == "" {
					first = got
				}
				if got != first {
					t.Errorf("%s: %d workers: %s; one: %s", name, workers, got, first)
				}
			})
			if n > c.most {
				t.Errorf("%s, %d workers: %d bytes of memory", name, workers, n)
			}
		}
		t.Logf("%s: %s, %v", name, first, time.Since(start))
	}
}

// TestPartsPipe sends a frame through a pipe, cut anywhere. The Reader must return the content of
// the blocks that have come before it waits for more.
func TestPartsPipe(t *testing.T) {
	content := partContent()[:800_000]
	file := bbtest.ZstdStream(t, content, 40_000)
	at := blocksOf(file)
	var ends []int // of content, behind each block
	p := newPartReaders(t)
	for _, n := range at[1:] {
		got, _ := p.decodeSerial(file[:n])
		ends = append(ends, len(got))
	}
	g := rand.New(rand.NewPCG(7, 8))
	for _, r := range p.readers {
		for range 5 {
			bbtest.MustFinish(t, "a pipe", func() {
				in, out, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				defer out.Close()
				r.Reset(in)
				var got []byte
				for sent := 0; sent < len(file); {
					n := min(len(file)-sent, 1+g.IntN(60_000))
					if g.IntN(4) == 0 {
						n = min(len(file)-sent, 1+g.IntN(5))
					}
					if _, err := out.Write(file[sent : sent+n]); err != nil {
						t.Error(err)
						return
					}
					sent += n
					want := 0
					for i, end := range at[1:] {
						if end <= sent {
							want = ends[i]
						}
					}
					for len(got) < want {
						p := make([]byte, 50_000)
						n, err := r.Read(p)
						if err != nil {
							t.Error(err)
							return
						}
						got = append(got, p[:n]...)
					}
				}
				out.Close()
				rest, err := io.ReadAll(r)
				if got = append(got, rest...); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			})
		}
	}
}

// TestPartsSeekTable has a seek table behind frames that state no size, which only decoding tells.
func TestPartsSeekTable(t *testing.T) {
	content := partContent()
	var file []byte
	var entries []zstfile.Entry
	rest := content
	for i, n := range []int{300_000, 1, 700_000, 0, 400_000, len(content) - 1_400_001} {
		frame := bbtest.ZstdStream(t, rest[:n], 90_000)
		if i == 4 {
			frame = bbtest.RunTool(t, rest[:n], "zstd", "-cq", "--stream-size="+fmt.Sprint(n))
		}
		entries = append(entries, zstfile.Entry{
			Size: uint32(len(frame)), Content: uint32(n), Sum: zstfile.Checksum(rest[:n]),
		})
		file, rest = append(file, frame...), rest[n:]
	}
	p := newPartReaders(t)
	for i := -1; i < len(entries); i++ {
		table := slices.Clone(entries)
		if i >= 0 {
			table[i].Content++
		}
		got, err := p.same(t, slices.Concat(file, bbtest.MakeSeekTable(true, table...)), "seek table")
		if !bytes.Equal(got, content) || (err == nil) != (i < 0) {
			t.Errorf("entry %d is wrong: %d bytes, %v", i, len(got), err)
		}
	}
}
