package wasmtest

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/gopz/compress/internal/cli"
)

// nativeVariable makes the test binary act as pz.
const nativeVariable = "PZ_TEST_NATIVE"

func TestMain(m *testing.M) {
	if os.Getenv(nativeVariable) != "" {
		cli.Main(nil)
	}
	os.Exit(m.Run())
}

// build returns cmd/pz compiled for WASI.
func build(t *testing.T) []byte {
	t.Helper()
	program := filepath.Join(t.TempDir(), "pz.wasm")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/pz")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	code, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// text returns repetitive content of n bytes.
func text(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("block frame member offset literal match window symbol table state")
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(" \n"[r.IntN(2)])
	}
	return b.Bytes()[:n]
}

// TestWASI runs pz for WASI under wazero. Its files equal those of the native program.
func TestWASI(t *testing.T) {
	ctx := t.Context()
	host := wazero.NewRuntime(ctx)
	defer host.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, host)
	module, err := host.CompileModule(ctx, build(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// Standard input and output are files, which to the program have the same number.
	pz := func(stdin []byte, args ...string) []byte {
		t.Helper()
		var stderr bytes.Buffer
		in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(in, stdin, 0o666); err != nil {
			t.Fatal(err)
		}
		stdinFile, err1 := os.Open(in)
		stdoutFile, err2 := os.Create(out)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		defer stdinFile.Close()
		defer stdoutFile.Close()
		config := wazero.NewModuleConfig().WithArgs(append([]string{"pz"}, args...)...).
			WithStdin(stdinFile).WithStdout(stdoutFile).WithStderr(&stderr).
			WithSysWalltime().WithSysNanotime().WithRandSource(rand.NewChaCha8([32]byte{})).
			WithFSConfig(wazero.NewFSConfig().WithDirMount(dir, "/")).WithName("")
		_, err := host.InstantiateModule(context.Background(), module, config)
		if exit, ok := err.(*sys.ExitError); ok && exit.ExitCode() == 0 {
			err = nil
		}
		if err != nil || stderr.Len() > 0 {
			t.Fatalf("pz %q: %v: %s", args, err, &stderr)
		}
		result, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}

	content := text(5 << 20) // several blocks
	for _, format := range []string{"pz", "gz", "zst"} {
		cmd := exec.Command(os.Args[0], "--format", format)
		cmd.Env = append(os.Environ(), nativeVariable+"=1")
		cmd.Stdin = bytes.NewReader(content)
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := pz(content, "-T1", "--format", format)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes differ from the %d bytes of native pz", format, len(got), len(want))
		}
		if back := pz(want, "-T1", "-d"); !bytes.Equal(back, content) {
			t.Errorf("%s: restored content differs", format)
		}
	}

	name := filepath.Join(dir, "a")
	if err := os.WriteFile(name, content, 0o666); err != nil {
		t.Fatal(err)
	}
	pz(nil, "-T1", "--rm", "/a")
	pz(nil, "-T1", "-d", "/a.pz")
	if back, err := os.ReadFile(name); err != nil || !bytes.Equal(back, content) {
		t.Errorf("file: restored content differs: %v", err)
	}
}
