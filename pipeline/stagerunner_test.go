package pipeline

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// TestStageRunner repeats every stage of every pipeline and compares the results with the content.
func TestStageRunner(t *testing.T) {
	const window = 100
	src := corpus.ByName("mixed").Make(100_000)
	for i := range table {
		p := &table[i]
		for _, level := range []int{1, 6, MaxLevel} {
			before := 0
			if p.Window > 0 {
				before = window
			}
			last := 0
			for _, name := range p.StageNames(Compress) {
				r := NewStageRunner(p, Compress, level)
				b, err := r.Prepare(src, before, name)
				if err != nil {
					t.Fatalf("%s -%d %s: %v", p.Name, level, name, err)
				}
				for range 2 {
					if err := r.Run(b); err != nil {
						t.Fatalf("%s -%d %s: %v", p.Name, level, name, err)
					}
				}
				if n := b.Compressed(); n == 0 || n != len(b.b.dst) || last != 0 && n != last {
					t.Errorf("%s -%d %s: %d bytes, in the block %d, with the stage before %d", p.Name, level,
						name, n, len(b.b.dst), last)
				}
				last = b.Compressed()
				if b.Size() != len(src)-before {
					t.Errorf("%s -%d %s: %d bytes of content", p.Name, level, name, b.Size())
				}
			}
			for k, name := range p.StageNames(Decompress) {
				r := NewStageRunner(p, Decompress, level)
				b, err := r.Prepare(src, before, name)
				for range 2 {
					if err == nil {
						err = r.Run(b)
					}
				}
				if err != nil {
					t.Fatalf("%s -%d %s: %v", p.Name, level, name, err)
				}
				out := b.b.Out()
				if b.b.isSerial() {
					out = b.b.Serial.Content()
				}
				if k == len(p.decode)-1 && !bytes.Equal(out, src[before:]) {
					t.Errorf("%s -%d %s: decodes to other content", p.Name, level, name)
				}
			}
		}
	}
	if _, err := NewStageRunner(&table[0], Compress, 1).Prepare(src, 0, "nosuch"); err == nil {
		t.Error("a stage that does not exist is accepted")
	}
}
