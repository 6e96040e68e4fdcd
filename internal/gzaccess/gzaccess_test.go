package gzaccess

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
	"github.com/gopz/compress/internal/testenv"
)

// TestMake decodes all intervals of files of the standard library.
func TestMake(t *testing.T) {
	size := 700_000
	if testing.Short() || testenv.Race {
		size = 350_000
	}
	for _, f := range standardFiles(t, size) {
		for _, spacing := range []int64{1, 20_000, 150_000, 1 << 30} {
			m := makeMap(t, f.file, spacing)
			checkMap(t, fmt.Sprint(f.name, ", spacing ", spacing), m, f)
			for i, b := range m.File.Blocks {
				if i > 0 && b.Content/spacing == m.File.Blocks[i-1].Content/spacing {
					t.Errorf("%s, spacing %d: interval %d begins at %d", f.name, spacing, i, b.Content)
				}
			}
		}
	}
}

// TestMakeTools decodes all intervals of files of other programs.
func TestMakeTools(t *testing.T) {
	content := text(600_000)
	content = append(content, corpus.ByName("random").Make(200_000)...)
	for _, tool := range [][]string{
		{"gzip", "-6"}, {"pigz", "-6"}, {"pigz", "-i"}, {"libdeflate-gzip", "-9"}, {"bgzip", "-c"},
	} {
		t.Run(fmt.Sprint(tool), func(t *testing.T) {
			f := gzFile{file: byTool(t, content, tool[0], tool[1:]...), content: content}
			m := makeMap(t, f.file, 100_000)
			checkMap(t, tool[0], m, f)
			if n := len(m.points); n < 3 {
				t.Errorf("%d checkpoints", n)
			}
			if bgzf := m.points[0].Header; bgzf != (tool[0] == "bgzip") {
				t.Errorf("first checkpoint: %+v", m.points[0])
			}
		})
	}
}

// TestThin has so little memory that checkpoints are dropped again and again.
func TestThin(t *testing.T) {
	testenv.Slow(t)
	content := text(6 << 20)
	for _, file := range [][]byte{standard(t, content, 6), bgzf(t, content)} {
		l := limits()
		l.MaxMemory = makerMemory
		f := gzFile{"", file, content}
		m, err := makeSpaced(bytes.NewReader(file), int64(len(file)), l, nil, 1000)
		if err != nil {
			t.Fatal(err)
		}
		checkMap(t, "few checkpoints", m, f)
		used := m.File.Extra + 32*int64(len(m.points))
		if limit := pointsLimit(l); used > limit || used < limit/8 {
			t.Errorf("%d checkpoints take %d bytes, limit %d", len(m.points), used, limit)
		}
		l.MaxMemory--
		_, err = Make(bytes.NewReader(file), int64(len(file)), l, nil)
		var e *errs.Error
		if !errors.Is(err, errs.Memory) || !errors.As(err, &e) || e.Memory != makerMemory {
			t.Errorf("too little memory: %v", err)
		}
	}
}

// TestDrop drops checkpoints of any number, and compares the sums.
func TestDrop(t *testing.T) {
	content := text(5000)
	for n := 2; n < 20; n++ {
		m := maker{hasSums: true, spacing: 100, most: 1 << 30}
		for i := range n {
			if i > 0 {
				m.grow(100, gzfile.Checksum(0, content[100*i-100:100*i]))
			}
			m.addCheckpoint(gzindex.Checkpoint{Bit: int64(i), Content: int64(100 * i)})
		}
		m.dropCheckpoints()
		m.grow(100, gzfile.Checksum(0, content[100*n-100:100*n]))
		m.closeInterval()
		if len(m.points) != (n+1)/2 || len(m.sums) != len(m.points) {
			t.Fatalf("%d checkpoints: %d left, %d sums", n, len(m.points), len(m.sums))
		}
		for i, c := range m.points {
			end := int64(100 * n)
			if i+1 < len(m.points) {
				end = m.points[i+1].Content
			}
			if m.sums[i] != gzfile.Checksum(0, content[c.Content:end]) {
				t.Errorf("%d checkpoints: wrong sum of interval %d", n, i)
			}
		}
	}
}

// walkError decodes with a gzfile.Scanner.
func walkError(file []byte, l *container.Limits) error {
	var head [container.DetectSize]byte
	in := container.ReadStart(bytes.NewReader(file), &head, true)
	var s gzfile.Scanner
	s.Reset(&in, l)
	return s.Walk()
}

// TestErrors compares the errors of damaged files with those of a Reader.
func TestErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 1200
	if testing.Short() || testenv.Race {
		rounds = 200
	}
	files := standardFiles(t, 5000)
	seen := map[string]int{}
	for range rounds {
		file := bytes.Clone(files[r.IntN(len(files))].file)
		l := limits()
		switch r.IntN(5) {
		case 0:
			file = file[:3+r.IntN(len(file)-2)]
		case 1:
			l.MaxDecoded = int64(r.IntN(6000))
		case 2:
			file = append(file, byte(r.Uint32()), byte(r.Uint32()))
		default:
			at := r.IntN(len(file))
			if r.IntN(2) == 0 {
				at = r.IntN(min(len(file), 60))
			}
			file[at] ^= 1 << r.IntN(8)
		}
		if f, ok, _ := container.Detect(file); !ok || f != container.Gzip {
			continue
		}
		want := walkError(file, l)
		_, err := makeSpaced(bytes.NewReader(file), int64(len(file)), l, nil, 1000)
		var a, b *errs.Error
		if errors.As(want, &a) != errors.As(err, &b) || a != nil && *a != *b {
			t.Fatalf("%v (%+v), want %v (%+v)", err, b, want, a)
		}
		if a != nil {
			seen[a.Kind.Error()]++
		}
	}
	if len(seen) < 5 {
		t.Errorf("kinds of errors: %v", seen)
	}
}

