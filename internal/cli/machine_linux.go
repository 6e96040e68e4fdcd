package cli

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory returns the memory in bytes that this process may have at most, or 0 if it is not
// known.
func machineMemory() int64 {
	return machineLimit(os.DirFS("/"), spaceLeft())
}

// A thread of a build with cgo reserves threadSpace bytes of address space: 8 MiB for its stack and
// 64 MiB for malloc of the C library. The runtime ends the process if it cannot start one. Besides
// the threads that run Go code, it has threads that wait in system calls: moreThreads at most.
const (
	threadSpace = 72 << 20
	moreThreads = 8
)

// spaceLeft returns how many bytes the address space of this process may still grow, or MaxInt64 if
// it has no limit. A shell sets one with ulimit -v. The Go runtime reserves much address space that
// it does not use. Threads that are still to come do not count as left.
func spaceLeft() int64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &r) != nil || rlimitBytes(r.Cur) == math.MaxInt64 {
		return math.MaxInt64
	}
	text, _ := os.ReadFile("/proc/self/statm")
	pages, _, _ := strings.Cut(string(text), " ")
	taken, _ := strconv.ParseInt(pages, 10, 64)
	left := rlimitBytes(r.Cur) - taken*int64(os.Getpagesize())
	if usesCgo() {
		threads, _ := os.ReadDir("/proc/self/task")
		left -= threadSpace * int64(max(runtime.GOMAXPROCS(0)+moreThreads-len(threads), 0))
	}
	return max(left, 0)
}

// usesCgo reports whether this is a build with cgo, in which the C library makes threads.
func usesCgo() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"})
}

// machineLimit returns the least of limit, the memory of the machine and the limits of the control
// groups of this process, or 0 if there is none. root has the directories proc and sys.
func machineLimit(root fs.FS, limit int64) int64 {
	limit = min(limit, totalMemory(root), groupMemory(root))
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// totalMemory returns the memory of the machine in bytes, or MaxInt64 if it is not known.
func totalMemory(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "MemTotal:" || f[2] != "kB" {
			continue
		}
		if n, err := strconv.ParseInt(f[1], 10, 64); err == nil && n > 0 && n <= math.MaxInt64>>10 {
			return n << 10
		}
	}
	return math.MaxInt64
}

// groupMemory returns the least memory limit in bytes of the control groups that this process is
// in, of both versions, or MaxInt64. A limit of a group holds for the groups in it.
func groupMemory(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	own := ownGroups(root)
	text, _ := fs.ReadFile(root, "proc/self/mountinfo")
	for scan := bufio.NewScanner(bytes.NewReader(text)); scan.Scan(); {
		m, ok := parseMount(scan.Text())
		group, isOwn := own[m.version]
		if !ok || !isOwn {
			continue
		}
		// A container may see only a part of the groups: the one at the root of the mount.
		at := "."
		if rest, ok := strings.CutPrefix(group+"/", strings.TrimSuffix(m.root, "/")+"/"); ok {
			at = path.Clean("./" + rest)
		}
		if strings.HasPrefix(at, "..") {
			at = "."
		}
		for {
			least = min(least, readLimit(root, path.Join(m.dir, at, m.version.limitFile())))
			if at == "." {
				break
			}
			at = path.Dir(at)
		}
	}
	return least
}

// groupVersion is the version of control groups.
type groupVersion int

func (v groupVersion) limitFile() string {
	if v == 1 {
		return "memory.limit_in_bytes"
	}
	return "memory.max"
}

// ownGroups returns the control groups that limit the memory of this process, as absolute paths.
func ownGroups(root fs.FS) map[groupVersion]string {
	own := map[groupVersion]string{}
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number, controllers, path
		switch {
		case len(f) != 3:
		case f[0] == "0" && f[1] == "":
			own[2] = f[2]
		case hasWord(f[1], "memory"):
			own[1] = f[2]
		}
	}
	return own
}

// groupMount is a place where a tree of control groups is mounted.
type groupMount struct {
	version groupVersion
	root    string // the group that is mounted
	dir     string // where, without the leading slash
}

// parseMount parses a line of mountinfo. ok is false for other file systems than one of control
// groups that limit memory.
func parseMount(line string) (m groupMount, ok bool) {
	before, after, _ := strings.Cut(line, " - ")
	f, tail := strings.Fields(before), strings.Fields(after) // tail: type, source, options
	if len(f) < 5 || len(tail) < 3 {
		return m, false
	}
	m.root, m.dir = f[3], strings.TrimPrefix(unescapeMount(f[4]), "/")
	switch {
	case tail[0] == "cgroup2":
		m.version = 2
	case tail[0] == "cgroup" && hasWord(tail[2], "memory"):
		m.version = 1
	default:
		return m, false
	}
	return m, true
}

// unescapeMount replaces the escapes of mountinfo.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

// hasWord reports whether list, whose words are separated by commas, has a word.
func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// readLimit reads a limit in bytes. It returns MaxInt64 if there is none.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n < 0 { // "max"
		return math.MaxInt64
	}
	return n
}
