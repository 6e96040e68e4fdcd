package standard

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/testenv"
)

// withHeaderCRC makes a member whose header has a checksum. Some of its bits are wrong.
func withHeaderCRC(wrong uint16) string {
	m := bbtest.StoredMember("hello", 2, "")
	sum := uint16(crc32.ChecksumIEEE([]byte(m[:10]))) ^ wrong
	return m[:10] + string(binary.LittleEndian.AppendUint16(nil, sum)) + m[10:]
}

// A gzCase is a .gz file. docs/notes/gzip-files.md has the table of what other programs do with it.
type gzCase struct {
	name, file string
	err        error // of a Reader; nil at the end of a good file
	gzip       int   // exit status of gzip -dc
}

// gzWarns is gzip's exit status where it ignores garbage.
const gzWarns = 2

// gzCases returns files at the edges of RFC 1952. A Reader returns ErrTrailing where gzip warns.
// The exceptions are marked.
func gzCases() []gzCase {
	m, empty := bbtest.StoredMember("hello", 0, ""), bbtest.StoredMember("", 0, "")
	n := 1_000_000
	if testenv.Race {
		n = 100_000
	}
	long := strings.Repeat("n", n) + "\x00"
	extra := strings.Repeat("z", math.MaxUint16)
	return []gzCase{
		{"no bytes", "", compress.ErrTruncated, 1},
		{"a member", m, nil, 0},
		{"an empty member", empty, nil, 0},
		{"empty members", empty + empty, nil, 0},
		{"an empty member between two", m + empty + m, nil, 0},
		{"the empty member of BGZF", "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x06\x00BC\x02\x00\x1b\x00" +
			"\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00", nil, 0},

		{"one zero behind", m + "\x00", nil, 0},
		{"zeros behind", m + strings.Repeat("\x00", 70_000), nil, 0},
		{"zeros and a member", m + "\x00\x00\x00" + m, compress.ErrTrailing, gzWarns},
		{"zeros and garbage", m + "\x00\x00\x00xyz", compress.ErrTrailing, gzWarns},
		{"zeros before", "\x00\x00\x00" + m, compress.ErrFormat, 1},
		{"garbage behind", m + "some text", compress.ErrTrailing, gzWarns},
		{"garbage of one byte", m + "\n", compress.ErrTrailing, 1}, // gzip waits for a second byte
		{"1F behind", m + "\x1f", compress.ErrTruncated, 1},
		{"1F 00 behind", m + "\x1f\x00", compress.ErrTrailing, gzWarns},
		{"1F 8B behind", m + "\x1f\x8b", compress.ErrTruncated, 1},
		{"a header cut short behind", m + m[:9], compress.ErrTruncated, 1},
		{"method 7 behind", m + "\x1f\x8b\x07" + m[3:], compress.ErrVersion, 1},
		{"a reserved flag behind", m + bbtest.StoredMember("hello", 0x20, ""), compress.ErrCorrupt, 1},
		{"a .Z file behind", m + "\x1f\x9d" + strings.Repeat("\x00", 30), compress.ErrTrailing, 0},
		// gzip decodes it

		{"wrong CRC", m[:10] + bbtest.GzBody("hello", 1, 0), compress.ErrChecksum, 1},
		{"wrong ISIZE", m[:10] + bbtest.GzBody("hello", 0, 1), compress.ErrCorrupt, 1},
		{"both wrong", m[:10] + bbtest.GzBody("hello", 1, 1), compress.ErrChecksum, 1},
		{"wrong CRC, then a member", m[:10] + bbtest.GzBody("hello", 1, 0) + m, compress.ErrChecksum, 1},
		{
			"second member with a wrong CRC", m + m[:10] + bbtest.GzBody("hello", 1, 0),
			compress.ErrChecksum, 1,
		},
		{"block type 3", m[:10] + "\x07" + m[11:], compress.ErrCorrupt, 1},

		{"FHCRC", withHeaderCRC(0), nil, 0},
		{"wrong FHCRC", withHeaderCRC(1), compress.ErrChecksum, 1},
		{"wrong FHCRC in the second member", m + withHeaderCRC(1), compress.ErrChecksum, 1},
		{"FTEXT", bbtest.StoredMember("hello", 1, ""), nil, 0},
		{"FEXTRA", bbtest.StoredMember("hello", 4, "\x06\x00AB\x02\x00xy"), nil, 0},
		{"empty FEXTRA", bbtest.StoredMember("hello", 4, "\x00\x00"), nil, 0},
		{"FEXTRA without subfields", bbtest.StoredMember("hello", 4, "\x05\x00AB\xff\x00x"), nil, 0},
		{"longest FEXTRA", bbtest.StoredMember("hello", 4, "\xff\xff"+extra), nil, 0},
		{"empty FNAME", bbtest.StoredMember("hello", 8, "\x00"), nil, 0},
		{"FNAME of a million bytes", bbtest.StoredMember("hello", 8, long), nil, 0},
		{"FCOMMENT of a million bytes", bbtest.StoredMember("hello", 16, long), nil, 0},
		{
			"FNAME without an end", m[:3] + "\x08" + m[4:10] + strings.Repeat("n", 1000),
			compress.ErrTruncated, 1,
		},
		{"reserved flag 20", bbtest.StoredMember("hello", 0x20, ""), compress.ErrCorrupt, 1},
		{"reserved flag 40", bbtest.StoredMember("hello", 0x40, ""), compress.ErrCorrupt, 1},
		{"reserved flag 80", bbtest.StoredMember("hello", 0x80, ""), compress.ErrCorrupt, 1},
		{"method 0", m[:2] + "\x00" + m[3:], compress.ErrFormat, 1},
		{"method 7", m[:2] + "\x07" + m[3:], compress.ErrFormat, 1},
		{"method 9", m[:2] + "\x09" + m[3:], compress.ErrFormat, 1},
		{"the magic of gzip 0.5", "\x1f\x9e" + m[2:], compress.ErrFormat, 0}, // only gzip decodes it
		{"a header and no more", m[:10], compress.ErrTruncated, 1},
	}
}

