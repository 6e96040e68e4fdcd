package zstd_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// mayFail are the functions of klauspost/compress that may fail, and why. Only what they say about
// the bytes and sizes of output, and names that the package leaves out, are reasons.
var mayFail = map[string]string{}

// peerFiles are the files whose tests, examples and benchmarks are taken. Others have helpers.
var peerFiles = []string{
	"decodeheader_test.go", "decoder_test.go", "dict_test.go", "enc_jobs_test.go",
	"encoder_options_test.go", "encoder_test.go", "example_test.go", "zip_test.go", "zstd_test.go",
}

const (
	self     = "github.com/gopz/compress/zstd"
	peerRoot = "github.com/klauspost/compress"
	peer     = peerRoot + "/zstd"
)

// peerNames stands in for two names that klauspost's tests use of the inside of the package, and
// for a function of the tests that ends the process if a test takes long, as it may on a busy
// machine.
const peerNames = `package zstd_test

import (
	"time"

	. "` + peer + `"
)

const (
	speedNotSet = EncoderLevel(0)
	speedLast   = SpeedBestCompression + 1
)

func timeout(time.Duration) (cancel func()) { return func() {} }
`

// namesFile is the name of that file.
const namesFile = "names_test.go"

// replaced is the function that peerNames has.
const replaced = "timeout"

// peerHash stands in for the package of that name inside of klauspost/compress.
const peerHash = `package xxhash

import "github.com/cespare/xxhash/v2"

type Digest = xxhash.Digest

func New() *Digest          { return xxhash.New() }
func Sum64(b []byte) uint64 { return xxhash.Sum64(b) }
`

var peerRun = flag.String("peer", "", "of klauspost's tests run only those that match, with any output")

// TestPeer runs the tests and examples that klauspost/compress has for its package zstd. It takes
// them from the module cache, and keeps the functions that compile outside of that package, against
// that package. All of them must compile against this one, and pass, but for those in mayFail.
func TestPeer(t *testing.T) {
	testenv.Slow(t)
	p := newPeers(t)
	p.keepCompiling(t)
	want := p.functions()
	binary := p.compile(t)
	args := []string{"-test.v", "-test.timeout=60m", "-test.run=" + *peerRun}
	if !testenv.All() {
		args = append(args, "-test.short")
	}
	run := exec.Command(binary, args...)
	run.Dir = p.dir
	out, err := run.CombinedOutput()
	results := map[string]string{}
	for _, m := range peerResult.FindAllStringSubmatch(string(out), -1) {
		results[m[2]] = m[1]
	}
	count := map[string]int{}
	for _, name := range want {
		result := results[name]
		count[result]++
		why, listed := mayFail[name]
		switch {
		case result == "" && *peerRun == "":
			t.Errorf("%s has not run", name)
		case result == "FAIL" && !listed:
			t.Errorf("%s fails", name)
		case result == "PASS" && listed:
			t.Errorf("%s passes, although %s", name, why)
		}
	}
	if *peerRun != "" {
		t.Logf("%s", out)
	} else if t.Failed() {
		t.Logf("%v\n%s", err, failures(string(out)))
	}
	t.Logf("%d functions: %d passed, %d skipped, %d failed",
		len(want), count["PASS"], count["SKIP"], count["FAIL"])
}

