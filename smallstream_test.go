package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
)

// isSmallStream reports whether a .pz file begins with a small stream.
func isSmallStream(file []byte) bool { return file[4]&0x80 != 0 }

// TestSmallStream writes content around the limit of a small stream in all ways. All must give the
// same bytes, and what has the form of a small stream depends on the content alone.
func TestSmallStream(t *testing.T) {
	for _, n := range []int{
		0, 1, 2, 100, testBlock, testBlock + 1, pzfile.MaxSmall, pzfile.MaxSmall + 1, smallContent,
	} {
		for _, more := range [][]Option{
			nil, {WithBlockSize(testBlock)}, {WithChecksum(false), WithPipeline("lzr")},
			{WithRsyncable(true)}, {WithConcurrency(3), WithLevel(7)},
			{WithLongDistance(MinWindow), WithBlockSize(1 << 20)},
		} {
			content := textBytes(n, uint64(n))
			what := fmt.Sprintf("%d bytes, %d options", n, len(more))
			want := encode(t, content, more...)
			blocks := len(slices.Collect(openAt(t, want).Blocks()))
			small := n <= pzfile.MaxSmall && blocks <= 1
			if isSmallStream(want) != small {
				t.Fatalf("%s, %d blocks: small %v", what, blocks, !small)
			}
			if small {
				st := openAt(t, want).Info().Streams[0]
				if st.Content != int64(n) || st.Size != int64(len(want)) {
					t.Errorf("%s: %+v", what, st)
				}
			}
			checkAllReaders(t, want, content)
			if !small {
				continue
			}
			sized := append(slices.Clone(more), WithContentSize(int64(n)))
			equal(t, encode(t, content, sized...), want, what+", announced")
			got, err := AppendEncode(nil, content, more...)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, want, what+", AppendEncode")
			if plan, err := NewPlan(int64(n), more...); err == nil {
				equal(t, inPieces(t, content, cuts(plan.Blocks(), 1), more...), want, what+", Plan")
			}
			var b bytes.Buffer
			w := newWriter(t, &b, more...)
			for _, size := range []int{1, 77, 30_000} {
				w.Reset(&b)
				for p := range slices.Chunk(content, size) {
					w.Write(p)
				}
				if b.Len() > 0 {
					t.Errorf("%s: %d bytes before Close", what, b.Len())
				}
				w.Close()
				equal(t, b.Bytes(), want, fmt.Sprint(what, ", Writes of ", size))
				b.Reset()
			}
			w.Reset(&b)
			w.ReadFrom(onlyReader{bytes.NewReader(content)})
			w.Close()
			equal(t, b.Bytes(), want, what+", ReadFrom")
		}
	}
}

// TestSmallStreamSize checks what a small stream adds to its payload.
func TestSmallStreamSize(t *testing.T) {
	for _, c := range []struct{ content, most int }{{0, 16}, {1, 17}, {10, 26}, {16, 32}} {
		if file := encode(t, randomBytes(c.content, 1)); len(file) > c.most {
			t.Errorf("%d bytes become %d, want at most %d", c.content, len(file), c.most)
		}
	}
}

