package archtest

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// m is the path of the made-up module.
const m = "example.com/m"

// complete returns the import path of name: in the standard library, in another module, or in m.
func complete(name string) string {
	first, _, _ := strings.Cut(name, "/")
	if strings.Contains(first, ".") || slices.Contains([]string{"C", "fmt", "encoding"}, first) {
		return name
	}
	return path.Join(m, name)
}

// checkTests has imports for every rule. Paths are below the module's, unless they have a dot.
var checkTests = []struct {
	from, to string
	test     bool
	want     string // part of the message; "" for none
}{
	// An import may point down by one floor or more.
	{"internal/cli", "", false, ""},
	{"cmd/pz", "internal/cli", false, ""},
	{"", "pipeline", false, ""},
	{"", "internal/pzfile", false, ""},
	{"pipeline", "lz77", false, ""},
	{"pipeline", "simd", false, ""},
	{"internal/codec/rans", "simd", false, ""},
	{"internal/codec/huffman", "internal/bitio", false, ""},

	// No import points up.
	{"pipeline", "", false, "points up"},
	{"simd", "internal/codec/rans", false, "points up"},
	{"lz77", "pipeline", false, "points up"},
	{"gpu", "pipeline", false, "points up"},
	{"", "internal/cli", false, "points up"},

	// Imports within a floor are listed, in one direction.
	{"lzseq", "lz77", false, ""},
	{"lz77", "lzseq", false, "one floor"},
	{"internal/codec/huffman", "fse", false, ""},
	{"internal/codec/rans", "fse", false, "one floor"},
	{"pipeline", "internal/pzfile", false, "one floor"},
	{"internal/pzfile", "pipeline", false, "one floor"},
	{"internal/seqdump", "examples/profile", false, "one floor"},

	// Programs use the public package only.
	{"internal/cli", "pipeline", false, "public package only"},
	{"internal/cli", "internal/pzfile", false, "public package only"},

	// Tools for developers import everything, and no package imports them.
	{"internal/seqdump", "lz77", false, ""},
	{"internal/seqdump", "pipeline", false, ""},
	{"internal/cli", "internal/seqdump", false, "points up"},
	{"internal/seqdump", "internal/corpus", false, ""},

	// So do they with suites of tests.
	{"gpu/day", "gpu/gputest", false, ""},
	{"gpu/day", "gpu/webgpu", false, ""},
	{"pipeline", "gpu/gputest", false, "for tests only"},

	// Packages of the workshop are for tests and tools, and stand alone.
	{"", "internal/corpus", false, "for tests only"},
	{"internal/cli", "internal/corpus", false, "for tests only"},
	{"internal/bcetest", "internal/corpus", false, "stand alone"},
	{"internal/corpus", "lz77", false, "stand alone"},
	{"simd", "internal/corpus", true, ""},

	// Only some main packages link GPU drivers. Only the drivers import their bindings.
	{"gpu/pz", "gpu/webgpu", false, ""},
	{"gpu/pz", "gpu/opengl", false, ""},
	{"gpu/pz", "internal/cli", false, ""},
	{"gpu/pz", "", false, "calls a program only"},
	{"cmd/pz", "gpu/webgpu", false, "link a GPU driver"},
	{"internal/cli", "gpu/opengl", false, "link a GPU driver"},
	{"", "gpu/webgpu", false, "link a GPU driver"},
	{"", "gpu/webgpu", true, "link a GPU driver"},
	{"gpu", "gpu/opengl", true, "link a GPU driver"},
	{"", "github.com/cogentcore/webgpu/wgpu", true, "and their tests"},
	{"gpu/opengl", "github.com/cogentcore/webgpu/wgpu", true, "and their tests"},

	// A suite of tests may import the workshop. Only tests import it.
	{"gpu/gputest", "internal/corpus", false, ""},
	{"gpu/gputest", "lz77", false, ""},
	{"gpu/gputest", "internal/codec/huffman", false, "one floor"},
	{"gpu/gputest", "pipeline", false, "points up"},
	{"pipeline", "gpu/gputest", true, ""},
	{"pipeline", "gpu/gputest", false, "for tests only"},
	{"gpu/webgpu", "gpu/gputest", false, "for tests only"},

	// Tests import within their floor and below, never above.
	{"lzseq", "internal/codec/rans", true, ""},
	{"", "internal/pzfile", true, ""},
	{"internal/cli", "internal/pzfile", true, ""},
	{"internal/codec/rans", "pipeline", true, "lies above"},

	// Packages without a floor.
	{"nosuch", "fmt", false, "add it to the table"},
	{"", "nosuch", false, "add it to the table"},
	{"", "pipeline/nosuch", true, "add it to the table"},

	// Other modules.
	{"internal/cli", "github.com/spf13/pflag", false, ""},
	{"internal/cli", "golang.org/x/sys/unix", false, ""},
	{"", "github.com/spf13/pflag", false, "only for"},
	{"pipeline", "github.com/spf13/pflag", false, "only for"},
	{"internal/codec/zstd", "github.com/klauspost/compress/zstd", false, "only for"},
	{"internal/peertest", "github.com/klauspost/compress/zstd", true, ""},
	{"", "github.com/klauspost/compress/zstd", true, "and their tests"},
	{"internal/codec/zstd", "github.com/klauspost/compress/zstd", true, "and their tests"},
	{"internal/zstfile", "github.com/klauspost/compress/zstd", true, "and their tests"},
	{"internal/corpus", "github.com/klauspost/compress/zstd", false, "and their tests"},
	{"simd", "golang.org/x/sys/unix", true, ""},
	{"simd", "golang.org/x/sys/unix", false, "and their tests"},
	{"", "github.com/spf13/pflag", true, "and their tests"},
	{"", "github.com/klauspost/compressor", true, "new dependency"},
	{"internal/cli", "example.org/x", false, "new dependency"},
	{"", "example.com/mm", false, "new dependency"},
	{"simd", "C", false, "pure Go"},
	{"simd", "encoding/binary", false, ""},
}

