package compress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress/internal/zstfile"
)

// zstParts is a .zst file of ours, its content and its frames.
func zstParts(t testing.TB, opts ...Option) (file, content []byte, frames [][]byte, table []byte) {
	content = slices.Concat(mixedBytes(8*testBlock), randomBytes(4*testBlock, 7), textBytes(100, 8))
	file = encode(t, content, append(opts, WithPipeline("lzf"), WithBlockSize(testBlock))...)
	n := (len(content) + testBlock - 1) / testBlock
	for i := range n {
		frames = append(frames, file[frameAt(t, file, i):frameAt(t, file, i+1)])
	}
	return file, content, frames, file[frameAt(t, file, n):]
}

// without is content without some of its blocks.
func without(content []byte, blocks ...int) (rest []byte) {
	for i := range (len(content) + testBlock - 1) / testBlock {
		if !slices.Contains(blocks, i) {
			rest = append(rest, content[i*testBlock:min((i+1)*testBlock, len(content))]...)
		}
	}
	return rest
}

// A damaged frame costs that frame, and if it is the first, whose beginning tells what the file is.
func TestRecoverZstd(t *testing.T) {
	content := mixedBytes(10 * testBlock)
	whole := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	for _, c := range []struct{ block, at int }{{4, 30}, {0, 30}, {0, 0}, {0, 3}, {9, 1}} {
		file := bytes.Clone(whole)
		file[frameAt(t, whole, c.block)+c.at] ^= 1
		var b bytes.Buffer
		var lost []Damage
		err := Recover(&b, bytes.NewReader(file), int64(len(file)), func(d Damage) error {
			lost = append(lost, d)
			return nil
		})
		want := slices.Concat(content[:c.block*testBlock], content[(c.block+1)*testBlock:])
		if err != nil || !bytes.Equal(b.Bytes(), want) || len(lost) != 1 || lost[0].Block != int64(c.block) || lost[0].Content != testBlock {
			t.Errorf("byte %d of frame %d: %d bytes, want %d; %+v; %v", c.at, c.block, b.Len(), len(want), lost, err)
		}
	}
	for _, file := range [][]byte{gzipOf(t, content), zstdStream(t, content, 1000)} {
		if err := Recover(io.Discard, bytes.NewReader(file), int64(len(file)), nil); !errors.Is(err, ErrNoIndex) && !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
	}
}

// Bytes that are missing or have come in cost the frames that they touch, whether the seek table is intact or gone.
func TestRecoverMovedFrames(t *testing.T) {
	for _, opts := range [][]Option{nil, {WithChecksum(false)}} {
		file, content, frames, table := zstParts(t, opts...)
		for k := range frames {
			at := frameAt(t, file, k)
			size := len(frames[k])
			for _, c := range []struct {
				name      string
				from, to  int // are cut out
				in        []byte
				last      int // frame that is lost
				undamaged bool
			}{
				{"cut", at + size/2, at + size/2 + 9, nil, k, false},
				{"cut at its beginning", at, at + 9, nil, k, false},
				{"cut at its end", at + size - 9, at + size, nil, k, false},
				{"cut out", at, at + size, nil, k, false},
				{"put in", at + size/2, at + size/2, []byte("nonsense"), k, false},
				{"put in front", at, at, []byte("nonsense"), -1, true},
				{"zeros in front", at, at, make([]byte, 5000), -1, true},
				{"in place of it", at, at + size, randomBytes(300, 1), k, false},
			} {
				bad := slices.Concat(file[:c.from], c.in, file[c.to:])
				what := fmt.Sprintf("%s: frame %d, options %d", c.name, k, len(opts))
				want := content
				if !c.undamaged {
					want = without(content, k)
				}
				got, list := recoverAll(t, bad)
				if opts != nil {
					// Frames without checks that damage follows are not sure to be whole.
					if !slices.ContainsFunc([][]byte{without(content, k), without(content, k-1), without(content, k-1, k)}, func(p []byte) bool { return bytes.Equal(p, got) }) {
						t.Errorf("%s: %d bytes that are not those of the frames", what, len(got))
					}
					continue
				}
				equal(t, got, want, what)
				switch {
				case len(list) != 1 || list[0].Err == nil:
					t.Errorf("%s: %+v", what, list)
				case c.undamaged && k == 0:
					// There may have been another file in front of this one.
					if list[0].Kind != DamageUnknown {
						t.Errorf("%s: %+v", what, list)
					}
				case c.undamaged && (list[0].Kind != DamageFrame || list[0].Content != 0):
					t.Errorf("%s: %+v", what, list)
				case !c.undamaged:
					list[0].Err = nil
					if want := (Damage{Block: int64(k), Blocks: 1, ContentOffset: int64(k * testBlock), Content: int64(min(testBlock, len(content)-k*testBlock))}); list[0] != want {
						t.Errorf("%s: %+v, want %+v", what, list[0], want)
					}
				}
				filled, _ := recoverAll(t, bad, WithZeroFill(true))
				if len(filled) != len(content) || !c.undamaged && !bytes.Equal(filled[min(len(content), (k+1)*testBlock):], content[min(len(content), (k+1)*testBlock):]) {
					t.Errorf("%s, filled: %d bytes, want %d", what, len(filled), len(content))
				}
				// The end of the table is gone, too, then all of it.
				clear(bad[len(bad)-20:])
				got, list = recoverAll(t, bad)
				equal(t, got, want, what+", table")
				if k < len(frames)-1 && list[len(list)-1].Kind != DamageFrame {
					t.Errorf("%s, table: %+v", what, list)
				}
				got, list = recoverAll(t, bad[:len(bad)-len(table)])
				equal(t, got, want, what+", no table")
				if c.name != "cut out" && len(list) != 1 {
					t.Errorf("%s, no table: %+v", what, list)
				}
			}
		}
	}
}

