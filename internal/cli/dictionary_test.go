package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

// writeDocuments writes small JSON files to a directory.
func writeDocuments(t *testing.T, dir string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		write(t, string(corpus.Document(uint64(i))), dir, fmt.Sprintf("%04d.json", i))
	}
}

// TestDictionary makes dictionaries, compresses with them, and restores, lists, checks and
// recovers.
func TestDictionary(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	if err := os.Mkdir(from, 0o700); err != nil {
		t.Fatal(err)
	}
	writeDocuments(t, from, 0, 150)
	dict, other := filepath.Join(dir, "dict"), filepath.Join(dir, "other")
	pz(t, "", "--train", "-r", from, "-o", dict, "--maxdict", "16K", "--dictID=77").want(t, exitOK)
	list := ""
	for i := range 150 {
		list += filepath.Join(from, fmt.Sprintf("%04d.json\n", i))
	}
	pz(t, list, "--train", "--files-from", "-", "-vo", other, "--maxdict=4K").want(t, exitOK,
		other+": dictionary of ")
	pz(t, "", "--train", "-r", from, "-o", dict).want(t, exitWarning, "already exists")
	for _, format := range []string{"pz", "zst"} {
		testDictionaryFiles(t, format, dict, other)
	}
}

// testDictionaryFiles compresses files with the dictionary dict, whose ID is 77, and restores them.
func testDictionaryFiles(t *testing.T, format, dict, other string) {
	files := t.TempDir()
	writeDocuments(t, files, 1000, 1020)
	plain := 0
	for _, e := range dirEntries(t, files) {
		plain += len(pz(t, "", "-c", "--format", format, filepath.Join(files, e)).want(t, exitOK).out)
	}
	pz(t, "", "-D", dict, "--format", format, "--rm", "-r", files).want(t, exitOK)
	small := 0
	for _, e := range dirEntries(t, files) {
		path := filepath.Join(files, e)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		small += int(info.Size())
		pz(t, "", "-t", "-D", dict, path).want(t, exitOK)
		pz(t, "", "-l", "-D", dict, path).want(t, exitOK)
		pz(t, "", "-l", path).want(t, exitOK) // needs none
		pz(t, "", "-lv", path).want(t, exitOK, path+": restoring needs the dictionary with ID 77\n")
		listed := pz(t, "", "-l", "--json", path).want(t, exitOK).out
		if !strings.Contains(listed, `"dictionary": 77`) {
			t.Errorf("%s: no dictionary in %s", path, listed)
		}
		for _, args := range []string{"-t", "-dc", "-dc -D " + other} {
			pz(t, "", append(strings.Fields(args), path)...).want(t, exitError,
				path+": needs the dictionary with ID 77", "; give it with -D\n")
		}
		name := strings.TrimSuffix(e, ".json."+format)
		var seed uint64
		fmt.Sscan(strings.TrimLeft(name, "0"), &seed)
		want := string(corpus.Document(seed))
		wantContent(t, pz(t, "", "-dc", "-D", dict, path).want(t, exitOK).out, want)
		wantContent(t, pz(t, "", "--recover", "-c", "-D", dict, path).want(t, exitOK, "saved ").out, want)
	}
	if 2*small > plain {
		t.Errorf("%s: %d bytes with a dictionary, %d without", format, small, plain)
	}
	pz(t, "", "-d", "-D", dict, "--rm", "-r", files).want(t, exitOK)
	wantFile(t, filepath.Join(files, "1003.json"), string(corpus.Document(1003)))
}

// TestDictionaryPatch compresses a changed file with its earlier version.
func TestDictionaryPatch(t *testing.T) {
	dir := t.TempDir()
	old := string(corpus.ByName("json").Make(300_000))
	dict := write(t, old, dir, "old")
	content := "inserted" + old[:100_000] + old[101_000:] + "appended"
	packed := pz(t, content, "-9", "-D", dict).want(t, exitOK).out
	if len(packed) > 300 {
		t.Errorf("%d bytes for a few changes", len(packed))
	}
	wantContent(t, pz(t, packed, "-d", "-D", dict).want(t, exitOK).out, content)
}

