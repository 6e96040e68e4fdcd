package pzbeam

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/transforms/filter"
	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// pzDir is the directory of the command that buildPZ builds. TestMain removes it.
var pzDir string

// buildPZ builds the command pz of this commit.
var buildPZ = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pzbeam")
	if err != nil {
		return "", err
	}
	pzDir = dir
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "pz"), "./cmd/pz")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "pz"), nil
})

// pz runs the command pz. A status other than 0 fails the test, unless damaged is set.
func pz(t *testing.T, damaged bool, args ...string) {
	t.Helper()
	path, err := buildPZ()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil && !damaged {
		t.Fatalf("pz %q: %v: %s", args, err, out)
	}
}

// writeMany writes 200 files of all kinds and sizes, and a large one, and returns their names.
func writeMany(t *testing.T, dir string, large int) (names []string) {
	t.Helper()
	kinds := corpus.Kinds()
	all := map[string][]byte{}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		k := kinds[i%len(kinds)]
		size := int(rnd.ExpFloat64() * 8_000)
		if i < 5 {
			size = []int{0, 1, 2, 1 << 16, 1<<16 + 1}[i]
		}
		all[fmt.Sprintf("%d/%03d.%s", i%7, i, k.Name)] = k.MakeSeed(size, uint64(i))
	}
	names = writeFiles(t, dir, all)
	var b bytes.Buffer
	for seed := uint64(0); b.Len() < large; seed++ {
		if seed < 32 {
			b.Write(corpus.ByName("mixed").MakeSeed(1<<20, seed))
		} else { // pieces from before, at other places
			at := rnd.IntN(31 << 20)
			b.Write(b.Bytes()[at : at+rnd.IntN(1<<20)])
		}
	}
	return append(names, writeFiles(t, dir, map[string][]byte{"large": b.Bytes()[:large]})...)
}