// TestGunzip reads files at the edges of the format, in one way and another, and has gzip read
// them.
func TestGunzip(t *testing.T) {
	tool, _ := exec.LookPath("gzip")
	t.Run("gzip", func(t *testing.T) { testenv.Tool(t, "gzip") })
	for _, c := range gzCases() {
		got := gunzip(t, &c)
		if tool == "" {
			continue
		}
		content, status := runGunzip(t, c.file, tool, "-dc")
		if status != c.gzip {
			t.Errorf("%s: exit status %d of gzip, want %d", c.name, status, c.gzip)
		}
		if status != 1 && c.err != compress.ErrFormat && !strings.HasPrefix(content, got) ||
			c.err == nil && content != got {
			t.Errorf("%s: %d bytes, gzip has %d", c.name, len(got), len(content))
		}
	}
}

// gunzip reads a file with a Reader, all at once and byte by byte, and checks the error.
func gunzip(t *testing.T, c *gzCase) (content string) {
	t.Helper()
	for _, source := range []io.Reader{
		strings.NewReader(c.file), &shortReads{strings.NewReader(c.file)},
	} {
		if _, slow := source.(*shortReads); slow && len(c.file) > 200 {
			continue
		}
		for _, workers := range bbtest.WorkerCounts {
			r, err := compress.NewReader(source, compress.WithConcurrency(workers))
			var p []byte
			if err == nil {
				p, err = io.ReadAll(r)
				r.Close()
			}
			if !errors.Is(err, c.err) || c.err == nil && err != nil {
				t.Errorf("%s, %d workers: %v, want %v", c.name, workers, err, c.err)
			}
			content = string(p)
			source.(io.Seeker).Seek(0, io.SeekStart)
		}
	}
	p, err := compress.AppendDecode(nil, []byte(c.file))
	if !errors.Is(err, c.err) || c.err == nil && err != nil || !bytes.HasPrefix(p, []byte(content)) {
		t.Errorf("%s: AppendDecode: %d bytes, %v, want %v", c.name, len(p), err, c.err)
	}
	return content
}

// shortReads reads a byte at a time.
type shortReads struct{ *strings.Reader }

func (r *shortReads) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(1, len(p))]) }

