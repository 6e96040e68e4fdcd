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
			measure := func(level int) sample {
				t.Helper()
				s, err := pipeline(info.Name)(level)(context.Background(), "", content, 0)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			var before sample
			for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
				s := measure(level)
				t.Logf("level %d: %d bytes, %.4g MB/s", level, s.size, s.encode)
				if level > compress.MinLevel {
					if s.size >= before.size {
						t.Errorf("level %d: %d bytes, level %d: %d", level, s.size, level-1, before.size)
					}
					if s.encode > before.encode && faster(measure, level) {
						t.Errorf("level %d is faster than level %d", level, level-1)
					}
				}
				before = s
			}
		})
	}
}

// faster reports whether a level is faster than the one before it: both by turns, since the machine may do other things as well, and by so much that it is seen at most turns.
func faster(measure func(level int) sample, level int) bool {
	const (
		turns = 9
		noise = 1.1
	)
	seen := 0
	for turn := 1; turn <= turns; turn++ {
		if measure(level).encode > noise*measure(level-1).encode {
			seen++
		}
		if seen > turns/2 || turn-seen > turns/2 {
			break
		}
	}
	return seen > turns/2
}
