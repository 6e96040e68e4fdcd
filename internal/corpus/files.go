package corpus

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Env names the directory of real files that tests shall use beside the generated ones.
const Env = "PZ_CORPUS"

// EnvMatrix asks for the whole of those tests that otherwise make a choice of levels, threads and sizes, and for the whole of all real files. That takes hours.
const EnvMatrix = "PZ_MATRIX"

// mostReal is how much of a real file, from its beginning, tests get without PZ_MATRIX: several blocks of most levels.
const mostReal = 4 << 20

// Matrix says whether PZ_MATRIX is set.
func Matrix() bool { return os.Getenv(EnvMatrix) != "" }

// File is a piece of test data with a name: generated or read from disk.
type File struct {
	Name string // "gen/text" or the path under the directory, with slashes: fit for the name of a subtest
	Size int
	load func() ([]byte, error)
}

// Data returns the content, made or read anew with every call so that nobody holds a whole corpus in memory.
func (f File) Data(t testing.TB) []byte {
	t.Helper()
	data, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Files returns generated data of every kind, 1 MiB each (128 KiB in short mode), then every regular file under the directory
// that the environment variable PZ_CORPUS names, if it is set. A directory that is not there or holds no file fails the test:
// whoever set the variable wants it used.
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

// Real returns the real files alone: those that Files puts after the generated ones, of long ones the first mostReal bytes unless PZ_MATRIX is set. None if PZ_CORPUS is not set.
func Real(t testing.TB) []File {
	t.Helper()
	dir := os.Getenv(Env)
	if dir == "" {
		return nil
	}
	files, err := realFiles(dir)
	if err != nil {
		t.Fatalf("%s: %v", Env, err)
	}
	if len(files) == 0 {
		t.Fatalf("%s: no files under %s", Env, dir)
	}
	return files
}

func realFiles(dir string) ([]File, error) {
	// WalkDir follows no links; the directory itself may be one.
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
		if !Matrix() {
			size = min(size, mostReal)
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
