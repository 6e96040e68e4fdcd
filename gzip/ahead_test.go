package gzip_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gzip"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// aheadKinds are the sources that workers decode ahead.
var aheadKinds = []struct {
	name string
	open func(t testing.TB, p []byte) io.Reader
}{
	{"Reader", func(t testing.TB, p []byte) io.Reader { return bytes.NewReader(p) }},
	{"strings", func(t testing.TB, p []byte) io.Reader { return strings.NewReader(string(p)) }},
	{"Buffer", func(t testing.TB, p []byte) io.Reader { return bytes.NewBuffer(bytes.Clone(p)) }},
	{"file", openFile},
	{"pipe", openPipe},
}

func openFile(t testing.TB, p []byte) io.Reader {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, p, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func openPipe(t testing.TB, p []byte) io.Reader {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() }) // which ends the goroutine
	go func() {
		w.Write(p)
		w.Close()
	}()
	return r
}

// newReader returns a Reader with workers of its own.
func newReader(t testing.TB, src io.Reader, workers int) *gzip.Reader {
	t.Helper()
	r, err := gzip.NewReader(src)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetOptions(compress.WithConcurrency(workers)); err != nil {
		t.Fatal(err)
	}
	return r
}

// mixed is content of several kinds, which compress by different ratios.
func mixed(size int) []byte { return allMixed()[:size:size] }

var allMixed = sync.OnceValue(func() (p []byte) {
	for range 4 {
		for _, kind := range []string{"text", "random", "json", "sparse", "exe"} {
			p = append(p, corpus.ByName(kind).Make(400<<10)...)
		}
	}
	return p
})

// stdMembers compresses p in members of a size with the standard library. The second header has all
// fields, and unknown flags.
func stdMembers(t testing.TB, p []byte, level, size int) []byte {
	var b bytes.Buffer
	w, err := stdgzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i == 0 || len(p) > 0; i++ {
		n, at := min(size, len(p)), b.Len()
		if w.Reset(&b); i == 1 {
			w.Header = stdgzip.Header{Name: strings.Repeat("n", 511), Comment: "c", Extra: []byte("extra")}
		}
		w.Write(p[:n])
		w.Close()
		if p = p[n:]; i == 1 {
			b.Bytes()[at+3] |= 0xe1
		}
	}
	return b.Bytes()
}

// aheadFiles are files of p.
func aheadFiles(t testing.TB, p []byte) map[string][]byte {
	return map[string][]byte{
		"one member":    stdMembers(t, p, 6, len(p)),
		"members":       stdMembers(t, p, 1, 300_000),
		"short members": stdMembers(t, p, 6, 50_000),
		"stored":        stdMembers(t, p, 0, len(p)),
		"flushed":       write(t, p, 4, 100_000),
		"empty members": bytes.Join([][]byte{stdMembers(t, p, 6, 1<<20), bytes.Repeat(write(t, nil, 6, 1), 9999)}, nil),
	}
}

// TestAhead reads all kinds of files with any number of workers.
func TestAhead(t *testing.T) {
	p := mixed(3 << 20)
	files := aheadFiles(t, p)
	for i, k := range aheadKinds {
		for name, file := range files {
			for _, workers := range [][]int{{1, 2, 5}, {2}, {4}, {3}, {2}}[i] {
				r := newReader(t, k.open(t, file), workers)
				got, err := io.ReadAll(io.MultiReader(io.LimitReader(r, 1<<20), r))
				if err != nil || !bytes.Equal(got, p) {
					t.Errorf("%s, %s, %d workers: %d bytes, %v", k.name, name, workers, len(got), err)
				}
				if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("%s, %s, %d workers: %d bytes, %v at the end", k.name, name, workers, n, err)
				}
			}
		}
	}
}

