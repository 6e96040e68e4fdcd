package compress

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/zstfile"
)

// formats are all formats with the name that String returns.
var formats = map[Format]string{PZ: "pz", Gzip: "gz", Zstd: "zst"}

// TestDetectFormat detects the format of the first bytes of each format, and of other data.
func TestDetectFormat(t *testing.T) {
	for f := range formats {
		file := encode(t, []byte("content"), WithFormat(f))
		for _, n := range []int{4, 10, len(file)} {
			if got, ok := DetectFormat(file[:n]); got != f || !ok {
				t.Errorf("%d bytes of a .%v file: %v, %v", n, f, got, ok)
			}
		}
	}
	if f, ok := DetectFormat(skippableFrame(7, []byte("content"))); f != Zstd || !ok {
		t.Errorf("skippable frame: %v, %v, want zst", f, ok)
	}
	for _, p := range []string{"", "P", "\x1f\x8b", "\x28\xb5\x2f", "text", "\x00\x00\x00\x00"} {
		if f, ok := DetectFormat([]byte(p)); ok {
			t.Errorf("%q: %v, want no format", p, f)
		}
	}
}

// TestWithFormat checks that WithFormat chooses a pipeline of the format, and that of two options
// the later one counts.
func TestWithFormat(t *testing.T) {
	content := textBytes(10_000, 1)
	for f := range formats {
		file := encode(t, content, WithFormat(f))
		if got, ok := DetectFormat(file); got != f || !ok {
			t.Errorf("WithFormat(%v) writes %v, %v", f, got, ok)
		}
		if got, err := AppendDecode(nil, file); err != nil || string(got) != string(content) {
			t.Errorf("WithFormat(%v): %d bytes, %v", f, len(got), err)
		}
	}
	equal(t, encode(t, content, WithFormat(PZ)), encode(t, content), "default format")
	for _, p := range Pipelines() {
		named := encode(t, content, WithPipeline(p.Name))
		if got, _ := DetectFormat(named); got != p.Format {
			t.Errorf("pipeline %s writes %v, want %v", p.Name, got, p.Format)
		}
		for f := range formats {
			both := encode(t, content, WithFormat(f), WithPipeline(p.Name))
			equal(t, both, named, "format "+f.String()+", then pipeline "+p.Name)
			both = encode(t, content, WithPipeline(p.Name), WithFormat(f))
			equal(t, both, encode(t, content, WithFormat(f)),
				"pipeline "+p.Name+", then format "+f.String())
		}
	}
}

// TestFormatString checks the names, which are the file name extensions too.
func TestFormatString(t *testing.T) {
	for f, want := range formats {
		if f.String() != want {
			t.Errorf("Format(%d).String() = %q, want %q", uint8(f), f, want)
		}
	}
	if got := Format(99).String(); got != "unknown" {
		t.Errorf("Format(99).String() = %q, want unknown", got)
	}
}

// TestOptionErrorText checks that the error of an invalid option lists what is valid.
func TestOptionErrorText(t *testing.T) {
	var pipelines []string
	for _, p := range Pipelines() {
		pipelines = append(pipelines, p.Name)
	}
	for _, c := range []struct {
		opt  Option
		want []string
	}{
		{WithFormat(99), []string{"format 99", "PZ", "Gzip", "Zstd"}},
		{WithPipeline("none"), append(pipelines, `"none"`)},
		{WithTuning(99), []string{"99", "TuneFixed", "TuneAuto", "TuneTrial", "TuneLiterals"}},
		{WithLevel(10), []string{"10", "1 … 9"}},
		{WithBlockSize(5000), []string{"5000", "power of two", "4096", "67108864"}},
		{WithConcurrency(-1), []string{"-1", "0 …"}},
	} {
		_, err := NewWriter(io.Discard, c.opt)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
		}
	}
}

// TestProbeZstd probes files of all formats, of frames with and without a size, and of parts of
// files.
func TestProbeZstd(t *testing.T) {
	written := encode(t, []byte("content"), WithFormat(Zstd))
	table := makeSeekTable(false)
	unsized := storedFrame(zstfile.Header{ContentSize: -1, Window: 1 << 10}, []byte("content"))
	for _, c := range []struct {
		name         string
		file         []byte
		table, sized bool
	}{
		{"written", written, true, true},
		{"end missing", written[:len(written)-1], false, true},
		{"beginning missing", written[1:], true, false},
		{"no size", unsized, false, false},
		{"no size, with table", slices.Concat(unsized, table), true, false},
		{"cut header", written[:5], false, false},
		{"pz", encode(t, []byte("content")), false, false},
		{"gz", encode(t, []byte("content"), WithFormat(Gzip)), false, false},
		{"empty", nil, false, false},
	} {
		table, sized := ProbeZstd(bytes.NewReader(c.file), int64(len(c.file)))
		if table != c.table || sized != c.sized {
			t.Errorf("%s: table %v, sized %v, want %v, %v", c.name, table, sized, c.table, c.sized)
		}
	}
}
