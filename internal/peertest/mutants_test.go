package peertest_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/mutants"
)

// samePart says how a second decoder and the library disagree, "" if they do not or if the library
// alone rejects the file. Of damaged files either may return more than the other.
func samePart(peer, got mutants.Decoded) string {
	n := min(len(peer.Content), len(got.Content))
	if !bytes.Equal(peer.Content[:n], got.Content[:n]) ||
		got.Err == nil && (peer.Err != nil || len(peer.Content) != len(got.Content)) {
		return mutants.Differ(peer, got, false)
	}
	return ""
}

// verdictOf says where the library rejects a file.
func verdictOf(err error) mutants.Verdict {
	var e *compress.Error
	switch {
	case err == nil:
		return mutants.Valid
	case errors.As(err, &e) && e.Part == compress.PartBlock && !strings.Contains(e.Detail, "header"):
		return mutants.Inside
	}
	return mutants.Outside
}

// checkReadAt decodes a file with a ReaderAt. got is what the library makes of it from the front.
func checkReadAt(d *mutants.Decoders, r *rand.Rand, file []byte, got mutants.Decoded) string {
	z, err := compress.NewReaderAt(bytes.NewReader(file), int64(len(file)), d.Options(d.Eight)...)
	if err != nil {
		var e *compress.Error
		noIndex := errors.Is(err, compress.ErrNoIndex) ||
			errors.As(err, &e) && e.Part == compress.PartIndex // which a Reader does not need
		if !mutants.IsTyped(err) || got.Err == nil && !noIndex {
			return fmt.Sprintf("NewReaderAt: %v; Reader: %v", err, got.Err)
		}
		return ""
	}
	defer z.Close()
	var b bytes.Buffer
	_, err = z.WriteTo(&b)
	if (err == nil) != (got.Err == nil) || err != nil && !mutants.IsTyped(err) ||
		err == nil && !bytes.Equal(b.Bytes(), got.Content) {
		return fmt.Sprintf("ReaderAt: %d bytes, %v; Reader: %d bytes, %v",
			b.Len(), err, len(got.Content), got.Err)
	}
	if z.Size() > mutants.ContentLimit {
		return ""
	}
	return mutants.ReadParts(r, z, got)
}

// newDecoders returns decoders with memory for the largest window of a .zst frame, 3.75 TiB.
func newDecoders(t testing.TB) *mutants.Decoders {
	return mutants.NewDecoders(t, compress.WithMaxMemory(1<<43))
}

// mutantKinds are the kinds of data whose files are changed.
var mutantKinds = []string{
	"text", "log", "json", "records", "exe", "mixed", "zeros", "skewed", "random",
}

// A mutantFormat is a format whose files are changed.
type mutantFormat struct {
	name   string
	bases  func(t testing.TB) [][]byte
	mutate func(bases [][]byte) func(r *rand.Rand, file []byte) []byte
	check  func(d *mutants.Decoders, file []byte, seed uint64) (string, mutants.Verdict)
}

var mutantFormats = []mutantFormat{
	{"zst", zstBases, zstMutants, zstCheck},
	{"gz", gzBases, gzMutants, gzCheck},
}

// allowed counts the differences between decoders that are allowed, by name.
var allowed = map[string]int{}

// allow notes a difference, which is no fault.
func allow(name string) (fault string) {
	allowed[name]++
	return ""
}

// TestMutants compares changed .zst and .gz files with other decoders.
func TestMutants(t *testing.T) {
	for _, f := range mutantFormats {
		t.Run(f.name, func(t *testing.T) {
			mutate, d := f.mutate(f.bases(t)), newDecoders(t)
			x := mutants.Trial{Rounds: 1000, Trials: len(mutantFormats)}
			x.Make = func(r *rand.Rand) (file []byte, large bool) {
				return mutate(r, nil), false
			}
			x.Check = func(file []byte, _ bool, seed uint64) (string, mutants.Verdict) {
				return f.check(d, file, seed)
			}
			clear(allowed)
			x.Run(t)
			t.Logf("differences allowed: %v", allowed)
		})
	}
}

// FuzzMutants changes a file as a script says, computes its checks anew, and compares decoders.
// Without a script it takes the file as it is.
func FuzzMutants(f *testing.F) {
	var mutate []func(r *rand.Rand, file []byte) []byte
	for _, x := range mutantFormats {
		bases := x.bases(f)
		mutate = append(mutate, x.mutate(bases))
		for i, file := range bases {
			f.Add(file, []byte{byte(i), 1, 2, 3, byte(5 * i)}, uint64(i))
		}
	}
	d := newDecoders(f)
	var w mutants.Watchdog
	w.Start(f)
	f.Fuzz(func(t *testing.T, file, script []byte, seed uint64) {
		if len(file) > 1<<15 || len(script) > 1<<10 {
			return
		}
		x := 0
		if bytes.HasPrefix(file, []byte(gzfile.Magic)) {
			x = 1
		}
		w.Do(func() {
			if len(script) > 0 {
				file = mutate[x](mutants.Script(script), bytes.Clone(file))
			}
			if fault, _ := mutantFormats[x].check(d, file, seed); fault != "" {
				t.Fatalf("%s\n%x", fault, file)
			}
		})
	})
}