// TestAheadBehindMember leaves ByteReaders right behind each of several members, and may choose that
// late.
func TestAheadBehindMember(t *testing.T) {
	p := mixed(3 << 20)
	first, second := stdMembers(t, p, 6, len(p)), stdMembers(t, p[:2<<20], 9, 2<<20)
	file := bytes.Join([][]byte{first, second, write(t, nil, 6, 1), []byte("what follows")}, nil)
	for _, k := range aheadKinds[:3] {
		for _, late := range []int{0, 1 << 20} {
			src := k.open(t, file)
			r := new(gzip.Reader)
			if err := r.SetOptions(compress.WithConcurrency(3)); err != nil {
				t.Fatal(err)
			}
			for _, want := range [][]byte{p, p[:2<<20], nil} {
				if err := r.Reset(src); err != nil {
					t.Fatal(err)
				}
				r.Multistream(late > 0)
				got, err := io.ReadAll(io.LimitReader(r, int64(min(late, len(want)/2))))
				r.Multistream(false)
				rest, err2 := io.ReadAll(r)
				if got = append(got, rest...); err != nil || err2 != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s, late %d: %d bytes of %d, %v, %v", k.name, late, len(got), len(want), err, err2)
				}
			}
			if rest, err := io.ReadAll(src); string(rest) != "what follows" || err != nil {
				t.Errorf("%s, late %d: %d bytes left, %v", k.name, late, len(rest), err)
			}
		}
	}
}

// TestAheadErrors compares the content and the error of damaged files with the standard library.
func TestAheadErrors(t *testing.T) {
	p := mixed(3 << 19)
	files := [][]byte{stdMembers(t, p, 6, len(p)), stdMembers(t, p, 6, 400_000), stdMembers(t, p, 6, 30_000)}
	var damaged [][]byte
	for _, tail := range []string{"\x00", "\x1f\x8b\x08", "\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xff", "garbage",
		"more garbage", strings.Repeat("\x00", 10), "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\xff",
		"\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xff" + strings.Repeat("c", 511),
		"\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xff" + strings.Repeat("c", 512),
		"\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xff" + strings.Repeat("c", 511) + "\x00\x07",
		"\x1f\x8b\x08\x02\x00\x00\x00\x00\x00\xff\x00\x00\x03\x00",
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00\x00\x00\x00\x00\x01\x00\x00\x00",
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00\x01\x00\x00\x00\x00\x00\x00\x00"} {
		for _, file := range files {
			damaged = append(damaged, append(bytes.Clone(file), tail...))
		}
	}
	for _, seed := range testenv.Seeds(t, 1) {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		for i := range 90 {
			file := bytes.Clone(files[i%len(files)])
			switch at := r.IntN(len(file)); i / 3 % 5 {
			case 0:
				file = file[:at]
			case 1:
				file = file[:len(file)-1-r.IntN(20)]
			case 2:
				file[len(file)-1-r.IntN(20)] ^= 1 << r.IntN(8)
			default:
				file[at] ^= 1 << r.IntN(8)
			}
			damaged = append(damaged, file)
		}
	}
	for i, file := range damaged {
		std, wantErr := stdgzip.NewReader(bytes.NewReader(file))
		if wantErr != nil {
			continue // damaged in the header that NewReader reads
		}
		want, wantErr := io.ReadAll(std)
		for j, k := range aheadKinds {
			if !testenv.All() && i%len(aheadKinds) != j {
				continue
			}
			z := newReader(t, k.open(t, file), 2+i%3)
			got, err := io.ReadAll(z)
			if wantErr == io.ErrUnexpectedEOF && len(got) > len(want) {
				got = got[:len(want)]
			}
			if !bytes.Equal(got, want) || errorKind(err) != errorKind(wantErr) {
				t.Fatalf("%s, file %d: %d bytes, %v; want %d, %v", k.name, i, len(got), err, len(want), wantErr)
			}
			if fmt.Sprint(z.Close()) != fmt.Sprint(std.Close()) && kind(z.Close()) != kind(std.Close()) {
				t.Fatalf("%s, file %d: Close returns %v, not %v", k.name, i, z.Close(), std.Close())
			}
			checkOffset(t, err, wantErr)
		}
	}
}