// TestFlushIsNotSmall checks that a flush writes the header of a stream that is not small, and that a
// Reader returns the content before it waits.
func TestFlushIsNotSmall(t *testing.T) {
	r, w := io.Pipe()
	var file bytes.Buffer
	go func() {
		z, _ := NewWriter(io.MultiWriter(w, &file))
		for _, s := range []string{"a", "bc"} {
			io.WriteString(z, s)
			z.Flush()
		}
		z.Close()
		w.Close()
	}()
	z := newReader(t, r)
	for _, want := range []string{"a", "bc"} {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(z, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	if rest, err := io.ReadAll(z); err != nil || len(rest) > 0 {
		t.Errorf("%d more bytes, %v", len(rest), err)
	}
	if isSmallStream(file.Bytes()) {
		t.Error("a stream with a flush is small")
	}
}

// smallFile returns small streams of all kinds, their content, and the ends of the streams.
func smallFile(t testing.TB) (file, content []byte, ends []int) {
	for i, p := range [][]byte{
		textBytes(300, 1), textBytes(20, 2), make([]byte, 700), {7}, nil, textBytes(200, 3), nil,
	} {
		file = append(file, encode(t, p, WithPipeline([]string{"lzr", "lzseqr"}[i%2]))...)
		content = append(content, p...)
		ends = append(ends, len(file))
	}
	return file, content, ends
}

// TestSmallDamage flips each bit of small streams, and cuts them everywhere. All readers must see it.
// Those that read from the front agree on where it is.
func TestSmallDamage(t *testing.T) {
	file, content, ends := smallFile(t)
	r := newReader(t, nil, WithConcurrency(2))
	for bit := range 8 * len(file) {
		bad := slices.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		stream := slices.IndexFunc(ends, func(end int) bool { return bit/8 < end })
		start := 0
		if stream > 0 {
			start = ends[stream-1]
		}
		r.Reset(bytes.NewReader(bad))
		got, err := io.ReadAll(r)
		var e *Error
		if !isDamage(err) || !errors.As(err, &e) || e.Stream != stream || e.Offset < int64(start) ||
			e.Offset >= int64(ends[stream]) && !errors.Is(err, ErrTruncated) {
			t.Fatalf("bit %d of stream %d: %v", bit, stream, err)
		}
		if !bytes.HasPrefix(content, got) {
			t.Fatalf("bit %d: wrong content", bit)
		}
		same, serr := AppendDecode(nil, bad)
		if serr == nil || serr.Error() != err.Error() || !bytes.Equal(same, got) {
			t.Fatalf("bit %d: AppendDecode: %d bytes, %v; Reader: %d bytes, %v",
				bit, len(same), serr, len(got), err)
		}
		if at, err := openFile(bad); err == nil {
			p := make([]byte, len(content))
			n, err := at.ReadAt(p, 0)
			if !isDamage(err) || !bytes.HasPrefix(content, p[:n]) {
				t.Fatalf("bit %d: ReadAt: %d bytes, %v", bit, n, err)
			}
			at.Close()
		} else if !isDamage(err) {
			t.Fatalf("bit %d: NewReaderAt: %v", bit, err)
		}
	}
	for n := range file {
		got, err := decode(file[:n])
		whole := slices.Contains(ends, n)
		if whole != (err == nil) || !whole && !errors.Is(err, ErrTruncated) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if !bytes.HasPrefix(content, got) {
			t.Fatalf("%d bytes: wrong content", n)
		}
	}
}

// TestRecoverSmall damages each byte of each of some small streams, with others around it. Recover
// must save all others, and this one if only its footer is damaged.
func TestRecoverSmall(t *testing.T) {
	var file, content []byte
	var ends, at []int
	for i := range uint64(6) {
		p := textBytes(40+int(i)*90, i)
		if i == 3 { // a stream that is not small
			p = textBytes(3*testBlock, i)
		}
		file = append(file, encode(t, p, WithBlockSize(testBlock))...)
		content = append(content, p...)
		ends, at = append(ends, len(file)), append(at, len(content))
	}
	for _, s := range []int{1, 2, 4} {
		without := slices.Concat(content[:at[s-1]], content[at[s]:])
		for i := ends[s-1]; i < ends[s]; i++ {
			for _, deleted := range []int{0, 1, 5} {
				bad := slices.Clone(file)
				if deleted > 0 {
					bad = slices.Delete(bad, i, min(i+deleted, ends[s]))
				} else {
					bad[i] ^= 0x41
				}
				want := without
				if i >= ends[s]-3 {
					want = content
				}
				got, list := recoverAll(t, bad)
				equal(t, got, want, fmt.Sprintf("stream %d, byte %d, %d deleted", s, i-ends[s-1], deleted))
				if len(list) == 0 || list[0].Stream != s {
					t.Fatalf("stream %d, byte %d: %+v", s, i-ends[s-1], list)
				}
			}
		}
	}
	for n := 15; n < len(file); n++ { // the first header is whole
		if n > ends[2] && n < ends[3] {
			continue // TestRecoverCut has such streams
		}
		saved := 0
		for i, end := range ends {
			if n >= end-3 && i != 3 || n >= end {
				saved = at[i]
			}
		}
		got, list := recoverAll(t, file[:n])
		equal(t, got, content[:saved], fmt.Sprint("cut at ", n))
		if len(list) == 0 && !slices.Contains(ends, n) {
			t.Errorf("cut at %d: no damage reported", n)
		}
	}
}

// TestManySmallStreams opens many small streams. The index takes as much memory as it says.
func TestManySmallStreams(t *testing.T) {
	one := encode(t, []byte("x"))
	const n = 100_000
	file := bytes.Repeat(one, n)
	if _, err := openFile(file, WithMaxMemory(160*n)); !errors.Is(err, ErrMemory) {
		t.Errorf("with the memory of the index: %v", err)
	}
	r := openAt(t, file, WithMaxMemory(160*n+8<<20))
	p := make([]byte, n)
	if _, err := r.ReadAt(p, 0); err != nil || !bytes.Equal(p, bytes.Repeat([]byte("x"), n)) {
		t.Errorf("wrong content, %v", err)
	}
	if got, err := decode(file); err != nil || !bytes.Equal(got, p) {
		t.Errorf("Reader: %d bytes, %v", len(got), err)
	}
}
