package zstd

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestZip writes and reads an archive.
func TestZip(t *testing.T) {
	all := mixed(100 << 10)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(ZipMethodWinZip, ZipCompressor(WithEncoderCRC(false)))
	for i := range 5 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: string(rune('a' + i)), Method: ZipMethodWinZip})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(all[i<<10:]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	r.RegisterDecompressor(ZipMethodWinZip, ZipDecompressor())
	for i, f := range r.File {
		c, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, all[i<<10:]) {
			t.Errorf("file %d: %v", i, err)
		}
		c.Close()
	}
	if _, err := ZipCompressor(WithWindowSize(3))(io.Discard); err == nil {
		t.Error("a wrong option is no error")
	}
	z := ZipDecompressor(WithDecoderMaxWindow(1 << 20))(bytes.NewReader(nil))
	z.Close()
	if _, err := z.Read(make([]byte, 1)); err == nil || err == io.EOF {
		t.Errorf("Read behind Close: %v", err)
	}
}

// TestCommand exchanges files with the command zstd.
func TestCommand(t *testing.T) {
	tool := testenv.Tool(t, "zstd")
	dir := t.TempDir()
	all := mixed(1 << 20)
	samples := make([][]byte, 60)
	for i := range samples {
		samples[i] = corpus.Document(uint64(i))
	}
	dict, err := BuildDict(BuildDictOptions{ID: 500, Contents: samples, History: join(samples[:10]...)})
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, p []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, p, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	dictFile, rawFile := file("dict", dict), file("raw", samples[7])
	for _, c := range []struct {
		name string
		args []string
		enc  []EOption
		dec  []DOption
		body []byte
	}{
		{"plain", nil, nil, nil, all},
		{"small window", nil, []EOption{WithWindowSize(1 << 10)}, nil, all[:200<<10]},
		{"padding", nil, []EOption{WithEncoderPadding(4096)}, nil, all},
		{"empty", nil, nil, nil, nil},
		{"dictionary", []string{"-D", dictFile}, []EOption{WithEncoderDict(dict)},
			[]DOption{WithDecoderDicts(dict)}, corpus.Document(5000)},
		{"long with a dictionary", []string{"-D", dictFile},
			[]EOption{WithEncoderDict(dict), WithWindowSize(64 << 10)},
			[]DOption{WithDecoderDicts(dict)}, all[:300<<10]},
		{"raw dictionary", []string{"-D", rawFile}, []EOption{WithEncoderDictRaw(0, samples[7])},
			[]DOption{WithDecoderDictRaw(0, samples[7])}, samples[8]},
	} {
		e := newEncoder(t, nil, c.enc...)
		for i, p := range [][]byte{e.EncodeAll(c.body, nil), stream(t, e, c.body)} {
			cmd := exec.Command(tool, append(c.args, "-dc", file("ours.zst", p))...)
			out, err := cmd.Output()
			if err != nil || !bytes.Equal(out, c.body) {
				t.Errorf("%s, %d: the command returns %d bytes, %v", c.name, i, len(out), err)
			}
		}
		for _, level := range []string{"-1", "-11", "--fast=3"} {
			cmd := exec.Command(tool, append(c.args, level, "-c", file("body", c.body))...)
			p, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(content(t, p, c.dec...), c.body) {
				t.Errorf("%s: other content than the command's %s", c.name, level)
			}
		}
	}
}
