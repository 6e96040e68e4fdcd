package gzaccess

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzindex"
	"github.com/gopz/compress/internal/testenv"
)

// sidecar returns the checkpoints of m in a format.
func sidecar(t testing.TB, m *Map, f gzindex.Format, file []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b, f, bytes.NewReader(file)); err != nil {
		t.Fatal(f, err)
	}
	return b.Bytes()
}

// use reads a sidecar and makes the Map of a file with it.
func use(side, file []byte) (*Map, error) {
	x, err := gzindex.ReadAt(bytes.NewReader(side), int64(len(side)), nil)
	if err != nil {
		return nil, err
	}
	return Use(x, bytes.NewReader(file), int64(len(file)), limits())
}

// TestUse writes and reads all formats.
func TestUse(t *testing.T) {
	files := standardFiles(t, 300_000)
	content := text(100_000)
	files = append(files, gzFile{"BGZF", bgzf(t, content), content})
	for _, f := range files {
		m := makeMap(t, f.file, 20_000)
		formats := []gzindex.Format{gzindex.GZIDX1, gzindex.Gztool0}
		if f.name == "BGZF" {
			formats = append(formats, gzindex.Bgzip)
		}
		for _, format := range formats {
			name := fmt.Sprint(f.name, ", ", format)
			got, err := use(sidecar(t, m, format, f.file), f.file)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkMap(t, name, got, f)
			checkLast(t, name, got, sidecar(t, m, format, f.file), f)
			if len(got.points) != len(m.points) {
				t.Errorf("%s: %d checkpoints, want %d", name, len(got.points), len(m.points))
			}
		}
		var b bytes.Buffer
		if err := m.Write(&b, gzindex.Bgzip, bytes.NewReader(f.file)); (err == nil) != (f.name == "BGZF") {
			t.Errorf("%s: bgzip's .gzi: %v", f.name, err)
		}
	}
}

// checkLast compares what Use finds without most of the windows.
func checkLast(t *testing.T, name string, want *Map, side []byte, f gzFile) {
	t.Helper()
	x, err := gzindex.ReadLast(bytes.NewReader(side), int64(len(side)), nil)
	if err != nil {
		t.Fatal(name, err)
	}
	m, err := Use(x, bytes.NewReader(f.file), int64(len(f.file)), limits())
	if err != nil || !slices.Equal(m.File.Blocks, want.File.Blocks) {
		t.Fatalf("%s, last window only: %d blocks, want %d; %v", name, len(m.File.Blocks),
			len(want.File.Blocks), err)
	}
}

// TestIncomplete has indexes with some of the checkpoints only, and without sizes.
func TestIncomplete(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	size, rounds := 2_000_000, 5
	if testing.Short() || testenv.Race {
		size, rounds = 500_000, 2
	}
	for _, f := range standardFiles(t, size) {
		m := makeMap(t, f.file, 50_000)
		for range rounds {
			x := &gzindex.Index{FileSize: gzindex.Unknown, ContentSize: gzindex.Unknown}
			first, end := 0, 1+r.IntN(len(m.points))
			if r.IntN(2) > 0 {
				first = r.IntN(end)
			}
			for _, c := range m.points[first:end] {
				if r.IntN(3) > 0 {
					x.Checkpoints = append(x.Checkpoints, c)
				}
			}
			got, err := Use(x, bytes.NewReader(f.file), int64(len(f.file)), limits())
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			checkMap(t, f.name, got, f)
			// Further checkpoints follow the last one.
			if rest := int64(len(f.content)) - m.points[end-1].Content; f.name == "default" &&
				rest > 3*spacing && int64(got.File.Streams[0].BlockSize) < rest/2 &&
				len(got.points) <= len(x.Checkpoints) {
				t.Errorf("%s: %d checkpoints from %d", f.name, len(got.points), len(x.Checkpoints))
			}
		}
	}
}

// TestStale has indexes of other files.
func TestStale(t *testing.T) {
	content := text(200_000)
	file := standard(t, content, 6)
	other := slices.Clone(content)
	slices.Reverse(other)
	for _, format := range []gzindex.Format{gzindex.GZIDX1, gzindex.Gztool0} {
		side := sidecar(t, makeMap(t, file, 50_000), format, file)
		for _, c := range []struct {
			name string
			file []byte
		}{
			{"longer", append(file[:len(file):len(file)], standard(t, content[:10], 6)...)},
			{"another file", standard(t, other, 6)},
			{"stored", standard(t, content, 0)},
			{"cut", file[:len(file)-1]},
			{"cut far", file[:1000]},
			{"another header", append([]byte("\x1f\x8b\x08\x08------x\x00"), file[12:]...)},
			{"no gzip", bytes.Repeat([]byte("x"), len(file))},
			{"empty", standard(t, nil, 6)},
		} {
			_, err := use(side, c.file)
			var e *errs.Error
			if !errors.Is(err, errs.Corrupt) || !errors.As(err, &e) || e.Part != errs.PartIndex {
				t.Errorf("%v, %s: %v", format, c.name, err)
			}
		}
		checkChanged(t, side, standard(t, slices.Concat(content[:150_000], other), 6))
	}
}

// checkChanged decodes a file by the index of one that begins like it.
func checkChanged(t *testing.T, side, file []byte) {
	t.Helper()
	m, err := use(side, file)
	if err != nil {
		return
	}
	var d Decoder
	var s container.Serial
	for n := range m.File.Blocks {
		if _, err := interval(m, &d, &s, file, int64(n)); err != nil {
			return
		}
	}
	t.Error("a changed file goes unnoticed")
}

