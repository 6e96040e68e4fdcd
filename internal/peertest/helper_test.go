package peertest_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/gopz/compress"
)

// testBlock is the block size of most tests in bytes: the smallest, so that little content makes
// many blocks.
const testBlock = compress.MinBlockSize

// workerCounts are the numbers of workers of most tests. 0 stands for all processors.
var workerCounts = []int{1, 2, 8, 0}

// plainReader hides all methods of a reader but Read.
type plainReader struct{ io.Reader }

// encodeFile compresses content through a Writer.
func encodeFile(t testing.TB, content []byte, opts ...compress.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := compress.NewWriter(&b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decodeFile decompresses a file through a Reader.
func decodeFile(file []byte, opts ...compress.ReaderOption) ([]byte, error) {
	r, err := compress.NewReader(plainReader{bytes.NewReader(file)}, opts...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// checkRead reads a file with each number of workers, with AppendDecode, and its info.
func checkRead(t *testing.T, file, content []byte, what string) {
	t.Helper()
	for _, workers := range workerCounts {
		got, err := decodeFile(file, compress.WithConcurrency(workers))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%s, %d workers: %d bytes, want %d; %v", what, workers, len(got),
				len(content), err)
		}
	}
	got, err := compress.AppendDecode(nil, file)
	if err != nil || !bytes.Equal(got, content) {
		t.Fatalf("%s: AppendDecode: %d bytes, want %d; %v", what, len(got), len(content), err)
	}
	info, err := compress.ReadInfo(bytes.NewReader(file), int64(len(file)), nil)
	if err != nil || info.Content != int64(len(content)) {
		t.Fatalf("%s: %+v, %v", what, info, err)
	}
}
