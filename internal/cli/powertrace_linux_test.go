package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// A history is what a run did to the files in a directory. Moments are numbers of lines of a trace.
type history struct {
	dir     string
	initial map[string]*node // by path, with that of dir
	final   map[string]*node
	changes []change
	syncs   map[string][]span // by path, of directories and of files
	log     []string          // lines of the trace
	end     int               // the last one
}

// A node is a file, a directory or a symbolic link.
type node struct {
	old    bool   // was there before the run
	writes []span // of content
	syncs  []span
}

// span is when a system call took place.
type span struct{ begin, end int }

// A change gives the name add to a node, or takes the name remove away, or both at once.
type change struct {
	span
	add, remove string // paths
	node        *node  // of add
}

// tracedCalls are the system calls that change files or bring them to disk.
const tracedCalls = "?open,?creat,openat,openat2,write,writev,pwrite64,pwritev,ftruncate,fallocate," +
	"copy_file_range,sendfile,splice,fsync,fdatasync,?rename,renameat,renameat2,?link,linkat," +
	"?unlink,unlinkat,?rmdir,?symlink,symlinkat,?mkdir,mkdirat"

// trace runs pz in a directory under strace, and returns what it did there.
func trace(t *testing.T, dir string, args ...string) *history {
	t.Helper()
	strace := testenv.Tool(t, "strace")
	cmd := command(args...)
	out := filepath.Join(t.TempDir(), "trace")
	cmd.Args = append([]string{strace, "-f", "--seccomp-bpf", "-qq", "-y", "-s", "300", "-o", out,
		"-e", "signal=none", "-e", "trace=" + tracedCalls, "--", cmd.Path}, args...)
	cmd.Path, cmd.Dir = strace, dir
	h := newHistory(t, dir)
	if text, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != exitWarning {
		t.Fatalf("%v: %s", err, text)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	h.read(t, text)
	return h
}

// newHistory returns a history without events. All that is in the directory is on disk.
func newHistory(t *testing.T, dir string) *history {
	h := &history{
		dir: dir, initial: map[string]*node{}, final: map[string]*node{}, syncs: map[string][]span{},
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		h.initial[path] = &node{old: true}
		h.final[path] = h.initial[path]
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var (
	wholeCall  = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`)
	begunCall  = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	endedCall  = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+)`)
	exitedLine = regexp.MustCompile(`^\d+ +(\+\+\+|\?\?\?\(|<\.\.\. \w+ resumed>.*= \?|\w+\(.*= \?)`)
)

// read adds the calls of a trace to the history.
func (h *history) read(t *testing.T, text []byte) {
	type begun struct {
		line int
		args string
	}
	open := map[string]begun{} // by thread
	var calls []call
	for line := range strings.Lines(string(bytes.TrimSpace(text))) {
		line = strings.TrimSpace(line)
		h.log = append(h.log, line)
		h.end++
		if m := begunCall.FindStringSubmatch(line); m != nil {
			open[m[1]] = begun{h.end, m[3]}
			continue
		}
		m, since := wholeCall.FindStringSubmatch(line), begun{line: h.end}
		if m == nil {
			if m = endedCall.FindStringSubmatch(line); m == nil {
				if !exitedLine.MatchString(line) {
					t.Fatalf("unknown line of strace: %s", line)
				}
				continue
			}
			since = open[m[1]]
		}
		if !strings.HasPrefix(m[4], "-") {
			calls = append(calls, call{span{since.line, h.end}, m[2], since.args + m[3]})
		}
	}
	for _, c := range calls {
		h.apply(t, c)
	}
}

// A call is a system call that succeeded.
type call struct {
	span
	name, args string
}

var (
	fdPath   = regexp.MustCompile(`^(?:\d+|AT_FDCWD)<([^>]*)>`)
	pathArgs = regexp.MustCompile(`(?:\d+|AT_FDCWD)<([^>]*)>, "([^"]*)"`)
	fdArgs   = regexp.MustCompile(`\d+<([^>]*)>`)
)

// paths returns the paths that a call names relative to directories.
func (c call) paths() (paths []string) {
	for _, m := range pathArgs.FindAllStringSubmatch(c.args, -1) {
		path := m[2]
		if !filepath.IsAbs(path) {
			path = filepath.Join(m[1], path)
		}
		paths = append(paths, filepath.Clean(path))
	}
	return paths
}

// inside reports whether a path belongs to the directory of the history.
func (h *history) inside(path string) bool {
	return path == h.dir || strings.HasPrefix(path, h.dir+"/")
}

// apply adds a call. It knows those that pz uses, and fails for others.
func (h *history) apply(t *testing.T, c call) {
	if !strings.Contains(c.args, h.dir) {
		return
	}
	paths := c.paths()
	switch c.name {
	case "openat":
		if strings.Contains(c.args, "O_CREAT") && h.final[paths[0]] == nil {
			h.change(change{c.span, paths[0], "", new(node)})
		}
		if strings.Contains(c.args, "O_TRUNC") && h.inside(paths[0]) {
			t.Fatalf("pz truncates a file in place: %s", c.args)
		}
	case "mkdirat":
		h.change(change{c.span, paths[0], "", new(node)})
	case "symlinkat": // "target", fd, "name"
		h.change(change{c.span, paths[0], "", new(node)})
	case "renameat", "renameat2":
		if filepath.Dir(paths[0]) != filepath.Dir(paths[1]) {
			t.Fatalf("pz renames a file to another directory: %s", c.args)
		}
		h.change(change{c.span, paths[1], paths[0], h.final[paths[0]]})
	case "linkat":
		h.change(change{c.span, paths[1], "", h.final[paths[0]]})
	case "unlinkat":
		h.change(change{c.span, "", paths[0], nil})
	case "write", "pwrite64", "ftruncate", "fsync", "fdatasync":
		h.data(t, c, fdPath.FindStringSubmatch(c.args)[1])
	default:
		for _, m := range fdArgs.FindAllStringSubmatch(c.args, -1) {
			if h.inside(m[1]) {
				t.Fatalf("the model of a disk does not know %s(%s)", c.name, c.args)
			}
		}
	}
}

// data adds a call that writes or syncs an open file.
func (h *history) data(t *testing.T, c call, path string) {
	if !h.inside(path) || strings.HasSuffix(path, "(deleted)") {
		return
	}
	n := h.final[path]
	switch {
	case n == nil:
		t.Fatalf("%s of a file that was never created: %s", c.name, c.args)
	case c.name != "fsync" && c.name != "fdatasync":
		if n.old {
			t.Fatalf("pz writes to a file that was there: %s", c.args)
		}
		n.writes = append(n.writes, c.span)
	default:
		n.syncs = append(n.syncs, c.span)
		h.syncs[path] = append(h.syncs[path], c.span)
	}
}

func (h *history) change(c change) {
	if !h.inside(c.add) && !h.inside(c.remove) {
		return
	}
	h.changes = append(h.changes, c)
	c.apply(h.final)
}

// dir returns the directory of the names.
func (c *change) dir() string {
	if c.add != "" {
		return filepath.Dir(c.add)
	}
	return filepath.Dir(c.remove)
}

func (c *change) apply(tree map[string]*node) {
	if c.remove != "" {
		delete(tree, c.remove)
	}
	if c.add != "" {
		tree[c.add] = c.node
	}
}
