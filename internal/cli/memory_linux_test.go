package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// peak runs pz and returns its largest resident size in bytes.
func peak(t *testing.T, threads int, stdin io.Reader, args ...string) int64 {
	t.Helper()
	cmd := command(append(args, fmt.Sprint("-T", threads))...)
	cmd.Env = append(cmd.Env, "PZ_TEST_PEAK=1")
	var errs strings.Builder
	cmd.Stdin, cmd.Stderr = stdin, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%q: %v: %s", args, err, errs.String())
	}
	// The maximum of getrusage starts with the size of the process that forked.
	_, hwm, _ := strings.Cut(errs.String(), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(hwm, "%d kB", &kib); err != nil {
		testenv.Missing(t, "VmHWM in /proc/self/status: "+err.Error())
	}
	return kib << 10
}

// stated returns the memory that --help=all states for a level and a number of threads.
func stated(t *testing.T, level, threads int, args ...string) (writer, reader int64) {
	t.Helper()
	c, err := parse(args...)
	if err != nil {
		t.Fatal(err)
	}
	writer, err = c.writerMemory(level, threads)
	if err != nil {
		t.Fatal(err)
	}
	reader, err = c.readerMemory(level, threads)
	if err != nil {
		t.Fatal(err)
	}
	return writer + programMemory, reader + programMemory
}

// within checks a peak, and logs it.
func within(t *testing.T, action string, level int, got, limit int64) {
	t.Helper()
	t.Logf("level %d: %s to %s, stated %s", level, formatSize(got), action, formatSize(limit))
	if got > limit {
		t.Errorf("level %d: %d bytes to %s, more than the stated %d", level, got, action, limit)
	}
}

// TestMemoryOfSeveralFiles checks that several files stay within the stated memory.
func TestMemoryOfSeveralFiles(t *testing.T) {
	testenv.Measures(t)
	dir := t.TempDir()
	in := write(t, strings.Repeat(sample(1<<20), 12), dir, "in")
	levels := []int{1}
	if testenv.All() {
		levels = append(levels, 6)
	}
	for _, level := range levels {
		writer, reader := stated(t, level, 2)
		option, packed := fmt.Sprint("-", level), filepath.Join(dir, fmt.Sprint(level))
		within(t, "compress a file", level, peak(t, 2, nil, option, "-o", packed, in), writer)
		within(t, "restore four files", level,
			peak(t, 2, nil, "-t", packed, packed, packed, packed), reader)
		within(t, "compress two files", level, peak(t, 2, nil, "-c", option, in, in), writer)
	}
	// Each file leaves buffers in proportion to its content, also with -t.
	packed := filepath.Join(dir, "lines")
	lines := write(t, strings.Repeat("the same line\n", 1_500_000), dir, "in2")
	if err := command("-1", "-B16M", "-o", packed, lines).Run(); err != nil {
		t.Fatal(err)
	}
	args := []string{"-t", packed}
	one := peak(t, 2, nil, args...)
	for range 23 {
		args = append(args, packed)
	}
	if all := peak(t, 2, nil, args...); all > 2*one {
		t.Errorf("%d bytes to check 24 files, %d to check one", all, one)
	}
}

// TestMemoryOfLongStreams checks that a stream several times as long as all blocks in flight stays
// within the stated memory. With PZ_CORPUS the stream has 4 GiB at the default level, with
// PZ_TEST=matrix at every level and with 1, 2 and 8 threads.
func TestMemoryOfLongStreams(t *testing.T) {
	testenv.Measures(t)
	type run struct{ level, threads, mebibytes, fresh int } // fresh: see newLongStream
	runs := []run{{1, 2, 48, 12}}
	if testenv.All() {
		runs = []run{{1, 2, 192, 64}, {6, 2, 192, 64}, {9, 1, 96, 32}}
	}
	if testenv.Corpus(t) != "" {
		runs = append(runs, run{compress.DefaultLevel, 2, 4096, 64})
	}
	if testenv.Matrix() {
		runs = nil
		for level := minLevel; level <= maxLevel; level++ {
			for _, threads := range threadCounts {
				runs = append(runs, run{level, threads, 4096, 32 * threads})
			}
		}
	}
	for _, r := range runs {
		t.Run(fmt.Sprintf("%d/%d threads, %d MiB", r.level, r.threads, r.mebibytes), func(t *testing.T) {
			writer, reader := stated(t, r.level, r.threads)
			option, packed := fmt.Sprint("-", r.level), filepath.Join(t.TempDir(), "packed")
			in := newLongStream(r.mebibytes, r.fresh)
			within(t, "compress a stream", r.level, peak(t, r.threads, in, option, "-o", packed), writer)
			if in.given != in.total {
				t.Fatalf("pz read %d MiB, want %d", in.given, in.total)
			}
			within(t, "restore a stream", r.level, peak(t, r.threads, nil, "-t", packed), reader)
		})
	}
}

// TestMemoryOfFormats checks the same for .gz and .zst, read from a file and through a pipe.
func TestMemoryOfFormats(t *testing.T) {
	testenv.Measures(t)
	levels, inFlight := []int{3}, map[string]int{"gz": 2, "zst": 8} // in MiB, with two threads
	if testenv.All() {
		levels, inFlight = []int{1, 6, 9}, map[string]int{"gz": 4, "zst": 32}
	}
	for format, fresh := range inFlight {
		long := newLongStream(4*fresh, fresh)
		for _, level := range levels {
			writer, reader := stated(t, level, 2, "--format", format)
			packed := filepath.Join(t.TempDir(), "packed")
			in := *long
			took := peak(t, 2, &in, "--format", format, "-"+strconv.Itoa(level), "-o", packed)
			within(t, "compress a stream to "+format, level, took, writer)
			within(t, "restore a file of "+format, level, peak(t, 2, nil, "-t", packed), reader)
			content, err := os.ReadFile(packed)
			if err != nil {
				t.Fatal(err)
			}
			took = peak(t, 2, bytes.NewReader(content), "-t")
			within(t, "restore a stream of "+format, level, took, reader)
		}
	}
}

// longStream gives total MiB. The first ones hold all kinds of data, none twice: at level 9 they
// fill all blocks in flight, two blocks of 16 MiB for each thread, and every buffer grows to its
// largest size. After them one MiB in as many is of that kind. The others are long repeats, which
// all levels compress fast.
type longStream struct {
	fresh        [][]byte
	rest         []byte
	given, total int
}

// freshMemo keeps the data of newLongStream, which takes longer to generate than to compress.
var freshMemo [][]byte

// newLongStream returns a stream of so many MiB, of which the first fresh ones are all different.
func newLongStream(mebibytes, fresh int) *longStream {
	for i := len(freshMemo); i < fresh; i++ {
		freshMemo = append(freshMemo, corpus.ByName("mixed").MakeSeed(1<<20, uint64(i)))
	}
	return &longStream{total: mebibytes, fresh: freshMemo[:fresh]}
}

func (s *longStream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		if s.given == s.total {
			return 0, io.EOF
		}
		round, i := s.given/len(s.fresh), s.given%len(s.fresh)
		switch {
		case round == 0:
			s.rest = s.fresh[i]
		case i == 0:
			s.rest = s.fresh[round%len(s.fresh)]
		default:
			s.rest = []byte(strings.Repeat(string(s.fresh[i][:16<<10]), 64))
		}
		s.given++
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
