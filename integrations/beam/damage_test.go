package pzbeam

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/gopz/compress"
)

func init() {
	register.Function1x1(findingKey)
	register.Function1x1(damagedBlock)
	register.Function1x1(lineKey)
}

func findingKey(f Finding) string {
	return fmt.Sprint(filepath.Base(f.File), " ", f.Kind, " ", f.Stream, " ", f.Block, " ", f.Blocks)
}

// damagedBlock returns the block that a finding is about.
func damagedBlock(f Finding) string {
	return fmt.Sprint(filepath.Base(f.File), " ", f.Stream, " ", f.Block)
}

// TestDamage plants damage in blocks of files, and compares what Verify and Recover find with what
// compress.Recover does.
func TestDamage(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	p := text(2 << 20)
	var names, want []string
	saved := map[string][]byte{}
	twice := append(p[:len(p):len(p)], p...)
	for i, format := range []compress.Format{compress.PZ, compress.Zstd, compress.PZ} {
		for k := range 5 {
			name := filepath.Join(in, fmt.Sprintf("%d-%d.%v", i, k, format))
			var data []byte
			if i == 2 { // blocks repeat earlier ones
				data = plant(t, twice, format, k, compress.WithLongDistance(compress.MinWindow*4))
			} else {
				data = plant(t, p, format, k)
			}
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
			var w bytes.Buffer
			note := func(d compress.Damage) error {
				want = append(want, findingKey(findingOf(name, d)))
				return nil
			}
			src := bytes.NewReader(data)
			if err := compress.Recover(&w, src, src.Size(), note); err != nil {
				t.Fatal(err)
			}
			saved[cutExtension(filepath.Base(name))] = w.Bytes()
		}
	}
	windows := 0
	for _, w := range want {
		if strings.Contains(w, " window ") {
			windows++
		}
	}
	if len(want) < 50 || windows < 5 {
		t.Fatalf("only %d damages, %d of them to what blocks repeat", len(want), windows)
	}
	slices.Sort(want)
	o := Options{Output: out, GroupSize: 128 << 10}
	mustRun(t, func(s beam.Scope) {
		files := beam.CreateList(s, names)
		found := beam.ParDo(s, findingKey, Verify(s, files, o))
		passert.EqualsList(s, found, want)
		_, findings := Recover(s, files, o)
		passert.EqualsList(s, beam.ParDo(s, findingKey, findings), want)
	})
	checkTree(t, out, saved)
	o.Existing = Replace
	err := run(func(s beam.Scope) { Decompress(s, beam.CreateList(s, names[:1]), o) })
	if err == nil || !strings.Contains(err.Error(), "block") {
		t.Errorf("Decompress: error %v", err)
	}
	checkTree(t, out, saved) // what was there stays
}

// encode compresses content in blocks of 64 KiB.
func encode(t *testing.T, content []byte, f compress.Format, opts ...compress.WriterOption) []byte {
	t.Helper()
	opts = append(opts, compress.WithFormat(f))
	if f == compress.Gzip {
		opts = append(opts, compress.WithBlockSize(64<<10))
	} else {
		opts = append(opts, compress.WithSeekable(64<<10))
	}
	data, err := compress.AppendEncode(nil, content, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// plant compresses content and damages every sixth block, from block k on. Damage never touches
// neighbours, so that each is found apart.
func plant(t *testing.T, content []byte, f compress.Format, k int, opts ...compress.WriterOption) []byte {
	t.Helper()
	data := encode(t, content, f, opts...)
	r, err := compress.NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for b := range r.Blocks() {
		if n%6 == k {
			data[b.Offset+b.Size/2] ^= 0x55
		}
		n++
	}
	return data
}

// TestOtherDamage gives Verify files without an index that counts.
func TestOtherDamage(t *testing.T) {
	in := t.TempDir()
	content := text(300_000)
	pz, gz := encode(t, content, compress.PZ), encode(t, content, compress.Gzip)
	broken := slices.Clone(gz)
	broken[len(broken)/2] ^= 0x55
	for name, p := range map[string][]byte{
		"good.gz": gz, "broken.gz": broken, "short.pz": pz[:len(pz)-40],
		"trailing.pz": append(pz, "rubbish"...), "text": content, "empty": {},
	} {
		name = filepath.Join(in, name)
		if err := os.WriteFile(name, p, 0o644); err != nil {
			t.Fatal(err)
		}
		bad := filepath.Base(name) != "good.gz"
		mustRun(t, func(s beam.Scope) {
			found := Verify(s, beam.Create(s, name), Options{})
			if bad {
				passert.NonEmpty(s, found)
			} else {
				passert.Empty(s, found)
			}
		})
	}
}

func lineKey(l Line) string { return fmt.Sprint(filepath.Ext(l.File), " ", l.Offset, " ", l.Text) }

// TestReadLines reads the lines of files in groups whose borders fall anywhere.
func TestReadLines(t *testing.T) {
	in := t.TempDir()
	content := text(300_000)
	content = append(content, strings.Repeat("x", 200_000)+"\n\n\nlast line without an end"...)
	var names, want []string
	for _, f := range []compress.Format{compress.PZ, compress.Gzip, compress.Zstd} {
		data := encode(t, content, f)
		name := filepath.Join(in, "lines."+f.String())
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		at := int64(0)
		for _, line := range strings.SplitAfter(string(content), "\n") {
			text := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			want = append(want, lineKey(Line{name, at, text}))
			at += int64(len(line))
		}
	}
	mustRun(t, func(s beam.Scope) {
		lines := ReadLines(s, beam.CreateList(s, names), Options{GroupSize: 64 << 10})
		passert.EqualsList(s, beam.ParDo(s, lineKey, lines), want)
	})
	// Blocks, too.
	got := map[string]int64{}
	for _, name := range names {
		f, err := stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		index := indexFn{Options: Options{GroupSize: 64 << 10}, Mode: verifying}
		if err := index.ProcessElement(t.Context(), name, func(_ string, g file) { f = g }); err != nil {
			t.Fatal(err)
		}
		fn := &blocksFn{opened{Options: index.Options}}
		tracker := fn.CreateTracker(fn.CreateInitialRestriction(f))
		err = fn.ProcessElement(t.Context(), tracker, f, func(b Block) {
			if !bytes.Equal(b.Data, content[b.Offset:b.Offset+int64(len(b.Data))]) {
				t.Errorf("%s: block at %d differs", name, b.Offset)
			}
			got[name] += int64(len(b.Data))
		})
		if err != nil {
			t.Fatal(err)
		}
		if got[name] != int64(len(content)) {
			t.Errorf("%s: %d bytes in blocks in place of %d", name, got[name], len(content))
		}
		if err := fn.Teardown(); err != nil {
			t.Fatal(err)
		}
	}
}
