package zstdec

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"unsafe"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// encode makes a frame without content size, with flushes every flush bytes.
func encode(t testing.TB, src []byte, window, flush int) []byte {
	t.Helper()
	var b bytes.Buffer
	enc, err := kzstd.NewWriter(&b, kzstd.WithEncoderConcurrency(1), kzstd.WithWindowSize(window))
	if err != nil {
		t.Fatal(err)
	}
	for len(src) > 0 {
		n := min(len(src), flush)
		enc.Write(src[:n])
		enc.Flush()
		src = src[n:]
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decoder returns a Decoder as zstfile gets it.
func decoder(t testing.TB) *Decoder {
	t.Helper()
	d, err := New(true)
	if err != nil {
		t.Fatal(err)
	}
	return d.(*Decoder)
}

// TestRead decodes frames of many windows with one Decoder, through readers of all manners.
func TestRead(t *testing.T) {
	d := decoder(t)
	r := rand.New(rand.NewPCG(9, 10))
	for i, window := range []int{1 << 10, 1 << 20, 1 << 14, 4 << 20, 1 << 17, 1 << 18, 8 << 20} {
		for j, k := range corpus.Kinds() {
			size := 1 + r.IntN(200_000)
			if (i+j)%9 == 0 && !testenv.Race && !testenv.Emulated() {
				size = 5 << 20 // beyond the buffer
			}
			src := k.Make(size)
			code := encode(t, src, window, 1+r.IntN(size)+size/100)
			var in io.Reader = bytes.NewReader(code)
			switch j % 3 {
			case 0:
				in = iotest.HalfReader(in)
			case 1:
				in = iotest.DataErrReader(in)
			}
			if err := d.Reset(in); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(d); err != nil || !bytes.Equal(got, src) {
				t.Fatalf("%s, %d bytes, window %d: %d bytes, %v", k.Name, size, window, len(got), err)
			}
		}
	}
	if err := d.Reset(nil); err != nil || d.src != nil {
		t.Errorf("Reset(nil): %v, input %v", err, d.src)
	}
	if n, err := d.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("without input: %d bytes, %v", n, err)
	}
	if d.Close(); d.buf != nil {
		t.Error("Close keeps the buffer")
	}
}

// TestWrap decodes content that goes round small buffers many times, with matches of all distances.
func TestWrap(t *testing.T) {
	testenv.Slow(t)
	r := rand.New(rand.NewPCG(11, 12))
	for _, name := range []string{"far", "text", "mixed", "runs", "records", "dna"} {
		src := corpus.ByName(name).Make(1 << 20)
		for len(src) < 3<<20 { // matches as far as the window
			at := r.IntN(len(src))
			src = append(src, src[at:min(len(src), at+r.IntN(2000))]...)
		}
		for _, window := range []int{1 << 10, 1 << 16, 1 << 18, 1 << 20} {
			d := decoder(t)
			d.room, d.moved = 2*blockRoom, 0
			d.Reset(bytes.NewReader(encode(t, src, window, 1<<18+r.IntN(100))))
			got, err := io.ReadAll(d)
			if err != nil || !bytes.Equal(got, src) {
				t.Fatalf("%s, window %d: %d bytes, %v", name, window, len(got), err)
			}
			if d.before == 0 {
				t.Errorf("%s, window %d: the buffer was never full", name, window)
			}
		}
	}
}

// TestMemory checks that a Decoder takes no more memory than zstfile accounts for.
func TestMemory(t *testing.T) {
	testenv.Slow(t)
	src := corpus.ByName("text").Make(13 << 20)
	for _, window := range []int{1 << 10, 1 << 20, 8 << 20} {
		d := decoder(t)
		d.Reset(bytes.NewReader(encode(t, src, window, len(src))))
		if _, err := io.Copy(io.Discard, d); err != nil {
			t.Fatal(err)
		}
		spec := zstfile.OrderedSpec(int64(window))
		if n := int64(cap(d.buf)) + int64(unsafe.Sizeof(*d)); n > spec.Extra {
			t.Errorf("window %d: %d bytes of memory, more than %d", window, n, spec.Extra)
		}
	}
	d := decoder(t)
	d.Reset(bytes.NewReader(encode(t, src[:1000], 8<<20, 1000)))
	if _, err := io.Copy(io.Discard, d); err != nil || cap(d.buf) > firstBuffer {
		t.Errorf("1000 bytes take a buffer of %d bytes, %v", cap(d.buf), err)
	}
}

// TestBlockwise checks that the Decoder never reads behind the block whose content it returns, and
// reads the checksum with the last block.
func TestBlockwise(t *testing.T) {
	src := corpus.ByName("json").Make(900_000)
	code := encode(t, src, 1<<20, 300_000)
	var h zstframe.Header
	h, at, err := zstframe.ParseHeader(code)
	if err != nil || !h.Checksum {
		t.Fatalf("%+v, %v", h, err)
	}
	ends := map[int]bool{}
	for last := false; !last; {
		b, err := zstframe.ParseBlock(code[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += zstframe.BlockHeaderSize + b.Size
		if last = b.Last; last {
			at += zstframe.ChecksumSize
		}
		ends[at] = true
	}
	in := bytes.NewReader(append(bytes.Clone(code), "behind"...))
	d := decoder(t)
	d.Reset(io.LimitReader(in, int64(len(code))))
	seen := map[int]bool{}
	for p := make([]byte, 10_000); ; {
		n, err := d.Read(p)
		pos := len(code) + len("behind") - in.Len()
		if n > 0 && !ends[pos] {
			t.Fatalf("content with %d bytes read, within a block", pos)
		}
		seen[pos] = true
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) < len(ends)-1 || len(ends) < 7 {
		t.Errorf("content at %d of %d ends of blocks", len(seen), len(ends))
	}
}

// TestErrors decodes frames that are cut short, and frames that contradict themselves.
func TestErrors(t *testing.T) {
	src := corpus.ByName("text").Make(3000)
	code := encode(t, src, 1<<20, 1000)
	d := decoder(t)
	read := func(p []byte) error {
		d.Reset(bytes.NewReader(p))
		n, err := io.Copy(io.Discard, d)
		if err == nil {
			t.Errorf("%d bytes of content, no error", n)
		}
		if n, again := d.Read(make([]byte, 1)); n != 0 || again != err {
			t.Errorf("after %v: %d bytes, %v", err, n, again)
		}
		return err
	}
	for n := range code {
		if err := read(code[:n]); err != io.ErrUnexpectedEOF {
			t.Fatalf("%d of %d bytes: %v", n, len(code), err)
		}
	}
	wrong := bytes.Clone(code)
	wrong[len(wrong)-1]++
	if err := read(wrong); !errors.Is(err, zstfile.ErrChecksum) {
		t.Errorf("wrong checksum: %v", err)
	}
	unchecked, _ := New(false)
	unchecked.Reset(bytes.NewReader(wrong))
	if got, err := io.ReadAll(unchecked); err != nil || !bytes.Equal(got, src) {
		t.Errorf("checksum not compared: %d bytes, %v", len(got), err)
	}
	for _, size := range []int64{2999, 3001} {
		h := zstframe.Header{ContentSize: size, Window: 1 << 20, Checksum: true}
		_, n, _ := zstframe.ParseHeader(code)
		if err := read(append(h.Append(nil), code[n:]...)); err != errSize {
			t.Errorf("content size %d in the header: %v", size, err)
		}
	}
}

// TestAllocs checks that a Decoder allocates nothing for further frames.
func TestAllocs(t *testing.T) {
	testenv.Measures(t)
	code := encode(t, corpus.ByName("log").Make(900_000), 1<<20, 200_000)
	d := decoder(t)
	in, p := bytes.NewReader(nil), make([]byte, 100_000)
	n := testing.AllocsPerRun(5, func() {
		in.Reset(code)
		d.Reset(in)
		for {
			if _, err := d.Read(p); err != nil {
				break
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for each frame", n)
	}
}
