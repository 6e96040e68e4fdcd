package compress

import (
	"fmt"
	"testing"
)

// testContents returns contents around the edges of blocks, by name.
func testContents() map[string][]byte {
	c := map[string][]byte{"empty": {}, "mixed": mixedBytes(20*testBlock + 77)}
	for _, n := range []int{
		1, 2, 15, testBlock - 1, testBlock, testBlock + 1, 3 * testBlock, 3*testBlock + 1,
	} {
		c[fmt.Sprint("random ", n)] = randomBytes(n, uint64(n))
		c[fmt.Sprint("text ", n)] = textBytes(n, uint64(n))
		c[fmt.Sprint("zeros ", n)] = make([]byte, n)
	}
	return c
}

// TestRoundTrip writes small contents with each pipeline and reads them in every way.
func TestRoundTrip(t *testing.T) {
	checkGoroutines(t)
	for name, content := range testContents() {
		for _, workers := range workerCounts {
			for _, p := range Pipelines() {
				opts := []Option{
					WithBlockSize(testBlock),
					WithConcurrency(workers),
					WithPipeline(p.Name),
				}
				t.Run(fmt.Sprintf("%s/%s/%d", name, p.Name, workers), func(t *testing.T) {
					checkAllReaders(t, encode(t, content, opts...), content, opts...)
				})
			}
		}
	}
}

// TestConcatenated reads streams with different options, one behind the other.
func TestConcatenated(t *testing.T) {
	a, b := textBytes(3*testBlock, 1), randomBytes(5*testBlock+5, 2)
	var file, content []byte
	for i, opts := range [][]Option{
		{WithBlockSize(testBlock), WithPipeline("lzr")},
		{WithBlockSize(testBlock)},
		{WithBlockSize(2 * testBlock), WithChecksum(false)},
		{WithContentSize(0)},
		{},
		{WithBlockSize(testBlock), WithContentSize(int64(len(b)))},
	} {
		p := [][]byte{a, a, b, nil, a, b}[i]
		file = append(file, encode(t, p, opts...)...)
		content = append(content, p...)
	}
	for _, workers := range workerCounts {
		checkAllReaders(t, file, content, WithConcurrency(workers))
	}
	info := openAt(t, file).Info()
	if len(info.Streams) != 6 || info.Content != int64(len(content)) ||
		info.Size != int64(len(file)) ||
		info.Streams[0].Pipeline != "lzr" || info.Streams[1].Pipeline != "lzseqr" ||
		info.Streams[1].Unchecked != 0 || info.Streams[2].Unchecked != info.Streams[2].Blocks {
		t.Errorf("%+v", info)
	}
}
