package corpus

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// maxRealSize is the size to which real files are cut unless PZ_TEST is "matrix": several blocks at
// most levels.
const maxRealSize = 4 << 20

// File is generated data or a file on disk.
type File struct {
	Name string // "gen/text", or the slash-separated path under the directory
	Size int    // in bytes
	load func() ([]byte, error)
}

// Data returns the content. Every call generates or reads it anew, so that no File keeps memory.
func (f File) Data(t testing.TB) []byte {
	t.Helper()
	data, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Files returns generated data of every kind, then the files of Real. Generated data has 1 MiB, in
// short mode 128 KiB.
func Files(t testing.TB) []File {
	t.Helper()
	size := 1 << 20
	if testing.Short() {
		size = 128 << 10
	}
	var files []File
	for _, k := range Kinds() {
		files = append(files, File{
			Name: "gen/" + k.Name,
			Size: size,
			load: func() ([]byte, error) { return k.Make(size), nil },
		})
	}
	return append(files, Real(t)...)
}

// Real returns every regular file under the directory that PZ_CORPUS names, or none if the variable
// is not set. Files are cut to 4 MiB unless PZ_TEST is "matrix". A directory without files fails
// the test.
func Real(t testing.TB) []File {
	t.Helper()
	dir := testenv.Corpus(t)
	if dir == "" {
		return nil
	}
	files, err := realFiles(dir)
	if err != nil {
		t.Fatalf("%s: %v", testenv.EnvCorpus, err)
	}
	if len(files) == 0 {
		t.Fatalf("%s: no files under %s", testenv.EnvCorpus, dir)
	}
	return files
}

func realFiles(dir string) ([]File, error) {
	// WalkDir does not follow links, and dir may be one.
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	var files []File
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		size := int(info.Size())
		if !testenv.Matrix() {
			size = min(size, maxRealSize)
		}
		files = append(files, File{
			Name: filepath.ToSlash(name),
			Size: size,
			load: func() ([]byte, error) { return readStart(path, size) },
		})
		return nil
	})
	return files, err
}

func readStart(path string, size int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, size)
	_, err = io.ReadFull(f, data)
	return data, err
}
