package archive_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"log"

	"github.com/gopz/compress"
	"github.com/gopz/compress/archive"
)

func Example() {
	// An archive of two files, compressed.
	var packed bytes.Buffer
	zw, err := compress.NewWriter(&packed)
	if err != nil {
		log.Fatal(err)
	}
	tw := tar.NewWriter(zw)
	for _, name := range []string{"notes/todo.txt", "readme.txt"} {
		content := "content of " + name
		tw.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644})
		tw.Write([]byte(content))
	}
	tw.Close()
	zw.Close()

	fsys, err := archive.Open(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	text, err := fs.ReadFile(fsys, "notes/todo.txt")
	fmt.Printf("%s, %v\n", text, err)
	fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		fmt.Println(name)
		return err
	})
	// Output:
	// content of notes/todo.txt, <nil>
	// .
	// notes
	// notes/todo.txt
	// readme.txt
}
