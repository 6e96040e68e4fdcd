package merge

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
)

// TestMergeOthers: copies that are not of one file.
func TestMergeOthers(t *testing.T) {
	other := corpus.ByName("log").Make(600_000)
	for name, c := range map[string]struct {
		a, b []byte
		want error
	}{
		"two formats": {pack(t, content), pack(t, content, bridge.Pipeline("deflate")), errFormats},
		"two formats, one damaged": {
			damaged(pack(t, content), 5000, 100), pack(t, content, bridge.Pipeline("lzf")), errFormats},
		"two contents":       {pack(t, content), pack(t, other), errIntact},
		"two contents, .gz":  {files(t)["gz"], pack(t, other, bridge.Pipeline("deflate")), errIntact},
		"two contents, .zst": {files(t)["zst"], pack(t, other, bridge.Pipeline("lzf")), errIntact},
		"two levels": {
			pack(t, content, compress.WithLevel(1)), pack(t, content, compress.WithLevel(6)), errIntact},
		"two block sizes": {
			pack(t, content), pack(t, content, compress.WithBlockSize(32<<10)), errIntact},
	} {
		for range 2 {
			if _, _, err := merge(t, c.a, c.b); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			c.a, c.b = c.b, c.a
		}
	}
	// A damaged copy of another file is none, and an intact file is given back. The report tells.
	file, others := pack(t, content), pack(t, other)
	report := wantMerged(t, "another file", file, file, damaged(others, 5000, 1000))
	if d := report.Different; d[0] != 0 || d[1] <= int64(len(others))/2 {
		t.Errorf("%d bytes of copies of %d and %d bytes are different", d, len(file), len(others))
	}
	report = wantMerged(t, "two damages", file,
		damaged(file, 5000, 7), damaged(file, 30_000, 3)[:len(file)-2])
	if !slices.Equal(report.Different, []int64{7, 3}) {
		t.Errorf("%d bytes are different, want 7 and 3", report.Different)
	}
	// What has no check may differ in intact copies, and one may be the beginning of the other.
	gz := files(t)["gz"]
	report = wantMerged(t, "time in the header", gz, gz, damaged(gz, 4, 4))
	if report.Parts != 1 {
		t.Errorf("%+v", report)
	}
	for name, file := range files(t) {
		two := append(bytes.Clone(file), file...)
		wantMerged(t, name+": one of two streams", two, file, two)
	}
}

// TestMergeUnlike: copies that differ nearly everywhere, and those that do not.
func TestMergeUnlike(t *testing.T) {
	file, other := pack(t, content), pack(t, corpus.ByName("log").Make(600_000))
	bad := damaged(file, 5000, 100)
	random := corpus.ByName("random").Make(1 << 20)
	for name, c := range map[string]struct {
		copies [][]byte
		want   bool
	}{
		"two contents":                 {[][]byte{bad, damaged(other, 7000, 100)}, true},
		"another file, longer":         {[][]byte{pack(t, content[:1000]), damaged(other, 5000, 100)}, true},
		"no compressed data":           {[][]byte{file, random}, true},
		"a byte missing":               {[][]byte{bad, slices.Delete(bytes.Clone(file), 40, 41)}, true},
		"two copies and another file":  {[][]byte{bad, damaged(file, 5000, 90), random}, false},
		"the same damage":              {[][]byte{bad, bad}, false},
		"the same damage, half of one": {[][]byte{bad, bad[:len(bad)/2]}, false},
	} {
		_, report, err := merge(t, c.copies...)
		if err == nil || report.Unlike != c.want {
			t.Errorf("%s: %v, unlike is %v, want %v", name, err, report.Unlike, c.want)
		}
	}
}

// TestMergeHeader: a .gz header that is damaged in all copies, at other places.
func TestMergeHeader(t *testing.T) {
	gz := files(t)["gz"]
	n := len(gz)
	list := []Copy{
		{bytes.NewReader(damaged(gz, 0, 1)), int64(n)}, {bytes.NewReader(damaged(gz, n-4, 1)), int64(n)},
	}
	c, err := compare(list)
	if err != nil {
		t.Fatal(err)
	}
	m := merger{copies: c, report: &Report{}}
	if err := m.checkCopies(); err != nil || m.format != compress.Gzip {
		t.Errorf("format %v, %v", m.format, err)
	}
	// The header and the rest are intact in no copy.
	_, _, err = merge(t, damaged(damaged(gz, 0, 1), n/2, 9), damaged(gz, n/2+3, 9))
	if !errors.Is(err, compress.ErrCorrupt) || errors.Is(err, compress.ErrFormat) {
		t.Errorf("%v", err)
	}
}
