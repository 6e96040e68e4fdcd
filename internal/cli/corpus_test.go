package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

var threadCounts = []int{1, 2, 8}

// TestSmallFiles compresses files with sizes near multiples of the block size, with all pipelines
// and several numbers of threads, and restores them concatenated. By default each pipeline has one
// level, lzseqr one with layout Dense. PZ_TEST=all tests every level.
func TestSmallFiles(t *testing.T) {
	testenv.Slow(t)
	dir := t.TempDir()
	var paths []string
	var content strings.Builder
	for i, c := range []string{
		"", "x", sample(4095), sample(4096), sample(4097), noise(10_000), string(make([]byte, 50_000)),
		sample(30_000),
	} {
		paths = append(paths, write(t, c, dir, fmt.Sprint(i)))
		content.WriteString(c)
	}
	for i, p := range bridge.Pipelines() {
		for level := minLevel; level <= maxLevel; level++ {
			if !testenv.All() && level != [...]int{4, 7, 6, 3}[i%4] {
				continue
			}
			t.Run(fmt.Sprint(p.Name, "/", level), func(t *testing.T) {
				smallFiles(t, p, level, paths, content.String())
			})
		}
	}
}

// smallFiles compresses and restores files at one level. content is their concatenated content.
func smallFiles(t *testing.T, p pipeline.Pipeline, level int, paths []string, content string) {
	first, counts := "", []int{1, 8}
	if testenv.All() {
		counts = threadCounts
	}
	for _, threads := range counts {
		args := []string{"-f", "-B4K", "-p", p.Name, fmt.Sprint("-", level), fmt.Sprint("-T", threads)}
		pz(t, "", append(args, paths...)...).want(t, exitOK)
		var joined strings.Builder
		for _, path := range paths {
			b, err := os.ReadFile(path + "." + p.Format.String())
			if err != nil {
				t.Fatal(err)
			}
			joined.Write(b)
		}
		if threads == 1 {
			first = joined.String()
		} else if joined.String() != first {
			t.Errorf("%d threads: output differs from one thread", threads)
		}
		got := pz(t, joined.String(), "-d", fmt.Sprint("-T", threads)).want(t, exitOK).out
		if got != content {
			t.Errorf("%d threads: content differs, got %d bytes, want %d", threads, len(got), len(content))
		}
	}
}

// input is a content for TestMatrix. It need not fit in memory.
type input struct {
	name string
	open func(level int) io.Reader
}

// matrixInputs returns the files of PZ_CORPUS, or generated ones, and with PZ_TEST=matrix also
// contents with extreme sizes.
func matrixInputs(t *testing.T) (inputs []input) {
	add := func(name string, data func() []byte) {
		inputs = append(inputs, input{name, func(int) io.Reader { return bytes.NewReader(data()) }})
	}
	files := corpus.Real(t)
	for _, f := range files {
		add(f.Name, func() []byte { return f.Data(t) })
	}
	if len(files) == 0 {
		add("mixed", func() []byte { return corpus.ByName("mixed").Make(2 << 20) })
	}
	if !testenv.Matrix() {
		return inputs
	}
	add("empty", func() []byte { return nil })
	add("byte", func() []byte { return []byte("x") })
	for _, more := range []int{-1, 0, 1} {
		inputs = append(inputs, input{fmt.Sprintf("block%+d", more), func(level int) io.Reader {
			return bytes.NewReader(corpus.ByName("log").Make(blockSize(t, level) + more))
		}})
	}
	const gib = 1 << 30
	return append(inputs,
		input{"GiB of zeros", func(int) io.Reader { return io.LimitReader(zeros{}, gib) }},
		input{"random GiB", func(int) io.Reader {
			return io.LimitReader(rand.NewChaCha8([32]byte{}), gib)
		}})
}

