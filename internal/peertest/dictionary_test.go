package peertest_test

import (
	"bytes"
	"os"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

// TestDictionary exchanges files with a dictionary, trained and raw, at all levels.
func TestDictionary(t *testing.T) {
	trained, err := os.ReadFile("../../testdata/dictionary/json.dict")
	if err != nil {
		t.Fatal(err)
	}
	raw := corpus.ByName("json").Make(20_000)
	const rawID = 0 // frames that name none
	contents := [][]byte{
		nil, []byte("x"), corpus.Document(1), bytes.Repeat(corpus.Document(2), 9),
		corpus.ByName("json").MakeSeed(400_000, 3), append(bytes.Clone(raw), trained...),
	}
	for _, c := range []struct {
		name    string
		dict    []byte
		decoder kzstd.DOption
		encoder kzstd.EOption
	}{
		{"trained", trained, kzstd.WithDecoderDicts(trained), kzstd.WithEncoderDict(trained)},
		{"raw", raw, kzstd.WithDecoderDictRaw(rawID, raw), kzstd.WithEncoderDictRaw(rawID, raw)},
	} {
		dict, err := compress.NewDictionary(c.dict)
		if err != nil {
			t.Fatal(err)
		}
		dec := mustDecoder(c.decoder)
		for _, content := range contents {
			for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
				file := encodeFile(t, content, compress.WithFormat(compress.Zstd), compress.WithLevel(level),
					compress.WithDictionary(dict), compress.WithBlockSize(1<<16))
				got, err := dec.DecodeAll(file, nil)
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s, level %d, %d bytes: %d decoded, %v",
						c.name, level, len(content), len(got), err)
				}
			}
			for level := kzstd.SpeedFastest; level <= kzstd.SpeedBestCompression; level++ {
				enc, err := kzstd.NewWriter(nil, c.encoder, kzstd.WithEncoderLevel(level))
				if err != nil {
					t.Fatal(err)
				}
				file := enc.EncodeAll(content, nil)
				if len(file) == 0 {
					continue // empty content
				}
				got, err := decodeFile(file, compress.WithDictionary(dict))
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s, %v, %d bytes: %d decoded, %v",
						c.name, level, len(content), len(got), err)
				}
			}
		}
	}
}