// FuzzUse uses any index for any file.
func FuzzUse(f *testing.F) {
	file := standard(f, text(4000), 6)
	member := bgzf(f, text(4000))
	f.Add(sidecar(f, makeMap(f, file, 1<<20), gzindex.GZIDX1, file), file)
	f.Add(sidecar(f, makeMap(f, file, 500), gzindex.Gztool0, file), file)
	f.Add(sidecar(f, makeMap(f, member, 500), gzindex.Bgzip, member), member)
	f.Fuzz(func(t *testing.T, side, file []byte) {
		l := limits()
		l.MaxDecoded, l.MaxMemory = 1<<20, 16<<20
		x, err := gzindex.ReadAt(bytes.NewReader(side), int64(len(side)), l)
		if err != nil {
			return
		}
		m, err := Use(x, bytes.NewReader(file), int64(len(file)), l)
		var e *errs.Error
		if err != nil {
			if !errors.As(err, &e) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		var d Decoder
		var s container.Serial
		for n := range m.File.Blocks {
			if m.File.Blocks[n].Raw > 4<<20 {
				continue
			}
			got, err := interval(m, &d, &s, file, int64(n))
			if err != nil && !errors.As(err, &e) || err == nil && len(got) != int(m.File.Blocks[n].Raw) {
				t.Fatalf("%d bytes, %T %v", len(got), err, err)
			}
		}
	})
}

// program runs a program in a directory and returns its output.
func program(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	var problems bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, problems.Bytes())
	}
	return out
}

const makeGZIDX = `
import indexed_gzip
with indexed_gzip.IndexedGzipFile("x.gz", spacing=1 << 19) as f:
    f.build_full_index()
    f.export_index("x.theirs")
`

const readGZIDX = `
import indexed_gzip, sys
with indexed_gzip.IndexedGzipFile("x.gz", index_file="x.ours", auto_build=False) as f:
    f.seek(int(sys.argv[1]))
    sys.stdout.buffer.write(f.read(int(sys.argv[2])))
`

// A sidecarTool makes an index x.theirs of x.gz, and reads x.gz by the index x.ours.
type sidecarTool struct {
	format  gzindex.Format
	program string
	make    []string
	// read has the arguments to read bytes from an offset, in place of AT and SIZE.
	read []string
}

var sidecarTools = []sidecarTool{
	{gzindex.GZIDX1, "python3", []string{"-c", makeGZIDX}, []string{"-c", readGZIDX, "AT", "SIZE"}},
	{gzindex.Gztool0, "gztool", []string{"-v0", "-i", "-z", "-s", "1", "-I", "x.theirs", "x.gz"},
		[]string{"-v0", "-b", "AT", "-r", "SIZE", "-I", "x.ours", "x.gz"}},
	{gzindex.Bgzip, "bgzip", []string{"-r", "-I", "x.theirs", "x.gz"},
		[]string{"-c", "-b", "AT", "-s", "SIZE", "-I", "x.ours", "x.gz"}},
}

// path returns the path of the program. The test is skipped if there is none.
func (s *sidecarTool) path(t *testing.T) string {
	t.Helper()
	if s.program == "python3" {
		return testenv.Python(t, "indexed_gzip")
	}
	return testenv.Tool(t, s.program)
}

// TestSidecarTools uses the indexes of other programs, and has them use ours.
func TestSidecarTools(t *testing.T) {
	testenv.Slow(t)
	content := text(4 << 20)
	third := len(content) / 3
	for _, s := range sidecarTools {
		t.Run(s.format.String(), func(t *testing.T) {
			s.program = s.path(t)
			if s.format == gzindex.Bgzip {
				s.check(t, gzFile{"BGZF", byTool(t, content, "bgzip", "-c"), content})
				return
			}
			s.check(t, gzFile{"one member", standard(t, content, 6), content})
			members := append(standard(t, content[:third], 6), standard(t, content[third:], 9)...)
			s.check(t, gzFile{"members", members, content})
		})
	}
}

func (s *sidecarTool) check(t *testing.T, f gzFile) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.gz"), f.file, 0o600); err != nil {
		t.Fatal(err)
	}
	program(t, dir, s.program, s.make...)
	theirs, err := os.ReadFile(filepath.Join(dir, "x.theirs"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := use(theirs, f.file)
	if err != nil {
		t.Fatal(err)
	}
	checkMap(t, f.name, m, f)
	if len(m.points) < 3 {
		t.Errorf("%s: %d checkpoints", f.name, len(m.points))
	}

	ours := sidecar(t, makeMap(t, f.file, spacing), s.format, f.file)
	if s.format == gzindex.Bgzip && !bytes.Equal(ours, theirs) {
		t.Error("bgzip's index differs from ours")
	}
	if err := os.WriteFile(filepath.Join(dir, "x.ours"), ours, 0o600); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range 4 {
		at := len(f.content)/3 + r.IntN(len(f.content)/2)
		n := 1 + r.IntN(100_000)
		args := slices.Clone(s.read)
		for i, a := range args {
			switch a {
			case "AT":
				args[i] = fmt.Sprint(at)
			case "SIZE":
				args[i] = fmt.Sprint(n)
			}
		}
		if got := program(t, dir, s.program, args...); !bytes.Equal(got, f.content[at:at+n]) {
			t.Errorf("%s: %d bytes from %d with our index: %d bytes, or wrong ones", f.name, n, at, len(got))
		}
	}
}