// blockSize returns the block size of a level of the default pipeline, in bytes.
func blockSize(t *testing.T, level int) int {
	t.Helper()
	var b bytes.Buffer
	w, err := compress.NewWriter(&b, compress.WithLevel(level))
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := compress.NewReaderAt(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Info().Streams[0].BlockSize
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestMatrix compresses and restores large inputs through pipes between processes. By default each
// pipeline runs at a fast level with all numbers of threads, with PZ_TEST=all also at a dense
// level. With PZ_TEST=matrix it runs every level with every number of threads, which takes hours.
func TestMatrix(t *testing.T) {
	for _, in := range matrixInputs(t) {
		t.Run(in.name, func(t *testing.T) {
			for i, p := range bridge.Pipelines() {
				for level := minLevel; level <= maxLevel; level++ {
					counts := threadCounts
					switch {
					case testenv.Matrix():
					case level == maxLevel-i && testenv.All():
						counts = []int{2 + 6*(i%2)}
					case level != minLevel+i:
						continue
					}
					t.Run(fmt.Sprint(p.Name, "/", level), func(t *testing.T) {
						throughProcesses(t, in, p.Name, level, counts)
					})
				}
			}
		})
	}
}

// throughProcesses compresses an input with several numbers of threads and restores it, followed by
// a file of another level. It keeps hashes only.
func throughProcesses(t *testing.T, in input, pipeline string, level int, counts []int) {
	t.Helper()
	const more = "another file"
	otherLevel := fmt.Sprint("-", minLevel+maxLevel-level)
	second := pz(t, more, "-p", pipeline, otherLevel).want(t, exitOK).out
	want := sha256.New()
	n, err := io.Copy(want, io.MultiReader(in.open(level), strings.NewReader(more)))
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	for _, threads := range counts {
		packed, got := sha256.New(), sha256.New()
		pack := command("-p", pipeline, fmt.Sprint("-", level), fmt.Sprint("-T", threads))
		unpack := command("-d", fmt.Sprint("-T", threads))
		var packErr, unpackErr bytes.Buffer
		pr, pw, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		restored := &counter{w: got}
		pack.Stdin, pack.Stdout, pack.Stderr = in.open(level), io.MultiWriter(packed, pw), &packErr
		unpack.Stdin, unpack.Stdout, unpack.Stderr = pr, restored, &unpackErr
		if err := unpack.Start(); err != nil {
			t.Fatal(err)
		}
		pr.Close() // so that a write fails if the process exits
		err = pack.Run()
		io.WriteString(pw, second)
		pw.Close()
		uerr := unpack.Wait()
		if err != nil || uerr != nil || packErr.Len()+unpackErr.Len() > 0 {
			t.Fatalf("%d threads: %v, %v: %s%s", threads, err, uerr, packErr.Bytes(), unpackErr.Bytes())
		}
		sum := packed.Sum(nil)
		if first == nil {
			first = sum
		} else if !bytes.Equal(sum, first) {
			t.Errorf("%d threads: output differs from one thread", threads)
		}
		if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
			t.Errorf("%d threads: content differs, got %d bytes, want %d", threads, restored.n, n)
		}
	}
}

// counter counts the bytes written to w.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// TestNamedFiles compresses and restores files by name, so that pz knows their sizes. Each pipeline
// takes two processes for all files.
func TestNamedFiles(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	want := sha256.New()
	for _, in := range matrixInputs(t) {
		if strings.Contains(in.name, "GiB") {
			continue
		}
		data, err := io.ReadAll(in.open(minLevel))
		if err != nil {
			t.Fatal(err)
		}
		want.Write(data)
		paths = append(paths, write(t, string(data), dir, in.name))
	}
	for i, p := range bridge.Pipelines() {
		var packed []string
		for _, path := range paths {
			packed = append(packed, path+"."+p.Format.String())
		}
		level, threads := fmt.Sprint("-", 1+2*i), fmt.Sprint("-T", threadCounts[i%3])
		pack := command(append([]string{"-f", "-p", p.Name, level, threads}, paths...)...)
		if out, err := pack.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%s: %v: %s", p.Name, err, out)
		}
		got := sha256.New()
		cmd := command(append([]string{"-dc", threads}, packed...)...)
		cmd.Stdout = got
		if err := cmd.Run(); err != nil || !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
			t.Errorf("%s: content differs, %v", p.Name, err)
		}
		for _, path := range packed {
			os.Remove(path)
		}
	}
}
