package refdec

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/gopz/compress"
	"github.com/gopz/compress/zstd"
)

// A dictionary is one in the forms of both decoders.
type dictionary struct {
	ours   Dictionary
	theirs *compress.Dictionary
}

func (d *dictionary) option() compress.Option { return compress.WithDictionary(d.theirs) }

// jsonDictionary returns the dictionary of all tests. Files without one do not use it.
var jsonDictionary = sync.OnceValue(func() *dictionary {
	p, err := os.ReadFile(filepath.Join("..", "..", "testdata", "dictionary", "json.dict"))
	if err != nil {
		panic(err)
	}
	z, err := zstd.ParseDictionary(p)
	if err != nil {
		panic(err)
	}
	theirs, err := compress.NewDictionary(p)
	if err != nil {
		panic(err)
	}
	return &dictionary{Dictionary{Number: z.ID(), Content: z.Content()}, theirs}
})
