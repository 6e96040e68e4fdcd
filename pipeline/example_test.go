package pipeline_test

import (
	"bytes"
	"fmt"

	"github.com/gopz/compress/pipeline"
)

// coded is a compressed block: what a container of one's own has to keep.
type coded struct {
	payload []byte
	raw     int
	kind    uint8
	sum     uint32
}

// pass passes blocks through a run. fill makes a free block the next one, and returns false if
// there is none. take gets the results in order.
func pass(r *pipeline.Run, fill func(b *pipeline.Block) bool, take func(b *pipeline.Block)) error {
	defer r.Close()
	for more := true; more || r.Pending() > 0; {
		var b *pipeline.Block
		if more {
			b = r.Get() // nil if as many blocks exist as may be in flight
		}
		if b != nil {
			if more = fill(b); more {
				r.Submit(b)
			}
			continue
		}
		b, err := r.Next(true)
		if err == nil {
			err = b.Err
		}
		if err != nil {
			return err
		}
		take(b)
		r.Put(b)
	}
	return nil
}

// A file without a format: content is cut into blocks, which a scheduler of one's own compresses,
// and decompresses again. Blocks are independent and return in order.
func Example() {
	content := bytes.Repeat([]byte("Blocks are compressed at the same time. "), 50_000)
	s := pipeline.NewScheduler(2)
	row := pipeline.ByName("lzseqr")

	const size = 256 << 10
	var file []coded
	rest := content
	err := pass(
		s.Start(pipeline.Config{
			Pipeline: row, Op: pipeline.Compress, Level: row.DefaultLevel, Checks: true,
		}),
		func(b *pipeline.Block) bool {
			n := min(size, len(rest))
			b.Src = append(b.Src[:0], rest[:n]...)
			rest = rest[n:]
			return n > 0
		},
		func(b *pipeline.Block) {
			file = append(file, coded{bytes.Clone(b.Out()), b.Raw, b.Kind, b.Sum})
		},
	)
	if err != nil {
		fmt.Println(err)
		return
	}

	var back []byte
	left := file
	err = pass(
		s.Start(pipeline.Config{Pipeline: row, Op: pipeline.Decompress, Checks: true}),
		func(b *pipeline.Block) bool {
			if len(left) == 0 {
				return false
			}
			next := left[0]
			left = left[1:]
			b.Src = append(b.Src[:0], next.payload...)
			b.Raw, b.Kind, b.Sum = next.raw, next.kind, next.sum
			return true
		},
		func(b *pipeline.Block) { back = append(back, b.Out()...) },
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(file), "blocks,", len(back), "bytes, the same:", bytes.Equal(back, content))
	// Output: 8 blocks, 2000000 bytes, the same: true
}
