package pzbeam

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
)

// joining is a file system that joins parts by itself. Its names begin with "joining://".
type joining struct{ filesystem.Interface }

// joins counts calls of Join. partsRead counts parts that were opened for reading.
var joins, partsRead atomic.Int64

func init() {
	filesystem.Register("joining", func(ctx context.Context) filesystem.Interface {
		return joining{local.New(ctx)}
	})
}

func below(name string) string { return strings.TrimPrefix(name, "joining://") }

func (j joining) List(ctx context.Context, glob string) ([]string, error) {
	names, err := j.Interface.List(ctx, below(glob))
	for i := range names {
		names[i] = "joining://" + names[i]
	}
	return names, err
}

func (j joining) OpenRead(ctx context.Context, name string) (io.ReadCloser, error) {
	if strings.Contains(name, "/part-") {
		partsRead.Add(1)
	}
	return j.Interface.OpenRead(ctx, below(name))
}

func (j joining) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	return j.Interface.OpenWrite(ctx, below(name))
}

func (j joining) Size(ctx context.Context, name string) (int64, error) {
	return j.Interface.Size(ctx, below(name))
}

// Remove implements filesystem.Remover.
func (j joining) Remove(_ context.Context, name string) error { return os.Remove(below(name)) }

// Join implements Joiner, as an object store does: without the client.
func (j joining) Join(_ context.Context, output string, parts []string) error {
	joins.Add(1)
	var all []byte
	for _, name := range parts {
		p, err := os.ReadFile(below(name))
		if err != nil {
			return err
		}
		all = append(all, p...)
	}
	if err := os.MkdirAll(filepath.Dir(below(output)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(below(output), all, 0o644)
}

// TestJoiner checks that the file system joins parts if it can: when compressing and restoring.
func TestJoiner(t *testing.T) {
	in, out, back := t.TempDir(), t.TempDir(), t.TempDir()
	p := text(1 << 20)
	name := writeFiles(t, in, map[string][]byte{"a": p})[0]
	o := Options{Output: "joining://" + out, BlockSize: 64 << 10, GroupSize: testGroup, NoName: true}
	mustRun(t, func(s beam.Scope) { Compress(s, beam.Create(s, "joining://"+name), o) })
	want := map[string][]byte{"a.pz": packed(t, name, o)}
	mustRun(t, func(s beam.Scope) {
		files := beam.Create(s, "joining://"+filepath.Join(out, "a.pz"))
		Decompress(s, files, Options{Output: "joining://" + back, GroupSize: testGroup})
	})
	removeParts(t, out)
	removeParts(t, back)
	checkTree(t, out, want)
	checkTree(t, back, map[string][]byte{"a": p})
	if joins.Load() != 2 || partsRead.Load() != 0 {
		t.Errorf("%d joins, %d parts read", joins.Load(), partsRead.Load())
	}
}

// TestLocalJoin joins local files of several sizes. An error leaves nothing.
func TestLocalJoin(t *testing.T) {
	dir := t.TempDir()
	parts := writeFiles(t, dir, map[string][]byte{"1": text(100_000), "2": nil, "3": text(5)})
	output, staging := filepath.Join(dir, "out", "all"), filepath.Join(dir, "out", ".pzbeam", "x")
	if err := join(t.Context(), output, staging, append(parts, filepath.Join(dir, "none"))); err == nil {
		t.Error("joined without a part")
	}
	checkTree(t, filepath.Join(dir, "out"), nil)
	for range 2 { // the second time there is a file
		if err := join(t.Context(), output, staging, parts); err != nil {
			t.Fatal(err)
		}
		if err := clean(t.Context(), staging); err != nil {
			t.Fatal(err)
		}
		want := append(text(100_000), text(5)...)
		checkTree(t, filepath.Join(dir, "out"), map[string][]byte{"all": want})
	}
}
