package peertest_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// standardFormats are the formats that the peer reads.
var standardFormats = []compress.Format{compress.Gzip, compress.Zstd}

// checkWritten decodes a .gz or .zst file with the peer. Its window is the one that every decoder
// should support.
func checkWritten(t testing.TB, format compress.Format, file, content []byte, what string) {
	t.Helper()
	var r io.Reader
	var err error
	if format == compress.Gzip {
		r, err = gzip.NewReader(bytes.NewReader(file))
	} else {
		var d *kzstd.Decoder
		d, err = kzstd.NewReader(bytes.NewReader(file), kzstd.WithDecoderMaxWindow(8<<20),
			kzstd.WithDecoderConcurrency(1))
		r = d
		defer d.Close()
	}
	if err != nil {
		t.Fatalf("%v, %s: %v", format, what, err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, content) {
		t.Fatalf("%v, %s: %d bytes, want %d; %v", format, what, len(got), len(content), err)
	}
}

// TestWrite decodes our files of all kinds of data with the peer.
func TestWrite(t *testing.T) {
	testenv.Slow(t)
	for _, format := range standardFormats {
		for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
			if !testenv.All() && level%4 != 1 {
				continue
			}
			opts := []compress.WriterOption{compress.WithFormat(format), compress.WithLevel(level)}
			for _, kind := range corpus.Kinds() {
				content := kind.Make(100_000)
				if level > 7 {
					content = content[:40_000] // two blocks
				}
				for _, tuning := range []compress.Tuning{compress.TuneFixed, compress.TuneAuto} {
					file := encodeFile(t, content, append(opts[:2:2],
						compress.WithBlockSize(1<<15), compress.WithTuning(tuning))...)
					checkWritten(t, format, file, content,
						fmt.Sprint(kind.Name, ", level ", level, ", tuning ", tuning))
				}
			}
			for _, f := range corpus.Real(t) {
				content := f.Data(t)
				content = content[:min(len(content), 1<<20)]
				checkWritten(t, format, encodeFile(t, content, opts...), content, f.Name)
			}
		}
	}
}

// TestWriteSizes decodes files of all sizes around a block with the peer.
func TestWriteSizes(t *testing.T) {
	for _, format := range standardFormats {
		for _, n := range []int{0, 1, 2, testBlock - 1, testBlock, testBlock + 1, 9*testBlock + 5} {
			content := corpus.ByName("mixed").Make(n)
			for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
				opts := []compress.WriterOption{
					compress.WithFormat(format), compress.WithLevel(level),
					compress.WithBlockSize(testBlock),
				}
				what := fmt.Sprint(n, " bytes, level ", level)
				checkWritten(t, format, encodeFile(t, content, opts...), content, what)
				got, err := compress.AppendEncode([]byte("before"), content, opts...)
				if err != nil {
					t.Fatal(err)
				}
				checkWritten(t, format, got[len("before"):], content, what+", AppendEncode")
			}
		}
	}
}

// FuzzWrite decodes our files with the peer.
func FuzzWrite(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add([]byte("a"), uint8(1))
	f.Add(corpus.ByName("text").Make(9000), uint8(7))
	f.Add(corpus.ByName("mixed").Make(20_000), uint8(12))
	f.Fuzz(func(t *testing.T, content []byte, how uint8) {
		format := standardFormats[how%2]
		level := compress.MinLevel + int(how)/2%compress.MaxLevel
		file := encodeFile(t, content, compress.WithFormat(format), compress.WithLevel(level),
			compress.WithBlockSize(testBlock), compress.WithConcurrency(2))
		checkWritten(t, format, file, content, "fuzz")
	})
}