// checkOffset compares the places of a damaged Deflate stream.
func checkOffset(t *testing.T, err, want error) {
	t.Helper()
	var got, std int64
	fmt.Sscanf(fmt.Sprint(err), "flate: corrupt input before offset %d", &got)
	fmt.Sscanf(fmt.Sprint(want), "flate: corrupt input before offset %d", &std)
	if got < std-8 || got > std+8 {
		t.Fatalf("%v, not %v", err, want)
	}
}

// TestAheadSourceError passes on errors of a file.
func TestAheadSourceError(t *testing.T) {
	file := openFile(t, stdMembers(t, mixed(7<<20), 1, 1<<30)).(*os.File)
	r := newReader(t, file, 2)
	if _, err := io.CopyN(io.Discard, r, 1<<20); err != nil {
		t.Fatal(err)
	}
	file.Close()
	_, err := io.Copy(io.Discard, r)
	if !errors.Is(err, os.ErrClosed) || r.Close() != err {
		t.Errorf("%v; Close returns %v", err, r.Close())
	}
}

// TestAheadDropped drops Readers without Close. No goroutine may remain.
func TestAheadDropped(t *testing.T) {
	testenv.Measures(t)
	before := runtime.NumGoroutine()
	file := stdMembers(t, mixed(7<<20), 1, 1<<30)
	for i := range 10 {
		r := newReader(t, bytes.NewReader(file), 4)
		if _, err := io.CopyN(io.Discard, r, int64(i+1)<<18); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestAheadBuffer writes to a Buffer while a Reader reads it. The Buffer stays short.
func TestAheadBuffer(t *testing.T) {
	p := mixed(7 << 20)
	file := stdMembers(t, p, 1, 1<<30)
	var b bytes.Buffer
	b.Write(file[:600_000])
	r := newReader(t, &b, 2)
	var got []byte
	q, most := make([]byte, 10_000), 0
	for rest := file[600_000:]; ; {
		n, err := r.Read(q)
		if got = append(got, q[:n]...); err != nil {
			if err != io.EOF || !bytes.Equal(got, p) {
				t.Errorf("%d bytes of %d, %v", len(got), len(p), err)
			}
			break
		}
		if b.Len() < 500_000 {
			n := min(len(rest), 100_000)
			b.Write(rest[:n])
			rest = rest[n:]
		}
		most = max(most, b.Len())
	}
	if most > 800_000 {
		t.Errorf("the Buffer had up to %d bytes", most)
	}
}

// TestAheadFlushed reads what has been flushed into a pipe before anything else is written.
func TestAheadFlushed(t *testing.T) {
	defer gzip.SetAheadFrom(gzip.SetAheadFrom(100))
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Close()
	w := gzip.NewWriter(pw)
	w.Flush()
	r := newReader(t, pr, 3)
	p, q := mixed(1<<20), make([]byte, 1000)
	for i := range 300 {
		part := p[i*1000:][:1000]
		w.Write(part)
		w.Flush()
		if _, err := io.ReadFull(r, q); err != nil || !bytes.Equal(q, part) {
			t.Fatalf("part %d: %v", i, err)
		}
	}
	w.Close()
	pw.Close()
	if n, err := r.Read(q); n != 0 || err != io.EOF {
		t.Errorf("%d bytes, %v at the end", n, err)
	}
}

// TestReaderSetOptions refuses late calls and wrong options.
func TestReaderSetOptions(t *testing.T) {
	r := newReader(t, bytes.NewReader(write(t, content(1000), 6, 1000)), 1)
	if err := r.SetOptions(compress.WithConcurrency(-1)); !errors.Is(err, compress.ErrOption) {
		t.Errorf("wrong option: %v", err)
	}
	r.Read(make([]byte, 1))
	if err := r.SetOptions(); err == nil {
		t.Error("options were set after Read")
	}
}
