package cli

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gopz/compress/internal/testenv"
)

// TestMachineLimit checks which limits of control groups and which memory of the machine count.
func TestMachineLimit(t *testing.T) {
	const (
		v2 = "30 23 0:27 %s /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
		v1 = "34 31 0:35 %s /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n" +
			"32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		groups = "sys/fs/cgroup/"
		info   = "proc/meminfo"
		four   = "MemTotal: 4096 kB\nMemFree: 1 kB\n"
	)
	text := func(name, content string) map[string]string { return map[string]string{name: content} }
	for name, c := range map[string]struct {
		groups, mounts string
		files          map[string]string
		rlimit, want   int64
	}{
		"nothing known":  {want: 0},
		"machine":        {files: text(info, four), want: 4 << 20},
		"address space":  {files: text(info, four), rlimit: 5000, want: 5000},
		"no memory line": {files: text(info, "MemTotal: -1 kB\nMemTotal: x kB\n"), want: 0},
		"version 2": {"0::/a/b\n", fmt.Sprintf(v2, "/"), map[string]string{
			info: four, groups + "a/b/memory.max": "1000\n"}, 0, 1000},
		"version 2, parent": {"0::/a/b\n", fmt.Sprintf(v2, "/"), map[string]string{
			groups + "a/b/memory.max": "max\n", groups + "a/memory.max": "2000\n"}, 0, 2000},
		"version 2, no limit": {"0::/a\n", fmt.Sprintf(v2, "/"), map[string]string{
			info: "MemTotal: 4 kB\n", groups + "a/memory.max": "max\n"}, 0, 4096},
		"version 2, other group": {"0::/a\n", fmt.Sprintf(v2, "/"), map[string]string{
			info: "MemTotal: 4 kB\n", groups + "b/memory.max": "1\n"}, 0, 4096},
		"version 2, container": {"0::/\n", fmt.Sprintf(v2, "/"), map[string]string{
			groups + "memory.max": "3000\n"}, 0, 3000},
		"version 2, mounted part": {"0::/docker/1/x\n", fmt.Sprintf(v2, "/docker/1"), map[string]string{
			groups + "memory.max": "3000\n", groups + "x/memory.max": "2500\n"}, 0, 2500},
		"version 2, above the mount": {"0::/../..\n", fmt.Sprintf(v2, "/../.."), map[string]string{
			groups + "memory.max": "3500\n"}, 0, 3500},
		"version 1": {"4:cpu:/z\n5:blkio,memory:/a\n0::/\n", fmt.Sprintf(v1, "/"), map[string]string{
			groups + "memory/a/memory.limit_in_bytes": "7000\n",
			groups + "cpu/z/memory.limit_in_bytes":    "1\n",
			groups + "memory/memory.limit_in_bytes":   "9223372036854771712\n"}, 0, 7000},
		"version 1, container": {"5:memory:/docker/1\n", fmt.Sprintf(v1, "/docker/1"), map[string]string{
			groups + "memory/memory.limit_in_bytes": "8000\n"}, 0, 8000},
		"both": {"5:memory:/a\n0::/b\n", fmt.Sprintf(v1, "/") + fmt.Sprintf(v2, "/"), map[string]string{
			groups + "memory/a/memory.limit_in_bytes": "900\n", groups + "b/memory.max": "800"}, 0, 800},
		"garbage": {"x\n0::\n", "y\n - \na b c d e - cgroup2\n", map[string]string{
			groups + "memory.max": "1"}, 6000, 6000},
	} {
		root := fstest.MapFS{
			"proc/self/cgroup":    {Data: []byte(c.groups)},
			"proc/self/mountinfo": {Data: []byte(c.mounts)},
		}
		for name, text := range c.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if c.rlimit == 0 {
			c.rlimit = math.MaxInt64
		}
		if got := machineLimit(root, c.rlimit); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// tableOf returns a field of level 9 of the memory table: 0 to compress, 2 to restore.
func tableOf(text string, field int) string {
	_, rest, _ := strings.Cut(text, "\n      9  ")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Fields(line)[field]
}

// TestAddressSpaceLimit checks that the limit of memory follows that of the address space, which a
// shell sets with ulimit -v. So the runtime does not crash, and messages say what to do.
func TestAddressSpaceLimit(t *testing.T) {
	testenv.Measures(t)
	dir := t.TempDir()
	in := write(t, strings.Repeat(sample(1<<20), 6), dir, "in")
	run := func(left int64, code int, text string, args ...string) {
		t.Helper()
		change := func(a *app) { a.spaceLeft = func() int64 { return left } }
		pzWith(t, "", change, args...).want(t, code, text)
	}
	run(leastSpace-1, exitError,
		"pz: the limit of the address space (ulimit -v) leaves 96.0 MiB, and pz needs", "-c", in)
	const advice = "; raise the limit of the address space (ulimit -v)"
	run(128<<20, exitError, "more than the limit of 32 MiB"+advice, "-9c", in)
	run(128<<20, exitError, "more than the limit of 32 MiB"+advice, "-9c", "-M1G", in)
	run(128<<20, exitError, "more than the limit of 16 MiB; use -M", "-9c", "-M16M", in)
	run(128<<20, exitOK, "", "-1c", in)
	many := filepath.Join(dir, "many")
	for i := range 200 {
		write(t, sample(100_000), many, strconv.Itoa(i))
	}
	for mib := 800; mib <= 2400; mib += 100 {
		cmd := command("-1", "-T16", "-rf", many)
		if mib == 2000 {
			cmd = command("-9", "-T16", "-fo", in+".pz", in)
		}
		cmd = shell(cmd, fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, mib<<10))
		out, err := cmd.CombinedOutput()
		// With little space the runtime may fail before it calls main.
		if text := string(out); err != nil && strings.Contains(text, "main.main") ||
			err != nil && mib >= 2000 && !strings.Contains(text, "the limit of the address space") {
			t.Errorf("%d MiB: %v: %.300s", mib, err, text)
		}
	}
}

// shell returns a command that runs cmd in a shell script, as "$0" "$@".
func shell(cmd *exec.Cmd, script string) *exec.Cmd {
	sh := exec.Command("sh", append([]string{"-c", script, cmd.Path}, cmd.Args[1:]...)...)
	sh.Env = cmd.Env
	return sh
}

// TestSmallMachine checks that runs without -M take a quarter of the memory of the machine, and the
// memory of one block where that is more, and that the result does not depend on it.
func TestSmallMachine(t *testing.T) {
	testenv.Measures(t)
	const threads = 16
	dir := t.TempDir()
	in := write(t, strings.Repeat(sample(1<<20), 64), dir, "in")
	compressTo := func(machine int64, name string) (path string, took int64) {
		path = filepath.Join(dir, name)
		t.Setenv("PZ_TEST_MACHINE", strconv.FormatInt(machine, 10))
		return path, peak(t, threads, nil, "-1", "-o", path, in)
	}
	large, all := compressTo(64<<30, "large")
	small, took := compressTo(128<<20, "small")
	within(t, "compress", 1, took, 128<<20/memoryShare+programMemory)
	if all <= 128<<20/memoryShare+programMemory {
		t.Errorf("without a limit the run takes %d bytes: the test shows nothing", all)
	}
	tiny, took := compressTo(1<<20, "tiny")
	one, _ := stated(t, 1, 1)
	within(t, "compress on a machine without memory", 1, took, one)
	want, err := os.ReadFile(large)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, small, string(want))
	wantFile(t, tiny, string(want))
	// -M replaces the quarter.
	took = peak(t, threads, nil, "-1", "-M1G", "-c", in)
	if took <= 128<<20/memoryShare+programMemory {
		t.Errorf("%d bytes with -M1G, want more than the quarter of the machine", took)
	}

	table := func(machine int64) string {
		t.Setenv("PZ_TEST_MACHINE", strconv.FormatInt(machine, 10))
		out, err := command("-T16", "--help=all").Output()
		if err != nil {
			t.Fatal(err)
		}
		return tableOf(string(out), 2)
	}
	if all, least := table(64<<30), table(1<<20); all == least {
		t.Errorf("the table states %s to restore with any memory", all)
	}
	_, reader := stated(t, 1, 1)
	within(t, "restore on a machine without memory", 1, peak(t, threads, nil, "-t", large), reader)
}
