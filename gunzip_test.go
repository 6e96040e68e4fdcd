package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// gzMember makes a member. flags say which of the given fields it has.
func gzMember(content string, flags byte, fields string) string {
	head := []byte{0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3}
	return string(head) + fields + gzBody(content, 0, 0)
}

// gzBody returns a stored block and a trailer. Bits of sum and size are wrong.
func gzBody(content string, sum, size uint32) string {
	p := []byte{1}
	p = binary.LittleEndian.AppendUint16(p, uint16(len(content)))
	p = binary.LittleEndian.AppendUint16(p, ^uint16(len(content)))
	p = append(p, content...)
	p = binary.LittleEndian.AppendUint32(p, crc32.ChecksumIEEE([]byte(content))^sum)
	return string(binary.LittleEndian.AppendUint32(p, uint32(len(content))^size))
}

// withHeaderCRC makes a member whose header has a checksum. Some of its bits are wrong.
func withHeaderCRC(wrong uint16) string {
	m := gzMember("hello", 2, "")
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

// gzCases returns files at the edges of RFC 1952. A Reader returns ErrTrailing where gzip warns. The
// exceptions are marked.
func gzCases() []gzCase {
	m, empty := gzMember("hello", 0, ""), gzMember("", 0, "")
	n := 1_000_000
	if testenv.Race {
		n = 100_000
	}
	long := strings.Repeat("n", n) + "\x00"
	extra := strings.Repeat("z", math.MaxUint16)
	return []gzCase{
		{"no bytes", "", ErrTruncated, 1},
		{"a member", m, nil, 0},
		{"an empty member", empty, nil, 0},
		{"empty members", empty + empty, nil, 0},
		{"an empty member between two", m + empty + m, nil, 0},
		{"the empty member of BGZF", "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x06\x00BC\x02\x00\x1b\x00" +
			"\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00", nil, 0},

		{"one zero behind", m + "\x00", nil, 0},
		{"zeros behind", m + strings.Repeat("\x00", 70_000), nil, 0},
		{"zeros and a member", m + "\x00\x00\x00" + m, ErrTrailing, gzWarns},
		{"zeros and garbage", m + "\x00\x00\x00xyz", ErrTrailing, gzWarns},
		{"zeros before", "\x00\x00\x00" + m, ErrFormat, 1},
		{"garbage behind", m + "some text", ErrTrailing, gzWarns},
		{"garbage of one byte", m + "\n", ErrTrailing, 1}, // gzip waits for a second byte
		{"1F behind", m + "\x1f", ErrTruncated, 1},
		{"1F 00 behind", m + "\x1f\x00", ErrTrailing, gzWarns},
		{"1F 8B behind", m + "\x1f\x8b", ErrTruncated, 1},
		{"a header cut short behind", m + m[:9], ErrTruncated, 1},
		{"method 7 behind", m + "\x1f\x8b\x07" + m[3:], ErrVersion, 1},
		{"a reserved flag behind", m + gzMember("hello", 0x20, ""), ErrCorrupt, 1},
		{"a .Z file behind", m + "\x1f\x9d" + strings.Repeat("\x00", 30), ErrTrailing, 0}, // gzip decodes it

		{"wrong CRC", m[:10] + gzBody("hello", 1, 0), ErrChecksum, 1},
		{"wrong ISIZE", m[:10] + gzBody("hello", 0, 1), ErrCorrupt, 1},
		{"both wrong", m[:10] + gzBody("hello", 1, 1), ErrChecksum, 1},
		{"wrong CRC, then a member", m[:10] + gzBody("hello", 1, 0) + m, ErrChecksum, 1},
		{"second member with a wrong CRC", m + m[:10] + gzBody("hello", 1, 0), ErrChecksum, 1},
		{"block type 3", m[:10] + "\x07" + m[11:], ErrCorrupt, 1},

		{"FHCRC", withHeaderCRC(0), nil, 0},
		{"wrong FHCRC", withHeaderCRC(1), ErrChecksum, 1},
		{"wrong FHCRC in the second member", m + withHeaderCRC(1), ErrChecksum, 1},
		{"FTEXT", gzMember("hello", 1, ""), nil, 0},
		{"FEXTRA", gzMember("hello", 4, "\x06\x00AB\x02\x00xy"), nil, 0},
		{"empty FEXTRA", gzMember("hello", 4, "\x00\x00"), nil, 0},
		{"FEXTRA without subfields", gzMember("hello", 4, "\x05\x00AB\xff\x00x"), nil, 0},
		{"longest FEXTRA", gzMember("hello", 4, "\xff\xff"+extra), nil, 0},
		{"empty FNAME", gzMember("hello", 8, "\x00"), nil, 0},
		{"FNAME of a million bytes", gzMember("hello", 8, long), nil, 0},
		{"FCOMMENT of a million bytes", gzMember("hello", 16, long), nil, 0},
		{"FNAME without an end", m[:3] + "\x08" + m[4:10] + strings.Repeat("n", 1000), ErrTruncated, 1},
		{"reserved flag 20", gzMember("hello", 0x20, ""), ErrCorrupt, 1},
		{"reserved flag 40", gzMember("hello", 0x40, ""), ErrCorrupt, 1},
		{"reserved flag 80", gzMember("hello", 0x80, ""), ErrCorrupt, 1},
		{"method 0", m[:2] + "\x00" + m[3:], ErrFormat, 1},
		{"method 7", m[:2] + "\x07" + m[3:], ErrFormat, 1},
		{"method 9", m[:2] + "\x09" + m[3:], ErrFormat, 1},
		{"the magic of gzip 0.5", "\x1f\x9e" + m[2:], ErrFormat, 0}, // only gzip decodes it
		{"a header and no more", m[:10], ErrTruncated, 1},
	}
}

// TestGunzip reads files at the edges of the format, in one way and another, and has gzip read them.
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
		if status != 1 && c.err != ErrFormat && !strings.HasPrefix(content, got) ||
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
		for _, workers := range workerCounts {
			r, err := NewReader(source, WithConcurrency(workers))
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
	p, err := AppendDecode(nil, []byte(c.file))
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
	file := gzMember("hello", 8, "name\x00") + gzMember(strings.Repeat("hello ", 5), 0, "")
	for n := range len(file) + 1 {
		c := gzCase{name: "cut", file: file[:n], err: ErrTruncated, gzip: 1}
		if n == len(file) || n == len(gzMember("hello", 8, "name\x00")) {
			c.err, c.gzip = nil, 0
		}
		got := gunzip(t, &c)
		if content, status := runGunzip(t, c.file, tool, "-dc"); status != c.gzip || content != got {
			t.Errorf("first %d bytes: %q, gzip has %q and status %d", n, got, content, status)
		}
	}
}
