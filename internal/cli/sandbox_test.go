package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// threads is the number of threads that try to leave the sandbox.
const threads = 8

// escape tries what the sandbox has to prevent, on several threads, and prints what has worked.
// where is a directory with the files secret0, secret1 and so on, and the address of a server.
func escape(where string) {
	dir, address, _ := strings.Cut(where, " ")
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread() // so that each has a thread of its own
			tryAll(dir, fmt.Sprint("secret", i), address)
		})
	}
	all.Wait()
}

func tryAll(dir, name, address string) {
	secret := filepath.Join(dir, name)
	for _, try := range []struct {
		name string
		do   func() error
	}{
		{"list", func() error { _, err := os.ReadDir(dir); return err }},
		{"read", func() error { _, err := os.ReadFile(secret); return err }},
		{"write", func() error { return os.WriteFile(secret, nil, 0o600) }},
		{"truncate", func() error { return os.Truncate(secret, 0) }},
		{"link", func() error { return os.Link(secret, secret+"-link") }},
		{"rename", func() error { return os.Rename(secret, secret+"-renamed") }},
		{"create", func() error { return os.WriteFile(secret+"-new", nil, 0o600) }},
		{"remove", func() error {
			if os.Remove(secret+"-renamed") == nil {
				return nil
			}
			return os.Remove(secret)
		}},
		{"run", func() error { return exec.Command("/bin/true").Run() }},
		{"connect", func() error {
			c, err := net.Dial("tcp", address)
			if err == nil {
				c.Close()
			}
			return err
		}},
	} {
		if try.do() == nil {
			fmt.Fprintf(os.Stderr, "escaped: %s\n", try.name)
		}
	}
}

var sandboxLine = regexp.MustCompile(`(?m)^pz: (in a|no) sandbox: .*\n`)

// withoutSandbox returns messages without what -v says about the sandbox.
func withoutSandbox(messages string) string { return sandboxLine.ReplaceAllString(messages, "") }

// TestRights checks when a run enters the sandbox, and what it may then open.
func TestRights(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, pz(t, "content").out, dir, "a.pz")
	write(t, pz(t, "content").out, dir, "sub", "b.pz")
	gz := write(t, pz(t, "content", "--format=gz").out, dir, "c.gz")
	pz(t, "", "--index", gz).want(t, exitOK)
	write(t, "a.pz\n", dir, "list")
	many := strings.Repeat("a.pz ", mostRules+1)
	all := []string{"/"}
	for args, want := range map[string]*rights{
		"-t a.pz":                      {},
		"-t a.pz none sub":             {files: []string{"a.pz"}, lists: []string{"."}},
		"-t -r sub":                    {trees: []string{"sub"}},
		"-t a.pz sub/b.pz":             {files: []string{"a.pz", "sub/b.pz"}, lists: []string{".", "sub"}},
		"-t " + many:                   {trees: all},
		"-t --files-from list":         {trees: all},
		"-dc c.gz":                     {files: []string{"c.gz.gzidx"}},
		"-dc -":                        {},
		"-l a.pz":                      {},
		"-l --tar a.pz":                {},
		"-x -c a.pz member":            {},
		"-x -c a.pz --files-from list": {trees: all},
		"--recover -c a.pz":            {},
		"a.pz -d -o out":               nil,
		"-k -c a.pz":                   nil,
		"-k list":                      nil,
		"-x a.pz":                      nil,
		"-d -k a.pz":                   nil,
	} {
		var got *rights
		pzWith(t, "", func(a *app) {
			a.sandbox.enter = func(r rights) (rights, bool) { got = &r; return r, true }
		}, strings.Fields(args)...)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%.40s: %+v, want %+v", args, got, want)
		}
		for _, name := range []string{"a", "out", "list.pz"} {
			os.Remove(filepath.Join(dir, name))
		}
	}
}

// TestRightsOfURLs checks that pz may open what it needs for a URL.
func TestRightsOfURLs(t *testing.T) {
	for _, args := range []string{"-l https://host/a", "-t a.pz http://host/a", "-l --files-from list"} {
		a := newApp()
		a.openURL = func(context.Context, string, int64) (Remote, error) { return nil, nil }
		var err error
		a.cfg, err = parseFlags(strings.Fields(args), a.getenv, false)
		if err != nil {
			t.Fatal(err)
		}
		want := rights{trees: []string{"/"}, network: true}
		if got := a.rights(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", args, got, want)
		}
	}
}

// TestSandboxMessage checks what -v says about the sandbox.
func TestSandboxMessage(t *testing.T) {
	in := write(t, pz(t, "content").out, t.TempDir(), "a.pz")
	for active, text := range map[bool]string{true: "in a sandbox", false: "this system has no Landlock"} {
		enter := func(a *app) { a.sandbox.enter = func(r rights) (rights, bool) { return r, active } }
		r := pzWith(t, "", enter, "-tv", in, in).want(t, exitOK, text)
		if !strings.HasPrefix(r.err, "pz: "+in) {
			t.Errorf("the first line is not about the file: %s", r.err)
		}
		pzWith(t, "", enter, "-t", in, in).want(t, exitOK)
		pzWith(t, "", enter, "-lv", in).want(t, exitOK)
	}
	pz(t, "", "-tv", in).want(t, exitOK, in) // a system without a sandbox
}
