package main

import (
	"context"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

// TestMonotone: each level is smaller than the one before it, and no faster, on content of many kinds in one file: the first MiB of each real file (all of them with
// PZ_MATRIX), else made data. Of one kind alone a level may be a little larger than the one before it.
func TestMonotone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const (
		rounds = 3
		noise  = 1.15 // of processor time, on a machine that does other things
	)
	size := 1 << 20
	files := corpus.Real(t)
	if len(files) == 0 {
		files, size = corpus.Files(t), 128<<10
	}
	var content []byte
	for _, f := range files {
		data := f.Data(t)
		if len(data) > size && !corpus.Matrix() {
			data = data[:size]
		}
		content = append(content, data...)
	}
	for _, info := range compress.Pipelines() {
		t.Run(info.Name, func(t *testing.T) {
			var best [compress.MaxLevel + 1]sample
			var meters [compress.MaxLevel + 1]meter
			for range rounds {
				for l := compress.MinLevel; l <= compress.MaxLevel; l++ {
					if meters[l] == nil {
						meters[l] = pipeline(info.Name)(l)
					}
					s, err := meters[l](context.Background(), "", content)
					if err != nil {
						t.Fatal(err)
					}
					best[l].size, best[l].encode = s.size, max(best[l].encode, s.encode)
				}
			}
			for l := compress.MinLevel; l <= compress.MaxLevel; l++ {
				t.Logf("level %d: %d bytes, %.4g MB/s", l, best[l].size, best[l].encode)
				if l == compress.MinLevel {
					continue
				}
				if before := &best[l-1]; best[l].size >= before.size || best[l].encode > before.encode*noise {
					t.Errorf("level %d: %d bytes at %.4g MB/s, level %d: %d at %.4g", l, best[l].size, best[l].encode, l-1, before.size, before.encode)
				}
			}
		})
	}
}