// TestCheck checks made-up imports: every rule catches its violations and nothing else.
func TestCheck(t *testing.T) {
	for _, tt := range checkTests {
		got := check(m, importUse{from: complete(tt.from), to: complete(tt.to), test: tt.test})
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%q imports %q (test %v): %q, want %q", tt.from, tt.to, tt.test, got, tt.want)
		}
	}
}

// TestReadModule checks that files for other platforms count, and that files outside the module do
// not.
func TestReadModule(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a [b]")
	files := map[string]string{
		"a.go":               "package m\n",
		"simd/x_s390x.go":    "package simd\nimport \"example.com/m/rans\"\n",
		"simd/x_plan9.go":    "//go:build never\n\npackage simd\nimport _ \"example.com/m/lz77\"\n",
		"simd/x_test.go":     "package simd_test\nimport (\n\t\"testing\"\n)\n",
		"simd/gen.go":        "//go:build ignore\n\npackage main\nimport \"example.com/m/hidden\"\n",
		"testdata/x.go":      "package x\nimport \"example.com/m/hidden\"\n",
		".ci/x.go":           "package x\nimport \"example.com/m/hidden\"\n",
		"simd/gen/go.mod":    "module other\n",
		"simd/gen/x.go":      "package x\nimport \"example.com/m/hidden\"\n",
		"docs/no-package.md": "import\n",
	}
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	imports, dirs, err := readModule(root, "example.com/m")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(dirs, " "); got != "example.com/m example.com/m/simd" {
		t.Errorf("packages: %s", got)
	}
	var got []string
	for _, u := range imports {
		line := filepath.ToSlash(u.pos) + " " + u.to
		if u.test {
			line += " test"
		}
		got = append(got, line)
	}
	const want = `simd/x_plan9.go:4 example.com/m/lz77
simd/x_s390x.go:2 example.com/m/rans
simd/x_test.go:3 testing test`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("imports:\n%s\nwant:\n%s", s, want)
	}
}

// TestStaleRows checks that all rows are current for a module that needs them, and that missing
// imports and packages are found.
func TestStaleRows(t *testing.T) {
	var imports []importUse
	var dirs []string
	for name := range packages {
		dirs = append(dirs, path.Join(m, name))
	}
	for a := range sideways {
		imports = append(imports, importUse{from: m + "/" + a.from, to: m + "/" + a.to})
	}
	for module, users := range foreign {
		for _, user := range users {
			imports = append(imports, importUse{from: path.Join(m, user), to: module})
		}
	}
	if rows := staleRows(m, imports, dirs); rows != nil {
		t.Errorf("stale rows: %q, want none", rows)
	}
	want := 1 // a package
	for i, u := range imports {
		imports[i].test = true // needs a row only for another module
		if _, ok := inModule(m, u.to); ok {
			want++
		}
	}
	if rows := staleRows(m, imports, dirs[1:]); len(rows) != want {
		t.Errorf("%d stale rows, want %d: %q", len(rows), want, rows)
	}
}

// TestCheckTags checks that optional modules and cgo need their build constraint.
func TestCheckTags(t *testing.T) {
	for _, tt := range []struct {
		from, to, tag string
		want          string
	}{
		{"/gpu/webgpu", "C", "webgpu && cgo", ""},
		{"/gpu/webgpu", "C", "", "pure Go"},
		{"/gpu/webgpu", "C", "!webgpu", "pure Go"},
		{"/gpu", "C", "webgpu && cgo", "pure Go"},
		{"/gpu/webgpu", "github.com/cogentcore/webgpu/wgpu", "webgpu && cgo", ""},
		{"/gpu/webgpu", "github.com/cogentcore/webgpu/wgpu", "", "build constraint"},
		{"/gpu", "github.com/cogentcore/webgpu/wgpu", "webgpu && cgo", "only for"},
	} {
		got := check(m, importUse{from: m + tt.from, to: tt.to, tag: tt.tag})
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s → %s (%s): %q, want %q", tt.from, tt.to, tt.tag, got, tt.want)
		}
	}
}
