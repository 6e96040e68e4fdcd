//go:build unix

package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A writingRun is a run of pz that writes files, with what it promises about them whenever it is
// interrupted. All names are relative to the directory that it runs in.
type writingRun struct {
	name     string
	args     []string
	before   map[string]string // contents of the files in the directory
	promises []promise
}

// A promise is what a run promises about one of its results: at any moment the source is there, or
// the complete result under its name. A result that the run replaces stays until then. No other
// file ever has the name of the result.
type promise struct {
	source, result string
	removes        bool   // the source goes at the end
	content        string // of the result, or what it restores to; "" for that of an archive or an index
}

// writingRuns returns runs of all kinds. Each of the three directories of a tree has perDir files.
func writingRuns(t *testing.T, perDir int) (runs []writingRun) {
	content := sample(100_000)
	packed := pz(t, content, "-B16K").want(t, exitOK).out
	add := func(name, args string, before map[string]string, promises ...promise) {
		runs = append(runs, writingRun{name, strings.Fields(args), before, promises})
	}
	for _, c := range []struct{ name, args, source, result string }{
		{"compress", "-B16K in", "in", "in.pz"},
		{"decompress", "-d in.pz", "in.pz", "in"},
		{"parity", "--parity 10 -B16K in", "in", "in.pz"},
		{"gz", "--format gz in", "in", "in.gz"},
		{"zst", "--format zst -o out.zst in", "in", "out.zst"},
		{"output directory", "--output-dir new in", "in", "new/in.pz"},
	} {
		in := content
		if c.source == "in.pz" {
			in = packed
		}
		source := map[string]string{c.source: in}
		both := map[string]string{c.source: in, c.result: "old"}
		for _, remove := range []string{"--keep", "--rm", "--rm=fast"} {
			p := promise{c.source, c.result, remove != "--keep", content}
			add(c.name+" "+remove, remove+" "+c.args, source, p)
			add(c.name+" -f "+remove, "-f "+remove+" "+c.args, both, p)
		}
	}
	intact := pz(t, content, "--parity", "10", "-B16K").want(t, exitOK).out
	damaged := intact[:1000] + "damage" + intact[1006:]
	p := promise{"in.pz", "out.pz", false, intact}
	add("repair", "--repair -o out.pz in.pz", map[string]string{"in.pz": damaged}, p)
	add("repair -f", "--repair -f -o out.pz in.pz",
		map[string]string{"in.pz": damaged, "out.pz": "old"}, p)
	gz := pz(t, content, "--format", "gz").want(t, exitOK).out
	add("index", "--index in.gz", map[string]string{"in.gz": gz},
		promise{"in.gz", "in.gz.gzidx", false, ""})
	return append(runs, treeRuns(t, perDir)...)
}

// treeRuns returns runs on directories.
func treeRuns(t *testing.T, perDir int) []writingRun {
	plain, packed := map[string]string{}, map[string]string{}
	for i := range perDir {
		for _, dir := range []string{"p", "p/sub", "q"} {
			name := fmt.Sprintf("%s/f%03d", dir, i)
			plain[name] = sample(500 + 37*i)
			packed[name+".pz"] = pz(t, plain[name]).want(t, exitOK).out
		}
	}
	compress := writingRun{name: "-r --rm", args: []string{"-r", "--rm", "p", "q"}, before: plain}
	output := writingRun{
		name: "-r --rm --output-dir", args: []string{"-r", "--rm", "--output-dir", "new", "p", "q"},
		before: plain,
	}
	replace := writingRun{
		name: "-r -f", args: []string{"-r", "-f", "p", "q"}, before: maps.Clone(plain),
	}
	restore := writingRun{
		name: "-d -r --rm", args: []string{"-d", "-r", "--rm", "p", "q"}, before: packed,
	}
	pack := writingRun{name: "--tar", args: []string{"--tar", "-o", "a.tar.pz", "p", "q"}, before: plain}
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		content := plain[name]
		replace.before[name+".pz"] = "old"
		compress.promises = append(compress.promises, promise{name, name + ".pz", true, content})
		output.promises = append(output.promises, promise{name, "new/" + name + ".pz", true, content})
		replace.promises = append(replace.promises, promise{name, name + ".pz", false, content})
		restore.promises = append(restore.promises, promise{name + ".pz", name, true, content})
		pack.promises = append(pack.promises, promise{name, "a.tar.pz", false, ""})
	}
	return append([]writingRun{compress, output, replace, restore, pack}, extractRuns(t, plain)...)
}

// extractRuns returns runs that extract an archive of a tree with links.
func extractRuns(t *testing.T, tree map[string]string) []writingRun {
	dir := t.TempDir()
	fill(t, dir, tree)
	err := errors.Join(os.Symlink("f000", filepath.Join(dir, "p", "link")),
		os.Link(filepath.Join(dir, "p", "f000"), filepath.Join(dir, "q", "hard")))
	if err != nil {
		t.Fatal(err)
	}
	cmd := command("--tar", "-c", "p", "q")
	cmd.Dir = dir
	archive, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	content := maps.Clone(tree)
	content["p/link"], content["q/hard"] = "-> f000", tree["p/f000"]
	extract := func(name, member string, before map[string]string, options ...string) writingRun {
		before["a.tar.pz"] = string(archive)
		r := writingRun{name: name, before: before}
		r.args = append(options, "-x", "--output-dir", "new", "a.tar.pz", member)
		for _, name := range slices.Sorted(maps.Keys(content)) {
			if strings.HasPrefix(name, member) {
				p := promise{"a.tar.pz", "new/" + name, false, content[name]}
				r.promises = append(r.promises, p)
			}
		}
		return r
	}
	old := map[string]string{}
	for name := range content {
		old["new/"+name] = "old"
	}
	return []writingRun{
		extract("-x", "p", map[string]string{}),
		extract("-x to a directory", "p/sub", map[string]string{"new/p/other": "old"}),
		extract("-x -f", "p", old, "-f"),
		extract("-x -f of a hard link", "q/hard", maps.Clone(old), "-f"),
	}
}

// fill creates files in a directory. They and all directories have the same time.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		write(t, content, dir, name)
	}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, time.Time{}, time.Unix(1_700_000_000, 0)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// filesIn returns the contents of the files in a directory and below, without temporary ones. temps
// is the number of those.
func filesIn(t *testing.T, dir string) (files map[string]string, temps int) {
	t.Helper()
	files = map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case isTempName(d.Name()):
			temps++
			return nil
		}
		name, _ := filepath.Rel(dir, path)
		if d.Type() == os.ModeSymlink {
			target, err := os.Readlink(path)
			files[filepath.ToSlash(name)] = "-> " + target
			return err
		}
		b, err := os.ReadFile(path)
		files[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, temps
}

// checkEnd checks the files that a complete run has left in a directory.
func (r *writingRun) checkEnd(t *testing.T, dir string) {
	t.Helper()
	files, temps := filesIn(t, dir)
	if temps > 0 {
		t.Errorf("%d temporary files are left", temps)
	}
	for _, p := range r.promises {
		if _, ok := files[p.source]; ok == p.removes {
			t.Errorf("%s is there: %t", p.source, ok)
		}
		switch result := files[p.result]; {
		case result == "" || result == "old":
			t.Errorf("%s has the content %q", p.result, result)
		case p.content != "" && result != p.content:
			wantContent(t, unpz(t, filepath.Join(dir, p.result)), p.content)
		}
	}
}