// TestAgainstPZ compresses 200 files and a large one. The outputs are those of the command pz,
// other programs read them, and Decompress restores the sources.
func TestAgainstPZ(t *testing.T) {
	full := 300_000_000
	for _, level := range []int{1, 4, 7} {
		large := full
		if level > 1 && !testenv.All() {
			large = 2 << 20
		}
		in := t.TempDir()
		names := writeMany(t, in, large)
		for _, format := range []string{"pz", "gz", "zst"} {
			t.Run(fmt.Sprint(format, level), func(t *testing.T) {
				group := int64(large / 10)
				againstPZ(t, in, names, Options{Base: in, Format: format, Level: level, GroupSize: group})
			})
		}
		if err := os.RemoveAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func againstPZ(t *testing.T, in string, names []string, o Options) {
	out, back := t.TempDir(), t.TempDir()
	o.Output = out
	mustRun(t, func(s beam.Scope) {
		passert.Count(s, Compress(s, beam.CreateList(s, names), o), "results", len(names))
	})
	suffix := "." + o.Format
	args := []string{"-k", fmt.Sprint("-", o.Level), "--format", o.Format}
	if o.Format == "zst" {
		args = append(args, "--seekable="+map[int]string{1: "2M", 4: "4M", 7: "4M"}[o.Level])
	}
	pz(t, false, append(args, names...)...)
	var packed []string
	for _, name := range names {
		rel, err := filepath.Rel(in, name)
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, filepath.Join(out, rel+suffix))
		sameFile(t, packed[len(packed)-1], name+suffix)
		if err := os.Remove(name + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if tool := map[string]string{"gz": "gzip", "zst": "zstd"}[o.Format]; tool != "" {
		restoreByTool(t, testenv.Tool(t, tool), names, packed)
	}
	mustRun(t, func(s beam.Scope) {
		files := beam.CreateList(s, packed)
		r := Decompress(s, files, Options{Output: back, Base: out, GroupSize: o.GroupSize})
		passert.Count(s, r, "results", len(names))
		passert.Empty(s, Verify(s, files, Options{GroupSize: o.GroupSize}))
	})
	for _, name := range names {
		rel, _ := filepath.Rel(in, name)
		sameFile(t, filepath.Join(back, rel), name)
	}
	checkNoStaging(t, out)
	checkNoStaging(t, back)
}

// sameFile fails unless two files have the same bytes.
func sameFile(t *testing.T, got, want string) {
	t.Helper()
	p, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	q, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(p, q) {
		t.Fatalf("%s: %d bytes that differ from the %d of %s", got, len(p), len(q), want)
	}
}

// checkNoStaging fails if part files are left in an output directory.
func checkNoStaging(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(dir, ".pzbeam")); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", filepath.Join(dir, ".pzbeam"), err)
	}
}

// restoreByTool decompresses files with another program.
func restoreByTool(t *testing.T, tool string, names, packed []string) {
	t.Helper()
	all := filepath.Join(t.TempDir(), "all")
	w, err := os.Create(all)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd := exec.Command(tool, append([]string{"-dc"}, packed...)...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", tool, err, stderr.Bytes())
	}
	got, err := os.ReadFile(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		p, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(got, p) {
			t.Fatalf("%s restores %s to other bytes", tool, name)
		}
		got = got[len(p):]
	}
	if len(got) > 0 {
		t.Errorf("%s restores %d bytes too many", tool, len(got))
	}
}

// TestPlanted plants 50 damages in files of many groups. Verify finds each, with its file and
// block, and Recover writes what pz --recover writes.
func TestPlanted(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	content := corpus.ByName("mixed").MakeSeed(8<<20, 3)
	var names, want []string
	rnd := rand.New(rand.NewPCG(5, 6))
	for i, format := range []compress.Format{compress.PZ, compress.Zstd} {
		for k := range 5 {
			name := filepath.Join(in, fmt.Sprintf("%d%d.%v", i, k, format))
			data := encode(t, content, format)
			blocks := blocksIn(t, data)
			// Every second block at most, so that no two findings are one.
			for _, n := range rnd.Perm(len(blocks) / 2)[:5] {
				b := blocks[2*n]
				data[b.Offset+b.Size/2] ^= 0x55
				want = append(want, fmt.Sprint(filepath.Base(name), " ", b.Stream, " ", b.Number))
			}
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	if len(want) != 50 {
		t.Fatalf("%d damages in place of 50", len(want))
	}
	slices.Sort(want)
	for _, zero := range []bool{false, true} {
		o := Options{Output: out, GroupSize: 1 << 20, ZeroFill: zero, Existing: Replace}
		mustRun(t, func(s beam.Scope) {
			files := beam.CreateList(s, names)
			// Two findings are about a frame of which only a part can be read.
			passert.EqualsList(s, filter.Distinct(s, beam.ParDo(s, damagedBlock, Verify(s, files, o))), want)
			Recover(s, files, o)
		})
		for _, name := range names {
			args := []string{"--recover", "-f", "-o", name + ".saved", name}
			if zero {
				args = append(args, "--zero-fill")
			}
			pz(t, true, args...)
			sameFile(t, filepath.Join(out, cutExtension(filepath.Base(name))), name+".saved")
		}
	}
	checkNoStaging(t, out)
}

// blocksIn returns the blocks of a file.
func blocksIn(t *testing.T, data []byte) []compress.BlockInfo {
	t.Helper()
	r, err := compress.NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(r.Blocks())
}

// TestExisting checks what happens to sources whose outputs exist, or are sources.
func TestExisting(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	names := writeFiles(t, in, map[string][]byte{"a": text(1000), "b": text(2000), "a.pz": text(10)})
	compressed := func(e Existing, sources ...string) error {
		o := Options{Output: out, Existing: e}
		return run(func(s beam.Scope) { Compress(s, beam.CreateList(s, sources), o) })
	}
	if err := os.WriteFile(filepath.Join(out, "a.pz"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	a, b := names[0], names[2]
	o := Options{Output: out}
	if err := compressed(Refuse, a, b); err == nil {
		t.Error("an output that exists is no error")
	}
	checkTree(t, out, map[string][]byte{"a.pz": []byte("old")})
	if err := compressed(Skip, a, b); err != nil {
		t.Error(err)
	}
	checkTree(t, out, map[string][]byte{"a.pz": []byte("old"), "b.pz": packed(t, b, o)})
	if err := compressed(Replace, a, b); err != nil {
		t.Error(err)
	}
	checkTree(t, out, map[string][]byte{"a.pz": packed(t, a, o), "b.pz": packed(t, b, o)})
	out = in
	if err := compressed(Replace, a, names[1]); err == nil {
		t.Error("an output that is a source is no error")
	}
	if err := compressed(Refuse, in); err == nil {
		t.Error("a directory is no error")
	}
	if err := run(func(s beam.Scope) { Match(s, filepath.Join(in, "x*")) }); err == nil {
		t.Error("a pattern without files is no error")
	}
}

// TestChanged checks that a source that changes after it was planned is an error.
func TestChanged(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	p := text(1 << 20)
	for _, group := range []int64{64 << 10, 1 << 30} {
		name := writeFiles(t, in, map[string][]byte{"a": p})[0]
		o := Options{Output: out, BlockSize: 64 << 10, GroupSize: group}
		ctx := context.Background()
		var f file
		plan := planFn{o}
		err := plan.ProcessElement(ctx, name, func(_ string, got file) {
			if got.Output != "" {
				f = got
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, f.time(), f.time().Add(1e9)); err != nil {
			t.Fatal(err)
		}
		fn := &compressFn{Options: o}
		tracker := fn.CreateTracker(fn.CreateInitialRestriction(f))
		err = fn.ProcessElement(ctx, tracker, f, func(string, part) { t.Error("a part") },
			func(string, Result) { t.Error("a file") })
		if err == nil {
			t.Error("a source that changed is no error")
		}
		checkTree(t, out, nil)
	}
}