var peerResult = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\S+)`)

// failures returns the last lines of what a run has printed, and those about failures.
func failures(out string) string {
	lines := strings.Split(out, "\n")
	var list []string
	for i, line := range lines {
		if strings.Contains(line, "--- FAIL") || i > len(lines)-60 {
			list = append(list, lines[i:min(len(lines), i+4)]...)
		}
	}
	return strings.Join(list[:min(len(list), 400)], "\n")
}

// peers are the tests of klauspost/compress.
type peers struct {
	root     string // of klauspost's module
	dir      string // where they run: a copy of the data of their package
	fset     *token.FileSet
	files    []*ast.File
	importer types.Importer
}

// newPeers reads the tests from the module cache.
func newPeers(t *testing.T) *peers {
	t.Helper()
	tool := testenv.Tool(t, "go")
	out, err := exec.Command(tool, "list", "-m", "-f", "{{.Dir}}", peerRoot).Output()
	root := strings.TrimSpace(string(out))
	if err != nil || root == "" {
		testenv.Missing(t, "the source of klauspost/compress")
	}
	tmp := t.TempDir()
	p := &peers{root: root, dir: filepath.Join(tmp, "zstd"), fset: token.NewFileSet()}
	copyTree(t, filepath.Join(tmp, "testdata"), filepath.Join(root, "testdata"))
	copyTree(t, filepath.Join(p.dir, "testdata"), filepath.Join(root, "zstd", "testdata"))
	names, _ := filepath.Glob(filepath.Join(root, "zstd", "*_test.go"))
	imports := map[string]bool{peer: true}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(src, []byte("//go:build")) {
			p.add(t, filepath.Base(name), src, imports)
		}
	}
	p.add(t, namesFile, []byte(peerNames), imports)
	p.importer = newImporter(t, p.fset, slices.Sorted(maps.Keys(imports))...)
	return p
}

// newImporter returns an importer of compiled packages, and of what they import.
func newImporter(t *testing.T, fset *token.FileSet, packages ...string) types.Importer {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}, packages...)
	out, err := exec.Command(testenv.Tool(t, "go"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[path] = file
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
}

// leftOut are the names of klauspost/compress that this package does not have, or has with another
// type. The package says why.
var leftOut = []string{
	"SnappyConverter", "ErrSnappyCorrupt", "ErrSnappyTooLarge", "ErrSnappyUnsupported",
	"InspectDictionary",
}

// TestNames checks that all names of klauspost/compress are there, with the same types, and no
// others.
func TestNames(t *testing.T) {
	testenv.Slow(t)
	fset := token.NewFileSet()
	im := newImporter(t, fset, peer, self)
	names := map[string]map[string]string{}
	for _, path := range []string{peer, self} {
		pkg, err := im.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		names[path] = exported(pkg)
	}
	for name, want := range names[peer] {
		first, _, _ := strings.Cut(name, ".")
		if got := names[self][name]; got != want && !slices.Contains(leftOut, first) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name := range names[self] {
		if _, ok := names[peer][name]; !ok && name != "TrainDict" {
			t.Errorf("%s is only ours", name)
		}
	}
	t.Logf("%d names", len(names[self]))
}

// exported returns the exported names of a package with their types, and the fields and methods of
// types.
func exported(pkg *types.Package) map[string]string {
	list := map[string]string{}
	qualifier := func(p *types.Package) string {
		if p == pkg {
			return "zstd"
		}
		return p.Path()
	}
	add := func(name string, o types.Object) {
		list[name] = types.TypeString(o.Type(), qualifier)
		if s, ok := o.Type().(*types.Signature); ok { // without names of parameters
			list[name] = fmt.Sprintf("func%v %v, variadic %v",
				typesOf(s.Params(), qualifier), typesOf(s.Results(), qualifier), s.Variadic())
		}
	}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		add(name, o)
		if c, ok := o.(*types.Const); ok {
			list[name] += " = " + c.Val().ExactString()
		}
		if _, ok := o.(*types.TypeName); !ok {
			continue
		}
		methods := types.NewMethodSet(types.NewPointer(o.Type()))
		for m := range methods.Methods() {
			if m.Obj().Exported() {
				add(name+"."+m.Obj().Name(), m.Obj())
			}
		}
		s, ok := o.Type().Underlying().(*types.Struct)
		if !ok {
			list[name] += " " + types.TypeString(o.Type().Underlying(), qualifier)
			continue
		}
		for f := range s.Fields() {
			if f.Exported() {
				add(name+"."+f.Name(), f)
			}
		}
	}
	return list
}

func copyTree(t *testing.T, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// add parses a file and makes it one of an external test package. Of a file that is not listed it
// keeps helpers alone.
func (p *peers) add(t *testing.T, name string, src []byte, imports map[string]bool) {
	t.Helper()
	outside := []byte("package zstd_test; import . \"" + peer + "\"\n")
	src = bytes.Replace(src, []byte("package zstd\n"), outside, 1)
	file, err := parser.ParseFile(p.fset, name, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range file.Imports {
		imports[strings.Trim(spec.Path.Value, `"`)] = true
	}
	drop := func(f *ast.FuncDecl) bool {
		return runs(f.Name.Name) && !slices.Contains(peerFiles, name) ||
			f.Name.Name == replaced && name != namesFile
	}
	file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		if ok && drop(f) {
			p.dropComments(file, f)
			return true
		}
		return false
	})
	p.files = append(p.files, file)
}

