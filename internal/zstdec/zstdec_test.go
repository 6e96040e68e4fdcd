package zstdec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// encode makes a frame without content size and with a window of 2^log bytes.
func encode(t testing.TB, src []byte, log int) []byte {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "zstd"), "-cq", fmt.Sprint("--zstd=wlog=", log))
	cmd.Stdin = bytes.NewReader(src) // of unknown size
	code, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// decoder returns a Decoder as zstfile gets it.
func decoder(t testing.TB) *Decoder {
	t.Helper()
	d, err := New(true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d.(*Decoder)
}

// TestRead decodes frames of many windows with one Decoder, through readers of all manners.
func TestRead(t *testing.T) {
	d := decoder(t)
	r := rand.New(rand.NewPCG(9, 10))
	for i, log := range []int{10, 20, 14, 22, 17, 18, 23} {
		for j, k := range corpus.Kinds() {
			if (i+j)%2 == 0 && !testenv.All() {
				continue
			}
			size := 1 + r.IntN(200_000)
			if (i+j)%9 == 0 && !testenv.Race && !testenv.Emulated() {
				size = 5 << 20 // beyond the buffer
			}
			src := k.Make(size)
			code := encode(t, src, log)
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
				t.Fatalf("%s, %d bytes, window 2^%d: %d bytes, %v", k.Name, size, log, len(got), err)
			}
		}
	}
	if err := d.Reset(nil); err != nil || d.src != nil {
		t.Errorf("Reset(nil): %v, input %v", err, d.src)
	}
	if n, err := d.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("without input: %d bytes, %v", n, err)
	}
	d.Release()
	if d.buf != nil {
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
		for _, log := range []int{10, 16, 18, 20} {
			d := decoder(t)
			d.room, d.moved = 2*blockRoom, 0
			d.Reset(bytes.NewReader(encode(t, src, log)))
			got, err := io.ReadAll(d)
			if err != nil || !bytes.Equal(got, src) {
				t.Fatalf("%s, window 2^%d: %d bytes, %v", name, log, len(got), err)
			}
			if d.before == 0 {
				t.Errorf("%s, window 2^%d: the buffer was never full", name, log)
			}
		}
	}
}

// TestMemory checks that a Decoder takes no more memory than zstfile accounts for.
func TestMemory(t *testing.T) {
	testenv.Slow(t)
	src := corpus.ByName("text").Make(13 << 20)
	for _, log := range []int{10, 20, 23} {
		d := decoder(t)
		d.Reset(bytes.NewReader(encode(t, src, log)))
		if _, err := io.Copy(io.Discard, d); err != nil {
			t.Fatal(err)
		}
		spec := zstfile.OrderedSpec(1 << log)
		if n := int64(cap(d.buf)) + int64(unsafe.Sizeof(*d)); n > spec.Extra {
			t.Errorf("window 2^%d: %d bytes of memory, more than %d", log, n, spec.Extra)
		}
	}
	d := decoder(t)
	d.Reset(bytes.NewReader(encode(t, src[:1000], 23)))
	if _, err := io.Copy(io.Discard, d); err != nil || cap(d.buf) > firstBuffer {
		t.Errorf("1000 bytes take a buffer of %d bytes, %v", cap(d.buf), err)
	}
}

// TestBlockwise checks that the Decoder never reads behind the block whose content it returns, and
// reads the checksum with the last block.
func TestBlockwise(t *testing.T) {
	src := corpus.ByName("json").Make(900_000)
	code := encode(t, src, 20)
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
	code := encode(t, src, 10) // three blocks
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
	unchecked, _ := New(false, nil)
	unchecked.Reset(bytes.NewReader(wrong))
	if got, err := io.ReadAll(unchecked); err != nil || !bytes.Equal(got, src) {
		t.Errorf("checksum not compared: %d bytes, %v", len(got), err)
	}
	for _, size := range []int64{2999, 3001} {
		h, n, _ := zstframe.ParseHeader(code)
		h.ContentSize = size
		if err := read(append(h.Append(nil), code[n:]...)); err != errSize {
			t.Errorf("content size %d in the header: %v", size, err)
		}
	}
}

// TestAllocs checks that a Decoder allocates nothing for further frames.
func TestAllocs(t *testing.T) {
	testenv.Measures(t)
	code := encode(t, corpus.ByName("log").Make(900_000), 20)
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