// Damage at several places, files that follow one another, and frames that the table does not list.
func TestRecoverFramesOfAllSorts(t *testing.T) {
	file, content, frames, seekTable := zstParts(t)
	unsized := zstdStream(t, content[:3000], 700)
	head := skippable(3, []byte("nothing"))
	cut := func(k int) []byte { return frames[k][:len(frames[k])-5] }
	join := func(parts ...any) (p []byte) {
		for _, part := range parts {
			switch part := part.(type) {
			case []byte:
				p = append(p, part...)
			case [][]byte:
				p = append(p, slices.Concat(part...)...)
			}
		}
		return p
	}
	flipped := slices.Clone(frames[5])
	flipped[len(flipped)-1] ^= 1 // its sum
	badTable := slices.Clone(seekTable)
	badTable[zstfile.SkippableHeaderSize+4*12] ^= 1 // the size of frame 4
	both := slices.Concat(content, content)
	for _, c := range []struct {
		name    string
		file    []byte
		content []byte
		damage  []DamageKind
	}{
		{"two places", join(frames[:2], cut(2), frames[3:6], []byte("xx"), cut(6), frames[7:], seekTable), without(content, 2, 6), []DamageKind{DamageBlocks, DamageBlocks}},
		{"a sum as well", join(frames[:2], cut(2), frames[3:5], flipped, frames[6:], seekTable), without(content, 2, 5), []DamageKind{DamageBlocks, DamageBlocks}},
		{"the table alone", join(frames, badTable), content, []DamageKind{DamageFrame}},
		{"the table as well", join(frames[:2], cut(2), frames[3:], badTable), without(content, 2), []DamageKind{DamageBlocks, DamageFrame}},
		{"another order", join(frames[:5], frames[6], frames[5], frames[7:], seekTable), nil, nil},
		{"behind another file", join(head, file, head, frames[:3], cut(3), frames[4:], seekTable), join(content, without(content, 3)), []DamageKind{DamageBlocks}},
		{"in front of another file", join(frames[:3], cut(3), frames[4:], seekTable, file), join(without(content, 3), content), []DamageKind{DamageBlocks}},
		{"two files, of which the first has lost its table", join(frames, make([]byte, len(seekTable)), file), both, []DamageKind{DamageUnknown}},
		{"the end is missing", join(file, frames[:5], cut(5)), both[:len(content)+5*testBlock], []DamageKind{DamageUnknown}},
		{"in the table", file[:len(file)-30], content, []DamageKind{DamageUnknown}},
		{"frames that are not listed", join(frames[0], frames[1], head, file), join(content[:2*testBlock], content), nil},
		{"one that does not say its size", join(frames[:4], unsized, frames[4:]), content, []DamageKind{DamageBlocks}},
	} {
		got, list := recoverAll(t, c.file)
		if c.content == nil { // whatever it is, there is some
			if len(got) == 0 || len(list) == 0 {
				t.Errorf("%s: %d bytes, %+v", c.name, len(got), list)
			}
			continue
		}
		equal(t, got, c.content, c.name)
		var kinds []DamageKind
		for _, d := range list {
			kinds = append(kinds, d.Kind)
		}
		if !slices.Equal(kinds, c.damage) {
			t.Errorf("%s: %+v", c.name, list)
		}
	}
}

