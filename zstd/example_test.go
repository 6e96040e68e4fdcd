package zstd_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/gopz/compress/zstd"
)

// A message is compressed to a frame of its own. Keep the Encoder and the Decoder for the next one.
func ExampleEncoder_EncodeAll() {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(1<<20))
	if err != nil {
		panic(err)
	}
	defer dec.Close()
	message := []byte(strings.Repeat("the same words, ", 100))
	frame := enc.EncodeAll(message, nil)
	back, err := dec.DecodeAll(frame, nil)
	fmt.Println(len(message), len(frame) < 100, bytes.Equal(back, message), err)
	// Output: 1600 true true <nil>
}

// A stream is one frame.
func ExampleNewWriter() {
	var file bytes.Buffer
	enc, err := zstd.NewWriter(&file, zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		panic(err)
	}
	if _, err := io.Copy(enc, strings.NewReader("content of a file")); err != nil {
		panic(err)
	}
	if err := enc.Close(); err != nil {
		panic(err)
	}
	dec, err := zstd.NewReader(&file)
	if err != nil {
		panic(err)
	}
	defer dec.Close()
	content, err := io.ReadAll(dec)
	fmt.Println(string(content), err)
	// Output: content of a file <nil>
}
