package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// hasLandlock skips a test on a kernel without Landlock.
func hasLandlock(t *testing.T) int {
	v, err := syscall.LandlockGetABIVersion()
	if err != nil {
		t.Skipf("no Landlock: %v", err)
	}
	return v
}

// TestSandbox checks that a run that only reads can do no more, whatever takes it over, and that
// others are not restricted.
func TestSandbox(t *testing.T) {
	version := hasLandlock(t)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	dir := t.TempDir()
	in := write(t, pz(t, "content").out, dir, "a.pz")
	other := write(t, pz(t, "content").out, dir, "b.pz")
	fill(t, dir, map[string]string{"tree/f": "content"})
	tar := filepath.Join(dir, "t.tar.pz")
	pz(t, "", "--tar", "-o", tar, filepath.Join(dir, "tree")).want(t, exitOK)
	all := []string{"write", "create", "read", "list", "truncate", "rename", "link", "remove", "run",
		"connect"}
	for args, escapes := range map[string][]string{
		"-t IN": nil, "-t IN OTHER": nil, "-tr TREE IN": nil, "-dc IN": nil, "-dc IN OTHER": nil, "-d": nil,
		"-l IN": nil, "-lv IN OTHER": nil, "-l --tar TAR": nil, "-x -c TAR": nil,
		"-t --files-from LIST": {"read", "list"}, "-kf OTHER": all,
	} {
		target := t.TempDir()
		for i := range threads {
			write(t, "secret", target, fmt.Sprint("secret", i))
		}
		names := strings.NewReplacer("IN", in, "OTHER", other, "TREE", filepath.Join(dir, "tree"),
			"TAR", tar, "LIST", write(t, in+"\n", dir, "list"))
		cmd := command(strings.Fields(names.Replace(args))...)
		cmd.Env = append(cmd.Env, "PZ_TEST_ESCAPE="+target+" "+server.Addr().String())
		if args == "-d" {
			cmd.Stdin = strings.NewReader(pz(t, "content").out)
		}
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v, %s", args, err, text)
		}
		for _, name := range all {
			if name == "connect" && version < 4 || name == "truncate" && version < 3 {
				continue // the kernel is too old
			}
			want := slices.Contains(escapes, name)
			if got := strings.Contains(string(text), "escaped: "+name+"\n"); got != want {
				t.Errorf("%s: %s works: %t, want %t", args, name, got, want)
			}
		}
	}
}

// TestInSandbox compares runs in the sandbox with those of this process, which has none.
func TestInSandbox(t *testing.T) {
	hasLandlock(t)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("TZ", "Asia/Tokyo")
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	local := time.Local // another test may have used it
	time.Local = tokyo
	defer func() { time.Local = local }()
	content := sample(300_000)
	write(t, pz(t, content, "-B16K").out, dir, "a.pz")
	write(t, pz(t, "b", "--format=zst").out, dir, "sub", "b.zst")
	write(t, pz(t, content, "--format=gz").out, dir, "sub", "c.gz")
	write(t, sample(5000), dir, "dict")
	write(t, pz(t, "record", "-D", "dict").out, dir, "record.pz")
	write(t, "a.pz\nsub/c.gz\n", dir, "list")
	pz(t, "", "--index", "sub/c.gz").want(t, exitOK)
	pz(t, "", "--tar", "-o", "t.tar.gz", "sub", "dict").want(t, exitOK)
	damaged := pz(t, content, "--parity", "5").out
	write(t, damaged[:1000]+"x"+damaged[1001:], dir, "damaged.pz")
	err = errors.Join(os.Symlink("sub/c.gz", "link.gz"), os.Symlink("sub", "linked"))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile("t.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"-t a.pz", "-t a.pz sub/b.zst sub/c.gz link.gz", "-t -r sub linked a.pz", "-t none a.pz dict",
		"-l a.pz sub/c.gz", "-lv sub/c.gz", "-l --json -r sub", "-l link.gz", "-t damaged.pz",
		"-dc a.pz", "-dc link.gz sub/b.zst", "-dc --range 200K:10 sub/c.gz", "-dcf dict a.pz",
		"-dc -r sub", "-dc -D dict record.pz", "-t -D dict record.pz a.pz", "-t -M 64M a.pz sub/c.gz",
		"-dc --files-from list", "-l --files-from list", "--recover -c damaged.pz",
		"-l --tar t.tar.gz", "-l --tar t.tar.gz t.tar.gz", "-x -c t.tar.gz sub/b.zst", "-t a.pz/none a.pz",
		"-x -c - dict <", "-l --tar - <", "-d <", "-t <",
	} {
		words, stdin := strings.Fields(args), ""
		if words[len(words)-1] == "<" {
			words, stdin = words[:len(words)-1], string(archive)
		}
		want := pz(t, stdin, words...)
		var in io.Reader
		if stdin != "" {
			in = strings.NewReader(stdin)
		}
		got := runProcess(t, in, words...)
		got.err = withoutSandbox(got.err)
		if got != want {
			t.Errorf("%s: exit code %d, %.200q, %.300q, want %d, %.200q, %.300q", args, got.code, got.out,
				got.err, want.code, want.out, want.err)
		}
	}
	// Pipes below /dev/fd cannot have a rule.
	cmd := inShell(command("-t", "a.pz", "/dev/fd/3", "sub/c.gz"), "exec 3<&0")
	cmd.Stdin = strings.NewReader(pz(t, content).out) // a pipe
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}
