package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckCatches feeds the checker a module that does not exist: every rule must catch what it is for, and nothing else.
func TestCheckCatches(t *testing.T) {
	const m = "example.com/m"
	tests := []struct {
		from, to string
		test     bool
		want     string // part of the message; "" for none
	}{
		// Down is allowed, one floor or several.
		{m + "/internal/cli", m, false, ""},
		{m + "/cmd/pz", m + "/internal/cli", false, ""},
		{m, m + "/pipeline", false, ""},
		{m, m + "/internal/pzfile", false, ""},
		{m + "/pipeline", m + "/lz77", false, ""},
		{m + "/pipeline", m + "/simd", false, ""},
		{m + "/rans", m + "/simd", false, ""},
		{m + "/huffman", m + "/internal/bitio", false, ""},

		// Up is not.
		{m + "/pipeline", m, false, "points up"},
		{m + "/simd", m + "/rans", false, "points up"},
		{m + "/lz77", m + "/pipeline", false, "points up"},
		{m + "/gpu", m + "/pipeline", false, "points up"},
		{m, m + "/internal/cli", false, "points up"},

		// Sideways only where the table says so, and in that direction.
		{m + "/lzseq", m + "/lz77", false, ""},
		{m + "/lz77", m + "/lzseq", false, "one floor"},
		{m + "/huffman", m + "/fse", false, ""},
		{m + "/rans", m + "/fse", false, "one floor"},
		{m + "/pipeline", m + "/internal/pzfile", false, "one floor"},
		{m + "/internal/pzfile", m + "/pipeline", false, "one floor"},
		{m + "/internal/seqdump", m + "/examples/profile", false, "one floor"},

		// Programs use the public package alone.
		{m + "/internal/cli", m + "/pipeline", false, "public package only"},
		{m + "/internal/cli", m + "/internal/pzfile", false, "public package only"},

		// Developers' tools look at everything, and nobody looks at them.
		{m + "/internal/seqdump", m + "/lz77", false, ""},
		{m + "/internal/seqdump", m + "/pipeline", false, ""},
		{m + "/internal/cli", m + "/internal/seqdump", false, "points up"},
		{m + "/internal/seqdump", m + "/internal/corpus", false, ""},

		// The workshop is for tests, and stands alone.
		{m, m + "/internal/corpus", false, "for tests only"},
		{m + "/internal/cli", m + "/internal/corpus", false, "for tests only"},
		{m + "/internal/refdec", m + "/internal/corpus", false, "stand alone"},
		{m + "/internal/corpus", m + "/lz77", false, "stand alone"},
		{m + "/simd", m + "/internal/corpus", true, ""},

		// Only some main packages link GPU drivers, and only the drivers import their bindings.
		{m + "/gpu/pz", m + "/gpu/webgpu", false, ""},
		{m + "/gpu/pz", m + "/gpu/opengl", false, ""},
		{m + "/gpu/pz", m + "/internal/cli", false, ""},
		{m + "/gpu/pz", m, false, "calls a program"},
		{m + "/cmd/pz", m + "/gpu/webgpu", false, "link a GPU driver"},
		{m + "/internal/cli", m + "/gpu/opengl", false, "link a GPU driver"},
		{m, m + "/gpu/webgpu", false, "link a GPU driver"},
		{m, m + "/gpu/webgpu", true, "link a GPU driver"},
		{m + "/gpu", m + "/gpu/opengl", true, "link a GPU driver"},
		{m, "github.com/cogentcore/webgpu/wgpu", true, "and their tests"},
		{m + "/gpu/opengl", "github.com/cogentcore/webgpu/wgpu", true, "and their tests"},

		// A suite of tests may use the workshop, but looks sideways only where it may, and nobody but tests looks at it.
		{m + "/gpu/gputest", m + "/internal/corpus", false, ""},
		{m + "/gpu/gputest", m + "/lz77", false, ""},
		{m + "/gpu/gputest", m + "/huffman", false, "one floor"},
		{m + "/gpu/gputest", m + "/pipeline", false, "points up"},
		{m + "/pipeline", m + "/gpu/gputest", true, ""},
		{m + "/pipeline", m + "/gpu/gputest", false, "for tests only"},
		{m + "/gpu/webgpu", m + "/gpu/gputest", false, "for tests only"},

		// Tests look beside and below, never up.
		{m + "/lzseq", m + "/rans", true, ""},
		{m, m + "/internal/pzfile", true, ""},
		{m + "/internal/cli", m + "/internal/pzfile", true, ""},
		{m + "/rans", m + "/pipeline", true, "lies above"},

		// Packages that nobody has given a place.
		{m + "/nosuch", "fmt", false, "add it to the table"},
		{m, m + "/nosuch", false, "add it to the table"},
		{m, m + "/pipeline/nosuch", true, "add it to the table"},

		// Others' modules.
		{m + "/internal/cli", "github.com/spf13/pflag", false, ""},
		{m + "/internal/cli", "golang.org/x/sys/unix", false, ""},
		{m, "github.com/spf13/pflag", false, "only for"},
		{m + "/pipeline", "github.com/spf13/pflag", false, "only for"},
		{m + "/zstd", "github.com/klauspost/compress/zstd", false, "only for"},
		{m, "github.com/klauspost/compress/zstd", true, ""},
		{m, "github.com/klauspost/compressor", true, "new dependency"},
		{m + "/internal/cli", "example.org/x", false, "new dependency"},
		{m, "example.com/mm", false, "new dependency"},
		{m + "/simd", "C", false, "pure Go"},
		{m + "/simd", "encoding/binary", false, ""},
	}
	for _, tt := range tests {
		got := check(m, use{from: tt.from, to: tt.to, test: tt.test})
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s → %s (test %v): %q, want %q", tt.from, tt.to, tt.test, got, tt.want)
		}
	}
}

