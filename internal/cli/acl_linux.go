package cli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// accessListName is the extended attribute that holds the POSIX access list of a file. A file has
// one only if the list says more than the mode. Then the bits of the group in the mode are the mask
// of the list: the most that any entry but those of the owner and of all others gives.
const accessListName = "system.posix_acl_access"

// mostAccessList is the size in bytes of the longest list that is copied.
const mostAccessList = 4096

// Kinds of entries. The entries of the owner and of all others are in the mode.
const (
	aclUser      = 0x02 // a named user
	aclGroup     = 0x08 // a named group
	aclFileGroup = 0x04 // the group of the file
	aclMask      = 0x10
)

// copyAccessList gives f the access list of src, and reports whether that has set all permissions.
// If not, least has the permissions that f may get. f loses the list that it inherited from its
// directory. A list is not copied to a file of another group, because it has an entry for the
// group.
func copyAccessList(f, src *os.File, sameGroup bool) (copied bool, least fs.FileMode) {
	list, err := readAccessList(src)
	if err != nil {
		return false, 0o700
	}
	if len(list) > 0 && sameGroup && unix.Fsetxattr(int(f.Fd()), accessListName, list, 0) == nil {
		return true, 0
	}
	// To look for a list takes less time than to remove none.
	if inherited, err := readAccessList(f); err != nil || len(inherited) > 0 {
		err = unix.Fremovexattr(int(f.Fd()), accessListName)
		if err != nil && !isNoList(err) {
			return false, 0o700
		}
	}
	return false, listPermissions(list)
}

// readAccessList returns the access list of a file, or nil if it has none.
func readAccessList(f *os.File) ([]byte, error) {
	var list [mostAccessList]byte
	n, err := unix.Fgetxattr(int(f.Fd()), accessListName, list[:])
	switch {
	case err == nil:
		return bytes.Clone(list[:n]), nil
	case isNoList(err):
		return nil, nil
	}
	return nil, err
}

// isNoList reports whether an error says that a file or its file system has no access list.
func isNoList(err error) bool {
	return errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP)
}

// listPermissions returns the permissions that a mode without an access list may have at most, so
// that it allows nobody what the list does not: the group of the file gets no more than its entry
// gives, and it and all others no more than every named user and group gets.
func listPermissions(list []byte) fs.FileMode {
	const header, size = 4, 8 // a version; tag, permissions and id
	if len(list) == 0 {
		return 0o777
	}
	if len(list)%size != header {
		return 0o700
	}
	group, mask, named, anyNamed := uint16(0), uint16(7), uint16(7), false
	for entry := list[header:]; len(entry) > 0; entry = entry[size:] {
		perm := binary.LittleEndian.Uint16(entry[2:])
		switch binary.LittleEndian.Uint16(entry) {
		case aclUser, aclGroup:
			named, anyNamed = named&perm, true
		case aclFileGroup:
			group = perm
		case aclMask:
			mask = perm
		}
	}
	if anyNamed {
		named &= mask
	}
	return 0o700 | fs.FileMode(group&mask&named)<<3 | fs.FileMode(named)
}
