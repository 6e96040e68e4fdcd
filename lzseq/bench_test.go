package lzseq

import (
	"fmt"
	"os"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// benchBlocks returns the streams of blocks of 1 MiB of the file that PZ_BENCH_FILE names, or of
// generated content.
func benchBlocks(b *testing.B, l *Layout, level int) (blocks []*Streams, sizes []int, total int64) {
	content := corpus.ByName("mixed").Make(8 << 20)
	if name := os.Getenv("PZ_BENCH_FILE"); name != "" {
		var err error
		content, err = os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
	}
	var m lz77.Matcher
	var seqs []lz77.Sequence
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 1<<20)
		seqs = m.Parse(seqs[:0], rest[:n], &lz77.Levels[level], l.Limits)
		var s Streams
		s.Encode(l, rest[:n], seqs)
		blocks, sizes = append(blocks, copyOf(&s)), append(sizes, n)
		rest = rest[n:]
	}
	return blocks, sizes, int64(len(content))
}

// BenchmarkDecode measures the decoding of streams, in bytes of content. "sequences" leaves out the
// copying.
func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"plain", "repeat"} {
		for _, level := range []int{1, 4, 6} {
			l := layouts[name]
			blocks, sizes, total := benchBlocks(b, l, level)
			dst := make([]byte, 1<<20+lz77.Slack)
			for _, tier := range simd.Tiers() {
				run := func(what string, f func(s *Streams, size int) error) {
					b.Run(fmt.Sprintf("%s/%d/%s/%s", name, level, what, tier), func(b *testing.B) {
						defer simd.SetTier(simd.SetTier(tier))
						b.SetBytes(total)
						for b.Loop() {
							for i, s := range blocks {
								if err := f(s, sizes[i]); err != nil {
									b.Fatal(err)
								}
							}
						}
					})
				}
				run("sequences", func(s *Streams, size int) error {
					return s.Sequences(l, size, func([]lz77.Sequence) error { return nil })
				})
				run("whole", func(s *Streams, size int) error { return s.Decode(l, dst[:size], 0) })
			}
		}
	}
}
