package refdec

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/testenv"
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

// TestUnknownDictionary decodes streams that name another dictionary. Only blocks need it.
func TestUnknownDictionary(t *testing.T) {
	head := []byte{'P', 'Z', version, 2, 16, flagContentChecks | flagDictionary}
	head = le.AppendUint32(head, jsonDictionary().ours.Number+1)
	empty := sealBehind(head)
	stored := sealBehind(head, block{kindStored, 5, []byte("house"), false})
	python := ""
	if !testenv.Emulated() {
		python = testenv.Tool(t, "python3")
	}
	for _, file := range [][]byte{empty, stored} {
		_, err := agree(t, file)
		if valid := len(file) == len(empty); valid != (err == nil) {
			t.Errorf("%d bytes: %v", len(file), err)
		}
		if python != "" {
			if got, perr := decodePython(t, python, file); len(got) > 0 || (perr == nil) != (err == nil) {
				t.Errorf("decode.py: %d bytes, %v; refdec: %v", len(got), perr, err)
			}
		}
	}
}
