package peertest_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	kgzip "github.com/klauspost/compress/gzip"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gzip"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/mutants"
)

// gzBases returns small files of the Writer, the peer, the standard library and programs.
func gzBases(t testing.TB) (list [][]byte) {
	for i, kind := range mutantKinds {
		content := corpus.ByName(kind).Make(3000)
		list = append(list,
			encodeFile(t, content, compress.WithFormat(compress.Gzip), compress.WithLevel(1+i%9)),
			encodeFile(t, slices.Concat(content, content), compress.WithFormat(compress.Gzip),
				compress.WithBlockSize(testBlock)),
			gzipWith(t, content, i%10, func(w io.Writer, level int) (gzFlusher, error) {
				return kgzip.NewWriterLevel(w, level)
			}),
			gzipWith(t, content, i%10, func(w io.Writer, level int) (gzFlusher, error) {
				return stdgzip.NewWriterLevel(w, level)
			}))
		for k, name := range []string{"gzip", "pigz", "bgzip"} {
			if path, err := exec.LookPath(name); err == nil && (i+k)%3 == 0 {
				cmd := exec.Command(path, "-c")
				cmd.Stdin = bytes.NewReader(content)
				file, err := cmd.Output()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				list = append(list, file)
			}
		}
	}
	return append(list, slices.Concat(list[0], list[5], list[9]))
}

// A gzFlusher writes .gz with flushes.
type gzFlusher interface {
	io.WriteCloser
	Flush() error
}

// gzipWith compresses content with a flush in the middle.
func gzipWith(
	t testing.TB, content []byte, level int, open func(io.Writer, int) (gzFlusher, error),
) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	half := len(content) / 2
	for _, p := range [][]byte{content[:half], content[half:]} {
		w.Write(p)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stdGunzip decodes a file with the standard library, at most a byte more than is compared. Zeros
// behind a member count as no error, as gzip has it.
func stdGunzip(file []byte) (got mutants.Decoded) {
	got.Who = "compress/gzip"
	src := bytes.NewReader(file)
	var z stdgzip.Reader
	var b bytes.Buffer
	for members := 0; ; members++ {
		rest := file[len(file)-src.Len():]
		if members > 0 && len(bytes.Trim(rest, "\x00")) == 0 {
			break
		}
		if got.Err = z.Reset(src); got.Err != nil {
			break
		}
		z.Multistream(false)
		_, got.Err = io.Copy(&b, io.LimitReader(&z, int64(mutants.ContentLimit+1-b.Len())))
		if got.Err != nil || b.Len() > mutants.ContentLimit {
			break
		}
	}
	got.Content = b.Bytes()
	return got
}

// gzCheck compares what decoders make of a .gz file.
func gzCheck(d *mutants.Decoders, file []byte, seed uint64) (fault string, v mutants.Verdict) {
	r := rand.New(rand.NewPCG(seed, 1))
	want := stdGunzip(file)
	if len(want.Content) > mutants.ContentLimit {
		return d.Bounded(file, mutants.ContentLimit, true), mutants.Large
	}
	got, fault := d.Decode(r, file, len(want.Content))
	if fault == "" {
		fault = gzDiffer(file, want, got)
	}
	if fault == "" {
		fault = gzPackage(file)
	}
	if fault == "" {
		fault = checkReadAt(d, r, file, got)
	}
	if fault == "" {
		saved := d.Recover(file, r.IntN(2) == 0)
		fault = saved.Check(got)
	}
	if fault == "" {
		fault = d.Bounded(file, int64(r.IntN(len(got.Content)+2)), r.IntN(8) == 0)
	}
	return fault, verdictOf(got.Err)
}

// gzDiffer says how the standard library and this one disagree on a file, "" if they may.
func gzDiffer(file []byte, want, got mutants.Decoded) string {
	switch {
	case want.Err == nil && got.Err != nil && strings.Contains(got.Err.Error(), "unknown flags"):
		allow("reserved flag") // compress/gzip ignores it
		want.Err = got.Err
	case want.Err == stdgzip.ErrHeader && got.Err == nil && hasLongName(file):
		allow("long name") // compress/gzip takes names and comments of 511 bytes at most
		got.Err = want.Err
	}
	if want.Err == nil && got.Err != nil {
		return mutants.Differ(want, got, false)
	}
	return samePart(want, got)
}

// hasLongName reports whether a member has a name or comment of over 511 bytes.
func hasLongName(file []byte) bool {
	return slices.ContainsFunc(parseGz(file), func(p gzPart) bool {
		return len([]rune(p.head.Name)) > 511 || len([]rune(p.head.Comment)) > 511
	})
}

// gzPackage compares package gzip with the one of the standard library, whose API it has.
func gzPackage(file []byte) string {
	var want, got mutants.Decoded
	want.Who, got.Who = "compress/gzip", "package gzip"
	if z, err := stdgzip.NewReader(bytes.NewReader(file)); err != nil {
		want.Err = err
	} else {
		want.Content, want.Err = io.ReadAll(z)
	}
	if z, err := gzip.NewReader(bytes.NewReader(file)); err != nil {
		got.Err = err
	} else {
		got.Content, got.Err = io.ReadAll(z)
		z.Close()
	}
	for _, kind := range [][2]error{
		{stdgzip.ErrHeader, gzip.ErrHeader}, {stdgzip.ErrChecksum, gzip.ErrChecksum}, {io.EOF, io.EOF},
	} {
		if errors.Is(want.Err, kind[0]) != errors.Is(got.Err, kind[1]) {
			return fmt.Sprintf("compress/gzip: %v, package gzip: %v", want.Err, got.Err)
		}
	}
	if want.Err == nil && got.Err != nil {
		return mutants.Differ(want, got, false)
	}
	return samePart(want, got)
}
