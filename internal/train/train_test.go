package train

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
)

// documents returns small files of one kind.
func documents(from, to int) (list [][]byte) {
	for i := from; i < to; i++ {
		list = append(list, corpus.Document(uint64(i)))
	}
	return list
}

// sizes returns the bytes of files, and those of their frames with a dictionary, without headers.
func sizes(t *testing.T, dict []byte, files [][]byte) (content, size int) {
	t.Helper()
	size, err := zstd.SampleSize(dict, files)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range files {
		content += min(len(p), optimal.MaxIncremental)
	}
	return content, size
}

func TestBuild(t *testing.T) {
	samples, files := documents(0, 400), documents(1000, 1100)
	for _, size := range []int{MinSize, 8 << 10, DefaultSize} {
		dict, err := Build(samples, size, 0)
		if err != nil {
			t.Fatal(err)
		}
		if size == MinSize {
			again, err := Build(samples, size, 0)
			if err != nil || !bytes.Equal(dict, again) {
				t.Errorf("the result changes: %v", err)
			}
		}
		d, err := zstd.ParseDictionary(dict)
		if err != nil || d.ID() < 1<<15 || d.ID() >= 1<<31 {
			t.Fatalf("ID %d, %v", d.ID(), err)
		}
		if len(dict) > size {
			t.Errorf("%d bytes in place of %d", len(dict), size)
		}
		// Without a dictionary the ratio of these files is 2.7.
		content, packed := sizes(t, dict, files)
		if least := 5; content < least*packed {
			t.Errorf("dictionary of %d bytes: %d bytes for %d", len(dict), packed, content)
		}
		t.Logf("%d bytes: %d → %d", len(dict), content, packed)
	}
	dict, err := Build(samples, 4<<10, 77)
	if d, perr := zstd.ParseDictionary(dict); err != nil || perr != nil || d.ID() != 77 {
		t.Errorf("ID 77: %v, %v", err, perr)
	}
}

// TestBuildOdd checks samples from which there is little to learn.
func TestBuildOdd(t *testing.T) {
	random := corpus.ByName("random")
	var noise, zeros, large, same [][]byte
	for i := range 20 {
		noise = append(noise, random.MakeSeed(1000, uint64(i)))
		zeros = append(zeros, make([]byte, 500))
		large = append(large, corpus.ByName("text").MakeSeed(MaxSample+1, uint64(i)))
		same = append(same, documents(5, 6)...)
	}
	for name, samples := range map[string][][]byte{
		"none": nil, "noise": noise, "few": documents(0, 7), "short": make([][]byte, 100),
	} {
		if _, err := Build(samples, DefaultSize, 0); err != ErrSamples {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, samples := range map[string][][]byte{"zeros": zeros, "large": large, "same": same} {
		dict, err := Build(samples, 16<<10, 0)
		if err == ErrSamples && name == "zeros" {
			continue // a single string of 8 bytes is no content
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		content, packed := sizes(t, dict, samples)
		t.Logf("%s: %d bytes: %d → %d", name, len(dict), content, packed)
	}
}