// TestDamagedInterval changes a file behind its Map.
func TestDamagedInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	content := text(400_000)
	rounds := 300
	if testing.Short() || testenv.Race {
		rounds = 40
	}
	for _, file := range [][]byte{standard(t, content, 6), bgzf(t, content)} {
		m := makeMap(t, file, 30_000)
		var d Decoder
		var s container.Serial
		for range rounds {
			bad := bytes.Clone(file)
			bit := int64(r.IntN(8 * len(bad)))
			bad[bit/8] ^= 1 << (bit % 8)
			for n := range m.File.Blocks {
				b := &m.File.Blocks[n]
				got, err := interval(m, &d, &s, bad, int64(n))
				end, _ := m.intervalEnd(int64(n))
				within := bit >= m.points[n].Bit && bit < end
				want := content[b.Content:b.ContentEnd()]
				var e *errs.Error
				switch {
				case err == nil && !bytes.Equal(got, want):
					t.Fatalf("bit %d: interval %d has wrong content", bit, n)
				case err != nil && !within:
					t.Fatalf("bit %d: interval %d, bits %d to %d: %v", bit, n, m.points[n].Bit, end, err)
				case err != nil && (!errors.As(err, &e) || e.Block != int64(n) || e.Offset < b.Offset ||
					e.Offset > b.Offset+int64(b.Size)):
					t.Fatalf("bit %d: interval %d from byte %d: %+v", bit, n, b.Offset, e)
				}
			}
		}
	}
}

// TestCanceled ends the context during the first pass.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l := limits()
	l.Context = ctx
	file := standard(t, corpus.ByName("random").Make(1<<20), 6)
	src := readerAt(func(p []byte, off int64) (int, error) {
		if off > 0 {
			cancel()
		}
		return bytes.NewReader(file).ReadAt(p, off)
	})
	if _, err := Make(src, int64(len(file)), l, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	cause := errors.New("no network")
	src = func(p []byte, off int64) (int, error) { return 0, cause }
	if _, err := Make(src, int64(len(file)), limits(), nil); err != cause {
		t.Error(err)
	}
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// team is a Crew that packs windows on goroutines, later than they are asked for.
type team struct {
	alone
	width int
	jobs  []chan *Packing
}

func (c *team) Width() int { return c.width }

func (c *team) Pack(p *Packing) {
	job := make(chan *Packing, 1)
	c.jobs = append(c.jobs, job)
	go func() {
		p.Prepare(nil, nil)
		job <- p
	}()
}

func (c *team) Packed() (*Packing, error) {
	job := c.jobs[0]
	c.jobs = c.jobs[1:]
	return <-job, nil
}

// TestCrew makes Maps with windows packed early and late, and with little memory. All are equal.
func TestCrew(t *testing.T) {
	content := text(2 << 20)
	file := flushed(t, content, 3000)
	for _, memory := range []int64{makerMemory, 0} {
		l := limits()
		l.MaxMemory = memory
		var want *Map
		for _, width := range []int{1, 2, 50} {
			c := &team{width: width}
			m, err := makeSpaced(bytes.NewReader(file), int64(len(file)), l, c, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if width == 1 {
				want = m
				checkMap(t, "crew", m, gzFile{"", file, content})
			}
			if !reflect.DeepEqual(m, want) || m.thin != (memory > 0) {
				t.Errorf("memory %d, width %d: %d checkpoints, want %d", memory, width, len(m.points),
					len(want.points))
			}
		}
	}
}

// TestWindows checks that windows keep the bytes that blocks refer to, and no others.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	content := corpus.ByName("random").Make(3 * windowSize)
	used := make([]bool, windowSize)
	for at := 2 * windowSize; at < len(content); {
		n := 20 + r.IntN(100)
		from := max(windowSize, at-windowSize) + r.IntN(1000)
		n = max(0, min(n, 2*windowSize-from, len(content)-at))
		copy(content[at:at+n], content[from:])
		for i := range n {
			used[from-windowSize+i] = true
		}
		at += n + r.IntN(500)
	}
	m := makeMap(t, flushed(t, content, windowSize), windowSize)
	checkMap(t, "windows", m, gzFile{"", flushed(t, content, windowSize), content})
	var u gzindex.Unpacker
	window, err := u.Unpack(m.points[2].Window)
	if err != nil || m.points[2].Content != 2*windowSize || len(window) != windowSize {
		t.Fatalf("%d checkpoints, window of %d bytes, %v", len(m.points), len(window), err)
	}
	kept, want := 0, 0
	for i, c := range window {
		if used[i] {
			want++
		}
		if c != 0 {
			kept++
			if c != content[windowSize+i] {
				t.Fatalf("byte %d is another one", i)
			}
		}
	}
	if kept < want*9/10 || kept > want {
		t.Errorf("%d bytes kept, %d are in use", kept, want)
	}
}

// flushed returns a member with a flush behind each size bytes of content.
func flushed(t *testing.T, content []byte, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for len(content) > 0 {
		n := min(size, len(content))
		w.Write(content[:n])
		w.Flush()
		content = content[n:]
	}
	w.Close()
	return b.Bytes()
}