// TestReadModuleSeesAllPlatforms checks the walk: files for other platforms count, and what is not of the module does not.
func TestReadModuleSeesAllPlatforms(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a [b]")
	files := map[string]string{
		"a.go":               "package m\n",
		"simd/x_s390x.go":    "package simd\nimport \"example.com/m/rans\"\n",
		"simd/x_plan9.go":    "//go:build never && ever\n\npackage simd\nimport _ \"example.com/m/lz77\"\n",
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
	uses, dirs, err := readModule(root, "example.com/m")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(dirs, " "); got != "example.com/m example.com/m/simd" {
		t.Errorf("packages: %s", got)
	}
	var got []string
	for _, u := range uses {
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

// TestStale: rows without anything are found, the others are not.
func TestStale(t *testing.T) {
	const m = "example.com/m"
	var uses []use
	var dirs []string
	for name := range packages {
		dirs = append(dirs, strings.TrimSuffix(m+"/"+name, "/"))
	}
	for a := range sideways {
		uses = append(uses, use{from: m + "/" + a.from, to: m + "/" + a.to})
	}
	for module, users := range foreign {
		for _, user := range users {
			uses = append(uses, use{from: strings.TrimSuffix(m+"/"+user, "/"), to: module})
		}
	}
	if rows := stale(m, uses, dirs); rows != nil {
		t.Errorf("nothing is stale: %q", rows)
	}
	for i := range uses {
		uses[i].test = true // does not count
	}
	want := 1 + len(uses)
	if rows := stale(m, uses, dirs[1:]); len(rows) != want {
		t.Errorf("%d rows are stale, want %d: %q", len(rows), want, rows)
	}
}

// TestCheckTags: what is optional is behind its build tag.
func TestCheckTags(t *testing.T) {
	const m = "example.com/m"
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
		got := check(m, use{from: m + tt.from, to: tt.to, tag: tt.tag})
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s → %s (%s): %q, want %q", tt.from, tt.to, tt.tag, got, tt.want)
		}
	}
}
