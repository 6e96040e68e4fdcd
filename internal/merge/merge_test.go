package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/parity"
)

// pack compresses content in blocks of 64 KiB.
func pack(t testing.TB, content []byte, opts ...compress.WriterOption) []byte {
	t.Helper()
	var buf bytes.Buffer
	opts = append([]compress.WriterOption{compress.WithBlockSize(64 << 10)}, opts...)
	w, err := compress.NewWriter(&buf, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

var content = corpus.ByName("mixed").Make(600_000)

// files returns files of all formats. Those in blocks have an index.
func files(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"pz":    pack(t, content),
		"small": pack(t, content[:30_000]),
		"long":  pack(t, append(bytes.Clone(content), content...), compress.WithLongDistance(1<<20)),
		"zst":   pack(t, content, bridge.Pipeline("lzf"), bridge.Frames()),
		"gz":    pack(t, content, bridge.Pipeline("deflate")),
		"frame": pack(t, content, bridge.Pipeline("lzf")),
	}
}

// merge merges copies in memory.
func merge(t testing.TB, copies ...[]byte) ([]byte, *Report, error) {
	t.Helper()
	var list []Copy
	for _, p := range copies {
		list = append(list, Copy{bytes.NewReader(p), int64(len(p))})
	}
	var out bytes.Buffer
	report, err := Merge(&out, list)
	if err != nil && out.Len() > 0 {
		t.Errorf("%d bytes written with error %v", out.Len(), err)
	}
	return out.Bytes(), report, err
}

// wantMerged merges copies of a file.
func wantMerged(t testing.TB, name string, file []byte, copies ...[]byte) *Report {
	t.Helper()
	got, report, err := merge(t, copies...)
	if err != nil || !bytes.Equal(got, file) {
		t.Fatalf("%s: %v, exact %v, %+v", name, err, bytes.Equal(got, file), report)
	}
	return report
}

// damaged returns the file with zeros or other bytes in a part.
func damaged(file []byte, at, n int) []byte {
	p := bytes.Clone(file)
	for i := at; i < min(at+n, len(p)); i++ {
		p[i] ^= 0x55
	}
	return p
}

// TestMerge merges two copies that are damaged at different places.
func TestMerge(t *testing.T) {
	for name, file := range files(t) {
		n := len(file)
		wantMerged(t, name+": equal", file, file, file)
		for _, c := range []struct {
			what string
			a, b []byte
		}{
			{"one intact", damaged(file, 0, n), file},
			{"header and end", damaged(file, 0, 8), damaged(file, n-8, 8)},
			{"end and header", damaged(file, n-30, 30), damaged(file, 2, 1)},
			{"halves", damaged(file, 0, n/2-joinGap), damaged(file, n/2, n)},
			{"near", damaged(file, n/2, 1), damaged(file, n/2+joinGap+1, 1)},
			{"sectors", damaged(file, 8<<10, 4<<10), damaged(file, 12<<10, 4<<10)},
			{"cut", file[:n-n/3], damaged(file, n/5, 1000)},
			{"shorter cut", file[:n-1], damaged(file, n-20, 2)},
			{"both cut", file[:n-1], damaged(file, 100, 4)},
		} {
			report := wantMerged(t, name+": "+c.what, file, c.a, c.b)
			if report.Parts == 0 || report.Used[0]+report.Used[1] == 0 {
				t.Errorf("%s, %s: %+v", name, c.what, report)
			}
			wantMerged(t, name+": "+c.what+", in the other order", file, c.b, c.a)
		}
	}
}

// TestMergeFlips flips bytes of several copies at random. Each byte is right in one copy at least.
func TestMergeFlips(t *testing.T) {
	rounds := 20
	if testenv.All() {
		rounds = 500
	}
	for name, file := range files(t) {
		for round := range rounds {
			r := rand.New(rand.NewPCG(1, uint64(round)))
			copies := make([][]byte, 2+r.IntN(2))
			for i := range copies {
				copies[i] = bytes.Clone(file)
			}
			for k := range 5 {
				at := len(file)*k/5 + r.IntN(len(file)/5-joinGap-1)
				copies[r.IntN(len(copies))][at] ^= byte(1 + r.IntN(255))
			}
			wantMerged(t, fmt.Sprintf("%s, round %d", name, round), file, copies...)
		}
	}
}

// TestMergeVotes merges three copies of which each place is right in two. So the first try
// succeeds.
func TestMergeVotes(t *testing.T) {
	file := files(t)["gz"]
	copies := [][]byte{bytes.Clone(file), bytes.Clone(file), bytes.Clone(file)}
	for i := range 60 {
		copies[i%3][1000+2*joinGap*i]++
	}
	report := wantMerged(t, "votes", file, copies...)
	if report.Parts != 60 || !slices.Equal(report.Used, []int64{40, 20, 0}) {
		t.Errorf("%+v", report)
	}
}

// TestMergeLost: what is damaged in all copies is an error that says where.
func TestMergeLost(t *testing.T) {
	for _, name := range []string{"pz", "zst"} {
		file := files(t)[name]
		at, err := compress.NewReaderAt(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		b := at.Block(4)
		middle := int(b.Offset + b.Size/2)
		_, report, err := merge(t, damaged(file, middle, 3), damaged(damaged(file, middle, 5), 100, 1))
		want := []Range{{Offset: b.Offset, Size: b.Size}}
		if !errors.Is(err, compress.ErrCorrupt) || !slices.Equal(report.Lost, want) {
			t.Errorf("%s: %v, %+v; want %v lost", name, err, report, want)
		}
		// All copies have the same damage.
		_, _, err = merge(t, damaged(file, middle, 3), damaged(file, middle, 3))
		if !errors.Is(err, compress.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		_, _, err = merge(t, file[:len(file)-5], file[:len(file)-9])
		if !errors.Is(err, compress.ErrCorrupt) && !errors.Is(err, compress.ErrTruncated) {
			t.Errorf("%s: both cut: %v", name, err)
		}
	}
}

// TestMergeSeekTable: a seek table that only one copy has intact.
func TestMergeSeekTable(t *testing.T) {
	file := files(t)["zst"]
	for at := len(file) - 60; at < len(file); at++ {
		wantMerged(t, fmt.Sprint("byte ", at), file, damaged(file, at, 1), damaged(file, 1000, 1))
	}
}

// TestMergeUnreadable merges copies of which sectors cannot be read.
func TestMergeUnreadable(t *testing.T) {
	bad := errors.New("input/output error")
	for name, file := range files(t) {
		sectors := (len(file) + container.Sector - 1) / container.Sector
		var list []Copy
		for i := range 2 {
			src := readerAt(func(p []byte, off int64) (n int, err error) {
				for n < len(p) {
					at := off + int64(n)
					sector := int(at / container.Sector)
					if at >= int64(len(file)) {
						return n, io.EOF
					}
					if sector%2 == i && (sector/2)%3 == 0 && sectors > 1 {
						return n, bad
					}
					n += copy(p[n:], file[at:min(len(file), (sector+1)*container.Sector)])
				}
				return n, nil
			})
			list = append(list, Copy{src, int64(len(file))})
		}
		var out bytes.Buffer
		report, err := Merge(&out, list)
		if err != nil || !bytes.Equal(out.Bytes(), file) || sectors > 1 && report.Parts == 0 {
			t.Errorf("%s: %v, %+v", name, err, report)
		}
	}
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// TestMergeParity merges copies with parity, which have lost more than either parity can restore,
// and then the same bytes.
func TestMergeParity(t *testing.T) {
	var buf bytes.Buffer
	w, err := parity.NewWriter(&buf, parity.Options{Percent: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(pack(t, content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := buf.Bytes()
	n := len(file)
	a, b := damaged(file, 0, n/3-joinGap), damaged(file, n/3, n/3)
	report := wantMerged(t, "different places", file, a, b)
	if report.Healed > 0 {
		t.Errorf("%+v", report)
	}
	a, b = damaged(a, n/2, 100), damaged(b, n/2+50, 100)
	report = wantMerged(t, "the same place too", file, a, b)
	if report.Healed == 0 || len(report.Lost) > 0 {
		t.Errorf("%+v", report)
	}
	// The parity itself is damaged, and the footer behind it.
	a, b = damaged(file, n-1000, 10), damaged(file, n-500, 20)
	wantMerged(t, "parity", file, a, b)
	wantMerged(t, "the same place of the parity", file, damaged(file, n-1000, 10), damaged(file, n-1000, 20))
	_, report, err = merge(t, damaged(file, n/3, n/2), damaged(file, n/4, n/2))
	if !errors.Is(err, compress.ErrCorrupt) {
		t.Errorf("too much damage: %v, %+v", err, report)
	}
}

// TestMergeErrors: what cannot be merged.
func TestMergeErrors(t *testing.T) {
	file := pack(t, content)
	if _, _, err := merge(t, file); err == nil {
		t.Error("one copy: no error")
	}
	other := pack(t, corpus.ByName("mixed").Make(600_001))
	if _, _, err := merge(t, file[:len(file)-1], other[:len(other)-1]); err == nil {
		t.Error("other files: no error")
	}
	for _, p := range [][]byte{nil, []byte("text"), make([]byte, 100_000)} {
		if _, _, err := merge(t, p, append(bytes.Clone(p), 1)); err == nil {
			t.Errorf("%d bytes: no error", len(p))
		}
	}
	for _, name := range []string{"lzseqr", "lzf"} {
		bare := pack(t, content, bridge.Pipeline(name), compress.WithChecksum(false))
		if _, _, err := merge(t, bare, bare); err != nil {
			t.Errorf("%s: equal copies without checks: %v", name, err)
		}
		if _, _, err := merge(t, bare, damaged(bare, len(bare)/2, 1)); err == nil {
			t.Errorf("%s: different copies without checks: no error", name)
		}
	}
	// Checks count although the options do without.
	a, b := damaged(file, 1000, 10), damaged(file, len(file)/2, 1)
	var out bytes.Buffer
	_, err := Merge(&out, []Copy{
		{bytes.NewReader(a), int64(len(a))}, {bytes.NewReader(b), int64(len(b))},
	}, compress.WithChecksum(false))
	if err != nil || !bytes.Equal(out.Bytes(), file) {
		t.Errorf("WithChecksum(false): %v", err)
	}
	list := []Copy{{bytes.NewReader(file), int64(len(file))}, {bytes.NewReader(file), int64(len(file))}}
	full := errors.New("full")
	if _, err := Merge(writer(func([]byte) (int, error) { return 0, full }), list); err != full {
		t.Errorf("failing writer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Merge(io.Discard, list, compress.WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

type writer func(p []byte) (int, error)

func (f writer) Write(p []byte) (int, error) { return f(p) }

// TestTry: the number of tries is bounded.
func TestTry(t *testing.T) {
	file := files(t)["gz"]
	a, b := bytes.Clone(file), bytes.Clone(file)
	for i := range 40 {
		copyOf := a
		if i%2 == 0 {
			copyOf = b
		}
		copyOf[1000+2*joinGap*i]++
	}
	c, err := compare([]Copy{{bytes.NewReader(a), int64(len(a))}, {bytes.NewReader(b), int64(len(b))}})
	if err != nil {
		t.Fatal(err)
	}
	tries, broken := 0, errors.New("broken")
	err = c.try(triesOfFile, func() error {
		tries++
		c.ReadAt(make([]byte, c.size), 0)
		return broken
	})
	if err != broken || tries != triesOfFile || len(c.parts) != 40 {
		t.Errorf("%v after %d tries of %d parts", err, tries, len(c.parts))
	}
}

func FuzzMerge(f *testing.F) {
	for _, pipeline := range []string{"lzseqr", "lzf", "deflate"} {
		file := pack(f, content[:5000], bridge.Pipeline(pipeline))
		f.Add(file[:len(file)-5], file)
		f.Add(damaged(file, 100, 10), damaged(file, 1000, 10))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		opts := []compress.ReaderOption{
			compress.WithMaxMemory(64 << 20), compress.WithMaxDecodedSize(8 << 20),
		}
		var out bytes.Buffer
		list := []Copy{{bytes.NewReader(a), int64(len(a))}, {bytes.NewReader(b), int64(len(b))}}
		if _, err := Merge(&out, list, opts...); err != nil {
			return
		}
		r, err := compress.NewReader(&out, opts...)
		if err == nil {
			_, err = r.WriteTo(io.Discard)
		}
		if err != nil {
			t.Errorf("the result does not restore: %v", err)
		}
	})
}
