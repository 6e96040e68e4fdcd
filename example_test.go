package compress_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
)

func Example() {
	var file bytes.Buffer
	w, err := compress.NewWriter(&file)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := io.Copy(w, strings.NewReader("Hello, blocks!\n")); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil { // completes the stream
		log.Fatal(err)
	}

	r, err := compress.NewReader(&file)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	if _, err := io.Copy(os.Stdout, r); err != nil {
		log.Fatal(err)
	}
	// Output: Hello, blocks!
}

func ExampleNewWriter_options() {
	var file bytes.Buffer
	w, err := compress.NewWriter(&file,
		compress.WithLevel(9),
		compress.WithFastDecoding(true),
		compress.WithBlockSize(256<<10),
		compress.WithConcurrency(2))
	if err != nil {
		log.Fatal(err)
	}
	w.Write(make([]byte, 1_000_000))
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Len() < 300)
	// Output: true
}

// A device never changes the output. The name "" opens the best GPU, and "soft" a device that is
// the CPU itself.
func ExampleWithDevice() {
	device, err := gpu.Open("soft")
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	scheduler := compress.NewScheduler(2) // has the device for good
	content := bytes.Repeat([]byte("one potato, two potatoes, "), 10_000)
	plain, err := compress.AppendEncode(nil, content)
	if err != nil {
		log.Fatal(err)
	}

	file, err := compress.AppendEncode(nil, content, compress.WithScheduler(scheduler),
		compress.WithDevice(device, gpu.BackendGPU, gpu.BackendGPU))
	if err != nil {
		log.Fatal(err)
	}
	status, _ := scheduler.DeviceStatus()
	fmt.Println(status.Name, status.Err, bytes.Equal(file, plain))
	// Output: soft <nil> true
}

func ExampleWriter_Reset() {
	w, err := compress.NewWriter(nil, compress.WithLevel(1))
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		var file bytes.Buffer
		w.Reset(&file) // keeps the options and the memory
		io.WriteString(w, text)
		if err := w.Close(); err != nil {
			log.Fatal(err)
		}
		content, err := compress.AppendDecode(nil, file.Bytes())
		fmt.Printf("%s %v\n", content, err)
	}
	// Output:
	// one <nil>
	// two <nil>
}

func ExampleAppendEncode() {
	p, err := compress.AppendEncode(nil, bytes.Repeat([]byte("again "), 1000))
	if err != nil {
		log.Fatal(err)
	}
	content, err := compress.AppendDecode(nil, p, compress.WithMaxDecodedSize(1<<20))
	fmt.Println(len(content), err)
	// Output: 6000 <nil>
}

// A Plan compresses pieces of a file apart, here one after the other, and joins them.
func ExamplePlan() {
	content := bytes.Repeat([]byte("a line of a log that is not very long\n"), 100_000)
	plan, err := compress.NewPlan(int64(len(content)), compress.WithFormat(compress.Gzip))
	if err != nil {
		log.Fatal(err)
	}
	var packed [2]bytes.Buffer
	var pieces [2]*compress.Piece
	half := plan.Blocks() / 2
	for i, blocks := range [2][2]int64{{0, half}, {half, plan.Blocks()}} {
		from, to := plan.Input(blocks[0], blocks[1])
		input := io.NewSectionReader(bytes.NewReader(content), from, to-from)
		pieces[i], err = plan.Encode(&packed[i], input, blocks[0], blocks[1])
		if err != nil {
			log.Fatal(err)
		}
	}
	trailer, err := plan.Trailer(pieces[:]...)
	if err != nil {
		log.Fatal(err)
	}
	file := slices.Concat(plan.Header(), packed[0].Bytes(), packed[1].Bytes(), trailer)
	got, err := compress.AppendDecode(nil, file)
	fmt.Println(bytes.Equal(got, content), err)
	// Output: true <nil>
}

func ExampleNewReaderAt() {
	p, err := compress.AppendEncode(nil, []byte("The quick brown fox jumps over the lazy dog"))
	if err != nil {
		log.Fatal(err)
	}
	r, err := compress.NewReaderAt(bytes.NewReader(p), int64(len(p)))
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	word := make([]byte, 5)
	if _, err := r.ReadAt(word, 10); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, of %d bytes\n", word, r.Size())
	// Output: brown, of 43 bytes
}

// Two files share a cache of 256 MiB.
func ExampleWithCache() {
	cache := compress.NewCache(256 << 20)
	for _, content := range []string{"The quick brown fox", "jumps over the lazy dog"} {
		p, err := compress.AppendEncode(nil, []byte(content))
		if err != nil {
			log.Fatal(err)
		}
		r, err := compress.NewReaderAt(bytes.NewReader(p), int64(len(p)), compress.WithCache(cache))
		if err != nil {
			log.Fatal(err)
		}
		defer r.Close()
		word := make([]byte, 5)
		for range 2 { // the second time from the cache
			if _, err := r.ReadAt(word, 10); err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%q\n", word)
		}
	}
	// Output:
	// "brown"
	// "brown"
	// " the "
	// " the "
}

func ExampleError() {
	p, err := compress.AppendEncode(nil, []byte("some content"))
	if err != nil {
		log.Fatal(err)
	}
	p[20] ^= 1
	_, err = compress.AppendDecode(nil, p)
	var e *compress.Error
	if errors.As(err, &e) {
		fmt.Println(errors.Is(err, compress.ErrCorrupt), e.Block)
	}
	fmt.Println(err)
	// Output:
	// true 0
	// compress: block 0 at byte 0: checksum mismatch
}

func ExampleRecover() {
	content := bytes.Repeat([]byte("0123456789abcdef"), 3*4096/16)
	p, err := compress.AppendEncode(nil, content, compress.WithBlockSize(4096))
	if err != nil {
		log.Fatal(err)
	}
	p[18+16+3] ^= 1 // in the first block

	var saved bytes.Buffer
	report := func(d compress.Damage) error {
		damaged := errors.Is(d.Err, compress.ErrCorrupt)
		fmt.Printf("block %d, %d bytes at %d: %v\n", d.Block, d.Content, d.ContentOffset, damaged)
		return nil
	}
	err = compress.Recover(&saved, bytes.NewReader(p), int64(len(p)), report)
	fmt.Println(saved.Len(), err)
	// Output:
	// block 0, 4096 bytes at 0: true
	// 8192 <nil>
}

// A service keeps small messages of one kind. Both sides know some of them in advance.
func ExampleWithDictionary() {
	known := `{"user":"alice","action":"login","result":"ok"}{"user":"bob","action":"logout","result":"ok"}`
	dict, err := compress.NewDictionary([]byte(known))
	if err != nil {
		log.Fatal(err)
	}
	message := []byte(`{"user":"carol","action":"login","result":"ok"}`)
	zstd, shared := compress.WithFormat(compress.Zstd), compress.WithDictionary(dict)
	small, err := compress.AppendEncode(nil, message, zstd, shared)
	if err != nil {
		log.Fatal(err)
	}
	large, err := compress.AppendEncode(nil, message, zstd)
	if err != nil {
		log.Fatal(err)
	}
	again, err := compress.AppendDecode(nil, small, shared)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(large) > 2*len(small), string(again))
	// Output: true {"user":"carol","action":"login","result":"ok"}
}