// runGunzip has a program restore a file and returns the content and the exit status.
func runGunzip(t *testing.T, file string, args ...string) (content string, status int) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = strings.NewReader(file)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestGunzipCut cuts a file of two members at each byte. gzip refuses the same files, and restores
// the same content before.
func TestGunzipCut(t *testing.T) {
	tool := testenv.Tool(t, "gzip")
	file := bbtest.StoredMember("hello", 8, "name\x00") + bbtest.StoredMember(strings.Repeat("hello ",
		5), 0, "")
	for n := range len(file) + 1 {
		c := gzCase{name: "cut", file: file[:n], err: compress.ErrTruncated, gzip: 1}
		if n == len(file) || n == len(bbtest.StoredMember("hello", 8, "name\x00")) {
			c.err, c.gzip = nil, 0
		}
		got := gunzip(t, &c)
		if content, status := runGunzip(t, c.file, tool, "-dc"); status != c.gzip || content != got {
			t.Errorf("first %d bytes: %q, gzip has %q and status %d", n, got, content, status)
		}
	}
}

// TestGunzipMemory checks that a Reader of .gz files takes no more than ReaderMemory says, whatever
// the files contain.
func TestGunzipMemory(t *testing.T) {
	testenv.Measures(t)
	random := bbtest.RandomBytes(4<<20, 1)
	var lines strings.Builder // after the start, 50 bytes of content for a byte of the file
	lines.Write(random[:300_000])
	for i := range 500_000 {
		lines.WriteString("12:00:00 INFO worker finished block ")
		if i%11 == 0 {
			fmt.Fprintf(&lines, "%x", uint32(i)*2654435761)
		}
		lines.WriteByte('\n')
	}
	files := map[string][]byte{
		"lines":         bbtest.GzipMember(t, []byte(lines.String())),
		"zeros":         bbtest.GzipMember(t, append(random[:300_000:300_000], make([]byte, 1<<27)...)),
		"random":        bbtest.GzipMember(t, random),
		"mixed":         bbtest.GzipMember(t, bbtest.MixedBytes(6<<20)),
		"empty members": bytes.Repeat(bbtest.GzipMember(t, nil), 50_000),
		"tiny members":  bytes.Repeat(bbtest.GzipMember(t, []byte("x")), 50_000),
		"members":       bytes.Repeat(bbtest.GzipMember(t, bbtest.TextBytes(1000, 1)), 3000),
	}
	for _, c := range []struct {
		workers int
		limit   int64
	}{{1, 0}, {2, 16 << 20}, {2, 32 << 20}, {8, 0}} {
		opts := []compress.ReaderOption{
			compress.WithConcurrency(c.workers), compress.WithMaxMemory(c.limit),
		}
		most, err := compress.ReaderMemory(
			[]compress.WriterOption{compress.WithFormat(compress.Gzip)}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for name, file := range files {
			read := func() {
				r := bbtest.NewReader(t, bytes.NewReader(file), opts...)
				if _, err := r.WriteTo(io.Discard); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			// The garbage collector may empty the pools of scratch memory meanwhile.
			got := min(bbtest.AllocatedBytes(read), bbtest.AllocatedBytes(read), bbtest.AllocatedBytes(read))
			if scratch := int64(2 << 20); got > most+scratch {
				t.Errorf("%s, %d workers, limit %d: %d bytes allocated, ReaderMemory says %d", name,
					c.workers, c.limit, got, most)
			}
		}
	}
}

// TestGzipPipe reads a .gz file from a pipe of the system that is filled in pieces. Where asked,
// the writer flushes and waits until all content so far has been read.
func TestGzipPipe(t *testing.T) {
	content := bbtest.MixedBytes(4 << 20)
	for _, workers := range []int{1, 2, 8} {
		for _, waits := range []bool{false, true} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			read := make(chan int, 1<<16) // content read so far
			go func() {
				defer w.Close()
				rng := rand.New(rand.NewPCG(uint64(workers), 1))
				z := gzip.NewWriter(w)
				for sent := 0; sent < len(content); {
					n := min(len(content)-sent, 1+rng.IntN(300_000))
					z.Write(content[sent : sent+n])
					sent += n
					if !waits {
						continue
					}
					z.Flush()
					for got := range read {
						if got >= sent {
							break
						}
					}
				}
				z.Close()
			}()
			z := bbtest.NewReader(t, r, compress.WithConcurrency(workers))
			var got []byte
			p := make([]byte, 100_000)
			for err == nil {
				var n int
				n, err = z.Read(p)
				got = append(got, p[:n]...)
				if waits && n > 0 {
					read <- len(got)
				}
			}
			close(read)
			if err != io.EOF || !bytes.Equal(got, content) {
				t.Errorf("%d workers, waits %v: %d bytes, %v", workers, waits, len(got), err)
			}
			z.Close()
			r.Close()
		}
	}
}