// dirEntries returns the names in a directory.
func dirEntries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestDictionaryTools exchanges dictionaries and files with zstd.
func TestDictionaryTools(t *testing.T) {
	dir := t.TempDir()
	writeDocuments(t, dir, 0, 200)
	var paths []string
	for _, e := range dirEntries(t, dir) {
		paths = append(paths, filepath.Join(dir, e))
	}
	ours, theirs := filepath.Join(dir, "ours.dict"), filepath.Join(dir, "theirs.dict")
	pz(t, "", append([]string{"--train", "-o", ours, "--maxdict=8K"}, paths...)...).want(t, exitOK)
	runTool(t, "", "zstd", append([]string{"-q", "--train", "--maxdict=8KB", "-o", theirs}, paths...)...)
	raw := write(t, string(corpus.Document(7))+string(corpus.Document(8)), dir, "raw.dict")
	for i, dict := range []string{ours, theirs, raw} {
		content := string(corpus.Document(uint64(3000 + i)))
		in := write(t, content, dir, fmt.Sprint("in", i))
		packed := pz(t, content, "-D", dict, "--format=zst").want(t, exitOK).out
		wantContent(t, runTool(t, packed, "zstd", "-dcq", "-D", dict), content)
		wantContent(t, runTool(t, packed, "zstd", "-dcq", "-D", dict, "-"), content)
		packed = runTool(t, content, "zstd", "-cq", "-D", dict)
		wantContent(t, pz(t, packed, "-d", "-D", dict).want(t, exitOK).out, content)
		pz(t, "", "-k", "-D", dict, "--format=zst", in).want(t, exitOK)
		runTool(t, "", "zstd", "-tq", "-D", dict, in+".zst")
		pz(t, "", "-q", "--recover", "-D", dict, "-c", in+".zst").want(t, exitOK)
		if dict != raw {
			pz(t, "", "--recover", "-c", in+".zst").want(t, exitError,
				"lost: frame 0, ", "; it needs the dictionary with ID ", "; give it with -D")
		} else { // it has no ID
			pz(t, "", "-t", in+".zst").want(t, exitError,
				"is damaged, or needs another dictionary", "; give the dictionary it was made with to -D")
		}
	}
}

// TestDictionaryUsage checks messages about options and dictionaries that cannot be used.
func TestDictionaryUsage(t *testing.T) {
	dir := t.TempDir()
	in := write(t, string(corpus.Document(1)), dir, "in.json")
	damaged := write(t, "\x37\xa4\x30\xec\x01\x00\x00\x00\x00", dir, "damaged")
	empty := write(t, "", dir, "empty")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-D", in, "--long", in}, "--long"},
		{[]string{"-D", in, "--format", "gz", in}, "not for .gz files"},
		{[]string{"-D", damaged, "--format", "zst", in}, damaged + ": is a damaged dictionary\n"},
		{[]string{"-v", "-D", damaged, in}, ": is a damaged dictionary; details: "},
		{[]string{"-d", "-D", empty, in}, empty + ": is empty, so it is no dictionary\n"},
		{[]string{"-d", "-D", dir + "/none", in}, dir + "/none: no such file or directory"},
		{[]string{"--train", in}, "--train needs -o FILE or -c"},
		{[]string{"--train", "--rm", "-c", in}, "--rm does not go with --train"},
		{[]string{"--train", "--output-dir", dir, in}, "--output-dir does not go with --train"},
		{[]string{"--train", "-c", in}, "too few samples"},
		{[]string{"--train", "--maxdict", "100", "-c", in}, "the size of a dictionary must be"},
		{[]string{"--train", "--dictID", "0", "-c", in}, "the ID of a dictionary must be"},
	} {
		pz(t, "", c.args...).want(t, exitError, c.want)
	}
	if size := len(corpus.Document(1)); size > compress.MinBlockSize {
		t.Errorf("a document of %d bytes is not small", size)
	}
	wantGone(t, filepath.Join(dir, "in.json.pz"))
}
