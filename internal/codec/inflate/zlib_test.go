package inflate

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"testing"
)

// zlibProgram decodes streams with zlib. Its input has the size of each in four bytes, lowest
// first, and the stream. Its output has a status, the size of the content, its CRC-32, and the
// bytes used.
const zlibProgram = `import sys, zlib, struct
i, o = sys.stdin.buffer, sys.stdout.buffer
while n := i.read(4):
    p = i.read(struct.unpack("<I", n)[0])
    d = zlib.decompressobj(-15)
    c, status = b"", 2
    try:
        c = d.decompress(p)
        status = 0 if d.eof else 1
    except zlib.error:
        pass
    o.write(struct.pack("<IIII", status, len(c), zlib.crc32(c), len(p) - len(d.unused_data)))
`

// Values of the status.
const (
	zlibAccepts = iota
	zlibWantsMore
	zlibRejects
)

// zlibPeer compares results with zlib, by a Python process. It lags behind: differences become
// errors of the test when wait returns.
type zlibPeer struct {
	to      io.WriteCloser
	cmd     *exec.Cmd
	pending chan zlibJob
	done    chan error
	early   int // streams that zlib rejects and the others find incomplete
}

// zlibJob is a stream and the result that zlib should have.
type zlibJob struct {
	src  []byte
	want result
}

// newZlib starts the process. Without Python it returns nil, which compares nothing.
func newZlib(t *testing.T) *zlibPeer {
	if _, err := exec.LookPath("python3"); err != nil {
		return nil
	}
	z := &zlibPeer{cmd: exec.Command("python3", "-c", zlibProgram), pending: make(chan zlibJob, 64),
		done: make(chan error, 1)}
	z.cmd.Stderr = os.Stderr
	from, err := z.cmd.StdoutPipe()
	if err == nil {
		z.to, err = z.cmd.StdinPipe()
	}
	if err == nil {
		err = z.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		var first error
		r := bufio.NewReader(from)
		for job := range z.pending {
			if err := z.compare(r, &job); err != nil && first == nil {
				first = err
			}
		}
		z.done <- first
	}()
	return z
}

// compare reads what zlib says about a stream.
func (z *zlibPeer) compare(r io.Reader, job *zlibJob) error {
	var answer [4]uint32
	if err := binary.Read(r, binary.LittleEndian, &answer); err != nil {
		return err
	}
	status, used := answer[0], int(answer[3])
	switch want := &job.want; {
	case want.err == io.ErrUnexpectedEOF && status == zlibRejects:
		z.early++
	case (want.err == nil) != (status == zlibAccepts):
		return fmt.Errorf("zlib's status is %d, want %v: stream %x", status, want.err, job.src)
	case status == zlibAccepts && (int(answer[1]) != len(want.content) ||
		answer[2] != crc32.ChecksumIEEE(want.content) || used != want.used):
		return fmt.Errorf("zlib has %d bytes of content or other ones, want %d; used %d, want %d: stream %x",
			answer[1], len(want.content), used, want.used, job.src)
	}
	return nil
}

// check has zlib decode src, and compares with want.
func (z *zlibPeer) check(t *testing.T, src []byte, want result) {
	if z == nil {
		return
	}
	z.pending <- zlibJob{src, want}
	p := binary.LittleEndian.AppendUint32(nil, uint32(len(src)))
	if _, err := z.to.Write(append(p, src...)); err != nil {
		t.Fatal(err)
	}
}

// wait reports the first difference.
func (z *zlibPeer) wait(t *testing.T) {
	if z == nil {
		return
	}
	z.to.Close()
	close(z.pending)
	if err := <-z.done; err != nil {
		t.Error(err)
	}
	if err := z.cmd.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("zlib rejects %d streams that are incomplete for compress/flate", z.early)
}