// runs reports whether a function of that name is a test, an example or a benchmark.
func runs(name string) bool {
	for _, prefix := range []string{"Test", "Example", "Benchmark", "Fuzz"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// functions returns the names of tests and examples.
func (p *peers) functions() (names []string) {
	for _, file := range p.files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Name.Name == "TestMain" {
				continue
			}
			if strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Example") {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// keepCompiling drops declarations until what is left compiles against klauspost's package.
func (p *peers) keepCompiling(t *testing.T) {
	t.Helper()
	var dropped []string
	for range 20 {
		var at []token.Pos
		unused := map[string]bool{}
		conf := types.Config{Importer: p.importer, Error: func(err error) {
			e := err.(types.Error)
			if strings.HasPrefix(e.Msg, `"`) && strings.HasSuffix(e.Msg, "and not used") {
				unused[p.fset.Position(e.Pos).String()] = true
			} else {
				at = append(at, e.Pos)
			}
		}}
		conf.Check("zstd_test", p.fset, p.files, nil)
		if len(at) == 0 && len(unused) == 0 {
			t.Logf("%d declarations use what klauspost's package does not export: %s",
				len(dropped), strings.Join(dropped, " "))
			return
		}
		for _, file := range p.files {
			dropped = append(dropped, p.dropAt(file, at)...)
			p.dropImports(file, unused)
		}
	}
	t.Fatal("klauspost's tests do not compile against klauspost's package")
}

// dropAt drops the declarations of a file that contain a position. It returns their names.
func (p *peers) dropAt(file *ast.File, at []token.Pos) (names []string) {
	bad := func(node ast.Node) bool {
		for _, pos := range at {
			if node.Pos() <= pos && pos < node.End() {
				names = append(names, nameOf(node))
				p.dropComments(file, node)
				return true
			}
		}
		return false
	}
	file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			return bad(d)
		}
		if g.Tok == token.IMPORT {
			return false
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool { return bad(s) })
		return len(g.Specs) == 0
	})
	return names
}

// nameOf returns the name of a declaration.
func nameOf(node ast.Node) string {
	switch d := node.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.TypeSpec:
		return d.Name.Name
	case *ast.ValueSpec:
		return d.Names[0].Name
	}
	return "?"
}

// dropComments drops the comments within a node, which the printer would move.
func (p *peers) dropComments(file *ast.File, node ast.Node) {
	from := node.Pos()
	if f, ok := node.(*ast.FuncDecl); ok && f.Doc != nil {
		from = f.Doc.Pos()
	}
	file.Comments = slices.DeleteFunc(file.Comments, func(c *ast.CommentGroup) bool {
		return from <= c.Pos() && c.End() <= node.End()
	})
}

// dropImports drops unused imports.
func (p *peers) dropImports(file *ast.File, unused map[string]bool) {
	file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			return false
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool {
			return unused[p.fset.Position(s.Pos()).String()]
		})
		return len(g.Specs) == 0
	})
}

// compile compiles the tests against this package, in place of its own tests. It returns the
// program.
func (p *peers) compile(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	place := func(name string, source []byte) {
		path := filepath.Join(tmp, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(path, source, 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(here, filepath.FromSlash(name))] = path
	}
	ours, _ := filepath.Glob(filepath.Join(here, "*_test.go"))
	for _, file := range ours {
		overlay.Replace[file] = "" // deleted
	}
	imports := strings.NewReplacer(
		`"`+peerRoot+`/internal/`, `"`+self+`/internal/peer/`,
		`"`+peer+`/internal/`, `"`+self+`/internal/peer/`, `"`+peer+`"`, `"`+self+`"`)
	for i, file := range p.files {
		var b bytes.Buffer
		if err := format.Node(&b, p.fset, file); err != nil {
			t.Fatal(err)
		}
		place(fmt.Sprintf("peer%d_test.go", i), []byte(imports.Replace(b.String())))
	}
	place("internal/peer/xxhash/xxhash.go", []byte(peerHash))
	silesia, err := os.ReadFile(filepath.Join(p.root, "internal", "silesiatest", "silesiatest.go"))
	if err != nil {
		t.Fatal(err)
	}
	place("internal/peer/silesiatest/silesiatest.go", silesia)
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	config, binary := filepath.Join(tmp, "overlay.json"), filepath.Join(tmp, "peer.test")
	if err := os.WriteFile(config, list, 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command(testenv.Tool(t, "go"),
		"test", "-c", "-vet=off", "-overlay", config, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// typesOf returns the types of parameters.
func typesOf(params *types.Tuple, qualifier types.Qualifier) (list []string) {
	for v := range params.Variables() {
		list = append(list, types.TypeString(v.Type(), qualifier))
	}
	return list
}