// What the table does not list is content of a frame that is lost, and not told as frames of the file.
func TestRecoverNestedFrames(t *testing.T) {
	inner := encode(t, randomBytes(5*testBlock, 1), WithPipeline("lzf"), WithBlockSize(testBlock))
	content := slices.Concat(randomBytes(1<<16, 2), randomBytes(100, 4), inner, randomBytes(2<<16, 3))
	file := encode(t, content, WithPipeline("lzf"), WithBlockSize(1<<16))
	at := frameAt(t, file, 1)
	bad := slices.Delete(slices.Clone(file), at+10, at+20)
	got, list := recoverAll(t, bad)
	equal(t, got, slices.Concat(content[:1<<16], content[2<<16:]), "nested")
	if len(list) != 1 || list[0].Block != 1 {
		t.Errorf("%+v", list)
	}
}

func TestRecoverNoFrames(t *testing.T) {
	file, content, _, _ := zstParts(t)
	for _, p := range [][]byte{file[:40], []byte("\x28\xb5\x2f\xfd"), zstdStream(t, content, 1000), skippable(14, nil), skippable(14, make([]byte, 9))} {
		err := Recover(writerFunc(func(p []byte) (int, error) { t.Error("write"); return len(p), nil }), bytes.NewReader(p), int64(len(p)), nil)
		if !errors.Is(err, ErrNoIndex) {
			t.Errorf("%d bytes: %v", len(p), err)
		}
	}
	bad := slices.Delete(slices.Clone(file), 500, 509)
	if err := Recover(io.Discard, bytes.NewReader(bad), int64(len(bad)), nil, WithMaxMemory(1000)); !errors.Is(err, ErrMemory) && !errors.Is(err, ErrNoIndex) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	if err := Recover(io.Discard, bytes.NewReader(bad), int64(len(bad)), nil, WithContext(ctx)); !errors.Is(err, errTest) {
		t.Error(err)
	}
}

// A search takes linear time, whatever the file.
func TestRecoverHostileFrames(t *testing.T) {
	const size = 4 << 20
	start := zstfile.Header{ContentSize: 1 << 20, SingleSegment: true}
	head := start.Append(nil)
	many := bytes.Repeat(append(slices.Clone(head), 0, 0, 0), size/(len(head)+3))        // headers everywhere
	chain := append(bytes.Repeat(head, 1000), make([]byte, size)...)                     // each goes through all empty blocks behind it
	tables := bytes.Repeat(zstfile.AppendSeekTable(nil, nil, true), size/17)             // nothing but tables
	claims := bytes.Repeat(append(slices.Clone(head), 3, 0, 8, 'x'), size/(len(head)+4)) // content that is not there
	for i, file := range [][]byte{many, chain, tables, claims} {
		file = append(slices.Clone(head), file...)
		src := &countingAt{Reader: bytes.NewReader(file)}
		begin := time.Now()
		err := Recover(io.Discard, src, int64(len(file)), nil)
		t.Logf("%d: %v, %d bytes of %d, %v", i, time.Since(begin), src.n, len(file), err)
		if src.n > 60*int64(len(file)) {
			t.Errorf("%d: %d bytes read of %d", i, src.n, len(file))
		}
	}
}

func FuzzRecoverFrames(f *testing.F) {
	file, _, frames, table := zstParts(f)
	f.Add(file[:len(file)-5])
	f.Add(slices.Delete(slices.Clone(file), 600, 700))
	f.Add(slices.Concat(frames[3], file, table))
	f.Fuzz(func(t *testing.T, p []byte) {
		var saved, lost int64
		err := Recover(writerFunc(func(p []byte) (int, error) { saved += int64(len(p)); return len(p), nil }), bytes.NewReader(p), int64(len(p)),
			func(d Damage) error {
				lost += max(0, d.Content)
				if d.ContentOffset > saved+lost || d.Err == nil {
					t.Errorf("%+v", d)
				}
				return nil
			}, WithMaxMemory(600<<20), WithConcurrency(1))
		if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNoIndex) {
			t.Error(err)
		}
	})
}
