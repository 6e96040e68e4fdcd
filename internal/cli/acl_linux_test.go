package cli

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// aclEntry is an entry of an access list.
type aclEntry struct {
	tag, perm uint16
	id        uint32
}

// makeList returns an access list: the owner has rw-, all others nothing.
func makeList(group, mask uint16, named ...aclEntry) []byte {
	const none = 0xffffffff
	entries := []aclEntry{{0x01, 6, none}}
	for _, e := range named {
		if e.tag == aclUser {
			entries = append(entries, e)
		}
	}
	entries = append(entries, aclEntry{aclFileGroup, group, none})
	for _, e := range named {
		if e.tag == aclGroup {
			entries = append(entries, e)
		}
	}
	entries = append(entries, aclEntry{aclMask, mask, none}, aclEntry{0x20, 0, none})
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range entries {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.perm)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	return list
}

func setList(t *testing.T, path, attribute string, list []byte) {
	t.Helper()
	if err := unix.Setxattr(path, attribute, list, 0); err != nil {
		t.Skipf("the file system has no access lists: %v", err)
	}
}

func listOf(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := readAccessList(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(list)
}

// TestAccessLists checks that a result has the access list of its source, and no other one.
func TestAccessLists(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	list := makeList(0, 6, aclEntry{aclUser, 6, 4321})
	setList(t, in, accessListName, list)
	pz(t, "", in).want(t, exitOK)
	if got := listOf(t, in+".pz"); got != string(list) {
		t.Errorf("list % x, want % x", got, list)
	}
	// A file that a directory gives a list loses it if the source has none.
	setList(t, dir, "system.posix_acl_default", list)
	plain := write(t, "content", t.TempDir(), "b")
	os.Chmod(plain, 0o640)
	out := filepath.Join(dir, "b.pz")
	pz(t, "", "-o", out, plain).want(t, exitOK)
	fi, err := os.Stat(out)
	if err != nil || fi.Mode() != 0o640 || listOf(t, out) != "" {
		t.Errorf("%v, mode %v, list % x", err, fi.Mode(), listOf(t, out))
	}
}

// TestListOnOtherFileSystem checks that a result without access lists allows no more than the list
// of its source: there the mode has the mask in place of the group's rights.
func TestListOnOtherFileSystem(t *testing.T) {
	in := write(t, "content", t.TempDir(), "a")
	setList(t, in, accessListName, makeList(0, 6, aclEntry{aclUser, 6, 4321}))
	src, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	info, _ := src.Stat()
	if info.Mode() != 0o660 {
		t.Fatalf("mode %v: the list is not effective", info.Mode())
	}
	// A pipe takes a mode and no list.
	r, f, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer f.Close()
	if err := copyAccess(f, src, info); err != nil {
		t.Fatal(err)
	}
	if now, _ := f.Stat(); now.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", now.Mode())
	}
}

func TestListPermissions(t *testing.T) {
	for _, c := range []struct {
		list []byte
		want os.FileMode
	}{
		{nil, 0o777},
		{[]byte("??"), 0o700},
		{makeList(0, 6, aclEntry{aclUser, 6, 1}), 0o706},
		{makeList(4, 6, aclEntry{aclUser, 6, 1}), 0o746},
		{makeList(6, 4, aclEntry{aclUser, 6, 1}), 0o744},
		{makeList(6, 6, aclEntry{aclUser, 0, 1}), 0o700},                           // keeps a user out
		{makeList(6, 6, aclEntry{aclGroup, 4, 1}, aclEntry{aclUser, 6, 2}), 0o744}, // and a group
		{makeList(6, 7), 0o767},
	} {
		if got := listPermissions(c.list); got != c.want {
			t.Errorf("% x: %v, want %v", c.list, got, c.want)
		}
	}
}

// TestListOfOtherGroup checks that a list is not copied to a file of another group, and that this
// file loses its own.
func TestListOfOtherGroup(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "content", dir, "a")
	out := write(t, "content", dir, "out")
	setList(t, in, accessListName, makeList(6, 6, aclEntry{aclUser, 4, 4321}))
	setList(t, out, accessListName, makeList(6, 6, aclEntry{aclUser, 6, 4321}))
	src, err1 := os.Open(in)
	f, err2 := os.OpenFile(out, os.O_RDWR, 0)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	defer src.Close()
	defer f.Close()
	copied, least := copyAccessList(f, src, false)
	if copied || least != 0o744 || listOf(t, out) != "" {
		t.Errorf("copied %v, permissions %v, list % x", copied, least, listOf(t, out))
	}
}
