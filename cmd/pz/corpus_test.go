package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

// TestCorpus takes files through the command at every level, with all pipelines and several numbers of threads. With PZ_CORPUS set
// they are the real ones, and it takes minutes.
func TestCorpus(t *testing.T) {
	files := corpus.Real(t)
	levels := "123456789"
	dir := t.TempDir()
	type named struct {
		name string
		data []byte
	}
	var inputs []named
	for _, f := range files {
		inputs = append(inputs, named{f.Name, f.Data(t)})
	}
	if len(files) == 0 {
		levels = "149"
		for _, name := range []string{"text", "mixed"} {
			inputs = append(inputs, named{name, corpus.ByName(name).Make(1 << 20)})
		}
	}
	inputs = append(inputs, named{"empty", nil}, named{"byte", []byte("x")})
	for _, in := range inputs {
		path := filepath.Join(dir, filepath.Base(in.name))
		if err := os.WriteFile(path, in.data, 0o600); err != nil {
			t.Fatal(err)
		}
		want := sha256.Sum256(in.data)
		for _, p := range compress.Pipelines() {
			pipeline, packed := p.Name, path+"."+p.Format
			for _, level := range levels {
				var first [32]byte
				for _, threads := range []int{1, 2, 8} {
					what := fmt.Sprintf("%s, %s -%c, %d threads", in.name, pipeline, level, threads)
					args := []string{"-f", "-p", pipeline, "-" + string(level), fmt.Sprint("-T", threads), path}
					if out, err := command(args...).CombinedOutput(); err != nil || len(out) > 0 {
						t.Fatalf("%s: %v: %s", what, err, out)
					}
					file, err := os.ReadFile(packed)
					if err != nil {
						t.Fatal(err)
					}
					if sum := sha256.Sum256(file); threads == 1 {
						first = sum
					} else if sum != first {
						t.Errorf("%s: other bytes than with one", what)
					}
					out, err := command("-dc", fmt.Sprint("-T", threads), packed).Output()
					if err != nil || sha256.Sum256(out) != want {
						t.Errorf("%s: wrong content, %v", what, err)
					}
				}
			}
		}
		os.Remove(path)
		for _, f := range formatNames() {
			os.Remove(path + "." + f)
		}
	}
}

// TestConcatenation: files joined by cat are a file.
func TestConcatenation(t *testing.T) {
	dir := t.TempDir()
	var want, joined []byte
	for i, name := range []string{"text", "zeros", "random"} {
		path := filepath.Join(dir, name)
		data := corpus.ByName(name).Make(300_000)
		want = append(want, data...)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		pz(t, "", "-q", fmt.Sprint("-", i+1), path).want(t, exitOK)
	}
	joined, err := exec.Command("cat", filepath.Join(dir, "text.pz"), filepath.Join(dir, "zeros.pz"), filepath.Join(dir, "random.pz")).Output()
	if err != nil {
		t.Fatal(err)
	}
	r := pz(t, string(joined), "-d").want(t, exitOK)
	if !bytes.Equal([]byte(r.out), want) {
		t.Errorf("%d bytes, want %d", len(r.out), len(want))
	}
}
