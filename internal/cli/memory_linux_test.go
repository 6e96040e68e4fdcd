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
)

// peak runs pz and returns the most memory it had at a time, in bytes.
func peak(t *testing.T, threads int, stdin io.Reader, args ...string) int64 {
	t.Helper()
	cmd := command(append(args, fmt.Sprint("-T", threads))...)
	cmd.Env = append(cmd.Env, "PZ_TEST_PEAK=1")
	var errs strings.Builder
	cmd.Stdin, cmd.Stderr = stdin, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%q: %v: %s", args, err, errs.String())
	}
	// Not the maximum of getrusage: that begins with the size of the process that forked.
	_, hwm, _ := strings.Cut(errs.String(), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(hwm, "%d kB", &kib); err != nil {
		t.Skipf("no VmHWM in /proc/self/status: %v", err)
	}
	return kib << 10
}

// stated is what --help says that so many threads take at a level.
func stated(t *testing.T, level, threads int, args ...string) (writer, reader int64) {
	t.Helper()
	c, err := parse(args...)
	if err != nil {
		t.Fatal(err)
	}
	opts := c.memoryOptions(level, threads)
	if writer, err = compress.WriterMemory(opts...); err != nil {
		t.Fatal(err)
	}
	if reader, err = compress.ReaderMemory(0, opts...); err != nil {
		t.Fatal(err)
	}
	return writer + programMemory, reader + programMemory
}

// within checks a peak, and shows with -v how near it comes.
func within(t *testing.T, what string, level int, took, limit int64) {
	t.Helper()
	t.Logf("level %d takes %s of %s %s", level, formatSize(took), formatSize(limit), what)
	if took > limit {
		t.Errorf("level %d takes %d bytes %s, more than the %d that --help says", level, took, what, limit)
	}
}

// What --help says about memory is kept over several files.
func TestMemoryOfSeveralFiles(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	dir := t.TempDir()
	in := write(t, strings.Repeat(sample(1<<20), 24), dir, "in")
	for _, level := range []int{1, 6} {
		writer, reader := stated(t, level, 2)
		packed := filepath.Join(dir, strconv.Itoa(level))
		within(t, "to compress a file", level, peak(t, 2, nil, "-"+strconv.Itoa(level), "-o", packed, in), writer)
		within(t, "to restore four files", level, peak(t, 2, nil, "-t", packed, packed, packed, packed), reader)
		within(t, "to compress two files", level, peak(t, 2, nil, "-c", "-"+strconv.Itoa(level), in, in), writer)
	}
	// It is content that leaves buffers behind, also where files are small and nothing is written.
	packed := filepath.Join(dir, "lines")
	if err := command("-9", "-o", packed, write(t, strings.Repeat("the same line\n", 1_500_000), dir, "in2")).Run(); err != nil {
		t.Fatal(err)
	}
	args := []string{"-t", packed}
	one := peak(t, 2, nil, args...)
	for range 23 {
		args = append(args, packed)
	}
	if all := peak(t, 2, nil, args...); all > 2*one {
		t.Errorf("to test 24 files takes %d bytes, one of them %d", all, one)
	}
}

// What --help says about memory is kept over a stream that is several times as long as all that is in flight at the
// densest level. With PZ_CORPUS set it is 4 GiB at the default level, with PZ_MATRIX at all of them and with 1, 2 and 8 threads.
func TestMemoryOfLongStreams(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	type run struct{ level, threads, mebibytes int }
	runs := []run{{1, 2, 192}, {6, 2, 192}}
	if !testing.Short() {
		runs = append(runs, run{9, 1, 96}) // most of the time goes there, with two threads twice as much
	}
	if os.Getenv(corpus.Env) != "" {
		runs = append(runs, run{compress.DefaultLevel, 2, 4096})
	}
	if corpus.Matrix() {
		runs = nil
		for level := minLevel; level <= maxLevel; level++ {
			for _, threads := range threadCounts {
				runs = append(runs, run{level, threads, 4096})
			}
		}
	}
	for _, r := range runs {
		t.Run(fmt.Sprintf("%d/%d threads, %d MiB", r.level, r.threads, r.mebibytes), func(t *testing.T) {
			writer, reader := stated(t, r.level, r.threads)
			packed := filepath.Join(t.TempDir(), "packed")
			in := newLongStream(r.mebibytes, 32*r.threads)
			within(t, "to compress a stream", r.level, peak(t, r.threads, in, "-"+strconv.Itoa(r.level), "-o", packed), writer)
			if in.given != in.total {
				t.Fatalf("%d MiB of %d were read", in.given, in.total)
			}
			within(t, "to restore a stream", r.level, peak(t, r.threads, nil, "-t", packed), reader)
		})
	}
}

// The same for the standard formats, read from a file and through a pipe.
func TestMemoryOfFormats(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	levels := []int{1, 6, 9}
	if testing.Short() {
		levels = []int{6}
	}
	for _, format := range []string{"gz", "zst"} {
		inFlight := 32 // at level 9, as above
		if format == "gz" {
			inFlight = 4
		}
		long := newLongStream(4*inFlight, inFlight)
		for _, level := range levels {
			writer, reader := stated(t, level, 2, "--format", format)
			packed := filepath.Join(t.TempDir(), "packed")
			in := *long
			within(t, "to compress a stream to "+format, level, peak(t, 2, &in, "--format", format, "-"+strconv.Itoa(level), "-o", packed), writer)
			within(t, "to restore a file of "+format, level, peak(t, 2, nil, "-t", packed), reader)
			content, err := os.ReadFile(packed)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "to restore a stream of "+format, level, peak(t, 2, bytes.NewReader(content), "-t"), reader)
		}
	}
}

// longStream gives so many MiB. The first are of all kinds of data, none twice: at level 9 they fill all that is in flight, two
// blocks of 16 MiB for each thread, and every buffer grows to what such data takes. After them, one MiB in as many is of that
// sort. The others are long repeats, which no level takes long over.
type longStream struct {
	fresh        [][]byte
	rest         []byte
	given, total int
}

// freshMemo keeps what newLongStream makes, because making it takes longer than compressing it at a fast level.
var freshMemo [][]byte

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
